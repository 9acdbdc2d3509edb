// Names of types and variables, layouts, calls, operators and floating point where mistakes are easy.
// On ILP32 the checksum is 1936441048.
typedef unsigned long long u64; unsigned checksum; static void mix(u64 x){
 checksum = checksum*31u + (unsigned)(x ^ (x>>32)); }
typedef int T; typedef struct { int x; } S; typedef unsigned char byte;
union PU { float f; unsigned u; short s[2]; double d; u64 l; unsigned char b[8]; };
struct LL { long long a; int b; char c; double d; short e; } ; struct BF { long long a:40; unsigned b:20; int :3;
 char c; short d:5; long long e:3; } ;
struct P1 { char a; struct { int b:3; char c; } d; int e[]; };
#pragma pack(push,1)
struct PK { char a; int b; short c; };
#pragma pack(pop)
struct __attribute__((packed)) PK2 { char a; long b; };
extern int undefd[]; int undefd[4] = {1,2,3,4}; static int tent; int tent2; int tent2 = 5;
int g1 = 3, *gp = &g1, **gpp = &gp; int (*fpv)(int); int addone(int x){ return x+1; }
 int twice(int (*f)(int), int x){ return f(f(x)); }
int (*getf(int k))(int) { return k ? addone : 0; } int (*farr[2])(int) = { addone, 0 };
static int stat_in_loop(void){ int r = 0; for (int i = 0; i < 3; i++) { static int n; int k = i; r += n++ * 10 + k; }
 return r; }
struct S2 { int a[3]; char n[5]; } ; struct S2 mk(int x){ struct S2 s = { { x, x+1} , "hey" } ; return s; }
 int use(struct S2 s){ s.a[0]++; return s.a[0]*100 + s.n[1]; }
void modarr(int a[3]){ a[1] = 77; a++; *a += 1; } int sz(int a[10]){ return sizeof(a) == sizeof(int*); }
 int strl(const char *s){ int n=0; while(*s++) n++; return n; }
enum { Z0, Z1, Z5 = 5, Z6 }; int arrz[Z6] = { [Z1] = 3, [Z5] = 9 };
int ret_narrow(void){ return (byte)300; } byte bret(int x){ return x; } unsigned short usr(long x){ return x; }
 long lret(unsigned x){ return x; } float fret(double x){ return x; }
int noret(int x){ if (x) return 5; return 0; }
volatile int vol = 4; const int con = 9;
struct W { long long a; short b; unsigned f:20; int g:19; long long c[2]; struct { long long x; unsigned y; } in; }
 gw = { -1, 2, 3, -4, { 5, 6 } , { -7, 8 } } ;
