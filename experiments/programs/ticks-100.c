// The same with a bound of the loop (table 3.1 (b)).
extern void abort(void);
void reach_error(void) { abort(); }
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int flag = __VERIFIER_nondet_int();
  int ticks = 0;

  while (ticks < 100) {
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
