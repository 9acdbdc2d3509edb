// typeof of expressions and types, container_of.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct m { int a; struct m *list; char c[3]; };
typedef __typeof__(int *) ip;
static int x = 3;
extern __typeof__(x) y; __typeof__(x) y = 4;
__typeof__(&x) px = &x;
int f(int a) { __typeof__(a) b = a * 2; typeof(b + 1L) c = b; __typeof__(*px) d = c; return d; }
int main(void) {
  struct m mm = { 1, 0, "ab" }, *m = &mm;
  typeof(*m) n = *m; n.a = 5; mix(n.a); mix(m->a);
  typeof(((typeof(*m) *)0)->list) l = &n; mix(l->a);
  const typeof(((struct m *)0)->c[0]) *q = n.c; mix(q[1]);
  __typeof__(n.c) arr = { 7, 8, 9 }; mix(arr[2]); mix(sizeof(typeof(n.c))); mix(sizeof(__typeof__(int[4])));
  ip p = &n.a; mix(*p); mix((typeof(n.c[0]))300); mix(y); mix(f(4)); mix(*px);
  typeof(int (*)(int)) fp = f; mix(fp(3)); typeof(f) *fq = f; mix(fq(1)); typeof(unsigned char) uc = 257; mix(uc);
  for (typeof(n.a) i = 0; i < 2; i++) mix(i); __auto_type z = 3.5; mix((int)(z * 2));
  { const struct m *mptr = (struct m *)&n.list; struct m *o = ({ const typeof(((struct m *)0)->list) *__mp = (void *)mptr; (struct m *)((char *)__mp - __builtin_offsetof(struct m, list)); }); mix(o == &n); }
  mix(({ typeof(3) _x = (3); typeof(4) _y = (4); (void)(&_x == &_y); _x > _y ? _x : _y; }));
  return 0;
}
