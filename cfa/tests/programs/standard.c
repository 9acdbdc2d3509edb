// Functions of the standard library with a model of their own, and flexible array members with initialisers.
typedef struct { int quot, rem; } div_t;
typedef unsigned long size_t;
div_t div(int, int);
int atexit(void (*)(void));
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
char *strtok(char *, const char *);
int *__errno_location(void);
const unsigned short **__ctype_b_loc(void);
unsigned checksum;
struct list { int count; short items[]; };
static struct list list = {6, {1, 2, 3, 4, 5, 6}};
static int behind[4];
static void add(unsigned x) { checksum = checksum * 31 + x; }
static void last(void) { add(1); }
static void first(void) { add(2); }
static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}
int main(void) {
  int numbers[] = {5, 2, 9, -1, 7}, key = 7;
  qsort(numbers, 5, sizeof numbers[0], compare);
  for (int i = 0; i < 5; i++) add(numbers[i]);
  int *found = bsearch(&key, numbers, 5, sizeof key, compare);
  add(*found);
  div_t d = div(-17, 5);
  add(d.quot), add(d.rem);
  *__errno_location() = 7;
  add(*__errno_location());
  for (int c = -1; c < 128; c++) add((*__ctype_b_loc())[c]);
  char text[] = ",a;bc,,d";
  for (char *part = strtok(text, ",;"); part; part = strtok(0, ",;")) add(*part);
  for (int i = 0; i < list.count; i++) add(list.items[i]);
  for (int i = 0; i < 4; i++) add(behind[i]);
  atexit(last), atexit(first);
  return 0;
}
