// Statement expressions.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static int max3(int a, int b, int c) { return ({ int m = a; if (b > m) m = b; if (c > m) m = c; m; }); }
struct p { int x, y; };
int main(void) {
  mix(max3(1, 5, 3));
  int i = 3; mix(({ int i = 10; i + 1; }) + i); mix(({ while (i < 7) i++; i; }));
  struct p q = ({ struct p t = { 1, 2 }; t.x++; t; }); mix(q.x); mix(({ q; }).y);
  int k = ({ goto l; l: ; 5; }); mix(k); mix(({ int r = 0; for (int j = 0; j < 4; j++) { if (j == 2) continue; r += j; } r; }));
  if (({ int z = i; z > 3; })) mix(3);
  ({ mix(8); }); int a[({ 3; })]; a[2] = 4; mix(a[2]); mix(sizeof(({ char c = 0; c; })));
  mix(({ ({ 1; }) + ({ 2; }); })); for (; ({ i--; i; });) mix(i);
  int v = i ? ({ 1; }) : ({ 2; }); mix(v); mix(i || ({ mix(5); 0; }));
  return 0;
}
