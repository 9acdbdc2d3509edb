// A loop of very many rounds; a float does not even get to its end (after listing 5.3 of the octagon thesis).
extern void abort(void);
void reach_error(void) { abort(); }

int main(void) {
  float step = 0.000000000001f;
  float value = 0;
  int counter = 0;

  while (value < 10) {
    counter++;
    value += step;
  }

  if (counter < 1000000000000) {
    reach_error();
  }
  return 0;
}
