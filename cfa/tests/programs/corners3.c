// Casts, signs, steps and names that are read wrongly most easily.
// On ILP32 the checksum is 3853614674.
typedef unsigned long long u64; unsigned checksum; static void mix(u64 x){
 checksum = checksum*31u + (unsigned)(x ^ (x>>32)); }
typedef int T; typedef struct T { int T; struct T *n; } ST; typedef unsigned char uc; typedef T (*FT)(T);
 typedef T AT[3]; typedef enum { red, green } color;
T f(T x) { return x * 2; } static T g(T T) { return T + 1; } int h(int a, int (*k)(int)) { return k(a); }
 T (*pick(int i))(T) { return i ? f : g; }
int (*rows(void))[3] { static int m[2][3] = { {1,2,3}, {4,5,6} }; return m; } int *ptr(int *p) { return p; }
int a = 5, b = 7, c = 3, d = 2; int arr[4] = { 1, 2, 3, 4 };
int kr(x, y, p) int x; uc y; int *p; { return x + y + *p; }
static inline __attribute__((always_inline)) int inl(const int x) { return x; }
 extern __inline int ex(register int q) { return q; }
int un(), un2(void); int un(x) long x; { return x; } int un2() { return 4; }
struct { int a, b; } anon = { .b = 3, 1 };
int main(void) {
 mix((a)+(b)*(c)); mix((a)-(b)*(c)-(d)); mix((arr[1])-(b)*c); mix((f(a))&(c)*d); mix((a)*(b)); mix((a)-b);
  mix((a)+b); mix((a)&b); mix((T)-a); mix((T)+a); mix((T)~a); mix((T)!a); mix((T)*arr); mix((T)(a));
  mix((T)(a)+(T)(b)); mix(-(T)a); mix(a-1); mix(a -1); mix(a - -1); mix(a- - -1); mix(a+-1); mix(a-(-1)); mix(-1-1);
  mix(1-1-1); mix(a*-1); mix(a-1u > 0); mix(-1u); mix(-2147483647-1); mix(sizeof(T)+1); mix(sizeof(T)-1);
  mix(sizeof(T)*2); mix(sizeof(a)+1); mix(sizeof a+1); mix(sizeof(T)+0x10); mix(sizeof(int)-(T)1);
  mix(sizeof(T[2])+sizeof(AT)); mix(sizeof(uc)*(a)); mix(sizeof(struct T)); mix(sizeof(ST *)==sizeof(long));
  mix(sizeof(a)*b); mix(sizeof(T)&7); mix(sizeof -a); mix(sizeof (a)++ ); mix(sizeof(arr)/sizeof(arr[0]));
  mix((a)++ + 1); mix(-a++); mix(!a--); mix(~a++); mix(-a--); mix(-++a); mix(- -a); mix(a); { int x = a+++b; mix(x);
  x = a---b; mix(x); a++; a--; }
 int *p = arr; mix(*p++); mix((*p)++); mix(*p); mix(*++p); mix(++*p); mix(-*p); mix(*p--*2); mix(a/ *p);
  mix(&arr[3]-p); mix(*&a); mix(*(T*)&a); mix(*(uc*)&a); mix((uc)a**p); mix(a**p); mix(a&*p); mix(a&&*p); mix(!*p);
  mix((&arr[1])[1]); mix(-p[0]); mix((T)p[1]); mix((uc)-1+(uc)-1); mix(0 ? 1 : 2
);
 { T T = 4; mix(T * 2); mix((T)*2); mix((T)-1); mix((T) + 1); mix(sizeof(T)); int z = (T)&3; mix(z); {
  typedef char T; mix(sizeof(T)); mix((T)300); } mix(T); T++; mix((T)++); mix(T); }
 { ST T, *q = &T; T.T = 3; T.n = q; mix(T.n->n->T); mix(q->T * (q)->T); struct T u = { 8, &T } ; mix(u.n->T + u.T);
  color red2 = green; mix(red2 == red); int green = 9; mix(green); }
 { int u64 = 3; mix((u64)+1); mix((u64)*2); for (int T = 0; T < 2; T++) mix(T); mix((T)2.9); }
  mix((u64)1 << 33 >> 32); { FT k = f, ks[2] = { f, g } ; mix(k(3) + ks[1](4)); mix((*ks)(5)); mix(h(3, k));
  mix(pick(1)(7) + (*pick(0))(7)); mix(((FT)g)(1)); mix(((T (*)(T))f)(2)); }
 mix(rows()[1][2]); mix((*rows())[1]); mix(*rows()[1]); mix(*ptr(&a)); mix(kr(1, 258, &b)); mix(inl(3) + ex(4));
  mix(un(5L) + un2()); mix(anon.b); mix(anon.a); AT at = { 1, 2, 3 } , ats[2] = { { 4 } , { 5, 6 } } ;
  mix(at[2] + ats[1][1] + ats[0][1]);
 if (a) if (!a) mix(1); else mix(2); if (!a) ; else mix(3); for (;;) if (a++ > 10) break; else continue; mix(a);
  while (a --> 5) ; mix(a); do if (a) break; while (1); T: a = 9; mix(a); switch (a) { default: { break; } } goto T2;
  T2: ; L: if (a++ < 12) goto L; mix(a);
 mix(a ? b ? 1 : 2 : 3); mix((a , b) ? (c, d) : 0); a = b ? c : d, b = 2; mix(a * 10 + b); a = b = c = d;
  mix(a + b + c); a += b -= c *= 2; mix(a); mix(b); a <<= 1, a |= 1, a ^= 3, a %= 5; mix(a); a = (b, c); mix(a);
  mix(a == b == c); mix(!a == !b); mix(-a * -b); mix(a | b & c ^ d); mix(a << 1 + 1); mix(1 << 1 << 1);
  mix(a < b == b > a); mix(a - b - c); mix(a - (b - c)); mix(a / b / 1); mix(100 / 10 * 10); mix(100 % 7 * 3);
  mix(1 ? 2 ? 3 : 4 : 5);
 /* comment */ mix(1 /* in */ + /* "str" */ 2); // line comment
 mix('"' + '\'' + "'\"/*"[1]); mix("a//b"[2]); mix(1 \
+ 2);  mix(1.e1); mix(.5e1); mix(0xFFu); mix(1e1f); mix(10 / 3.f > 3); mix(017); mix(1 ? 1 : 0
); return 0; }