struct W wide(int k){ struct W w = gw; w.in.x += k; w.c[1] = k; return w; }
int main(void){
 struct W w1 = wide(3), w2 = gw; mix(w1.in.x); mix(wide(9).in.x + wide(1).a); mix((vol ? w1 : w2).in.x);
  mix((vol ? w2 : w1).c[1]); mix((vol ? w1 : w2).g); mix((w2 = wide(5)).in.x); mix(w2.c[1] + w2.in.y + w2.f);

 T T1 = 3; { int T = 5; mix(T + T1); mix((T)-1); mix(T * T1); mix(sizeof(T)); } mix((T)-1 < 0); mix((byte)-1);
  mix((byte)+300); mix((byte)~0); mix((T)*&T1); { S S = { 4 } ; mix(S.x); }
 union PU u; u.l = 0; u.f = 1.0f; mix(u.u); mix(u.s[1]); u.s[0] = -1; mix(u.u); u.d = 2.5; mix(u.l); mix(u.b[7]);
  u.b[7] = 0xc0; mix(u.d < 0); mix(sizeof u);
 struct LL l = { -1, 2, 'c', 3.5, -4 } , l2; l2 = l; l2.a--; mix(l2.a); mix(l.a); mix(l2.c + l2.e); mix(l2.d * 2);
  mix(sizeof l); struct LL *lp = &l; lp->b <<= 4; mix(l.b); (*lp).e *= 3; mix(lp->e); struct LL la[3] = { l, [2] = {
  .e = 7 } } ; mix(la[0].b + la[1].b + la[2].e); mix(&la[2] - la); mix((lp = la + 1)->e); mix(la[2].d == 0);
 struct BF bf = { -1, 5, 'x', -3, 3 } ; mix((long long)bf.a); mix(bf.b); mix(bf.d); mix(bf.e); bf.e = 5;
  mix(bf.e < 0); bf.d += 20; mix(bf.d); mix(sizeof bf); bf.a = 1LL << 38; mix(bf.a > 0);
  mix((long long)bf.a == 1LL<<38); bf.b = ~0; mix(bf.b); mix(sizeof(struct P1)); mix(sizeof(struct PK));
  struct PK pk = { 1, 0x01020304, 5 } ; mix(pk.b); mix(((char*)&pk)[1]); mix((char*)&pk.c - (char*)&pk);
  mix(sizeof(struct PK2));
 mix(undefd[2]); mix(tent + tent2); **gpp = 8; mix(g1); *gpp = &tent2; mix(*gp); fpv = addone; mix(fpv(3));
  mix((*fpv)(4)); mix((****fpv)(5)); mix(twice(fpv, 1)); mix(getf(1)(9)); mix(getf(0) == 0); mix(farr[0](1));
  mix(farr[1] ? 1 : 2); mix(!fpv); mix(fpv == addone); mix(fpv != &addone);
 mix(stat_in_loop()); mix(stat_in_loop()); struct S2 s = mk(4); mix(s.a[1] + s.a[2]); mix(s.n[3]); mix(use(s));
  mix(s.a[0]); mix(mk(9).a[1]); mix(mk(1).n[2]); s = (mk(3), mk(5)); mix(s.a[0]);
 int ma[3] = { 1, 2, 3 } ; modarr(ma); mix(ma[1]); mix(sz(ma)); mix(strl("ab\0cd")); mix(sizeof "ab\0cd");
  mix(sizeof(arrz)/sizeof*arrz); mix(arrz[1] + arrz[5]); mix("abc" "def"[3]); mix(*"q"); mix("\x41\102\t"[1]);
  mix(sizeof("\x41" "1")); mix('\\' + '\'' + '"' + '\?' + '\a');
 mix(ret_narrow()); mix(bret(257)); mix(bret(-1)); mix(usr(-1)); mix(lret(-1)); mix(fret(0.1) == 0.1);
  mix(fret(0.1) == 0.1f); mix(noret(1)); mix(vol + con); vol++; mix(vol);
 unsigned x = 5; int y = -3; mix(x > y); mix(x + y); mix(x * y); mix(y / (int)x); mix(x / y); mix(x % y);
  mix(y % 5u); mix(y >> 1); mix((unsigned)y >> 1); mix(y << 2); mix(x - 6 > 0); mix(-x); mix(-x < 0); mix(~x);
  x -= 6; mix(x); x = y; mix(x); x >>= 28; mix(x); long long ll = y; mix(ll); ll = (unsigned)y; mix(ll);
  ll = x - 100; mix(ll); ll = x - 100LL; mix(ll); short sh = 40000; mix(sh); sh = -sh; mix(sh); mix(sh * sh);
  mix((short)(sh * sh)); sh = 32767; sh++; mix(sh); mix(sh-- ); mix(sh); sh <<= 1; mix(sh);
  unsigned short us = 65535; mix(us * us); mix(us + 1); us++; mix(us); us--; mix(us); mix(us << 16);
  mix(us >> 4 << 4); mix(-us); mix(us == -1); mix((short)us == -1); mix(us == (unsigned short)-1); char ch = 200;
  mix(ch); mix(ch == 200); mix((unsigned char)ch == 200); mix(ch < 0); ch = 'a' + 1; mix(ch); ch += 100; mix(ch);
 int i = 5; i += i * 2; mix(i); i -= -i; mix(i); i = -i; mix(i / 4); mix(i % 4); mix(i >> 2); mix(i & 7); mix(i | 1);
  mix(i ^ -1); mix(!i + !!i); mix(i++ + 1); mix(++i); mix(-i--); mix(- --i); mix(i-- - 1); mix(i); mix((i, 3));
  i = (1, 2); mix(i); mix(i == 2 ? i++ : i--); mix(i); mix(i > 1 > 0); mix(1 < 2 < 3); mix(3 > 2 > 1);
  mix(5 & 3 == 3); mix(1 | 2 ^ 3 & 4); mix(1 << 2 + 1); mix(8 >> 1 << 1); mix(2 + 3 * 4 % 5 - 6 / 4); mix(-2 * -3);
  mix(- - 3); mix(+-3); mix(~-1); mix(!0 == 1); mix(1 ? 2 : 0 ? 3 : 4); mix(0 ? 1 : 0 ? 3 : 4); mix(i = 7);
  mix(i += i -= 3); int a, b; a = b = 6; mix(a + b); mix(a > b || a == 6 && b == 6); mix(a && !b || 0);
 i = 0; while (i < 10) { if (i == 3) { i += 2; continue; } if (i == 8) break; i++; } mix(i); for (;;) {
  if (++i > 20) goto done; } done: mix(i); do i--; while (i > 15); mix(i);
  for (i = 0; i < 5; i++) for (int j = 0; j < 5; j++) { if (j == 2) break; if (i == 1) goto next; mix(i * 10 + j);
  next:; } switch (i & 1) { case 0: mix(1); case 1: mix(2); default: mix(3); } switch (-1) { case -1: mix(9); break;
  case 255: mix(8); } switch ((byte)-1) { case 255: mix(19); break; default: mix(18); } switch (1ULL << 32) {
  case 0: mix(29); break; case 1ULL << 32: mix(28); }
 double d = 1e308; d *= 10; mix(d > 1e308); mix(d == d); mix(d - d != d - d); mix(-0.0 == 0.0); mix(1 / -0.0 < 0);
  float f = 16777216; f++; mix(f == 16777216); f = 0.1; mix(f == 0.1); mix(f == 0.1f); mix((int)(f * 100));
  mix((unsigned char)f); d = f; mix(d == 0.1f); mix(3 / 2 * 2.0 == 2); mix(7 % 4 * 1.5 == 4.5); i = 3.99; mix(i);
  i = -3.99; mix(i); i = 3; i *= 1.5; mix(i); i /= 0.3; mix(i); unsigned char uc = 200; uc *= 1.1; mix(uc);
  uc += 0.9; mix(uc); ll = 1e15; mix(ll); ll = (long long)1e18f; mix(ll); mix((u64)1.8e19);
  mix((float)0xffffffffffffffffULL == 18446744073709551616.0f);
  mix((double)9007199254740993LL == 9007199254740992.0); mix(1e-400 == 0 ); mix(0x1.8p1 == 3); mix(1.f + 1e-10 == 1);
  mix(1.f + 1e-10f == 1); mix(sizeof(1.0f * 1)); mix(sizeof(1.0f * 1.0)); mix(!0.5); mix(0.5 && 1); mix(0.5 ? 1 : 2);
  mix((_Bool)-0.0); if (0.1f) mix(4);
 return 0; }
