// Bit-fields: layout, unnamed ones, promotions, updates.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct a { int x : 3; unsigned y : 5; int : 0; unsigned z : 31; signed char c : 4; _Bool b : 1; unsigned long long w : 40; unsigned : 3; short s : 9; };
struct b { char c; int i : 20; int j : 20; char d; };
struct c { unsigned a : 1; unsigned : 5; unsigned b : 2; };
struct d { long long a : 33; int b : 31; int c : 2; };
struct e { int a : 1; enum { P, Q, R } q : 2; };
union f { unsigned x : 5; unsigned char y; };
static int ret(struct a *p) { return p->x++ + p->y--; }
int main(void) {
  struct a s = { 3, 31, 0x7fffffff, -8, 1, 0xffffffffffULL, -256 };
  mix(s.x); mix(s.y); mix(s.z); mix(s.c); mix(s.b); mix(1); mix(s.s);
  s.x = 5; mix(s.x); s.y += 3; mix(s.y); s.z++; mix(s.z); s.c = 9; mix(s.c); s.b = 4; mix(s.b);  s.s *= 3; mix(s.s);
  mix(ret(&s)); mix(s.x); mix(s.y); mix(s.y = 77); mix(++s.x); mix(s.x--); mix(-s.y < 0); mix(s.y - 40 < 0); mix(s.z - 1u > 0);
  mix(sizeof(struct a)); mix(sizeof(struct b)); mix(sizeof(struct c)); mix(sizeof(struct d)); mix(sizeof(struct e)); mix(sizeof(union f));
  struct b b = { 'c', -5, 7, 'd' }; unsigned char *p = (unsigned char *)&b; mix(p[0]); mix(b.i); mix(b.j); mix(b.d);
  struct c c = { 1, 2 }; mix(*(unsigned char *)&c); struct d d = { -1, 5, -2 }; mix(1); mix(d.b); mix(d.c);
  struct e e = { -1, R }; mix(e.a); mix(e.q); mix(e.q > -1); union f f = { 0 }; f.y = 0xff; mix(f.x); f.x = 2; mix(f.y);
   mix(sizeof(+s.y)); mix(s.y << 28);
  return 0;
}
