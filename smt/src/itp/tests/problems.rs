// SPDX-License-Identifier: Apache-2.0
//! Loops of well-known small programs, unrolled: each problem is an infeasible path whose inner cuts are one loop head.

use super::*;

/// A path and its name.
pub(super) struct Problem {
    pub(super) name: String,
    pub(super) ctx: Ctx,
    pub(super) query: PathQuery,
}

/// Builds the blocks of a path that unrolls a loop so many times.
type Build = fn(&mut Ctx, usize) -> Vec<Vec<Code>>;

/// The programs with the numbers of unrollings to try.
const PROGRAMS: &[(&str, Build, &[usize])] = &[
    ("counters", counters, &[2, 10]),
    ("lock", lock, &[1, 4]),
    ("locks5", locks5, &[1, 3]),
    ("states", states, &[2, 5]),
    ("states2", states2, &[2, 4]),
    ("double", double, &[3, 8]),
    ("upto", upto, &[3, 8]),
    ("hundred", hundred, &[2, 6]),
    ("xy50", xy50, &[2, 6]),
    ("jm2006", jm2006, &[2, 4]),
    ("carry", carry, &[1, 3]),
    ("either", either, &[2, 4]),
    ("noise", noise, &[2, 5]),
    ("front", front, &[3]),
    ("back", back, &[3]),
    ("lag", lag, &[3, 6]),
    ("branches", branches, &[2, 4]),
];

/// The programs about machine arithmetic.
const BIT_PROGRAMS: &[(&str, Build, &[usize])] =
    &[("even", even, &[2, 8]), ("mask", mask, &[2, 5]), ("nowrap", nowrap, &[2, 6]), ("shift", shift, &[2, 4])];

/// All problems of a mode.
pub(super) fn all(mode: Mode) -> Vec<Problem> {
    let bits = matches!(mode, Mode::Signed(_) | Mode::Unsigned(_));
    let programs = PROGRAMS.iter().chain(if bits { BIT_PROGRAMS } else { &[] });
    programs.flat_map(|&(name, build, counts)| counts.iter().map(move |&n| make(mode, name, build, n))).collect()
}

/// One problem by name.
pub(super) fn one(mode: Mode, name: &str, n: usize) -> Problem {
    let (_, build, _) =
        PROGRAMS.iter().chain(BIT_PROGRAMS).find(|(other, ..)| *other == name).expect("a program of this name");
    make(mode, name, *build, n)
}

fn make(mode: Mode, name: &str, build: Build, n: usize) -> Problem {
    let mut ctx = Ctx::new(mode);
    let blocks = build(&mut ctx, n);
    let query = ctx.query(&blocks);
    Problem { name: format!("{name}.{n}"), ctx, query }
}

/// `init`, then `body` n times, then `end`.
fn unrolled(init: Vec<Code>, body: Vec<Code>, n: usize, end: Vec<Code>) -> Vec<Vec<Code>> {
    let mut blocks = vec![init];
    blocks.extend(std::iter::repeat_n(body, n));
    blocks.push(end);
    blocks
}

fn ne(ctx: &mut Ctx, name: &str, n: i128) -> TermId {
    let is = ctx.is(name, n);
    ctx.not(is)
}

fn compare(ctx: &mut Ctx, a: &str, b: &str) -> TermId {
    let (a, b) = (ctx.var(a), ctx.var(b));
    ctx.eq(a, b)
}

fn at_most(ctx: &mut Ctx, a: &str, n: i128) -> TermId {
    let (a, n) = (ctx.var(a), ctx.num(n));
    ctx.le(a, n)
}

/// `x = y = 0; while (*) { x++; y++; } assert(x == y);`
fn counters(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let equal = compare(ctx, "x", "y");
    let differ = ctx.not(equal);
    let init = vec![ctx.set_num("x", 0), ctx.set_num("y", 0)];
    let body = vec![ctx.inc("x", 1), ctx.inc("y", 1)];
    unrolled(init, body, n, vec![ctx.assume(differ)])
}

