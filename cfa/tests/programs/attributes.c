// Attributes between and behind specifiers and declarators, and those that change sizes, alignments and layouts.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static __attribute__((pure, unused)) int __attribute__((noinline)) (twice)(int (x)) { return (x) * 2; }
static int __attribute__((cold)) plus(int x __attribute__((unused)), int (y)) __attribute__((nonnull));
typedef unsigned wide __attribute__((mode(DI)));
typedef int narrow __attribute__((__mode__(__QI__)));
struct lines { char c; int x __attribute__((aligned(16))); char d; };
typedef struct { char c; } __attribute__((__aligned__((1 << (3))))) eight;
struct __attribute__((packed)) header { char kind; int length __attribute__((aligned(2))); short check; eight e; };
struct mixed { char a, b __attribute__((aligned(4))), c; __attribute__((aligned(8))) char d, e; char f; };
struct member { char c; long l __attribute__((packed)); struct header h; } __attribute__((aligned(32)));
union __attribute__((aligned(8))) either { char c[5]; short s; };
struct holder { char c; union either u; struct mixed m[2]; };
static int (*const volatile pointer)(int) __attribute__((unused)) = twice;
static int plus(int x, int y) { return x + y; }
int main(void) {
  int v __attribute__((aligned(32), unused)) = 5;
  struct header h = { 1, 70000, 3, { 4 } };
  struct holder k = { 7 };
  char *bytes = (char *)&h;
  wide w = ~0u; w++;
  narrow n = 300;
  mix(twice(v)); mix(plus(v, 1)); mix(pointer(4));
  mix(sizeof(wide)); mix(w >> 32); mix(n);
  mix(sizeof(struct lines)); mix(__builtin_offsetof(struct lines, x)); mix(__builtin_offsetof(struct lines, d)); mix(_Alignof(struct lines));
  mix(sizeof(eight[3])); mix(sizeof(struct header)); mix(__builtin_offsetof(struct header, length)); mix(__builtin_offsetof(struct header, check));
  mix(__builtin_offsetof(struct header, e)); mix(sizeof(struct mixed)); mix(__builtin_offsetof(struct mixed, b)); mix(__builtin_offsetof(struct mixed, c));
  mix(__builtin_offsetof(struct mixed, d)); mix(__builtin_offsetof(struct mixed, e)); mix(__builtin_offsetof(struct mixed, f)); mix(sizeof(union either));
  mix(__builtin_offsetof(struct holder, u)); mix(__builtin_offsetof(struct holder, m[1].e)); mix(sizeof(struct holder));
  mix(bytes[0] + bytes[2] + bytes[3] + bytes[4] + bytes[6]); mix(sizeof k); mix(k.c);
  mix(sizeof(struct member) % 32); mix(_Alignof(struct member));
  switch (v) { case 5: v = 1; __attribute__((fallthrough)); case 1: v++; default:; }
  mix(v);
  return 0;
}
