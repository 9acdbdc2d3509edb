// Compound literals of structures, arrays and scalars, in loops and outside of functions.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct p { int x, y; };
static int sum(const struct p *p, int n) { int s = 0; while (n--) s = s * 3 + p[n].x - p[n].y; return s; }
int *gp = (int[]){ 1, 2, 3 };
static struct p twice(struct p p) { return (struct p){ .x = p.x * 2, .y = p.y * 2 }; }
int main(void) {
  mix(sum((struct p[]){ { 1, 2 }, { 3, 4 }, [4] = { .y = 9 } }, 5));
  mix(twice((struct p){ 5, .y = 6 }).y);
  struct p *q = &(struct p){ 8, 9 };
  q->x++;
  mix(q->x); mix(gp[2]); mix(((int){ 5 }) + 1); mix((char[]){ "hello" }[1]); mix(sizeof (int[]){1,2,3,4});
  int *a = (int[3]){ [1] = 4 };
  for (int i = 0; i < 3; i++) { int *b = &(int){ i }; *b += a[i]; mix(*b); }
  return 0;
}