/// The driver of the SLAM papers: the lock is free at the loop head unless `new == old`.
fn lock(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let same = compare(ctx, "new", "old");
    let again = ctx.not(same);
    let (request, locked) = (ne(ctx, "request", 0), ctx.is("lock", 1));
    let new = ctx.var("new");
    let init = vec![ctx.set_num("lock", 0)];
    let body = vec![
        ctx.set_num("lock", 1),
        ctx.set("old", new),
        ctx.havoc("request"),
        Code::If(request, vec![ctx.set_num("lock", 0), ctx.inc("new", 1)], vec![]),
        ctx.assume(again),
    ];
    unrolled(init, body, n, vec![ctx.assume(locked)])
}

/// `locks` of the competition: five flags guard five locks within one iteration.
fn locks5(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut take = Vec::new();
    let mut give = Vec::new();
    for i in 1..=5 {
        let (p, lk) = (format!("p{i}"), format!("lk{i}"));
        let wanted = ne(ctx, &p, 0);
        take.extend([ctx.havoc(&p), ctx.set_num(&lk, 0)]);
        take.push(Code::If(wanted, vec![ctx.set_num(&lk, 1)], vec![]));
        let held = ctx.is(&lk, 1);
        give.push(Code::If(wanted, vec![ctx.assume(held), ctx.set_num(&lk, 0)], vec![]));
    }
    let (wanted, free) = (ne(ctx, "p3", 0), ne(ctx, "lk3", 1));
    let mut blocks = Vec::new();
    for _ in 0..n {
        blocks.extend([take.clone(), give.clone()]);
    }
    blocks.extend([take, vec![ctx.assume(wanted), ctx.assume(free)]]);
    blocks
}

/// A protocol with states, as `s3_srvr`: the flag follows the states, and the last state needs a flag that nobody sets.
fn states(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let numbers = [8464, 8496, 8512, 8528, 8544, 8560, 8576, 8592, 8608, 8640, 8656, 8672];
    let mut body = vec![Code::Do(Stmt::Skip)];
    for (i, &number) in numbers.iter().enumerate().rev() {
        let here = ctx.is("state", number);
        let hit = ne(ctx, "hit", 0);
        let flag = ctx.is("flag", i as i128 % 4);
        let mut step = vec![ctx.havoc("input")];
        let busy = ne(ctx, "input", 0);
        let (skip_to, next) = (numbers[(i + 2) % numbers.len()], numbers[(i + 1) % numbers.len()]);
        step.push(Code::If(flag, vec![ctx.set_num("flag", i as i128 % 4 + 1)], vec![]));
        step.push(Code::If(
            busy,
            vec![ctx.set_num("state", next)],
            vec![Code::If(hit, vec![ctx.set_num("state", skip_to)], vec![ctx.set_num("state", next)])],
        ));
        body = vec![Code::If(here, step, body)];
    }
    let (end, flag) = (ctx.is("state", 8672), ctx.is("flag", 5));
    let init = vec![ctx.set_num("state", 8464), ctx.havoc("hit"), ctx.set_num("flag", 0)];
    unrolled(init, body, n, vec![ctx.assume(end), ctx.assume(flag)])
}

/// `s = 0; for (i = 0; ; i++) s += 2; assert(s == i + i);`
fn double(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (s, i) = (ctx.var("s"), ctx.var("i"));
    let twice = ctx.add(i, i);
    let equal = ctx.eq(s, twice);
    let differ = ctx.not(equal);
    let init = vec![ctx.set_num("s", 0), ctx.set_num("i", 0)];
    let body = vec![ctx.inc("s", 2), ctx.inc("i", 1)];
    unrolled(init, body, n, vec![ctx.assume(differ)])
}

/// `assume(0 <= n); for (i = 0; i < n; i++); assert(i == n);`
fn upto(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (i, limit, zero) = (ctx.var("i"), ctx.var("n"), ctx.num(0));
    let (positive, more, equal) = (ctx.le(zero, limit), ctx.lt(i, limit), ctx.eq(i, limit));
    let (done, differ) = (ctx.not(more), ctx.not(equal));
    let init = vec![ctx.assume(positive), ctx.set_num("i", 0)];
    let body = vec![ctx.assume(more), ctx.inc("i", 1)];
    unrolled(init, body, n, vec![ctx.assume(done), ctx.assume(differ)])
}

