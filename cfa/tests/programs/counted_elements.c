// Lengths of arrays that initialisers without all braces tell, zeros of flexible array members, and types whose sizes have effects.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct in { int a, b; };
struct out { struct in i; int c; };
static struct { const char *name; int value; } table[] = { "one", 1, "two", 2, "three", 3 };
static struct { char name[6]; short value; } named[] = { "one", 1, "two", 2, { "three", 3 }, "four", 4 };
static struct { int n; int v[2]; } braced[] = { 1, { 2, 3 }, 4, { 5, 6 } };
static struct { int n; int s[]; } flexible = { 1, { 5, 0, 7 } };
static struct { int n; char s[]; } text = { 1, "abc" };
static struct { char c; union { int x; char y[8]; } u; int : 3; int z : 4; } mixed[] = { 1, 2, 3, 4, { 5 }, 6, 7 };
int main(void) {
  for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) { mix(table[i].value); mix(table[i].name[1]); }
  mix(sizeof table / sizeof table[0]); mix(sizeof named); mix(named[3].name[2]); mix(named[3].value);
  mix(sizeof braced); mix(braced[1].v[1]);
  mix(flexible.s[0]); mix(flexible.s[1]); mix(flexible.s[2]); mix(text.s[2]); mix(text.s[3]);
  mix(sizeof mixed); mix(mixed[0].z); mix(mixed[1].u.x); mix(mixed[2].z);
  struct in x = { 4, 5 };
  struct out t[] = { x, 1, x, 2, 7, 8, 3, { x, 4 } };
  mix(sizeof t / sizeof t[0]); mix(t[1].i.b); mix(t[1].c); mix(t[2].i.a); mix(t[3].c);
  static struct out s[] = { { { 1 }, 2 }, 3, 4, 5, { 6 } };
  mix(sizeof s / sizeof s[0]); mix(s[1].c);
  int n = 3, i = 0, *p = &n;
  int b[n][n];
  mix(sizeof b[i++]); mix(i); mix(sizeof b); mix(sizeof(b[0][i++])); mix(i);
  mix(sizeof(int[n = 2])); mix(*p);
  mix(sizeof *(int (*)[n++])b); mix(n);
  int ranged[4] = { [0 ... 2] = 9, 4 };
  mix(ranged[1]); mix(ranged[3]);
  return 0;
}
