// Switches, casts and pointers as CIL prints them.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
struct ldv_s { int state; union { unsigned char data[8]; unsigned int dw[2]; } u; };
typedef struct ldv_s ldv_t; typedef ldv_t *ldv_p; typedef unsigned char u8; typedef unsigned long ulong_t;
enum hrtimer_restart { HRTIMER_NORESTART = 0, HRTIMER_RESTART = 1 } ;
static enum hrtimer_restart fn(ldv_p p) { switch ((int )p->state) { case 0: goto case_0; case 1: goto case_1; default: goto switch_default; if (0) { case_0: p->state = 1; return ((enum hrtimer_restart )1); case_1: p->state = 2; goto switch_break; switch_default: ; return (0); } else { switch_break: ; } } mix(123); return (HRTIMER_NORESTART); }
static void wr(void *port, u8 val) { *((u8 volatile *)port) = val; }
static __inline__ ulong_t rd(void const *p) { return ((ulong_t )*((unsigned int const volatile *)p)); }
static int cmp(void const *a, void const *b) { return *(int const *)a - *(int const *)b; }
static void bubble(void *base, int n, int w, int (*c)(void const *, void const *)) { char *p = base; for (int i = 0; i < n; i++) for (int j = 0; j + 1 < n; j++) if (c(p + j * w, p + (j + 1) * w) > 0) for (int k = 0; k < w; k++) { char t = p[j * w + k]; p[j * w + k] = p[(j + 1) * w + k]; p[(j + 1) * w + k] = t; } }
int main(void) {
  ldv_t s = { 0, { { 1, 2, 3 } } }; ldv_p p = &s;
  mix(fn(p)); mix(fn(p)); mix(fn(p)); mix(p->state);
  wr(&p->u.data[3], 0xfe); mix(rd(p->u.dw)); mix((unsigned)((unsigned long)&p->u.dw[1] - (unsigned long)p));
  int a[5] = { 5, 3, 9, -1, 4 }; bubble(a, 5, sizeof a[0], cmp); for (int i = 0; i < 5; i++) mix(a[i]);
  void *vp = a; mix(*((int *)vp + 2)); vp += 4; mix(*(int *)vp); int (*row)[2] = (int (*)[2])a; mix(row[1][0]); mix((*(row + 1))[1]);
  char *e = (char *)(a + 5); mix(e - (char *)a); mix((int *)e - a); mix(&a[4] > &a[2]); 
  { int i = 4; i = i++ + 1; int x[2] = {0}; int *q = x; *q++ = 7; *q = *(q - 1) + 1; mix(x[1]); mix(*--q); mix((*q)--); mix(-*q); mix(!*q); }
  unsigned long ul = (unsigned long)-1; mix(ul >> 16); mix((u8)ul); mix((signed char)(u8)200); mix((short)70000); 
  mix(2);
  return 0;
}
