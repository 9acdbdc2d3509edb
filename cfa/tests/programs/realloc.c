// Objects on the heap that grow and shrink.
typedef unsigned long size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
unsigned checksum;
static void add(unsigned x) { checksum = checksum * 31 + x; }
struct pair { char key; int value; struct pair *next; };
struct vector { int *items; size_t count, room; };
static void push(struct vector *v, int item) {
  if (v->count == v->room) {
    v->room = v->room ? 2 * v->room : 1;
    v->items = (int *)realloc(v->items, v->room * sizeof *v->items);
  }
  v->items[v->count++] = item;
}
int main(void) {
  struct vector v = {0, 0, 0};
  for (int i = 0; i < 20; i++) push(&v, i * i);
  for (size_t i = 0; i < v.count; i++) add(v.items[i]);
  v.items = realloc(v.items, 3 * sizeof(int));
  for (int i = 0; i < 3; i++) add(v.items[i]);
  struct pair *pairs = calloc(2, sizeof *pairs);
  pairs[1].key = 'k', pairs[1].value = 5;
  pairs = realloc(pairs, 5 * sizeof *pairs);
  pairs[4].value = 9, pairs[4].next = 0;
  for (int i = 0; i < 2; i++) add(pairs[i].key), add(pairs[i].value), add(pairs[i].next == 0);
  char *text = malloc(3);
  text[0] = 'a', text[1] = 'b', text[2] = 0;
  for (int i = 3; i < 9; i++) {
    text = realloc(text, i + 1);
    text[i - 1] = '0' + i, text[i] = 0;
  }
  for (char *c = text; *c; c++) add(*c);
  void *any = realloc(0, 7);
  any = realloc(any, 70);
  free(0), free(any), free(text), free(pairs), free(v.items);
  return 0;
}
