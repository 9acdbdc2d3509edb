// Static objects of which the initialiser gives some parts of a variable: unions with a small first member, bit-fields.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
union wide { signed char small; long long large; int half : 19; };
struct bits { unsigned a : 3; signed b : 5; unsigned char c; unsigned d : 20; };
struct around { short before; union wide in; struct bits bits; int after; };
static union wide w = { 0x6e };
static union wide none;
static struct bits b = { 5, -3 };
static struct bits named = { .d = 0x54321, .b = 7 };
static struct around s = { 1, { 2 }, { 3, 4, 5, 6 }, 7 };
static struct around array[2] = { { 1 }, { 2, { -3 }, { .c = 9 } } };
static struct bits *points = &b;
struct mixed { unsigned long long first[3]; int narrow : 11; unsigned short behind[2]; unsigned last; };
static struct mixed tight = { .narrow = 127, .first = { 5, 6 }, .behind = { 65535 }, .last = 9 };
int main(void) {
  static union wide local = { -7 };
  static struct bits inner = { .a = 6, .c = 200 };
  union wide whole = { .large = 0x123456789abcdLL };
  mix(w.small); mix(w.large); mix(none.small); mix(none.large);
  mix(b.a); mix(b.b); mix(b.c); mix(b.d); mix(named.a); mix(named.b); mix(named.c); mix(named.d);
  mix(s.before); mix(s.in.small); mix(s.bits.a); mix(s.bits.b); mix(s.bits.c); mix(s.bits.d); mix(s.after);
  for (int i = 0; i < 2; i++) { mix(array[i].before); mix(array[i].in.small); mix(array[i].bits.a); mix(array[i].bits.c); mix(array[i].after); }
  mix(local.small); mix(inner.a); mix(inner.b); mix(inner.c); mix(inner.d); mix(whole.half); mix(whole.small); mix(points->b);
  mix(tight.first[1]); mix(tight.narrow); mix(tight.behind[0]); mix(tight.behind[1]); mix(tight.last);
  return 0;
}
