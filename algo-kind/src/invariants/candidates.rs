// SPDX-License-Identifier: Apache-2.0
//! Candidates for invariants: from the data-flow analysis, from the conditions of the program, comparisons of variables with
//! each other and with constants, and equations that hold in sample runs.
//!
//! The equations are the null space of the samples, as in Sharma et al., *A Data Driven Approach for Algebraic Loop
//! Invariants* (ESOP 2013), for linear terms and products of two variables.

use std::collections::{BTreeMap, BTreeSet};

use cfa::Program;
use cfa::ids::{ExprId, FuncId, NodeId, VarId};
use cfa::ir::{BinOp, CmpOp, ExprKind, IntTy, Op, Scope};
use cfa::liveness::Current;
use cpa_predicate::{Encoding, Manager};
use smt::{BvBin, BvCmp, TermId, Value};

use super::arrays::{Search, Weaker, cell_term, cells, number, widened};
use super::env::Env;
use super::instances::INDEX;
use super::memory::{Base, Layout};
use super::nullspace::{MAX_COEFFICIENT, independent, null_space};
use super::sample::Sample;
use super::sums;
use crate::cutpoints::{Cutpoint, Cutpoints};

/// How many variables are compared with each other.
const COMPARED: usize = 10;
/// How many equalities of variables and what they are assigned are tried.
const COPIES: usize = 12;
/// How many constants variables are compared with.
const CONSTANTS: usize = 10;
/// How many variables equations are looked for over.
const LINEAR: usize = 12;
/// How many variables and cells are looked at that may hold addresses.
const ADDRESSES: usize = 24;
/// How many variables are multiplied with each other.
const MULTIPLIED: usize = 5;
/// How many variables say of how many elements the sum is looked at.
const SUMMED: usize = 6;
/// The greatest factor of an index in bounds, and how many bits it may add.
const MOST_MULTIPLE: i128 = 63;
const MULTIPLE_BITS: u32 = 7;
/// How many factors are tried, and for how many indices.
const MULTIPLES: usize = 4;
const MULTIPLES_OF: usize = 2;
/// How many conditions of the program are tried.
const CONDITIONS: usize = 60;

/// What the data-flow analysis says, as candidates.
pub(crate) fn from_environment(manager: &mut Manager, program: &Program, env: Option<&Env>) -> Vec<TermId> {
    let Some(env) = env else { return vec![smt::Terms::fls()] };
    let mut result = Vec::new();
    for (var, value) in env.iter() {
        if program.var(var).float.is_some() {
            continue;
        }
        let ty = program.var(var).ty;
        let pieces: Vec<TermId> =
            value.ranges().iter().map(|&(low, high)| between(manager, var, ty, low, high)).collect();
        result.push(manager.terms.or_all(&pieces));
        if let Some((modulus, residue)) = value.congruence()
            && (value.low() >= 0 || modulus & (modulus - 1) == 0)
            && modulus <= ty.max()
        {
            result.push(congruent(manager, var, ty, modulus, residue));
        }
    }
    result
}

/// The value of a variable.
pub(crate) fn variable(manager: &mut Manager, var: VarId) -> TermId {
    let symbol = manager.encoder.symbol(&mut manager.terms, var);
    manager.terms.var(symbol, 0)
}

pub(super) fn compare(manager: &mut Manager, op: CmpOp, ty: IntTy, left: TermId, right: TermId) -> TermId {
    manager.encoder.compare(&mut manager.terms, op, ty, left, right)
}

fn between(manager: &mut Manager, var: VarId, ty: IntTy, low: i128, high: i128) -> TermId {
    let x = variable(manager, var);
    let mut result = smt::Terms::tru();
    if low > ty.min() {
        let bound = manager.encoder.constant(&mut manager.terms, low, ty);
        result = compare(manager, CmpOp::Le, ty, bound, x);
    }
    if high < ty.max() {
        let bound = manager.encoder.constant(&mut manager.terms, high, ty);
        let upper = compare(manager, CmpOp::Le, ty, x, bound);
        result = manager.terms.and(result, upper);
    }
    result
}

