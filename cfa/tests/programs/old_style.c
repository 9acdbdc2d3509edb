// Definitions in the style of Kernighan and Ritchie.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
int add(a, b) int a, b; { return a + b; }
char first(s) char *s; { return *s; }
float half(x) float x; { return x / 2; }
static void swap(p, q) int *p; int *q; { int t = *p; *p = *q; *q = t; }
int noargs() { return 7; }
int arrsum(a, n) int a[]; unsigned char n; { int s = 0; while (n--) s += a[n]; return s; }
int cb(f, x) int (*f)(); int x; { return f(x, 3); }
struct s { int a; }; int st(s, p) struct s s; struct s *p; { return s.a + p->a; }
main(argc, argv) int argc; char **argv; {
  int x = 1, y = 2, a[3] = { 4, 5, 6 }; struct s s = { 4 };
  mix(add(3, 4)); mix(first("q")); mix((int)(half(5.0) * 4)); swap(&x, &y); mix(x * 10 + y); mix(noargs()); mix(arrsum(a, 259)); mix(cb(add, 8)); mix(st(s, &s));
  return 0;
}
