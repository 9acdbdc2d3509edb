// Like lock-loop.c, but p may change between taking the lock and releasing it, so that the error can be reached.

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
    p = __VERIFIER_nondet_int();
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
