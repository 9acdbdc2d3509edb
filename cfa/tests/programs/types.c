// Type specifiers in all orders, conversions, variable lengths.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
typedef unsigned uint; typedef long long signed int sll; typedef int const *const cpp; typedef int (*(*ffp)(void))[3];
static int a3[3] = { 1, 2, 3 }; static int (*ra(void))[3] { return &a3; }
char (*(*x[3])(void))[5]; long unsigned int long lul = 5; int long short_ = 3; short unsigned su = 65535; unsigned char signed_ = 255;
struct fwd; struct fwd *fp; struct fwd { int v; }; typedef struct fwd fwd_t, *fwd_p, fwd_a[2];
int mat[2][3][4]; int (*pm)[3][4] = mat; void q(int p[const 3], int n, int v[static 2], int w[n][n]) { mix(p[2] + v[1] + w[1][1]); }
long double ld = 1.5L; _Bool bools[3] = { 5, 0.5, 0 };
signed s1 = -1; const int c1 = 4; static const volatile unsigned long cvul = 7; 
int main(void) {
  uint u = -1; sll s = -1; cpp p = a3; ffp f = ra; mix(u); mix(s < 0); mix(*p); mix((*f())[1]); mix(sizeof x); mix(lul); mix(su); mix(sizeof(int *(*)[3])); mix(sizeof(int (*[3])(int)));
  fwd_a fa = { { 1 }, { 2 } }; fwd_p fq = fa; mix(fq[1].v); mat[1][2][3] = 9; mix(pm[1][2][3]); mix((*(*(mat + 1) + 2))[3]); mix(***mat); mix(sizeof mat[0]); mix(sizeof *pm[0]);
  int w[2][2] = { { 1, 2 }, { 3, 4 } }; q(a3, 2, a3, w); mix(bools[0] + bools[1] + bools[2]); mix(s1 >> 1); mix(c1); mix(cvul); mix(sizeof(ld) > 8); mix(signed_ + 1);
  int n = 3; int vla[n][n + 1]; vla[2][3] = 6; mix(vla[2][3]); mix(sizeof vla); mix(sizeof vla[0]); int (*pv)[n + 1] = vla; mix(pv[2][3]); n = 9; mix(sizeof vla); mix(sizeof *pv);
  _Bool b = 256; mix(b); b = 0.1; mix(b); b = p; mix(b); b++; mix(b); b--; mix(b); b |= 4; mix(b); mix(-b); mix(~b); unsigned char uc = 255; uc++; mix(uc); uc--; mix(uc); uc += 300; mix(uc); uc >>= 1; mix(uc); uc = ~uc; mix(uc); signed char sc = 127; sc++; mix(sc); short sh = -1; mix(sh >> 4); mix((unsigned short)sh >> 4); mix((uc << 24) < 0); char ch = 200; mix(ch); mix(ch >> 1); mix((1u << 31) >> 31); mix(-7 / 2); mix(-7 % 3); mix(7u / -2 ); mix(5 - 6u > 0); mix((char)-1 == (unsigned char)-1); mix(sizeof(char) * -1 > 5); mix((0 ? 1 : -1u) > 0); mix((1 ? -1 : 0u) > 0); mix(-1 < 1u); mix(-1L < 1u); mix((short)1 << 17); mix(1 ? (char)65 : 0.0); mix(0x7fffffff + 1 < 0); mix(2147483648 > 0); mix(0xffffffff > 0); mix(-2147483648 < 0); mix(sizeof(2147483648)); mix(sizeof(0xffffffff)); mix(sizeof(1 ? 1 : 1LL)); mix(sizeof(0x80000000)); mix(sizeof(4294967296)); mix(077 + 0b101 + 0XfF); mix(1e3); mix(0x1p4); mix(.5e1); mix('\0' + '\'' + '\\'); mix(100000 * 100000 / 100000);
  return 0;
}
