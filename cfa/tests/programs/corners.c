// Promotions, conversions, bit-fields, initialisers, jumps and constants where mistakes are easy.
// On ILP32 the checksum is 1885173268.
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
 typedef long long s64;
unsigned checksum; static void mix(u64 x){ checksum = checksum*31u + (unsigned)(x ^ (x>>32)); }
struct B { unsigned a:3; int b:3; unsigned c:1; int d:1; u16 e:9; signed char f:2; unsigned :0; unsigned g:31;
 _Bool h:1; } ;
struct N { struct { int x, y; } p[2]; union { u32 w; u8 b[4]; float f; } u; };
enum E1 { A1 = 3, B1, C1 = -2, D1 }; enum E2 { P = 1u<<31 }; enum E3 {Q=5};
static int counter(void){ static int c = 10; return c++; }
static int cnt; static int side(int x){ cnt++; return x; }
int arr[] = { [3] = 7, 8, [1] = 2, 3 };
char s1[] = "abc", s2[5] = "xy", s3[3] = "pqr"; char s4[][4] = { "ab", "cde"} ; const char *sp[] = { "one",
 "two" "three", ""} ;
int m[][3] = { {1}, {2,3}, 4, 5, 6 , 7 };
struct N gn = { .p[1].y = 4, .p[0] = {1,2}, .u.b = {1,2,3,4} };
int f0(); int f0(a,b) int a; char b; { return a*b; }
static int rec(int n){ return n <= 1 ? 1 : n * rec(n-1); }
static u8 narrow(int x){ return x; } static signed char schar(unsigned x){ return x; } static _Bool tb(double d){
 return d; }
int vla(int n){ int a[n][n+1]; int i=0; for(;i<n;i++) a[i][n]=i; mix(sizeof a); mix(sizeof(a[0])); int (*p)[n+1] = a;
 mix(sizeof *p); typedef int T[n]; n = 50; T t; mix(sizeof t); return a[2][4] + sizeof(int[i+1]) ; }
int sw(int x){ int r=0; switch(x){ default: r+=1; case 1: r+=10; break; case 2: { int y; y = 3; r += y;
 case 3: r+=100; } for(r=0;;){ if(r++>5) break; continue; } case 10 ... 12: r+=1000; } return r; }
int duff(int n){ int k=0; int c=(n+3)/4; switch(n%4){ case 0: do { k++; case 3: k+=2; case 2: k+=3; case 1: k+=5; }
 while(--c>0); } return k; }