/// Congruence of a variable that is not negative, or modulo a power of two.
fn congruent(manager: &mut Manager, var: VarId, ty: IntTy, modulus: i128, residue: i128) -> TermId {
    let x = variable(manager, var);
    let rest = match manager.encoder.encoding() {
        Encoding::Integer => manager.terms.int_mod(x, modulus),
        Encoding::Bitvector => {
            let divisor = manager.encoder.constant(&mut manager.terms, modulus, ty);
            manager.terms.bv_bin(BvBin::Urem, x, divisor)
        }
    };
    let residue = manager.encoder.constant(&mut manager.terms, residue, ty);
    manager.terms.eq(rest, residue)
}

/// What candidates compare: a variable or a cell of memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Atom {
    Var(VarId),
    Cell(usize),
    /// The sum of the first elements of an array of the layout, as many as a variable says.
    Sum(usize, VarId),
    /// The sum of all elements of an array of the layout of fixed length.
    Total(usize, i128),
}

/// A place in each function that is active at a cut point: where it goes on.
pub(super) fn places(program: &Program, point: &Cutpoint) -> impl Iterator<Item = NodeId> {
    let returns = point.calls.iter().map(|&call| program.edge(call).dst);
    returns.chain([point.head])
}

/// The functions whose variables can be mentioned at a cut point, with a place in each where it goes on.
pub(super) type Frames = BTreeMap<FuncId, NodeId>;

/// The functions that are active at a cut point.
pub(super) fn frames(program: &Program, point: &Cutpoint) -> Frames {
    places(program, point).map(|place| (program.node(place).func, place)).collect()
}

/// Makes candidates for one cut point.
pub(crate) struct Guesser<'a> {
    pub(crate) manager: &'a mut Manager,
    pub(crate) program: &'a Program,
    /// Cells and arrays that are looked at, too.
    pub(crate) layout: &'a Layout,
    pub(crate) samples: &'a [Sample],
    frames: Frames,
    /// What excludes violations.
    pub(super) preconditions: &'a [TermId],
    current: &'a Current,
    /// What is left to try if a candidate of a run does not hold.
    pub(crate) weaker: Vec<Weaker>,
}

impl<'a> Guesser<'a> {
    /// For the cut point `number`.
    pub(crate) fn new(
        manager: &'a mut Manager,
        program: &'a Program,
        cutpoints: &Cutpoints,
        number: usize,
        current: &'a Current,
        (layout, samples): (&'a Layout, &'a [Sample]),
    ) -> Self {
        let frames = frames(program, &cutpoints.points()[number]);
        Guesser { manager, program, layout, samples, frames, preconditions: &[], current, weaker: Vec::new() }
    }

    /// The variables that can be mentioned at the cut point, see [`interesting_variables`].
    pub(super) fn variables(&self) -> Vec<VarId> {
        interesting_variables(self.program, &|var| is_in_scope(self.program, &self.frames, var))
    }

    /// The cells and variables that can be mentioned, the most interesting ones of each first.
    pub(super) fn atoms(&self) -> Vec<Atom> {
        let in_scope = |var: VarId| is_in_scope(self.program, &self.frames, var);
        let cells = cells(self.layout, &in_scope).map(Atom::Cell);
        cells.chain(self.variables().into_iter().map(Atom::Var)).collect()
    }

