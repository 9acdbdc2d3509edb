// Arrays, structures, unions, pointers, strings, heap, function pointers.
typedef unsigned long size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);

unsigned checksum;

void mix(unsigned x) { checksum = checksum * 31u + x; }

struct point { short x; int y; char tag; };
struct node { struct node *next; struct point p; long value; };
union bits { float f; unsigned u; unsigned char b[4]; double d; struct { short lo, hi; } s; };
struct flags { unsigned a : 3; int b : 5; unsigned c : 17; unsigned long d : 40; };
struct nest { int n; struct { int a[3]; struct point q; } in; struct nest *self; };

int table[10] = { 1, 2, [5] = 7, 8 };
static const char *names[] = { "alpha", "beta", "", "delta\0x" };
struct point origin = { .y = 4, .x = -3 };
static const struct point grid[2][2] = { { { 1, 2, 'a' }, { 3 } }, [1][1] = { 9, 8, 7 } };
char text[] = "hello";

int add(int a, int b) { return a + b; }
int sub(int a, int b) { return a - b; }
int (*ops[2])(int, int) = { add, sub };

struct point moved(struct point p, int by) {
    p.x += by;
    p.y -= by;
    return p;
}

void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

void sort(int *a, int lo, int hi) {
    if (lo >= hi) return;
    int pivot = a[hi], at = lo;
    for (int i = lo; i < hi; i++)
        if (a[i] < pivot) swap(&a[i], &a[at++]);
    swap(a + at, a + hi);
    sort(a, lo, at - 1);
    sort(a, at + 1, hi);
}

int depth(int n) {
    int local[4] = { n, n + 1 };
    int *p = &local[1];
    if (n > 0) *p += depth(n - 1);
    return local[0] + local[1] + local[3];
}

int main(void) {
    for (int i = 0; i < 10; i++) mix(table[i]);
    for (int i = 0; i < 4; i++) {
        mix(strlen(names[i]));
        for (const char *c = names[i]; *c; c++) mix(*c);
    }
    mix(origin.x + origin.y + origin.tag);
    for (int i = 0; i < 4; i++) mix(grid[i / 2][i % 2].x * 5 + grid[i / 2][i % 2].y + grid[i / 2][i % 2].tag);

    int a[40];
    for (int i = 0; i < 40; i++) a[i] = (i * 7919) % 101 - 50;
    sort(a, 0, 39);
    for (int i = 0; i < 40; i++) mix(a[i]);

    struct node *list = 0;
    for (int i = 0; i < 20; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = list;
        n->value = i * 1000003L;
        n->p = moved(origin, i);
        list = n;
    }
    struct node **link = &list;
    while (*link) {
        if ((*link)->value % 3 == 0) {
            struct node *dead = *link;
            *link = dead->next;
            free(dead);
        } else {
            link = &(*link)->next;
        }
    }
    for (struct node *n = list; n != 0; n = n->next) mix(n->value + n->p.x * n->p.y);

    union bits u;
    u.d = 3.25;
    mix(u.u);
    u.f = -1.5f;
    mix(u.u);
    for (int i = 0; i < 4; i++) mix(u.b[i]);
    u.b[2] = 17;
    mix((int)(u.f * 1000));
    mix(u.s.hi);

    struct flags f = { 5, -7, 100000, 1234567890123 };
    f.a += 5;
    f.b -= 12;
    f.c <<= 1;
    f.d *= 3;
    mix(f.a);
    mix(f.b);
    mix(f.c);
    mix(f.d >> 20);

    for (int i = 0; i < 6; i++) mix(ops[i & 1](i * 10, i));
    int (*chosen)(int, int) = checksum & 1 ? add : &sub;
    mix((*chosen)(8, 3));

    struct nest one = { 1, { { 1, 2, 3 }, { 4, 5, 6 } }, &one }, two;
    two = one;
    two.self->in.a[2] = 99;
    two.in.q = moved(two.in.q, 2);
    mix(one.in.a[2] * 100 + two.in.a[2] * 10 + two.in.q.x + two.self->in.q.x);

    int m[3][4];
    memset(m, 0, sizeof m);
    for (int i = 0; i < 12; i++) (&m[0][0])[i] += i * i;
    int (*row)[4] = m + 1;
    mix(row[1][2] + (*row)[3] + *(*(m + 2) + 1));
    for (int n = 1; n < 6; n++) {
        int vla[n];
        for (int i = 0; i < n; i++) vla[i] = i * n;
        mix(vla[n - 1] + sizeof vla);
    }
    char copy[8];
    memcpy(copy, text, sizeof text);
    copy[0] ^= 32;
    for (char *p = copy; p < copy + 6; p++) mix(*p);
    mix(&copy[5] - copy);
    short *cells = calloc(10, sizeof(short));
    for (short *p = cells; p != cells + 10; ++p) *p += (p - cells) * 3;
    mix(cells[9] + cells[4]);
    mix(*(int *)(cells + 2));
    free(cells);
    mix(depth(5));
    int x = 5, *px = &x, **ppx = &px;
    **ppx = 6;
    mix(x + (px == *ppx) + !px);
    struct point ps[3] = { moved(origin, 1), origin }, *pp = ps;
    mix((pp++)->x + (++pp)->y + pp[-1].x);
    return checksum % 251;
}
