// Anonymous structures and unions, numbers looked at as others.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct v { int tag; union { int i; struct { short lo, hi; }; char c[4]; float f; }; struct { unsigned a : 3, b : 5; }; };
typedef union { double d; struct { unsigned lo, hi; } w; unsigned char b[8]; unsigned long long q; } du;
struct v make(int i) { struct v r = { 0 }; r.tag = 1; r.i = i; r.a = i; r.b = i >> 3; return r; }
int main(void) {
  struct v x = make(0x12345678);
  mix(x.lo); mix(x.hi); mix(x.c[2]); mix(x.a); mix(x.b); mix(sizeof x);
  x.f = 1.5f; mix(x.i); x.c[3] = 0; mix(x.i); struct v y = x; y.hi ^= 0x55; mix(y.i); mix(x.i);
  du d; d.d = 3.25; mix(d.w.hi); mix(d.w.lo); d.w.hi |= 0x80000000; mix(d.d < 0); mix((int)(d.d * 4)); d.b[7] = 0x40; mix((unsigned)(d.q >> 40)); mix((int)d.d);
  struct v init = { 3, { 5 }, { 1, 2 } }, in2 = { .hi = 2, .tag = 9, .b = 3 }; mix(init.i); mix(init.b); mix(in2.i); mix(in2.b); mix(in2.tag);
  union { char c; int i; } un = { 'a' }, um = { .i = 0x41424344 }; mix(un.i & 0xff); mix(um.c);
  struct { union { struct { int p; union { int q, r; }; }; long long z; }; } deep; deep.z = 0x100000002LL; mix(deep.p); mix(deep.r);
  return 0;
}