/// `i = 0; while (i < 100) i++; assert(i <= 100);`
fn hundred(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (more, fine) = (at_most(ctx, "i", 99), at_most(ctx, "i", 100));
    let (done, wrong) = (ctx.not(more), ctx.not(fine));
    let body = vec![ctx.assume(more), ctx.inc("i", 1)];
    unrolled(vec![ctx.set_num("i", 0)], body, n, vec![ctx.assume(done), ctx.assume(wrong)])
}

/// `x = 0; y = 50; while (x < 100) { if (x < 50) x++; else { x++; y++; } } assert(y == 100);`
fn xy50(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (more, low, done) = (at_most(ctx, "x", 99), at_most(ctx, "x", 49), ctx.is("y", 100));
    let (stop, wrong) = (ctx.not(more), ctx.not(done));
    let init = vec![ctx.set_num("x", 0), ctx.set_num("y", 50)];
    let both = vec![ctx.inc("x", 1), ctx.inc("y", 1)];
    let body = vec![ctx.assume(more), Code::If(low, vec![ctx.inc("x", 1)], both)];
    unrolled(init, body, n, vec![ctx.assume(stop), ctx.assume(wrong)])
}

/// Jhala, McMillan (TACAS 2006): `x = i; y = j; while (x != 0) { x--; y--; } if (i == j) assert(y == 0);`
fn jm2006(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (i, j) = (ctx.var("i"), ctx.var("j"));
    let (same, more, wrong) = (ctx.eq(i, j), ne(ctx, "x", 0), ne(ctx, "y", 0));
    let stop = ctx.not(more);
    let init = vec![ctx.set("x", i), ctx.set("y", j)];
    let body = vec![ctx.assume(more), ctx.inc("x", -1), ctx.inc("y", -1)];
    unrolled(init, body, n, vec![ctx.assume(stop), ctx.assume(same), ctx.assume(wrong)])
}

/// A branch that is taken twice with the same outcome, some iterations apart.
fn carry(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (p, q, unset) = (ne(ctx, "p", 0), ne(ctx, "q", 0), ne(ctx, "a", 1));
    let init = vec![ctx.havoc("p"), ctx.set_num("a", 0), Code::If(p, vec![ctx.set_num("a", 1)], vec![])];
    let body = vec![ctx.havoc("q"), Code::If(q, vec![ctx.inc("b", 1)], vec![ctx.inc("c", 1)])];
    unrolled(init, body, n, vec![ctx.assume(p), ctx.assume(unset)])
}

/// A variable with two values, exchanged in each iteration.
fn either(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (c, one) = (ne(ctx, "c", 0), ctx.is("x", 1));
    let set = |ctx: &mut Ctx| Code::If(c, vec![ctx.set_num("x", 1)], vec![ctx.set_num("x", 2)]);
    let init = vec![ctx.havoc("c"), set(ctx)];
    let swap = Code::If(one, vec![ctx.set_num("x", 2)], vec![ctx.set_num("x", 1)]);
    let three = ctx.is("x", 3);
    unrolled(init, vec![swap], n, vec![ctx.assume(three)])
}

/// As `states`, but the end needs a flag that only a branch on another state sets.
fn states2(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut blocks = states(ctx, n);
    let (init, end) = (ctx.is("state", 8464), ctx.is("state", 8672));
    let far = at_most(ctx, "count", n as i128 + 1);
    let wrong = ctx.not(far);
    let last = blocks.len() - 1;
    blocks[0].push(ctx.set_num("count", 0));
    for block in &mut blocks[1..last] {
        let input = ne(ctx, "input", 0);
        let step = vec![ctx.inc("count", 1)];
        block.push(Code::If(input, step.clone(), vec![Code::If(init, vec![ctx.inc("count", 2)], vec![])]));
    }
    blocks[last] = vec![ctx.assume(end), ctx.assume(wrong)];
    blocks
}

