// Ranges of cases.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static int cls(int c) { switch (c) { case '0' ... '9': return 1; case 'a' ... 'z': case 'A' ... 'Z': return 2; case -5 ... -1: return 3; case 1000 ... 2000: c++; default: return c; case '_': return 4; } }
static int u(unsigned x) { switch (x) { case 0 ... 3: return 1; case 0xfffffff0u ... 0xffffffffu: return 2; } return 3; }
static int l(long long x) { switch (x) { case 0x100000000LL ... 0x100000005LL: return 1; case 7: return 7; } return 0; }
enum { LO = 3, HI = 6 };
int main(void) {
  mix(cls('5')); mix(cls('q')); mix(cls('Q')); mix(cls(-3)); mix(cls(1500)); mix(cls('_')); mix(cls('~')); mix(u(2)); mix(u(-3)); mix(u(9)); mix(l(0x100000003LL)); mix(l(3)); mix(l(7));
  for (int i = 0; i < 9; i++) switch (i) { case LO ... HI: mix(i); case 8: mix(i * 2); break; case 1: { switch (i) { case 0 ... 1: mix(77); } } }
  for (signed char c = 120; c > 0; c++) switch (c) { case 125 ... 126: mix(c); }
  return 0;
}
