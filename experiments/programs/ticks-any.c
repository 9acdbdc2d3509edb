// A counter in a loop that may go on for ever, and a flag that excludes the error (after listing 2.1 of the octagon thesis).
extern void abort(void);
void reach_error(void) { abort(); }
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int flag = __VERIFIER_nondet_int();
  int ticks = 0;

  while (!__VERIFIER_nondet_int()) {
    ticks = ticks + 1;
  }

  if (flag <= 0) {
    return 0;
  }
  if (flag > 0) {
    return 0;
  }

  reach_error();
  return 0;
}
