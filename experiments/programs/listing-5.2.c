// Polynomials of floating-point numbers (after listing 5.2 of the octagon thesis).
extern void abort(void);
void reach_error(void) { abort(); }
extern float __VERIFIER_nondet_float(void);

float f(float x) { return x * x * x; }

float fp(float x) { return x * x; }

int main(void) {
  float in = __VERIFIER_nondet_float();
  if (!(in > 0.1f && in < 0.2f)) {
    return 0;
  }

  float x = in - f(in) / fp(in);

  if (!(x > -0.8 && x < 0.2)) {
    reach_error();
  }
  return 0;
}
