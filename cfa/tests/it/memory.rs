// SPDX-License-Identifier: Apache-2.0
//! Objects in memory: programs whose results are those of compiled ones, on both machines. While they run it is checked
//! that no byte is accessed through two regions, and that regions of cells are accessed by cells.

use std::collections::BTreeMap;

use cfa::{EdgeId, ExprId, MachineModel, NodeId, Op, Program, RegionId, VarId};

/// What the programs begin with; `MIX(x)` in a program adds a value to the result.
const PRELUDE: &str = "unsigned long long observed; void mix(long long x) { observed = observed * 31 + x; }
void *malloc(unsigned long n); void *calloc(unsigned long a, unsigned long b); void free(void *p);\n";

/// A run of a program without inputs, on one flat memory.
struct Run<'p> {
    program: &'p Program,
    vars: BTreeMap<VarId, i128>,
    bytes: BTreeMap<u64, u8>,
    regions: BTreeMap<u64, RegionId>,
    next: u64,
}

impl Run<'_> {
    fn value(&self, expr: ExprId) -> i128 {
        cfa::eval(&self.program.exprs, expr, &mut |var| self.vars.get(&var).copied().unwrap_or(0))
            .expect("it is defined")
    }

    /// The bytes of an access; each belongs to the region of all accesses to it.
    fn access(&mut self, addr: ExprId, bits: u32, region: RegionId) -> std::ops::Range<u64> {
        let start = u64::try_from(self.value(addr)).expect("addresses are not negative");
        let range = start..start + u64::from(bits / 8);
        for byte in range.clone() {
            let other = *self.regions.entry(byte).or_insert(region);
            assert_eq!(other, region, "byte {byte} is accessed through two regions\n{}", self.program.dump());
        }
        if let Some(width) = self.program.region(region).width {
            assert!(width == bits && start % u64::from(width / 8) == 0, "{start} is no cell\n{}", self.program.dump());
        }
        range
    }

    fn function(&mut self, entry: NodeId, exit: NodeId) {
        let mut node = entry;
        while node != exit {
            let leaving = &self.program.node(node).leaving;
            let Some(mut edge) = leaving.first().copied() else { panic!("the run ends") };
            if let Op::Assume { cond, .. } = self.program.edge(edge).op
                && self.value(cond) == 0
            {
                edge = leaving[1];
            }
            self.edge(edge);
            node = self.program.edge(edge).dst;
        }
    }

    fn edge(&mut self, edge: EdgeId) {
        let program = self.program;
        let op = &program.edge(edge).op;
        match op {
            Op::Skip | Op::Assume { .. } | Op::Free { .. } => {}
            Op::Assign { var, value } => {
                let value = self.value(*value);
                self.vars.insert(*var, value);
            }
            Op::Havoc { var, .. } => {
                self.vars.insert(*var, 1);
            }
            Op::Load { var, addr, region } => {
                let ty = program.var(*var).ty;
                let range = self.access(*addr, ty.bits, *region);
                let value =
                    range.rev().fold(0, |value, at| value << 8 | i128::from(*self.bytes.get(&at).unwrap_or(&0)));
                self.vars.insert(*var, ty.wrap(value));
            }
            Op::Store { addr, value, region } => {
                let bits = program.exprs.ty(*value).bits;
                let value = self.value(*value);
                for (at, byte) in self.access(*addr, bits, *region).enumerate().map(|(i, at)| (at, value >> (8 * i))) {
                    self.bytes.insert(at, (byte & 255) as u8);
                }
            }
            Op::Alloc { var, size, .. } => {
                self.vars.insert(*var, i128::from(self.next));
                let size = u64::try_from(self.value(*size)).expect("sizes are not negative");
                self.next = (self.next + size + 16).next_multiple_of(16);
            }
            Op::Zero { addr, size, .. } => {
                let start = u64::try_from(self.value(*addr)).expect("addresses are not negative");
                let size = u64::try_from(self.value(*size)).expect("sizes are not negative");
                self.bytes.extend((start..start + size).map(|at| (at, 0)));
            }
            Op::Call { callee, args, result } => {
                let function = program.func(*callee);
                let body = function.body.expect("called functions have bodies");
                let args: Vec<i128> = args.iter().map(|arg| self.value(*arg)).collect();
                let scope = cfa::Scope::Local(*callee);
                let mut outer = self.vars.clone();
                self.vars.extend(function.params.iter().copied().zip(args));
                self.function(body.entry, body.exit);
                let returned = function.ret.map(|ret| self.vars.get(&ret).copied().unwrap_or(0));
                outer.retain(|var, _| program.var(*var).scope == scope);
                self.vars.extend(outer);
                if let (Some(result), Some(value)) = (result, returned) {
                    self.vars.insert(*result, value);
                }
            }
            Op::Unsupported { .. } => panic!("{}", program.display_op(op)),
        }
    }
}

