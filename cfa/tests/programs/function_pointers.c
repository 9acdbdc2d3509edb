// Tables of function pointers, functions that return them, parameters of function type.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
typedef int (*op)(int, int);
typedef void (*act)(void);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static const struct { const char *name; op f; char sym; } table[] = { { "add", add, '+' }, { "sub", &sub, '-' }, { .f = mul, .name = "mul", .sym = '*' } };
static op choose(int i) { return table[i].f; }
int (*pick(int i))(int, int) { return i ? *add : **sub; }
static int apply(int f(int, int), int a, int b) { return f(a, b); }
static int state; static void inc(void) { state++; } static void dbl(void) { state *= 2; }
act acts[] = { inc, dbl, inc, 0 };
int (*(*pp)(int))(int, int) = pick;
typedef int fn(int, int);
fn mul2; int mul2(int a, int b) { return a * b * 2; }
struct ops { fn *f; struct ops *next; };
int main(void) {
  for (int i = 0; i < 3; i++) { mix(table[i].f(7, i + 2)); mix(choose(i)(3, 4)); mix((*choose(i))(9, 4)); mix((***table[i].f)(1,2)); mix(table[i].sym); mix(table[i].name[1]); }
  mix(pick(1)(2, 3)); mix(pp(0)(2, 3)); mix(apply(mul, 6, 7)); mix(apply(&mul, 6, 7));
  for (act *a = acts; *a; a++) (*a)();
  mix(state);
  struct ops o2 = { mul2, 0 }, o1 = { add, &o2 };
  for (struct ops *o = &o1; o; o = o->next) mix(o->f(10, 20));
  mix(choose(1) == sub); mix(choose(1) != sub); mix(!choose(1)); mix((choose(0) ? choose(0) : sub)(8, 3));
  return 0;
}