int main(void){
 u8 a=200, b=100; mix(a+b); mix((u8)(a+b)); mix(a<<1); mix(~a); mix(-a); mix(!a); a+=b; mix(a); a<<=3; mix(a); a>>=1;
  mix(a); a*=77; mix(a); a=-a; mix(a); a-=201; mix(a); a/=3; mix(a); a%=7; mix(a); a^=~0; mix(a);
 signed char c=-100; mix(c>>1); mix((u8)c>>1); c*=2; mix(c); c>>=1; mix(c); c = 130; mix(c); mix(c % 7); mix(-7%3);
  mix(7%-3); mix(-7/2); mix((unsigned)-7/2); c=127; c++; mix(c); mix(c--); mix(c);
 mix(-1 < 1u); mix(-1L < 1u); mix((u16)-1 < 1); mix((short)-1 < (u16)1); mix(-1 > sizeof(int)); mix(1u - 2 > 0);
  mix((s64)-1 < 1u); mix('\xff'); mix('\377' < 0); mix("\xff"[0]); mix('ab'); mix(2147483648 > 0);
  mix(-2147483648 < 0); mix(0x80000000 > 0); mix(-0x80000000 > 0); mix(sizeof(2147483648)); mix(sizeof(0xffffffff));
  mix(sizeof(4294967296)); mix(sizeof('a')); mix(sizeof(1?1:1LL)); mix(sizeof(a+b)); mix(sizeof(+a));
  mix(sizeof(a=b)); mix(sizeof(1,a)); mix(sizeof(a++)); mix(a);
 mix(1 ? -1 : 1u); mix((1 ? -1 : 1u) > 0); mix((1 ? (u8)255 : (signed char)1)); mix(1 ? -1 : (u64)1); u32 sh=1u<<31;
  mix(sh>>31); mix((int)sh>>31); mix(1LL<<40); mix((u64)1<<63>>63); mix(-1>>1); mix(-8>>1); mix((-1)>>31);
 struct B x = { 9, 5, 3, 1, 600, 2, 77, 3} ; mix(x.a); mix(x.b); mix(x.c); mix(x.d); mix(x.e); mix(x.f); mix(x.g);
  mix(x.h); mix(sizeof x); x.a += 7; mix(x.a); x.b++; x.b++; mix(x.b); mix(x.b = 7); mix(x.a = 9);
  mix((x.c = 2) == 2); x.d = 1; mix(x.d); mix(x.d < 0); mix(x.a - 8 < 0); mix(x.g - 0x7fffffff < 0); x.e <<= 1;
  mix(x.e); x.h = 2; mix(x.h); mix(-x.a); mix(~x.a); mix(x.a << 31 >> 31); x.f = -1; x.f--; mix(x.f); mix(x.b-- - 1);
 mix(arr[3]); mix(arr[4]); mix(arr[2]); mix(sizeof arr);
  mix(sizeof s1 + sizeof s2*10 + sizeof s3*100 + sizeof s4*1000); mix(s2[2]); mix(s4[1][2]); mix(s4[0][3]);
  mix(sp[1][5]); mix(sizeof m); mix(m[2][1]); mix(m[1][2]); mix(gn.p[1].y); mix(gn.p[0].y); mix(gn.u.w);
  struct N n2 = gn; n2.p[1] = n2.p[0]; mix(n2.p[1].x + gn.p[1].x); n2.u.f = 1.5f; mix(n2.u.w); mix(n2.u.b[3]);
 mix(counter()); mix(counter()); mix(f0(3,4)); mix(rec(10)); mix(narrow(300)); mix(schar(200)); mix(tb(0.5));
  mix(tb(0)); mix((_Bool)0.1); mix((_Bool)256); mix((u8)256); mix((int)-1.9); mix((int)1.9f); mix((u8)(int)257.5);
  _Bool bb = 5; bb += 3; mix(bb); bb--; mix(bb); bb--; mix(bb); bb = -bb; mix(bb); mix(~bb); bb ^= 3; mix(bb);
 int i = 0, j; j = i++ + 5; mix(j); mix((i++, i++, i)); (side(0) && side(1)) || side(1); mix(cnt);
  side(1) || side(2); mix(cnt); i = side(0) ? side(1) : side(7); mix(i); mix(cnt); mix((i = 3, i + 1)); int q = 5;
 mix(vla(4)); for (i=0;i<14;i++) mix(sw(i)); for(i=1;i<9;i++) mix(duff(i));
 mix(C1); mix(D1 == -1); mix(B1); mix(P > 0); mix(sizeof(enum E1)); enum E1 ev = -1; mix(ev < 0); enum E3 e3 = 7;
  mix(e3 - 8 < 0); mix(Q - 6 < 0); mix(e3 > -1);
 int ar[5] = { 1, 2, 3, 4, 5} ; int *p = ar + 4, *r = &ar[1]; mix(p - r); mix(p > r); mix(*--p); mix(*p--);
  mix(p[-1]); mix(1[ar]); mix(*(r+1)); mix(&ar[5] - ar); mix((char*)p - (char*)r); mix(p == r + 1); mix((&ar)[0][2]);
  mix(*(*(&ar) + 1)); int (*pa)[5] = &ar; mix((*pa)[3]); mix((char*)(pa+1) - (char*)pa); void *vp = p;
  mix((int*)vp == p); mix((u8)(u64)(char*)0);
 s64 big = 1LL<<33; int tr = big; mix(tr); tr = big + 5; mix(tr); mix((u32)(big-1)); mix(big > 1u);
  mix((float)16777217); mix((double)(float)0.1 == 0.1); mix(0.1f + 0.2f == 0.3f); mix(0.1 + 0.2 == 0.3);
  mix((int)(0.1f*10) ); mix(1/3*3.0 == 0); mix((u32)3e9); mix((s64)-3e9); mix(5/2*2.0); mix(-5%3); mix(3.7f > 3.7);
  mix((float)3.7 == 3.7f);
 goto in; { int z; while (cnt < 100) { z = 1; in: z = cnt; cnt += 10; } mix(z); } mix(cnt);
 mix(({ int t = 3; t + 4; })); mix(((struct N){ .p[0].x = 9 }).p[0].x); mix((int[]){1,2,3}[1]);
  mix(sizeof(struct { char a; int b; char c; })); mix(sizeof(union { char a[5]; short s; }));
  mix(__builtin_offsetof(struct N, u)); typedef struct { char a; long long b; } L; mix(sizeof(L));
  mix(_Alignof(long long)); mix(__alignof__(double));
 for (int k=0,l=5;k<l;k++,l--) mix(k*l); do { if (i++ > 12) continue; mix(i);} while (i < 15);
 mix(-1 == 0xffffffff); mix(-1L == 0xffffffff); mix((long)-1 < (unsigned)1); mix(0xffffffff + 1 == 0);
  mix(sizeof(long)); mix(10000000000); mix(1L<<31 > 0); mix((unsigned long)-1); mix(~0UL > 0xffffffffu);
  mix(-1 < 0ul); mix(077 + 0x1F + 0b101); mix('\0' + '\x41' + '\101' + '\n'); mix(L'a');
 return 0; }