/// The value of `observed` at the end.
fn observed(text: &str, machine: MachineModel) -> u64 {
    let program = crate::try_load(text, machine).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let next = program.heap_start();
    let mut run =
        Run { program: &program, vars: BTreeMap::new(), bytes: BTreeMap::new(), regions: BTreeMap::new(), next };
    let body = program.func(program.main).body.expect("main has a body");
    run.function(program.entry, body.exit);
    let var = program.vars.iter().position(|var| &*var.name == "observed").expect("it is declared");
    run.vars[&VarId::new(var)] as u64
}

fn check(name: &str, text: &str, narrow: u64, wide: u64) {
    let text = format!("{PRELUDE}{}", text.replace("MIX(", "mix("));
    assert_eq!(observed(&text, MachineModel::Ilp32), narrow, "{name} on ILP32");
    assert_eq!(observed(&text, MachineModel::Lp64), wide, "{name} on LP64");
}

/// Programs and their results on ILP32 and LP64, as gcc 12 compiles them.
const CASES: [(&str, &str, u64, u64); 14] = [
    (
        "arrays",
        r#"int g[4] = {1, 2, 3}; short s[2][3] = {{1, 2}, {3, 4, 5}}; int sum(int a[], int n) { int t = 0; for (int i = 0; i < n; i++) t += a[i]; return t; }
int row(short r[][3], int i) { return r[i][0] * 100 + r[i][1] * 10 + r[i][2]; }
int main(void) { int l[5] = {[1] = 7, 8, [4] = 9}; char c[] = "abc"; int n = 3; g[n] = sum(l, 5); MIX(g[3]); l[n]++; ++l[n]; MIX(l[n]--); MIX(l[n]);
 MIX(row(s, 1)); MIX(2[g]); MIX(c[1] + sizeof(c)); MIX(sizeof(s) + sizeof(s[0]) + sizeof(l) / sizeof(*l)); l[0] += g[1] <<= 2; MIX(l[0]); MIX(sum(&l[1], 3)); MIX(*(*(s + 1) + 2)); return 0; }"#,
        0x242f9cc58fc2b,
        0x242f9cc58fc2b,
    ),
    (
        "vla",
        r#"int total(int n, int m, int a[n][m]) { int t = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) t += a[i][j] * (i + 1); return t; }
int main(void) { int n = 3; for (int k = 1; k < 4; k++) { int a[n][k]; int *p = &a[0][0]; n++; for (int i = 0; i < (n - 1) * k; i++) p[i] = i;
 MIX(sizeof(a)); MIX(sizeof a[0]); MIX(total(n - 1, k, a)); MIX((char *)(a + 1) - (char *)a); int (*q)[k] = a; q++; MIX(q[0][k - 1]); } MIX(sizeof(int[n])); return 0; }"#,
        0x8d49980d6f61435a,
        0x8d49980d6f61435a,
    ),
    (
        "structs",
        r#"struct in { short a; char b; }; struct out { struct in x[2]; long l; struct in y; } go = { {{1, 2}, {3}}, 4, .y.b = 5 }; struct { struct in i; int k; } an = { .k = 2, .i = {7, 8} };
struct out make(int k) { struct out o = go; o.x[1].a += k; o.l = k; return o; } int use(struct out o, struct in i) { o.l++; return o.x[0].a + o.x[1].a * 2 + o.l * 3 + o.y.b + i.a * 5 + i.b; }
int main(void) { struct out o = make(10), *p = &o; struct in i = {1}, j; j = i; j.b = 9; MIX(use(o, j)); MIX(o.l); p->x[0] = j; MIX(p->x[0].b); MIX((*p).y.b); MIX(sizeof(struct out)); MIX(make(3).x[1].a);
 o = o.l > 5 ? make(1) : go; MIX(o.l); struct in k = (i.a ? j : i); MIX(k.b); MIX(an.i.a + an.k); struct out z = { .l = 3, go.x[1].a }; MIX(z.l * 10 + z.y.a); (void)p; MIX(((struct in){ 4, 5 }).b); return 0; }"#,
        0xe701f213f27898,
        0xe701f3bb2452a0,
    ),
    (
        "pointers",
        r#"int a[4] = {5, 6, 7, 8}; void swap(int *x, int *y) { int t = *x; *x = *y; *y = t; } void set(int **p, int *q) { *p = q; } int *at(int i) { return a + i; }
int main(void) { int x = 1, y = 2, *p = a, **pp = &p; swap(&x, &y); MIX(x * 10 + y); MIX(*p++); MIX(*++p); MIX((*p)++); MIX(*p); set(&p, &a[3]); MIX(p - a); MIX(p > a); MIX(*--*pp); *at(0) += 3; MIX(a[0]); p -= 2; MIX(p == a);
 MIX(&a[3] - p); MIX(p[1]); MIX(!p + (p ? 1 : 2)); void *v = p; v += 4; MIX(*(int *)v); unsigned long u = (unsigned long)&a[2]; MIX(*(int *)u); MIX((char *)&a[1] - (char *)a); int (*q)[4] = &a; MIX((*q)[2]); int *e = &a[4]; MIX(e[-1]); return 0; }"#,
        0xa58506368a3a720f,
        0xa58506368a3a720f,
    ),
    (
        "addresses as numbers",
        r#"int a[4] = {1, 2, 3, 4}, b[4], x = 1, y = 2; struct n { long link; int v; } n0, n1, n2;
int main(void) { long k = (long)&x ^ (long)&y; *(int *)(k ^ (long)&y) = 7; MIX(x); long m = -(long)a; ((int *)-m)[1] = 5; m = ~(long)b; ((int *)~m)[1] = 6; MIX(a[1] * 10 + b[1]);
 int *e = a - 1; int i = 3; e[i] = 4; MIX(a[2]); int *f = b + 50; f[i - 50] = 3; MIX(b[3]); static int *g = a - 40; i = 41; g[i] = 1; MIX(a[1]);
 n0.v = 1; n1.v = 2; n2.v = 3; n0.link = (long)&n1; n1.link = (long)&n0 ^ (long)&n2; n2.link = (long)&n1; long p = 0, c = (long)&n0; while (c) { struct n *q = (struct n *)c; MIX(q->v); q->v = 0; long t = q->link ^ p; p = c; c = t; } MIX(n1.v + n2.v); return 0; }"#,
        0x6d59fe6e46f,
        0x6d59fe6e46f,
    ),
    (
        "lists",
        r#"struct n { int v; struct n *next, **back; }; struct n *push(struct n *l, int v) { struct n *n = malloc(sizeof(*n)); n->v = v; n->next = l; n->back = 0; return n; }
int main(void) { struct n *l = 0; for (int i = 0; i < 6; i++) l = push(l, i * i); struct n **p = &l; while (*p) { if ((*p)->v % 2) { struct n *d = *p; *p = d->next; free(d); } else { (*p)->back = p; p = &(*p)->next; } }
 for (struct n *i = l; i; i = i->next) { MIX(i->v); MIX((*i->back)->v); } struct n *r = 0; while (l) { struct n *t = l->next; l->next = r; r = l; l = t; } MIX(r->v * 100 + r->next->v); int *z = calloc(4, sizeof(int)); MIX(z[3]); z[2] = 5; MIX(z[2] + z[1]); return 0; }"#,
        0xcd09cc61c89,
        0xcd09cc61c89,
    ),
    (
        "unions",
        r#"union u { double d; struct { unsigned lo, hi; } w; unsigned char b[8]; }; union v { double d; struct { unsigned lo, hi; } w; long long q; short h; }; typedef union { float f; unsigned u; int i; } F;
struct t { int tag; union { int i; char c; short s[2]; } u; } t1 = { 1, { .c = 3 } }; union { int x; char y; } gu = { 0x01020304 };
int main(void) { union u a; a.d = 1.5; MIX(a.w.hi); MIX(a.b[7]); a.b[6] ^= 1; MIX(a.w.hi); union v b; b.d = -2.0; MIX(b.w.hi); b.w.lo = 7; MIX(b.q); b.h = -1; MIX(b.w.lo); MIX(b.q); F f = { 1.0f }; MIX(f.u); f.u += 1; MIX(f.f > 1.0f); f.i = -f.i; MIX(f.u);
 t1.u.s[1] = 5; MIX(t1.u.i); MIX(gu.y); struct t t2 = t1; MIX(t2.u.c + t2.tag); union v c = b, d; d = c; MIX(d.q == b.q); MIX(sizeof(union u) + sizeof(struct t)); return 0; }"#,
        0xb635dfabc8bb2b1c,
        0xb635dfabc8bb2b1c,
    ),
    (
        "bitfields",
        r#"struct f { unsigned a : 3; int b : 5; unsigned c : 12; signed char d : 4; _Bool e : 1; unsigned long long g : 40; } gf = { 9 & 7, -3, 100, 2, 1, 5 }; struct p { char x; int y : 4; int z : 30; short w : 9; };
int main(void) { struct f f = { 1, 2, 3 }; f.a += 9; MIX(f.a); f.b = -17 + 32; MIX(f.b); f.b--; MIX(f.b); MIX(f.c = 5000); f.d = 7; MIX(f.d++); MIX(f.d); f.e = 4; MIX(f.e); f.g = 1; f.g <<= 39; MIX(f.g >> 35); MIX(sizeof(f)); MIX(sizeof(struct p));
 struct f h = gf, *q = &h; MIX(h.a * 1000 + h.b * 100 + h.c + h.d + h.e + (unsigned)h.g); q->c ^= 0xfff; MIX(q->c); MIX(-q->a < 0); struct p p = { 1, -2, 3, -4 }; MIX(p.y * p.z + p.w); MIX(f.a - 5 < 0); return 0; }"#,
        0xc43605ea6b53b552,
        0xc43605eb3eeca256,
    ),
    (
        "functions",
        r#"int add(int a, int b) { return a + b; } int sub(int a, int b) { return a - b; } int mul(int a, int b) { return a * b; } int (*ops[3])(int, int) = { add, &sub, mul }; typedef int (*op)(int, int);
struct d { op f; int k; } ds[] = { { mul, 3 }, { add, 4 } }; op pick(int i) { return i ? sub : mul; } int apply(op f, int x) { return f ? f(x, 2) : -1; } void inc(int *p) { ++*p; } int fact(int n) { int l = n, *p = &l; return n ? *p * fact(n - 1) : 1; }
int main(void) { for (int i = 0; i < 3; i++) MIX(ops[i](7, 3)); MIX((*ops[1])(1, 2)); MIX(ds[1].f(ds[0].k, ds[1].k)); MIX(pick(1)(5, 6)); MIX(apply(add, 3)); MIX(apply(0, 3)); void (*q)(int *) = inc; int v = 4; (**q)(&v); MIX(v); MIX(fact(5)); MIX(ops[0] == add); return 0; }"#,
        0x1d8eeed4ad96d8,
        0x1d8eeed4ad96d8,
    ),
    (
        "strings",
        r#"char *names[] = { "one", "two", "three" }; char buf[6] = "ab", two[2] = "xyz"; const char *p = "hello" " world"; struct { char n[4]; char *s; } st[2] = { { "abc", "q" }, { { 'd' }, "r\n\x41" } };
unsigned long len(const char *s) { const char *e = s; while (*e) e++; return e - s; }
int main(void) { MIX(len(names[2])); MIX(names[1][2]); MIX(len(p)); MIX(buf[2] + buf[5] + sizeof(buf)); MIX(two[1]); MIX("abc"[1]); MIX(sizeof("abc")); MIX(st[0].n[3] + st[1].n[0] + st[1].s[2]); char l[] = { "xy" }; l[0]++; MIX(l[0] + sizeof(l)); char *q = "lit"; MIX(*q++ + *q); MIX(len(__func__)); return 0; }"#,
        0x1905344b19959c,
        0x1905344b19959c,
    ),
    (
        "casts",
        r#"int w[2] = { 0x11223344, -2 }; struct h { int t; }; struct d { struct h h; int v; }; int kind(struct h *h) { return h->t == 1 ? ((struct d *)h)->v : -1; }
int main(void) { unsigned char *b = (unsigned char *)w; MIX(b[0] * 256 + b[3]); ((short *)w)[1] = 7; MIX(w[0]); struct d d = { { 1 }, 42 }; MIX(kind(&d.h)); float f = 2.5f; MIX(*(unsigned *)&f); *(unsigned *)&f |= 0x80000000u; MIX(f < 0); long long q = -1; MIX(((int *)&q)[1]);
 int *c = &d.v; struct d *e = (struct d *)((char *)c - __builtin_offsetof(struct d, v)); MIX(e->h.t); MIX((unsigned long)&((struct d *)0)->v); char x = 5; *(unsigned char *)&x = 255; MIX(x); MIX(*(long long *)w == 0); return 0; }"#,
        0x193ac47b7cf70f4b,
        0x193ac47b7cf70f4b,
    ),
    (
        "init",
        r#"struct a { int x, y; }; struct b { struct a p[2]; int z[3]; struct a *q; }; struct a ga[] = { 1, 2, 3, 4, { 5 }, [5].y = 6 }; struct b gb = { { { 1 }, 2, 3 }, .z = { [2] = 4 }, .q = &ga[1] }; int m[][2] = { 1, 2, 3 }, big[100] = { [3 ... 5] = 2, 9 }; int *ptrs[3] = { &m[0][1], 0, big + 3 }; int tent[3]; int tent[3]; extern int later[]; int later[2] = { 8, 9 };
int f(int k) { static int c = 10, arr[3] = { 1 }; c += k; arr[1] += c; return c + arr[1]; }
int main(void) { MIX(sizeof(ga) / sizeof(*ga)); MIX(ga[5].y * 10 + ga[2].x); MIX(gb.p[1].x * 10 + gb.p[1].y + gb.z[2] + gb.q->y); MIX(m[1][0] + m[1][1] + sizeof(m)); MIX(big[5] * 10 + big[6]); MIX(*ptrs[0] + *ptrs[2] + !ptrs[1]); int one = f(1); MIX(one + f(2)); MIX(tent[2] + later[1]);
 for (int i = 0; i < 3; i++) { int l[20] = { i, [10] = i * 2 }; struct a s = { .y = i }, t[2] = { s, { 1, s.y } }; MIX(l[10] + l[11] + s.x); MIX(t[0].y * 10 + t[1].y); l[11] = 5; s.x = 3; } struct a *cl = &(struct a){ 3, 4 }; MIX(cl->y); int *ca = (int[]){ 1, 2, 3 }; MIX(ca[2]); return 0; }"#,
        0x6c3cbaa876a91e9f,
        0x6c3cbaa876a91e9f,
    ),
    (
        "jumps",
        r#"int main(void) { int i = 0; again: { int a[2] = { i, i + 1 }; int *p = &a[1]; MIX(*p); i++; if (i < 3) goto again; } int n = 0; for (;;) { int k = n, *q = &k; ++*q; n = k; if (n > 3) break; } MIX(n);
 switch (n) { int x; case 4: x = 5; int *y = &x; *y += 1; MIX(x); } int r = 0; struct { int v; } s = { 2 }; while (s.v--) r += s.v + 1; MIX(r); return 0; }"#,
        0x1d2747f,
        0x1d2747f,
    ),
    (
        "recursion",
        r#"struct t { int l, r; }; int depth(int n, int *up) { int here = n; int *p = &here; struct t s = { n, 0 }, *q = &s; int a[2] = { n, 0 }; if (n > 0) { a[1] = depth(n - 1, &here); q->r = here; } *up += n; return a[0] * 100 + a[1] + s.r + *p; }
struct t both(int n) { struct t x = { n, n + 1 }; if (n > 0) { struct t y = both(n - 1); x.l += y.r; x.r += y.l; } return x; } int main(void) { int x = 1; MIX(depth(4, &x)); MIX(x); MIX(both(5).l); return 0; }"#,
        0xf22b5,
        0xf22b5,
    ),
];

