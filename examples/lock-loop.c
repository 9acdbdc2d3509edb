// A lock that is taken and released in each round of a loop, with checks that this is done in turns.
// The error cannot be reached: in each round either both or none of the two branches are taken.

extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error() { abort(); }

int main(void) {
  int p = __VERIFIER_nondet_int();
  int n = __VERIFIER_nondet_int();
  int LOCK;

  LOCK = 0;

  while (n >= 0) {
    if (p) {
      if (LOCK) {
        goto ERROR;
      }
      LOCK = 1;
    }
    if (p) {
      if (!LOCK) {
        goto ERROR;
      }
      LOCK = 0;
    }
    n--;
  }

  if (!LOCK) {
    return 0;
  }

ERROR:
  reach_error();
  return 1;
}
