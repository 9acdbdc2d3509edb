// The values of assignments to parts of a variable, which are read after they have been written.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct bits { short a : 2; int b : 5; unsigned c : 3; unsigned char d; };
union parts { signed char c; unsigned short s; int i; };
struct bits g;
static union parts u;
int main(void) {
  struct bits l = { 1, -3, 6, 200 };
  union parts v = { .i = 0x12345678 };
  int x = --g.a; mix(x);
  x = --g.b; mix(x);
  x = --g.c; mix(x);
  mix(g.b -= 3); mix(g.c += 5); mix(g.a = g.a + 1); mix(g.b = g.c + g.b);
  mix(++l.a); mix(l.b++); mix(l.b); mix(l.c <<= 1); mix(l.c ^= l.d); mix(l.d += 100); mix(++l.d);
  mix(++u.c); mix(u.c += 100); mix(u.c += 100); mix(u.s += u.c); mix(--u.i);
  mix(v.c += v.s); mix(v.s = v.s + 1); mix(v.c = v.i >> 4); mix(v.c--); mix(v.i);
  if ((l.c -= 2) > 3) mix(1); else mix(2);
  for (int i = 0; i < 3; i++) mix((g.b += 7) * 3 + (l.b ^= 1));
  return 0;
}
