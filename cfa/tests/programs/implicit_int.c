// Declarations without a type, and objects of structures that are completed further behind.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static base = 40;
const low = 3, table[2] = { 1, 2 };
extern outside; int outside = 9;
difference(a, b) { return a - b + base; }
static rest(n) register n; { auto r = n; while (r >= low) r -= low; return r; }
static volatile seen;
struct late late;
struct late *pointer = &late;
extern union both both;
struct late { int a; short b; };
struct list { int : 3, x : 5; int : 0; unsigned y : 4; };
union both { int i; char c[4]; };
union both both;
main() {
  static calls; register const k = 4; auto m = 2;
  struct late copy;
  calls++; seen += k;
  late.a = 5; pointer->b = 6; copy = late; both.i = 0x01020304;
  mix(difference(7, 9)); mix(rest(11)); mix(low + table[1]); mix(outside); mix(calls + seen * m);
  mix(copy.a * 10 + copy.b); mix(both.c[1]); mix(sizeof late); mix(sizeof(struct list));
  mix(sizeof(struct { int:-!!(sizeof(int) == 2); })); mix(sizeof(struct { char c; int : 0; char d; }));
  return 0;
}