#[test]
fn programs_with_memory_compute_what_compiled_ones_do() {
    for (name, text, narrow, wide) in CASES {
        check(name, text, narrow, wide);
    }
}

/// The widths of the regions that an object lies in.
fn widths(program: &Program, object: &str) -> Vec<Option<u32>> {
    let object = program.objects.iter().find(|other| &*other.name == object).expect("it is declared");
    program.regions.iter().filter(|region| region.objects.contains(&object.addr)).map(|region| region.width).collect()
}

#[test]
fn positions_that_are_known_later_make_cells() {
    // `get` comes before the values of `at` and `base`.
    let text = format!(
        "{PRELUDE}{}",
        "int g[3]; short h[4]; unsigned char at; short *base;
int get(void) { return g[at] + base[at]; } void set(int v) { g[at] = v; base[at] = v; }
int main(void) { at = 1; base = h; set(7); at = 2; base = h + 1; set(8); mix(get()); mix(g[1]); return 0; }"
    );
    for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
        let program = crate::try_load(&text, machine).expect("it can be read");
        assert_eq!((widths(&program, "g"), widths(&program, "h")), (vec![Some(32)], vec![Some(16)]));
        assert_eq!(observed(&text, machine), 16 * 31 + 7);
    }
}

#[test]
fn positions_without_a_value_make_bytes() {
    // Nothing returns from `never`, and nothing is known of what it gives.
    let text = "int g[3]; int never(void) { for (;;) ; } int main(void) { g[1] = 2; g[0] = g[never()]; return g[1]; }";
    let program = crate::try_load(text, MachineModel::Ilp32).expect("it can be read");
    assert_eq!(widths(&program, "g"), [None]);
}

#[test]
fn addresses_that_are_known_later_are_no_inputs() {
    // `main` comes before the values of the members, through the one of which it reads at a position from outside.
    let text = "void *malloc(unsigned long); unsigned nondet_uint(void);
struct buffer { char *bytes; unsigned count; } b;
int main(void) { void make(struct buffer *); make(&b); unsigned at = nondet_uint(); return at < b.count ? b.bytes[at] : 0; }
void make(struct buffer *b) { b->count = 9; b->bytes = malloc(9); b->bytes[0] = 1; }";
    for (machine, pointer) in [(MachineModel::Ilp32, 32), (MachineModel::Lp64, 64)] {
        let program = crate::try_load(text, machine).expect("it can be read");
        assert_eq!(widths(&program, "b"), [Some(pointer), Some(32)]);
        let foreign = text.replace("malloc(9)", "other()").replace("int main", "char *other(void); int main");
        let program = crate::try_load(&foreign, machine).expect("it can be read");
        assert_eq!(widths(&program, "b"), [None]);
    }
}
