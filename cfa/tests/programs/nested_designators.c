// Designators below others, ranges, what follows a designator.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct in { int a, b[3]; struct { char c; short d[2]; } e; };
struct out { int x; struct in in[2]; union { int u; char v[8]; } w; int tail; };
struct out g = { .in = { [0] = { .b[2] = 3, 4, 5 }, [1].b = { 1, [2] = 9 } }, .w.v = { [3] = 1, 2 }, 77 };
int arr[] = { [5] = 1, 2, [1] = 3, [2 ... 3] = 8 };
int m[][3] = { [1] = { [2] = 5 }, { 1, 2 }, [0][1] = 4 };
int main(void) {
  struct out l = { 1, { { 2, { 3, 4, 5 }, { 'x', { 6 } } } }, .tail = 3, };
  for (int i = 0; i < 2; i++) { for (int j = 0; j < 3; j++) { mix(g.in[i].b[j]); mix(l.in[i].b[j]); }
    mix(g.in[i].a); mix(g.in[i].e.c); mix(g.in[i].e.d[0]); mix(g.in[i].e.d[1]); mix(l.in[i].e.c); mix(l.in[i].e.d[0]); }
  for (int i = 0; i < 8; i++) mix(g.w.v[i]);
  mix(g.tail); mix(l.tail); mix(sizeof arr / sizeof *arr);
  for (unsigned i = 0; i < sizeof arr / sizeof arr[0]; i++) mix(arr[i]);
  for (int i = 0; i < (int)(sizeof m / sizeof m[0]); i++) for (int j = 0; j < 3; j++) mix(m[i][j]);
  return 0;
}