    /// Candidates that are true in all samples, or (`conditional`) in those that meet a condition of the program.
    pub(crate) fn run(&mut self, conditional: bool) -> Vec<TermId> {
        let (program, samples) = (self.program, self.samples);
        let frames = self.frames.clone();
        let (layout, current) = (self.layout, self.current);
        let points = |var: VarId| layout.arrays.iter().any(|array| array.base == Base::Pointer(var));
        let in_scope = |var: VarId| is_in_scope(program, &frames, var);
        // Facts about elements are expensive, and those about what is written before it is read are of no use.
        let is_current = |var: VarId| {
            let counts = || program.var(var).temporary || points(var) || is_current(program, &frames, current, var);
            in_scope(var) && counts()
        };
        let atoms = self.atoms();
        let mut terms: Vec<TermId> = Vec::new();
        conditions(self.manager, program, &in_scope, &mut terms);
        terms.retain(|&term| samples.iter().all(|sample| holds(self.manager, program, term, sample)));
        self.multiplied(&in_scope, &atoms, &mut terms);
        self.copies(&in_scope, &mut terms);
        self.noted(&in_scope, &mut terms);
        self.excluding(&in_scope, &mut terms);
        self.comparisons(&atoms, &mut terms);
        self.equations(&atoms, &mut terms);
        self.sums(&is_current, &atoms, &mut terms);
        self.multiples(&atoms, &mut terms);
        if *self.layout != Layout::default() {
            let layout = self.layout;
            let mut search = Search::new(self.manager, program, layout, samples, &is_current);
            terms.extend(search.run());
            self.weaker = search.weaker;
        }
        if conditional {
            self.conditional(&atoms, &in_scope, &is_current, &mut terms);
        }
        terms.retain(|&term| !matches!(self.manager.terms.get(term), smt::Term::True | smt::Term::False));
        let mut seen = BTreeSet::new();
        terms.retain(|&term| seen.insert(term));
        terms
    }

    /// Whether a fact about elements can be a fact at this cut point, too, as all variables in it are there.
    pub(super) fn can_say(&mut self, fact: TermId) -> bool {
        let (program, frames) = (self.program, self.frames.clone());
        self.manager.terms.has_array(fact) && self.is_about(&|var| is_in_scope(program, &frames, var), fact)
    }

    /// Equalities of variables one of which is assigned, or passed as an argument, to the other.
    fn copies(&mut self, in_scope: &dyn Fn(VarId) -> bool, out: &mut Vec<TermId>) {
        let (program, mut found) = (self.program, 0);
        let usable = |var: VarId| is_usable(program, in_scope, var);
        for (var, value) in program.assigned() {
            let Some(from) = program.exprs.converted_var(value).filter(|&from| from != var) else { continue };
            let atoms = [Atom::Var(var), Atom::Var(from)];
            if found == COPIES || !usable(var) || !usable(from) || self.ty(atoms[0]) != self.ty(atoms[1]) {
                continue;
            }
            let values = self.values(atoms);
            if !values.is_empty() && values.iter().all(|[a, b]| a == b) {
                let (x, y) = (self.term(atoms[0]), self.term(atoms[1]));
                out.push(self.manager.terms.eq(x, y));
                found += 1;
            }
        }
    }

    /// A guesser that looks at some of the samples only.
    pub(super) fn among<'b>(&'b mut self, samples: &'b [Sample]) -> Guesser<'b> {
        let frames = self.frames.clone();
        let Guesser { program, layout, current, .. } = *self;
        Guesser {
            manager: self.manager,
            program,
            layout,
            samples,
            frames,
            preconditions: &[],
            current,
            weaker: Vec::new(),
        }
    }

    pub(super) fn ty(&self, atom: Atom) -> IntTy {
        match atom {
            Atom::Var(var) => self.program.var(var).ty,
            Atom::Cell(at) => self.layout.cells[at].ty,
            Atom::Sum(..) | Atom::Total(..) => IntTy { bits: sums::BITS, signed: true },
        }
    }

    pub(super) fn term(&mut self, atom: Atom) -> TermId {
        match atom {
            Atom::Var(var) => variable(self.manager, var),
            Atom::Cell(at) => cell_term(self.manager, self.layout, at).0,
            Atom::Sum(at, var) => {
                let index = variable(self.manager, var);
                let index = widened(&mut self.manager.terms, index, self.program.var(var).ty, INDEX);
                sums::sum(&mut self.manager.terms, at, index.expect("variables have at most 64 bits"))
            }
            Atom::Total(at, length) => {
                let length = number(&mut self.manager.terms, length, INDEX);
                sums::sum(&mut self.manager.terms, at, length)
            }
        }
    }

