// Enumerations: values, types of constants, arithmetic.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
enum e { A, B = 5, C, D = B * 2 + C, E = -3, F, G = sizeof(int) << 2, H = 'x', I = A ? 1 : 2 };
enum u { U1 = 1, U2 = 0x80000000u };
enum big { BIG = 0x100000000LL, BIG2 };
typedef enum { X0 = 1 << 0, X1 = 1 << 1, X2 = 1 << 2 } flags;
enum e f(enum e x) { return x + 1; }
int arr[D];
int main(void) {
  enum e v = C; enum u w = U2; flags fl = X0 | X2;
  mix(A); mix(B); mix(C); mix(D); mix(E); mix(F); mix(G); mix(H); mix(I);
  mix(f(v)); mix(sizeof arr); mix(sizeof v); mix(sizeof(enum big)); mix(w > 0); mix(w >> 3); mix(U2 > -1); mix(U1 > -1); mix(v > -1); mix(fl > -1);
  mix((BIG2 >> 30)); mix(v < E); fl |= X1; fl &= ~X0; mix(fl); fl ^= X2; mix(fl); v++; mix(v); v = v << 1 | 1; mix(v); mix(-v);
  mix(~fl >> 1); mix(sizeof(BIG)); mix(sizeof(A)); v = E; mix(v / 2); mix(v % 2); mix(v >> 1); enum { L1 = C, L2 }; mix(L2);
  { enum { B = 100 }; mix(B); } mix(B);
  return 0;
}
