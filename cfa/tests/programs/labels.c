// Labels as values, jumps to them, and labels of blocks.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
enum { PUSH, ADD, MUL, DUP, JUMP, HALT };
static int run(const int *pc) {
  static const void *const table[] = { &&push, &&add, &&mul, [DUP] = &&dup, &&jump, [HALT] = &&halt };
  int stack[8], *top = stack;
  goto *table[*pc++];
push: *top++ = *pc++; goto *table[*pc++];
add: top--; top[-1] += *top; goto *table[*pc++];
mul: --top; top[-1] *= top[0]; goto *table[*pc++];
dup: *top = top[-1]; top++; goto *(table[*pc++]);
jump: if (--top, top[0] > 100) pc += *pc; pc++; goto *table[*pc++];
halt: return *--top;
}
static int choose(int x) {
  void *target = x > 10 ? &&big : &&small, *other = x ? target : (void *)&&small;
  int r = 0, rounds = 0;
  if (target == &&big && other != &&small || x == 3) r = 1000;
again:
  rounds++;
  { int fresh = x; goto * target; fresh++; }
small:
  r += 1;
  if (rounds < 3) { target = x == 3 ? &&big : &&small; goto again; }
  goto done;
big:
  r += 100;
  if (rounds == 1) { target = &&small; goto again; }
done:
  return r * 10 + rounds;
}
static int find(const int *a, int n, int v) {
  int first = ({ __label__ found, out; int i, r; for (i = 0; i < n; i++) if (a[i] == v) goto found; r = -1; goto out; found: r = i; out: r; });
  int second = ({ __label__ found, out; int i, r; for (i = first + 1; i < n; i++) if (a[i] == v) goto found; r = -1; goto out; found: r = i; out: r; });
  { __label__ out; if (first < 0) goto out; first += 7; out:; }
  if (second > 0) goto out;
  second = 50;
out:
  return first * 100 + second;
}
int main(void) {
  int code[] = { PUSH, 7, DUP, MUL, PUSH, 1, ADD, DUP, JUMP, 1, PUSH, 200, PUSH, 300, JUMP, 3, PUSH, 1, MUL, HALT };
  int a[5] = { 5, 6, 7, 6, 5 };
  mix(run(code)); code[1] = -3; mix(run(code)); mix(choose(11)); mix(choose(3)); mix(choose(0));
  mix(find(a, 5, 6)); mix(find(a, 5, 7)); mix(find(a, 5, 8)); mix(find(a, 4, 5));
  { int k = 3, m = 2; if (k&&m) mix(1); if (k &&m > 2) mix(2); mix((k) &&(m)); mix(k && &m); }
  return 0;
}