    /// The values in the samples that know all of the atoms.
    pub(super) fn values<const N: usize>(&self, atoms: [Atom; N]) -> Vec<[i128; N]> {
        let row = |sample: &Sample| {
            let mut row = [0; N];
            for (value, atom) in row.iter_mut().zip(atoms) {
                *value = value_of(atom, sample)?;
            }
            Some(row)
        };
        self.samples.iter().filter_map(row).collect()
    }

    /// Comparisons of variables with each other and with constants of the program.
    pub(super) fn comparisons(&mut self, atoms: &[Atom], out: &mut Vec<TermId>) {
        let compared = &atoms[..atoms.len().min(COMPARED)];
        for (at, &a) in compared.iter().enumerate() {
            let ty = self.ty(a);
            let x = self.term(a);
            for &b in &compared[at + 1..] {
                if self.ty(b) != ty {
                    self.comparisons_of_numbers(a, b, out);
                    continue;
                }
                let y = self.term(b);
                let values = self.values([a, b]);
                if values.is_empty() && !self.samples.is_empty() {
                    continue;
                }
                let mut add = |op: CmpOp, left: TermId, right: TermId, holds: bool| {
                    if holds {
                        out.push(compare(self.manager, op, ty, left, right));
                    }
                };
                add(CmpOp::Le, x, y, values.iter().all(|[a, b]| a <= b));
                add(CmpOp::Le, y, x, values.iter().all(|[a, b]| b <= a));
                add(CmpOp::Lt, x, y, values.iter().all(|[a, b]| a < b));
                add(CmpOp::Lt, y, x, values.iter().all(|[a, b]| b < a));
                add(CmpOp::Eq, x, y, values.iter().all(|[a, b]| a == b));
            }
            let values = self.values([a]);
            if values.is_empty() && !self.samples.is_empty() {
                continue;
            }
            let constants = match a {
                Atom::Var(var) => {
                    let mut constants = constants_for(self.program, var);
                    // Indices are at most as large as arrays are long.
                    let arrays = self.layout.arrays.iter().filter(|array| array.indices.contains(&var));
                    constants.extend(arrays.flat_map(|array| array.lengths.iter().copied()));
                    constants
                }
                Atom::Cell(_) | Atom::Sum(..) | Atom::Total(..) => vec![0, 1],
            };
            for constant in constants {
                if constant < ty.min() || constant > ty.max() {
                    continue;
                }
                let c = self.manager.encoder.constant(&mut self.manager.terms, constant, ty);
                let mut add = |op: CmpOp, left: TermId, right: TermId, holds: bool| {
                    if holds {
                        out.push(compare(self.manager, op, ty, left, right));
                    }
                };
                add(CmpOp::Le, x, c, values.iter().all(|[value]| *value <= constant));
                add(CmpOp::Le, c, x, values.iter().all(|[value]| *value >= constant));
                add(CmpOp::Ne, x, c, values.iter().all(|[value]| *value != constant));
            }
            let Atom::Var(var) = a else { continue };
            for (modulus, residue) in [(2, 0), (2, 1), (3, 0), (4, 0)] {
                let power = modulus & (modulus - 1) == 0;
                if (power || !ty.signed) && values.iter().all(|[value]| value.rem_euclid(modulus) == residue) {
                    out.push(congruent(self.manager, var, ty, modulus, residue));
                }
            }
        }
    }

