// Designators that override what an earlier one has written, in objects that are zeroed as wholes.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct parts { int x; union { char c; long long l; } u; int z[20]; unsigned a : 4, b : 4; };
int array[20] = { [0] = 5, [0] = 0, [3] = 7, [2] = 1, 0 };
struct parts whole = { .x = 3, .u.c = 7, .z = { [1 ... 4] = 9, [2] = 0 }, .x = 0, .a = 9, .b = 6, .a = 0 };
int main(void) {
  int local[20] = { [0] = 5, [0] = 0, [3] = 7, [2] = 1, 0 };
  struct parts inner = { .x = 3, .u.c = 7, .z = { [1 ... 4] = 9, [2] = 0 }, .x = 0, .a = 9, .b = 6, .a = 0 };
  char text[4][8] = { [1] = "abcdef", [2] = "klmnop", [1] = "x", [2] = "" };
  struct parts twice[2] = { [1] = { .a = 3, .b = 5 }, [1] = { .b = 2 } };
  for (int i = 0; i < 20; i++) { mix(array[i]); mix(local[i]); mix(whole.z[i]); mix(inner.z[i]); }
  mix(whole.x); mix(whole.u.c); mix(whole.a); mix(whole.b); mix(inner.x); mix(inner.u.c); mix(inner.a); mix(inner.b);
  for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) mix(text[i][j]);
  mix(twice[1].a); mix(twice[1].b);
  return 0;
}
