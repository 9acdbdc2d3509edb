// Adds up any number of inputs twice; the two sums stay equal, also when they wrap around.

extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
void reach_error() { abort(); }

int main(void) {
  unsigned int sum = 0;
  unsigned int check = 0;

  while (__VERIFIER_nondet_int()) {
    unsigned int value = __VERIFIER_nondet_uint();
    sum = sum + value;
    check = check + value;
  }

  if (sum != check) {
    reach_error();
  }
  return 0;
}