    /// What is not greater than a multiple of an index: sums of elements that are not greater than a constant of the program.
    pub(super) fn multiples(&mut self, atoms: &[Atom], out: &mut Vec<TermId>) {
        if self.manager.encoder.encoding() != Encoding::Bitvector {
            return;
        }
        let mut factors = BTreeSet::new();
        for edge in &self.program.edges {
            if let Op::Store { value: id, .. } | Op::Assign { value: id, .. } = edge.op {
                constants_in(self.program, id, &mut |value| {
                    if (2..=MOST_MULTIPLE).contains(&value) {
                        factors.insert(value);
                    }
                });
            }
        }
        let is_index = |atom: &Atom| match atom {
            Atom::Var(var) => self.layout.arrays.iter().any(|array| array.indices.contains(var)),
            _ => false,
        };
        let (indices, others): (Vec<Atom>, Vec<Atom>) = atoms.iter().take(COMPARED).partition(|atom| is_index(atom));
        for &x in &others {
            for &y in indices.iter().take(MULTIPLES_OF) {
                let values = self.values([x, y]);
                let (of_x, of_y) = (self.ty(x), self.ty(y));
                let width = of_x.bits.max(of_y.bits) + MULTIPLE_BITS;
                let (left, right) = (self.term(x), self.term(y));
                let left = widened(&mut self.manager.terms, left, of_x, width);
                let right = widened(&mut self.manager.terms, right, of_y, width);
                let (Some(left), Some(right)) = (left, right) else { continue };
                for &factor in factors.iter().take(MULTIPLES) {
                    if values.len() > 4 && values.iter().all(|[x, y]| *x <= factor * y) {
                        let factor = number(&mut self.manager.terms, factor, width);
                        let product = self.manager.terms.bv_bin(BvBin::Mul, factor, right);
                        out.push(self.manager.terms.bv_cmp(BvCmp::Sle, left, product));
                    }
                }
            }
        }
    }

    /// Which of two atoms of different types is not greater, as mathematical numbers.
    fn comparisons_of_numbers(&mut self, a: Atom, b: Atom, out: &mut Vec<TermId>) {
        let values = self.values([a, b]);
        if values.is_empty() || self.manager.encoder.encoding() != Encoding::Bitvector {
            return;
        }
        // One bit more than both have is enough for either sign.
        let width = self.ty(a).bits.max(self.ty(b).bits) + 1;
        let ty = IntTy { bits: width, signed: true };
        let mut number = |atom: Atom| {
            let (term, ty) = (self.term(atom), self.ty(atom));
            widened(&mut self.manager.terms, term, ty, width)
        };
        let (Some(x), Some(y)) = (number(a), number(b)) else { return };
        if values.iter().all(|[a, b]| a <= b) {
            out.push(compare(self.manager, CmpOp::Le, ty, x, y));
        }
        if values.iter().all(|[a, b]| b <= a) {
            out.push(compare(self.manager, CmpOp::Le, ty, y, x));
        }
    }

    /// Equations between linear terms and products that hold in all samples.
    pub(super) fn equations(&mut self, atoms: &[Atom], out: &mut Vec<TermId>) {
        let known = |atom: &&Atom| self.samples.iter().all(|sample| value_of(**atom, sample).is_some());
        let known: Vec<Atom> = atoms.iter().filter(known).copied().collect();
        self.addresses(&known, out);
        let mut widths: Vec<u32> = known.iter().map(|&atom| self.ty(atom).bits).collect();
        widths.sort_unstable();
        widths.dedup();
        for width in widths {
            // Narrower ones may be summed up in wider ones.
            let fits = |atom: &Atom| match self.manager.encoder.encoding() {
                Encoding::Bitvector => self.ty(*atom).bits <= width,
                Encoding::Integer => self.ty(*atom).bits == width,
            };
            let same: Vec<Atom> = known.iter().copied().filter(fits).take(LINEAR).collect();
            let linear: Vec<Vec<Atom>> = same.iter().map(|&atom| vec![atom]).collect();
            self.equations_over(&linear, width, out);
            if has_polynomials(self.manager, self.program) {
                // A product with what depends linearly on others says nothing new.
                let few = self.independent(&same);
                let mut monomials: Vec<Vec<Atom>> = few.iter().map(|&atom| vec![atom]).collect();
                let few = &few[..few.len().min(MULTIPLIED)];
                for (at, &a) in few.iter().enumerate() {
                    monomials.extend(few[at..].iter().map(|&b| vec![a, b]));
                }
                self.equations_over(&monomials, width, out);
            }
        }
    }

