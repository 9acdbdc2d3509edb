// Functions that read their variable arguments.
typedef __builtin_va_list va_list;
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static int sum(int n, ...) {
  va_list ap; int s = 0;
  __builtin_va_start(ap, n);
  while (n-- > 0) s = s * 3 + __builtin_va_arg(ap, int);
  __builtin_va_end(ap);
  return s;
}
static double total(const char *fmt, ...) {
  va_list ap, ap2; double r = 0;
  __builtin_va_start(ap, fmt);
  __builtin_va_copy(ap2, ap);
  for (const char *p = fmt; *p; p++)
    switch (*p) {
    case 'i': r += __builtin_va_arg(ap, int); break;
    case 'l': r += __builtin_va_arg(ap, long); break;
    case 'u': r += __builtin_va_arg(ap, unsigned); break;
    case 'd': r += __builtin_va_arg(ap, double); break;
    case 's': { const char *s = __builtin_va_arg(ap, const char *); while (*s++) r += 1; break; }
    case 'p': { int *q = __builtin_va_arg(ap, int *); *q += 1; r += *q; break; }
    }
  __builtin_va_end(ap);
  if (fmt[0] == 'i') r += 1000 * __builtin_va_arg(ap2, int);
  __builtin_va_end(ap2);
  return r;
}
static long vlast(int n, va_list ap) { long x = 0; while (n--) x = __builtin_va_arg(ap, long long); return x; }
static long last(int n, ...) { va_list ap; static long r; __builtin_va_start(ap, n); r += vlast(n, ap); __builtin_va_end(ap); return r; }
static int depth(int n, ...) {
  va_list ap; int x, y; __builtin_va_start(ap, n); x = __builtin_va_arg(ap, int); y = __builtin_va_arg(ap, int); __builtin_va_end(ap);
  return n == 0 ? x + y : depth(n - 1, x + y, x) * 2 + y;
}
struct pair { int a, b; };
static int skip(struct pair p, ...) { va_list ap; __builtin_va_start(ap, p); int r = __builtin_va_arg(ap, int); __builtin_va_end(ap); return r * p.a + p.b; }
static void log_(int level, const char *fmt, ...) { va_list ap; __builtin_va_start(ap, fmt); 0; __builtin_va_end(ap); mix(level); }
static unsigned first_wins(const char *f, ...) { return *f; }
int main(void) {
  int k = 41; char c = -5; short s = 300; _Bool b = 1; float h = 0.5f; unsigned u = 0xffffffffu;
  int (*f)(int, ...) = sum;
  struct pair p = { 3, 4 };
  mix(sum(0)); mix(sum(3, 1, c, s)); mix(sum(2, b, 'x') - sum(1, k)); mix(f(2, 7, k));
  mix(total("")); mix(total("lds", 5L, h, "abc") * 2); mix((int)total("ii", c, 2)); mix(total("u", u) / 65536); mix(total("pp", &k, &k));
  mix(last(3, 1LL, 2LL, -3LL)); mix(depth(4, 1, 2)); mix(skip(p, 9)); mix(first_wins("q", p, 3.0L));
  log_(1, "%d %s %f\n", 3, "x", 2.0); log_(2, "nothing\n"); log_(3, "%s\n", (char *)0);
  mix(sum(2, sum(1, 5), sum(1, 6) * 2));
  mix(k);
  return 0;
}
