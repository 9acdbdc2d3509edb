// Declarators of all kinds, initialisers, operators without spaces.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
int a, *b = &a, c[2] = { 3, 4 }, (*d)[2] = &c, f(int), (*g)(int) = f, **h = &b;
int f(int x) { return x + 1; }
struct { int x; } s1 = { 4 }, *s2 = &s1, s3[2] = { { 1 }, { 2 } };
struct t { struct t *n; int (*cb)(struct t *self, int (*)(struct t *)); unsigned f1:1, f2:2, :3, f3:4; } t1;
int cb(struct t *self, int (*k)(struct t *)) { return k(self) + self->f3; } int kk(struct t *s) { return s->f2; }
union { int i; } const un = { 5 }; static struct s4 { int q; } *const sp = &(struct s4){ 6 };
typedef struct { int (*fn)(void); } vt; static int seven(void) { return 7; } static const vt V = { seven }, *VP = &V;
volatile int vi; int const volatile *cvp = &vi; char const *const strs[] = { "a", "b", 0 };
int main(int argc, char *argv[], char *envp[]) {
  mix(*b + c[1] + (*d)[0] + g(2)); **h = 9; mix(a); mix(s2->x); mix(s3[1].x); t1.f2 = 7; t1.f3 = 9; t1.cb = cb; t1.n = &t1; mix(t1.n->n->cb(t1.n, kk)); mix(un.i); mix(sp->q); mix(VP->fn()); mix((*VP->fn)()); mix((&V)->fn()); vi = 3; mix(*cvp); mix(strs[1][0]); mix(strs[2] == (void *)0);
  int i = 1, j = i + 1, k[j], *l = k, (m) = 3, (*n) = &m; k[1] = 2; mix(l[1] + m + *n); int (o)(int), p; p = f(3); mix(p); extern int f(int); mix(f(9));
  a = b == &a ? c[0] : 8; mix(a); a = 1, c[0] = 2; mix(a); a += a -= 2; mix(a); int x = 5; x = x+++x; mix(x > 0); x = 3; mix(x-- - -1); mix(- -x); mix(-(-x)); mix(!-x); mix(~-x); mix(- x --); mix(x); mix(!x++); mix(x); mix(sizeof x++); mix(x); mix(sizeof(x) + 1); mix(sizeof -x); mix((x) + (a) * (c[0])); mix((x) - 1);
  return 0;
}
