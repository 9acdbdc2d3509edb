// Flexible array members and arrays of length zero.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
typedef unsigned long size_t2;
void *malloc(unsigned long); void free(void *);
struct fam { int n; char kind; short data[]; };
struct zero { int n; int data[0]; };
struct old { int n; int data[1]; };
int main(void) {
  struct fam *f = malloc(sizeof *f + 5 * sizeof f->data[0]);
  f->n = 5; f->kind = 'k';
  for (int i = 0; i < f->n; i++) f->data[i] = i * i - 3;
  int s = 0; for (short *p = f->data; p < f->data + f->n; ++p) s += *p;
  mix(s); mix(f->data[4]);
  struct zero *z = malloc(sizeof(struct zero) + 12); z->n = 3; for (int i = 0; i < 3; i++) z->data[i] = i + 7; mix(z->data[2]);
  struct old *o = malloc(sizeof(struct old) + 8); for (int i = 0; i < 3; i++) o->data[i] = i + 17; mix(o->data[2]);
  mix(sizeof(struct fam)); mix(sizeof(struct zero)); mix(sizeof(struct old));
  mix((char *)f->data - (char *)f);
  free(f); free(z); free(o);
  return 0;
}