/// `counters` among variables and branches that do not matter.
fn noise(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut blocks = counters(ctx, n);
    for block in &mut blocks {
        for i in 0..6 {
            let (a, b) = (format!("u{i}"), format!("v{i}"));
            let (u, v) = (ctx.var(&a), ctx.var(&b));
            let (order, sum) = (ctx.le(u, v), ctx.add(u, v));
            block.insert(0, Code::If(order, vec![ctx.set(&a, sum)], vec![ctx.inc(&b, 3)]));
        }
    }
    blocks
}

/// The first block cannot be passed.
fn front(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut blocks = noise(ctx, n);
    let one = ctx.is("x", 1);
    blocks[0].push(ctx.assume(one));
    blocks
}

/// The last block cannot be passed.
fn back(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut blocks = noise(ctx, n);
    let (one, two) = (ctx.is("x", 1), ctx.is("x", 2));
    let last = blocks.last_mut().expect("there is one");
    *last = vec![ctx.assume(one), ctx.assume(two)];
    blocks
}

/// `y` follows `x` one step behind; `x` never exceeds its limit.
fn lag(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (x, y) = (ctx.var("x"), ctx.var("y"));
    let more = at_most(ctx, "x", 9);
    let behind = ctx.le(y, x);
    let wrong = ctx.not(behind);
    let init = vec![ctx.set_num("x", 0), ctx.set_num("y", 0)];
    let body = vec![ctx.set("y", x), ctx.assume(more), ctx.inc("x", 1)];
    unrolled(init, body, n, vec![ctx.assume(wrong)])
}

/// Branches over a range, all of which keep `x` within it.
fn branches(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let mut body = vec![ctx.havoc("k")];
    let mut chain = vec![ctx.set_num("x", 0)];
    for i in 1..8 {
        let chosen = ctx.is("k", i);
        chain = vec![Code::If(chosen, vec![ctx.set_num("x", i)], chain)];
    }
    body.extend(chain);
    let fine = at_most(ctx, "x", 8);
    let wrong = ctx.not(fine);
    unrolled(vec![ctx.set_num("x", 3)], body, n, vec![ctx.assume(wrong)])
}

/// `x = 0; while (*) x += 2; assert(x % 2 == 0);`
fn even(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let x = ctx.var("x");
    let (one, zero) = (ctx.num(1), ctx.num(0));
    let bit = ctx.terms.bv_bin(BvBin::And, x, one);
    let even = ctx.eq(bit, zero);
    let odd = ctx.not(even);
    let body = vec![ctx.inc("x", 2)];
    unrolled(vec![ctx.set_num("x", 0)], body, n, vec![ctx.assume(odd)])
}

/// Flags in a word are set one after the other and never cleared.
fn mask(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (x, input) = (ctx.var("flags"), ctx.var("input"));
    let (one, zero) = (ctx.num(1), ctx.num(0));
    let first = ctx.terms.bv_bin(BvBin::Or, x, one);
    let more = ctx.terms.bv_bin(BvBin::Or, x, input);
    let bit = ctx.terms.bv_bin(BvBin::And, x, one);
    let clear = ctx.eq(bit, zero);
    let body = vec![ctx.havoc("input"), ctx.set("flags", more)];
    unrolled(vec![ctx.set("flags", first)], body, n, vec![ctx.assume(clear)])
}

/// A counter below a bound does not wrap around.
fn nowrap(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let (more, zero) = (at_most(ctx, "x", 1000), ctx.is("x", 0));
    let init = vec![ctx.set_num("x", 1)];
    let body = vec![ctx.assume(more), ctx.inc("x", 1)];
    unrolled(init, body, n, vec![ctx.assume(zero)])
}

/// A byte is assembled by shifting; it stays below 256.
fn shift(ctx: &mut Ctx, n: usize) -> Vec<Vec<Code>> {
    let x = ctx.var("x");
    let (one, limit) = (ctx.num(1), ctx.num(255));
    let doubled = ctx.terms.bv_bin(BvBin::Shl, x, one);
    let cut = ctx.terms.bv_bin(BvBin::And, doubled, limit);
    let next = ctx.terms.bv_bin(BvBin::Or, cut, one);
    let above = ctx.terms.bv_cmp(BvCmp::Ult, limit, x);
    unrolled(vec![ctx.set_num("x", 7)], vec![ctx.set("x", next)], n, vec![ctx.assume(above)])
}
