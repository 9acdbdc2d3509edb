// A relation between two variables that excludes the error (after listing 5.1 of the octagon thesis).
extern void abort(void);
void reach_error(void) { abort(); }
extern float __VERIFIER_nondet_float(void);

int main(void) {
  float x = __VERIFIER_nondet_float();
  float y = x;

  if (y < 0) {
    y = -y;
  }
  if (y <= 69) {
    if (x < -70 || x > 70) {
      reach_error();
    }
  }
  return 0;
}