    /// Constants that are no coefficients of other equations, as the addresses of objects that are made once.
    fn addresses(&mut self, atoms: &[Atom], out: &mut Vec<TermId>) {
        for &atom in atoms.iter().take(ADDRESSES) {
            let mut values = self.samples.iter().map(|sample| value_of(atom, sample));
            let Some(Some(value)) = values.next() else { continue };
            if value.abs() > MAX_COEFFICIENT && values.all(|other| other == Some(value)) {
                let (x, ty) = (self.term(atom), self.ty(atom));
                let address = self.manager.encoder.constant(&mut self.manager.terms, value, ty);
                out.push(self.manager.terms.eq(x, address));
            }
        }
    }

    /// Equations with sums of the first elements of arrays.
    fn sums(&mut self, in_scope: &dyn Fn(VarId) -> bool, atoms: &[Atom], out: &mut Vec<TermId>) {
        let mut sums = Vec::new();
        for (at, array) in self.layout.arrays.iter().enumerate().filter(|(_, array)| array.summed) {
            let counts = super::arrays::bounding(self.program, self.layout, in_scope, array);
            let counts = counts.into_iter().filter(|&var| self.program.var(var).ty.bits <= INDEX);
            sums.extend(counts.take(SUMMED).map(|var| Atom::Sum(at, var)));
            sums.extend(array.lengths.iter().take(1).map(|&length| Atom::Total(at, length)));
        }
        let known = |atom: &&Atom| self.samples.iter().all(|sample| value_of(**atom, sample).is_some());
        let sums: Vec<Atom> = sums.iter().filter(known).copied().collect();
        let is_there = |atom: &&Atom| !matches!(atom, Atom::Var(var) if !in_scope(*var));
        let others: Vec<Atom> = atoms.iter().filter(is_there).filter(known).take(LINEAR).copied().collect();
        let mut widths: Vec<u32> = others.iter().map(|&atom| self.ty(atom).bits).filter(|&bits| bits >= 32).collect();
        widths.sort_unstable();
        widths.dedup();
        for width in widths.into_iter().filter(|_| !sums.is_empty()) {
            // What depends on others would only obscure the equations.
            let fitting: Vec<Atom> = others.iter().copied().filter(|&atom| self.ty(atom).bits <= width).collect();
            let mut monomials: Vec<Vec<Atom>> = sums.iter().map(|&sum| vec![sum]).collect();
            monomials.extend(self.independent(&fitting).into_iter().map(|atom| vec![atom]));
            self.equations_over(&monomials, width, out);
        }
    }

    /// The atoms without those that are linear combinations of others in the samples; variables are preferred to cells.
    fn independent(&self, atoms: &[Atom]) -> Vec<Atom> {
        let is_cell = |atom: &Atom| matches!(atom, Atom::Cell(_));
        let (cells, mut ordered): (Vec<Atom>, Vec<Atom>) = atoms.iter().partition(|atom| is_cell(atom));
        ordered.extend(cells);
        let column = |atom: &Atom| self.samples.iter().map(|sample| value_of(*atom, sample).unwrap_or(0)).collect();
        let vectors: Vec<Vec<i128>> =
            std::iter::once(vec![1; self.samples.len()]).chain(ordered.iter().map(column)).collect();
        independent(&vectors).into_iter().filter(|&at| at > 0).map(|at| ordered[at - 1]).collect()
    }

