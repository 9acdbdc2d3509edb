// Storage classes, extern and tentative declarations, names for the assembler.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static inline __attribute__((always_inline)) int sq(int x) { return x * x; }
extern inline __attribute__((__gnu_inline__)) int ext(int x) { return x + 1; }
inline static int cnt(void) { static int n; return ++n; }
extern int arr[]; extern int arr[4]; int arr[] = { 1, 2, 3, 4 };
int tent; int tent; int tent = 5; extern int tent;
static int fwd(int); static int fwd(int x) { return x - 1; }
int ext_late; int get(void) { extern int ext_late; return ext_late; }
_Noreturn void never(void) { for (;;) ; } __attribute__((noreturn)) void abort(void);
int *unused_ __asm__("unused_name");
int renamed(int) __asm__("other_name"); int renamed(int x) { return x + 2; }
const volatile int cv = 3; volatile int * const vp = (int *)&cv;
static int (*const cf)(int) = sq;
int main(void) {
  mix(sq(5)); mix(ext(5)); cnt(); mix(cnt()); mix(sizeof arr); mix(arr[3]); mix(tent); mix(fwd(3)); ext_late = 8; mix(get()); mix(renamed(3)); mix(cv); mix(*vp); mix(cf(3));
  { static int k[3] = { 1, 2 }; k[2]++; mix(k[2]); } { int tent = 9; { extern int ext_late; mix(ext_late); } mix(tent); }
  register int r = 4; auto int a = r; mix(a); int restrict_ = 3; mix(restrict_);
  if (!cv) never();
  return 0;
}