    fn equations_over(&mut self, monomials: &[Vec<Atom>], width: u32, out: &mut Vec<TermId>) {
        let row = |sample: &Sample| -> Option<Vec<i128>> {
            let mut row = vec![1];
            for monomial in monomials {
                let mut product = 1i128;
                for &atom in monomial {
                    let value = value_of(atom, sample)?;
                    product = product.checked_mul(value).filter(|product| product.abs() < 1 << 40)?;
                }
                row.push(product);
            }
            Some(row)
        };
        let rows: Vec<Vec<i128>> = self.samples.iter().filter_map(row).collect();
        // Fewer samples than unknowns make equations that hold by chance.
        if rows.len() < monomials.len() + 3 {
            return;
        }
        let ty = IntTy { bits: width, signed: true };
        for coefficients in null_space(rows, monomials.len() + 1) {
            let mut sum = self.manager.encoder.constant(&mut self.manager.terms, coefficients[0], ty);
            for (monomial, &coefficient) in monomials.iter().zip(&coefficients[1..]) {
                if coefficient == 0 {
                    continue;
                }
                let mut product = self.manager.encoder.constant(&mut self.manager.terms, coefficient, ty);
                for &atom in monomial {
                    let x = self.term(atom);
                    product = match self.manager.encoder.encoding() {
                        Encoding::Bitvector => {
                            let ty = self.ty(atom);
                            let terms = &mut self.manager.terms;
                            let x = widened(terms, x, ty, width).unwrap_or_else(|| terms.extract(width - 1, 0, x));
                            terms.bv_bin(BvBin::Mul, product, x)
                        }
                        Encoding::Integer => self.manager.terms.int_mul(product, x),
                    };
                }
                sum = match self.manager.encoder.encoding() {
                    Encoding::Bitvector => self.manager.terms.bv_bin(BvBin::Add, sum, product),
                    Encoding::Integer => self.manager.terms.int_add(sum, product),
                };
            }
            let zero = self.manager.encoder.constant(&mut self.manager.terms, 0, ty);
            out.push(self.manager.terms.eq(sum, zero));
        }
    }
}

/// Whether a variable is global or belongs to one of these functions.
fn is_in_scope(program: &Program, frames: &Frames, var: VarId) -> bool {
    match program.var(var).scope {
        Scope::Global => true,
        Scope::Local(func) => frames.contains_key(&func),
    }
}

/// Whether the value of a variable is current where these functions go on.
pub(super) fn is_current(program: &Program, frames: &Frames, current: &Current, var: VarId) -> bool {
    match program.var(var).scope {
        Scope::Global => true,
        Scope::Local(func) => frames.get(&func).is_some_and(|&place| current.contains(place, var)),
    }
}

/// The value of an atom in a sample.
pub(super) fn value_of(atom: Atom, sample: &Sample) -> Option<i128> {
    match atom {
        Atom::Var(var) => sample.vars.get(&var).copied(),
        Atom::Cell(at) => sample.cells.get(at).copied().flatten(),
        Atom::Sum(at, var) => sum_of(sample, at, *sample.vars.get(&var)?),
        Atom::Total(at, length) => sum_of(sample, at, length),
    }
}

fn sum_of(sample: &Sample, at: usize, count: i128) -> Option<i128> {
    let sums = sample.sums.get(at)?;
    let found = sums.binary_search_by_key(&count, |entry| entry.0).ok()?;
    Some(sums[found].1)
}

/// Whether a variable of the source that is no floating-point number can be mentioned.
pub(super) fn is_usable(program: &Program, in_scope: &dyn Fn(VarId) -> bool, var: VarId) -> bool {
    let data = program.var(var);
    in_scope(var) && !data.temporary && data.float.is_none()
}

/// Variables in the order of how often they occur in conditions and in updates by themselves; temporaries do not count.
pub(crate) fn interesting_variables(program: &Program, in_scope: &dyn Fn(VarId) -> bool) -> Vec<VarId> {
    let mut weights = vec![0u32; program.vars.len()];
    for edge in &program.edges {
        match &edge.op {
            Op::Assume { cond, .. } => program.exprs.vars(*cond).into_iter().for_each(|v| weights[v.index()] += 2),
            Op::Assign { var, value } if !matches!(program.exprs.get(*value).kind, ExprKind::Const(_)) => {
                weights[var.index()] += 1;
                program.exprs.vars(*value).into_iter().for_each(|v| weights[v.index()] += 1);
            }
            _ => {}
        }
    }
    // Others that are looked at, as by a function that checks something.
    for cond in tested(program) {
        program.exprs.vars(cond).into_iter().for_each(|v| weights[v.index()] = weights[v.index()].max(1));
    }
    let mut vars: Vec<VarId> = (0..program.vars.len()).map(VarId::new).collect();
    vars.retain(|&var| weights[var.index()] > 0 && is_usable(program, in_scope, var));
    vars.sort_by_key(|var| std::cmp::Reverse(weights[var.index()]));
    vars
}

/// Calls `visit` for all constants in an expression.
pub(crate) fn constants_in(program: &Program, id: ExprId, visit: &mut dyn FnMut(i128)) {
    if let Some(value) = program.exprs.as_const(id) {
        visit(value);
    }
    program.exprs.operands(id).for_each(|operand| constants_in(program, operand, visit));
}

/// The conditions of the program over variables in scope, and their negations.
fn conditions(manager: &mut Manager, program: &Program, in_scope: &dyn Fn(VarId) -> bool, out: &mut Vec<TermId>) {
    let mut seen = BTreeSet::new();
    for cond in tested(program) {
        let vars = program.exprs.vars(cond);
        let fits = !vars.is_empty() && vars.iter().all(|&var| in_scope(var) && !program.var(var).temporary);
        if !fits || !seen.insert(cond) || seen.len() > CONDITIONS {
            continue;
        }
        if let Ok(term) = manager.encoder.truth(&mut manager.terms, cond) {
            out.extend([term, manager.terms.not(term)]);
        }
    }
}

/// What the program assumes, and truth values that it assigns or passes to a function, which may check them.
pub(super) fn tested(program: &Program) -> impl Iterator<Item = ExprId> {
    program.edges.iter().flat_map(move |edge| {
        let (exprs, assumed) = match &edge.op {
            Op::Assume { cond, .. } => (std::slice::from_ref(cond), true),
            Op::Assign { value, .. } => (std::slice::from_ref(value), false),
            Op::Call { args, .. } => (&args[..], false),
            _ => (&[][..], false),
        };
        exprs.iter().copied().filter(move |&id| assumed || program.exprs.is_truth(id))
    })
}

/// Constants that a variable is compared with or set to, and zero.
fn constants_for(program: &Program, var: VarId) -> Vec<i128> {
    let mut found = BTreeSet::from([0, 1]);
    for edge in &program.edges {
        let expr = match edge.op {
            Op::Assume { cond, .. } => cond,
            Op::Assign { var: written, value } if written == var => value,
            _ => continue,
        };
        if !matches!(edge.op, Op::Assign { .. }) && !program.exprs.vars(expr).contains(&var) {
            continue;
        }
        constants_in(program, expr, &mut |value| {
            found.insert(value);
        });
    }
    let mut list: Vec<i128> = found.into_iter().collect();
    list.sort_by_key(|value| value.abs());
    list.truncate(CONSTANTS);
    list
}

/// Whether variables are multiplied, and terms say so: candidates may be polynomials.
pub(super) fn has_polynomials(manager: &Manager, program: &Program) -> bool {
    manager.encoder.encoding() == Encoding::Bitvector && multiplies(program)
}

/// Whether the program multiplies variables.
fn multiplies(program: &Program) -> bool {
    program.exprs.ids().any(|id| match program.exprs.get(id).kind {
        ExprKind::Binary(BinOp::Mul, left, right) => {
            program.exprs.as_const(left).is_none() && program.exprs.as_const(right).is_none()
        }
        _ => false,
    })
}

/// Whether a candidate holds in a sample; also if the sample lacks one of its variables.
pub(super) fn holds(manager: &Manager, program: &Program, term: TermId, sample: &Sample) -> bool {
    let mut known = true;
    let value = manager.terms.try_eval(term, &mut |symbol, _| {
        let value = manager.encoder.variable(symbol).and_then(|var| Some((var, *sample.vars.get(&var)?)));
        match value {
            Some((var, value)) => manager.encoder.model_value(value, program.var(var).ty),
            None => {
                known = false;
                manager.terms.default_value(symbol)
            }
        }
    });
    !known || value == Some(Value::Bool(true))
}
