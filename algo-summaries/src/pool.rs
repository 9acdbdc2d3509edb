// SPDX-License-Identifier: Apache-2.0
//! What atoms, contents of arrays and conditions are: hash-consed, built through simplifying constructors.
//!
//! Every value is an integer. Terms with a bound variable (sums, layers of arrays, quantified conditions) hold a body in
//! which [`AtomKind::Bound`] stands for it. Its number is none of those of the terms within the body: it is one above all
//! of them, and those in which it occurs are then numbered above it. The numbers follow from the structure, so bodies that are equal up
//! to names are equal as data. No replacement captures a name: bodies are opened with an atom of their own
//! ([`AtomKind::Hole`]) and closed again.

use cfa::IntTy;
use cfa::ir::BinOp;
use cpa_core::Stop;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::poly::{Atom, Poly};
use crate::range::Range;
use crate::subst::Replacement;

/// How deep sums and cases are looked into for their ranges.
const DEPTH: u32 = 6;

/// Contents of an array: a function from positions to values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ArrayId(u32);

/// A condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CondId(u32);

impl CondId {
    /// A number that no other condition has.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// What stands where something is not known: the same name with the same parameters is the same value.
pub(crate) type Name = u32;

/// What an atom stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum AtomKind {
    /// The number of iterations that were made before the present one, of a loop in its context.
    Iteration(Name),
    /// The variable of an opened body; not negative.
    Hole(u32),
    /// A bound variable; not negative.
    Bound(u32),
    /// The address of an object.
    Base(u32),
    /// The address of one of the objects that a loop makes: the one of the given iteration.
    Row(u32, Poly),
    /// A value of which only the range is known, as a function of the parameters: an input, a number of iterations.
    Input(Name, Vec<Poly>, i128, i128),
    /// An element of contents that are not known.
    Element(ArrayId, Poly),
    /// The sum of the body for all values of the bound variable from 0 to before the bound.
    Sum(u32, Poly, Poly),
    /// The first value where the condition holds, else the second.
    Ite(CondId, Poly, Poly),
    /// The value of the type that is congruent modulo 2^bits.
    Wrap(Poly, IntTy),
    /// The remainder of a division by a positive number, not negative.
    Mod(Poly, i128),
    /// The result of an operator of which only the type is known.
    Opaque(BinOp, Poly, Poly, IntTy),
}

/// How many remainders of a value are looked at.
const REMAINDERS: usize = 8;

/// What is in an array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ArrayKind {
    /// Anything, as a function of the parameters; elements have the type.
    Unknown(Name, Vec<Poly>, IntTy),
    /// Zeros.
    Zero,
    /// The contents with one element replaced: position, value.
    Store(ArrayId, Poly, Poly),
    /// The contents with what the iterations of a loop wrote.
    Layer(ArrayId, Poly, Writes),
}

/// What a loop writes: iteration `s` writes `value` to position `start + stride * s` if `guard` holds; in value and guard
/// [`AtomKind::Bound`] with the number `depth` stands for `s`. The stride is not 0, so no position is written twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Writes {
    pub(crate) depth: u32,
    pub(crate) start: Poly,
    pub(crate) stride: i128,
    pub(crate) value: Poly,
    pub(crate) guard: CondId,
}

impl Writes {
    /// Where iteration `iteration` writes, if it does.
    pub(crate) fn position(&self, iteration: &Poly) -> Result<Poly, Stop> {
        self.start.plus(&iteration.times_constant(self.stride)?)
    }
}

/// What a condition is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CondKind {
    /// Always.
    True,
    /// Never.
    False,
    /// The value is 0 or less.
    AtMostZero(Poly),
    /// The value is 0.
    Zero(Poly),
    /// The other one does not hold.
    Not(CondId),
    /// All hold.
    And(Vec<CondId>),
    /// One holds.
    Or(Vec<CondId>),
    /// The body holds for a value of the bound variable from 0 to before the bound.
    Exists(u32, CondId, Poly),
}

struct AtomInfo {
    range: Range,
    /// The greatest number of a bound variable.
    depth: u32,
    /// Whether it is made of an address.
    address: bool,
}

/// All atoms, arrays and conditions.
pub(crate) struct Pool {
    atoms: IndexSet<AtomKind>,
    infos: Vec<AtomInfo>,
    arrays: IndexSet<ArrayKind>,
    array_depths: Vec<u32>,
    conds: IndexSet<CondKind>,
    cond_depths: Vec<u32>,
    holes: u32,
}

impl Pool {
    /// A pool with the constants.
    pub(crate) fn new() -> Pool {
        let mut pool = Pool {
            atoms: IndexSet::new(),
            infos: Vec::new(),
            arrays: IndexSet::new(),
            array_depths: Vec::new(),
            conds: IndexSet::new(),
            cond_depths: Vec::new(),
            holes: 0,
        };
        pool.intern_cond(CondKind::False);
        pool.intern_cond(CondKind::True);
        pool
    }

    /// The condition that always or never holds.
    pub(crate) fn truth(value: bool) -> CondId {
        CondId(u32::from(value))
    }

    /// What the condition is, if it is constant.
    pub(crate) fn as_truth(cond: CondId) -> Option<bool> {
        (cond.0 < 2).then_some(cond.0 == 1)
    }

    /// How many things there are.
    pub(crate) fn size(&self) -> usize {
        self.atoms.len() + self.arrays.len() + self.conds.len()
    }

    pub(crate) fn kind(&self, atom: Atom) -> &AtomKind {
        &self.atoms[atom.0 as usize]
    }

    pub(crate) fn array(&self, array: ArrayId) -> &ArrayKind {
        &self.arrays[array.0 as usize]
    }

    pub(crate) fn cond(&self, cond: CondId) -> &CondKind {
        &self.conds[cond.0 as usize]
    }

    /// Whether a value is made of an address.
    pub(crate) fn has_address(&self, poly: &Poly) -> bool {
        poly.atoms().iter().any(|atom| self.infos[atom.0 as usize].address)
    }

    /// The summands without addresses in them.
    pub(crate) fn without_addresses(&self, poly: &Poly) -> Result<Poly, Stop> {
        let (summands, divisor) = poly.parts();
        let mut summands = summands.clone();
        summands.retain(|monomial, _| !monomial.iter().any(|(atom, _)| self.infos[atom.0 as usize].address));
        Poly::from_parts(summands, divisor)
    }

    fn poly_depth(&self, poly: &Poly) -> u32 {
        poly.atoms().iter().map(|atom| self.infos[atom.0 as usize].depth).max().unwrap_or(0)
    }

    /// An atom, with its range and the greatest number of a bound variable in it.
    pub(crate) fn atom(&mut self, kind: AtomKind) -> Atom {
        if let Some(index) = self.atoms.get_index_of(&kind) {
            return Atom(index as u32);
        }
        let mut polys: Vec<&Poly> = Vec::new();
        let mut depth = 0;
        let range = match &kind {
            AtomKind::Iteration(_) | AtomKind::Hole(_) => Range::NATURAL,
            AtomKind::Bound(number) => {
                depth = *number;
                Range::NATURAL
            }
            AtomKind::Base(_) => Range::ALL,
            AtomKind::Row(_, index) => {
                polys.push(index);
                Range::ALL
            }
            AtomKind::Input(_, parameters, lo, hi) => {
                polys.extend(parameters);
                Range::new(*lo, *hi)
            }
            AtomKind::Element(array, index) => {
                depth = self.array_depths[array.0 as usize];
                polys.push(index);
                match self.array(*array) {
                    ArrayKind::Unknown(_, _, ty) => Range::of_type(*ty),
                    _ => Range::ALL,
                }
            }
            AtomKind::Sum(number, body, upper) => {
                depth = *number;
                polys.extend([body, upper]);
                let count = self.range(upper);
                // Below 0 a sum is what the recurrence says, and the range of the body says nothing about that.
                if count.lo < 0 { Range::ALL } else { self.range(body).times(count).join(Range::of(0)) }
            }
            AtomKind::Ite(cond, yes, no) => {
                depth = self.cond_depths[cond.0 as usize];
                polys.extend([yes, no]);
                self.range(yes).join(self.range(no))
            }
            AtomKind::Wrap(value, ty) => {
                polys.push(value);
                Range::of_type(*ty)
            }
            AtomKind::Mod(value, divisor) => {
                polys.push(value);
                Range::new(0, divisor - 1)
            }
            AtomKind::Opaque(_, left, right, ty) => {
                polys.extend([left, right]);
                Range::of_type(*ty)
            }
        };
        let depth = polys.iter().map(|poly| self.poly_depth(poly)).fold(depth, u32::max);
        let address =
            matches!(kind, AtomKind::Base(_) | AtomKind::Row(..)) || polys.iter().any(|poly| self.has_address(poly));
        self.infos.push(AtomInfo { range, depth, address });
        Atom(self.atoms.insert_full(kind).0 as u32)
    }

    /// Contents of an array.
    pub(crate) fn intern_array(&mut self, kind: ArrayKind) -> ArrayId {
        let of = |array: &ArrayId| self.array_depths[array.0 as usize];
        let depth = match &kind {
            ArrayKind::Unknown(_, parameters, _) => {
                parameters.iter().map(|poly| self.poly_depth(poly)).max().unwrap_or(0)
            }
            ArrayKind::Zero => 0,
            ArrayKind::Store(base, index, value) => of(base).max(self.poly_depth(index)).max(self.poly_depth(value)),
            ArrayKind::Layer(base, upper, writes) => {
                of(base).max(self.poly_depth(upper)).max(self.poly_depth(&writes.start)).max(writes.depth)
            }
        };
        let (index, new) = self.arrays.insert_full(kind);
        if new {
            self.array_depths.push(depth);
        }
        ArrayId(index as u32)
    }

    fn intern_cond(&mut self, kind: CondKind) -> CondId {
        let of = |cond: &CondId| self.cond_depths[cond.0 as usize];
        let depth = match &kind {
            CondKind::True | CondKind::False => 0,
            CondKind::AtMostZero(value) | CondKind::Zero(value) => self.poly_depth(value),
            CondKind::Not(inner) => of(inner),
            CondKind::And(parts) | CondKind::Or(parts) => parts.iter().map(of).max().unwrap_or(0),
            CondKind::Exists(number, _, upper) => self.poly_depth(upper).max(*number),
        };
        let (index, new) = self.conds.insert_full(kind);
        if new {
            self.cond_depths.push(depth);
        }
        CondId(index as u32)
    }

    /// What a value is in, whatever is known about a state.
    pub(crate) fn range(&self, poly: &Poly) -> Range {
        self.range_with(poly, &|_| Range::ALL)
    }

    /// The same, where more is known about atoms.
    pub(crate) fn range_with(&self, poly: &Poly, known: &dyn Fn(Atom) -> Range) -> Range {
        let (summands, divisor) = poly.parts();
        let mut sum = Range::of(0);
        for (monomial, coefficient) in summands {
            let mut range = Range::of(*coefficient);
            for (atom, power) in monomial {
                range = range.times(self.infos[atom.0 as usize].range.meet(known(*atom)).power(*power));
            }
            sum = sum.plus(range);
        }
        // The value is an integer, so the bounds are rounded inwards.
        Range {
            lo: sum.low().map_or(sum.lo, |lo| lo.div_euclid(divisor) + i128::from(lo.rem_euclid(divisor) != 0)),
            hi: sum.high().map_or(sum.hi, |hi| hi.div_euclid(divisor)),
        }
    }

    /// The same, also within sums and cases, whose variables have the bounds of their sums.
    pub(crate) fn range_within(&self, poly: &Poly, known: &FxHashMap<Atom, Range>) -> Range {
        self.range_to_depth(poly, known, DEPTH)
    }

    fn range_to_depth(&self, poly: &Poly, known: &FxHashMap<Atom, Range>, depth: u32) -> Range {
        self.range_with(poly, &|atom| {
            let range = known.get(&atom).copied().unwrap_or(Range::ALL);
            let Some(depth) = depth.checked_sub(1) else { return range };
            match self.kind(atom) {
                AtomKind::Sum(number, body, upper) => {
                    let count = self.range_to_depth(upper, known, depth);
                    // Below 0 a sum is what the recurrence says.
                    if count.lo < 0 {
                        return range;
                    }
                    let mut inside = known.clone();
                    if let Some(bound) = self.atoms.get_index_of(&AtomKind::Bound(*number)) {
                        inside.insert(Atom(bound as u32), Range { lo: 0, hi: count.hi.max(1) - 1 });
                    }
                    self.range_to_depth(body, &inside, depth).times(count).join(Range::of(0)).meet(range)
                }
                AtomKind::Ite(_, yes, no) => {
                    self.range_to_depth(yes, known, depth).join(self.range_to_depth(no, known, depth)).meet(range)
                }
                _ => range,
            }
        })
    }

    /// A value of which only the range is known.
    pub(crate) fn input(&mut self, name: Name, parameters: Vec<Poly>, range: Range) -> Poly {
        Poly::atom(self.atom(AtomKind::Input(name, parameters, range.lo, range.hi)))
    }

    /// A new variable for a body.
    pub(crate) fn hole(&mut self) -> Atom {
        self.holes += 1;
        self.atom(AtomKind::Hole(self.holes))
    }

    /// The position that a relation between elements speaks about, see [`crate::relations`]; no other variable is it.
    pub(crate) fn position(&mut self) -> Atom {
        self.atom(AtomKind::Hole(0))
    }

    /// `value` and `guard` as bodies: with a bound variable in place of the atom, and its number.
    pub(crate) fn close(&mut self, value: &Poly, guard: CondId, variable: Atom) -> Result<(u32, Poly, CondId), Stop> {
        let number = 1 + self.poly_depth(value).max(self.cond_depths[guard.0 as usize]);
        let bound = Poly::atom(self.atom(AtomKind::Bound(number)));
        Ok((number, self.replace(value, variable, &bound)?, self.replace_in_cond(guard, variable, &bound)?))
    }

    /// `if cond then yes else no`.
    pub(crate) fn ite(&mut self, cond: CondId, yes: Poly, no: Poly) -> Poly {
        match Pool::as_truth(cond) {
            Some(true) => return yes,
            Some(false) => return no,
            None if yes == no => return yes,
            None => {}
        }
        if let CondKind::Not(inner) = self.cond(cond) {
            let inner = *inner;
            return self.ite(inner, no, yes);
        }
        let below = |value: &Poly, first: bool| match value.as_atom().map(|atom| self.kind(atom)) {
            Some(AtomKind::Ite(same, a, b)) if *same == cond => Some(if first { a.clone() } else { b.clone() }),
            _ => None,
        };
        let (yes, no) = (below(&yes, true).unwrap_or(yes), below(&no, false).unwrap_or(no));
        if yes == no {
            return yes;
        }
        if let (Some(if_so), Some(if_not)) = (yes.as_constant(), no.as_constant())
            && (if_so, if_not) != (1, 0)
            && let Some(difference) = if_so.checked_sub(if_not)
        {
            let indicator = Poly::atom(self.atom(AtomKind::Ite(cond, Poly::constant(1), Poly::constant(0))));
            let scaled = indicator.times_constant(difference).and_then(|scaled| scaled.plus(&no));
            return scaled.unwrap_or_else(|_| Poly::atom(self.atom(AtomKind::Ite(cond, yes, no))));
        }
        Poly::atom(self.atom(AtomKind::Ite(cond, yes, no)))
    }

    /// 1 where the condition holds, else 0.
    pub(crate) fn indicator(&mut self, cond: CondId) -> Poly {
        self.ite(cond, Poly::constant(1), Poly::constant(0))
    }

    /// Division, shifts and bit operators on numbers of a type, as in C but without wrap-around; without a closed form it is
    /// opaque, also for divisors that may be 0.
    pub(crate) fn operation(&mut self, op: BinOp, a: &Poly, b: &Poly, ty: IntTy) -> Result<Poly, Stop> {
        match (op, b.as_constant()) {
            (BinOp::Div | BinOp::Rem, Some(divisor)) if divisor > 0 => {
                let negative = a.times_constant(-1)?;
                let (if_so, if_not) = match op {
                    BinOp::Div => (self.div(a, divisor)?, self.div(&negative, divisor)?),
                    _ => (self.modulo(a, divisor)?, self.modulo(&negative, divisor)?),
                };
                let natural = self.at_most(&Poly::constant(0), a)?;
                Ok(self.ite(natural, if_so, if_not.times_constant(-1)?))
            }
            (BinOp::Div | BinOp::Rem, None) if a == b => {
                let zero = self.equal(b, &Poly::constant(0))?;
                let undefined = self.opaque(op, a, b, ty);
                Ok(self.ite(zero, undefined, Poly::constant(i128::from(op == BinOp::Div))))
            }
            (BinOp::Shl, Some(amount)) if (0..i128::from(ty.bits)).contains(&amount) => a.times_constant(1 << amount),
            (BinOp::Shr, Some(amount)) if (0..i128::from(ty.bits)).contains(&amount) => self.div(a, 1 << amount),
            (BinOp::BitAnd, Some(mask)) if mask >= 0 && (mask + 1).count_ones() == 1 => self.modulo(a, mask + 1),
            _ => Ok(self.opaque(op, a, b, ty)),
        }
    }

    fn opaque(&mut self, op: BinOp, a: &Poly, b: &Poly, ty: IntTy) -> Poly {
        Poly::atom(self.atom(AtomKind::Opaque(op, a.clone(), b.clone(), ty)))
    }

    /// The quotient by a positive number, rounded down.
    pub(crate) fn div(&mut self, value: &Poly, divisor: i128) -> Result<Poly, Stop> {
        let rest = self.modulo(value, divisor)?;
        value.minus(&rest)?.over(divisor)
    }

    /// Whether a value is known to be a multiple of a number; a remainder `x mod m` differs from `x` by a multiple of `m`.
    pub(crate) fn is_multiple(&self, value: &Poly, of: i128) -> Result<bool, Stop> {
        let mut value = value.clone();
        for _ in 0..REMAINDERS {
            let (summands, divisor) = value.parts();
            if divisor == 1 && summands.values().all(|coefficient| coefficient % of == 0) {
                return Ok(true);
            }
            let remainder = summands.iter().find_map(|(monomial, &coefficient)| {
                let [(atom, 1)] = monomial[..] else { return None };
                let AtomKind::Mod(inner, by) = self.kind(atom) else { return None };
                let step = coefficient.checked_mul(*by)?;
                (step % divisor.checked_mul(of)? == 0).then(|| (atom, inner.clone(), coefficient))
            });
            let Some((atom, inner, coefficient)) = remainder else { return Ok(false) };
            let change = inner.minus(&Poly::atom(atom))?.times_constant(coefficient)?.over(divisor)?;
            value = value.plus(&change)?;
        }
        Ok(false)
    }

    /// The remainder for that.
    pub(crate) fn modulo(&mut self, value: &Poly, divisor: i128) -> Result<Poly, Stop> {
        if divisor == 1 {
            return Ok(Poly::constant(0));
        }
        let (summands, by) = value.parts();
        let rest = match by {
            1 => {
                // Of large numbers, those just below the divisor are better read as negative ones.
                let rest = |c: i128| {
                    if divisor > 1 << 32 {
                        c - (c + divisor / 2).div_euclid(divisor) * divisor
                    } else {
                        c.rem_euclid(divisor)
                    }
                };
                let rests = summands.iter().map(|(monomial, c)| (monomial.clone(), rest(*c)));
                Poly::from_parts(rests.collect(), 1)?
            }
            _ => value.clone(),
        };
        if Range::new(0, divisor - 1).contains(self.range(&rest)) {
            return Ok(rest);
        }
        // The remainder by a multiple has the same remainder as the number.
        if by == 1 {
            for atom in rest.atoms() {
                if let AtomKind::Mod(inner, multiple) = self.kind(atom)
                    && multiple % divisor == 0
                    && let Some((coefficient, others)) = rest.linear_in(atom)
                {
                    let number = inner.times_constant(coefficient)?.plus(&others)?;
                    return self.modulo(&number, divisor);
                }
            }
        }
        Ok(Poly::atom(self.atom(AtomKind::Mod(rest, divisor))))
    }

    /// The value of the type that is congruent.
    pub(crate) fn wrap(&mut self, value: &Poly, ty: IntTy) -> Poly {
        if let Some(constant) = value.as_constant() {
            return Poly::constant(ty.wrap(constant));
        }
        if Range::of_type(ty).contains(self.range(value)) {
            return value.clone();
        }
        // Modulo 2^bits, factors that were wrapped to at least as many bits are what they were before, but not within other atoms.
        let mut unwrapped = FxHashMap::default();
        let mut changed = false;
        for atom in value.atoms() {
            let inner = match self.kind(atom) {
                AtomKind::Wrap(inner, other) if other.bits >= ty.bits => Some(inner.clone()),
                _ => None,
            };
            changed |= inner.is_some();
            unwrapped.insert(atom, inner.unwrap_or_else(|| Poly::atom(atom)));
        }
        if changed
            && value.parts().1 == 1
            && let Ok(inner) = Replacement::new(unwrapped).poly(self, value)
        {
            return self.wrap(&inner, ty);
        }
        Poly::atom(self.atom(AtomKind::Wrap(value.clone(), ty)))
    }

    /// Whether a value satisfies a test, if it is one of two constants, one where some condition holds.
    fn by_cases(&mut self, value: &Poly, test: &dyn Fn(i128) -> bool) -> Option<CondId> {
        let [atom] = value.atoms()[..] else { return None };
        let (coefficient, rest) = value.linear_in(atom)?;
        let AtomKind::Ite(cond, yes, no) = self.kind(atom).clone() else { return None };
        let (yes, no, rest) = (yes.as_constant()?, no.as_constant()?, rest.as_constant()?);
        let at = |case: i128| Some(test(coefficient.checked_mul(case)?.checked_add(rest)?));
        match (at(yes)?, at(no)?) {
            (true, true) => Some(Pool::truth(true)),
            (false, false) => Some(Pool::truth(false)),
            (true, false) => Some(cond),
            (false, true) => self.not(cond).ok(),
        }
    }

    /// Whether the value is at most 0.
    pub(crate) fn at_most_zero(&mut self, value: &Poly) -> Result<CondId, Stop> {
        let range = self.range(value);
        if range.hi <= 0 {
            return Ok(Pool::truth(true));
        }
        if range.lo > 0 {
            return Ok(Pool::truth(false));
        }
        if let Some(cond) = self.by_cases(value, &|value| value <= 0) {
            return Ok(cond);
        }
        let (whole, _) = value.primitive(true);
        Ok(self.intern_cond(CondKind::AtMostZero(whole)))
    }

    /// Whether `left` is at most `right`.
    pub(crate) fn at_most(&mut self, left: &Poly, right: &Poly) -> Result<CondId, Stop> {
        let difference = left.minus(right)?;
        self.at_most_zero(&difference)
    }

    /// Whether `left` is less than `right`.
    pub(crate) fn less(&mut self, left: &Poly, right: &Poly) -> Result<CondId, Stop> {
        let difference = left.minus(right)?.plus_constant(1)?;
        self.at_most_zero(&difference)
    }

    /// Whether two values are equal.
    pub(crate) fn equal(&mut self, left: &Poly, right: &Poly) -> Result<CondId, Stop> {
        let difference = left.minus(right)?;
        let range = self.range(&difference);
        if range == Range::of(0) {
            return Ok(Pool::truth(true));
        }
        if range.lo > 0 || range.hi < 0 {
            return Ok(Pool::truth(false));
        }
        if let Some(cond) = self.by_cases(&difference, &|value| value == 0) {
            return Ok(cond);
        }
        let (mut whole, exact) = difference.primitive(false);
        if !exact {
            return Ok(Pool::truth(false));
        }
        if whole.parts().0.values().next().is_some_and(|first| *first < 0) {
            whole = whole.times_constant(-1)?;
        }
        Ok(self.intern_cond(CondKind::Zero(whole)))
    }

    /// The negation.
    pub(crate) fn not(&mut self, cond: CondId) -> Result<CondId, Stop> {
        match self.cond(cond).clone() {
            CondKind::True => Ok(Pool::truth(false)),
            CondKind::False => Ok(Pool::truth(true)),
            CondKind::Not(inner) => Ok(inner),
            CondKind::AtMostZero(value) => {
                let over = Poly::constant(1).minus(&value)?;
                self.at_most_zero(&over)
            }
            CondKind::And(parts) => {
                let parts = parts.into_iter().map(|part| self.not(part)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.or(parts))
            }
            CondKind::Or(parts) => {
                let parts = parts.into_iter().map(|part| self.not(part)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.and(parts))
            }
            CondKind::Zero(_) | CondKind::Exists(..) => Ok(self.intern_cond(CondKind::Not(cond))),
        }
    }

    /// The conjunction.
    pub(crate) fn and(&mut self, parts: Vec<CondId>) -> CondId {
        self.junction(parts, true)
    }

    /// The disjunction.
    pub(crate) fn or(&mut self, parts: Vec<CondId>) -> CondId {
        self.junction(parts, false)
    }

    /// The conjunction or disjunction.
    fn junction(&mut self, parts: Vec<CondId>, conjunction: bool) -> CondId {
        let parts: Vec<CondId> = parts.iter().flat_map(|part| self.parts(*part, conjunction)).collect();
        let (neutral, absorbing) = (Pool::truth(conjunction), Pool::truth(!conjunction));
        let mut all: Vec<CondId> = parts.into_iter().filter(|part| *part != neutral).collect();
        all.sort_unstable();
        all.dedup();
        let opposite = |cond: &CondId| matches!(self.cond(*cond), CondKind::Not(inner) if all.contains(inner));
        if all.contains(&absorbing) || all.iter().any(opposite) {
            return absorbing;
        }
        match all[..] {
            [] => return neutral,
            [one] => return one,
            _ => {}
        }
        // (a || b) && (a || c) is a || (b && c), and the other way round.
        let inner: Vec<Vec<CondId>> = all.iter().map(|part| self.parts(*part, !conjunction)).collect();
        let mut common = inner[0].clone();
        common.retain(|cond| inner.iter().all(|parts| parts.contains(cond)));
        if common.is_empty() {
            return self.intern_cond(if conjunction { CondKind::And(all) } else { CondKind::Or(all) });
        }
        let mut rests = Vec::new();
        for mut parts in inner {
            parts.retain(|cond| !common.contains(cond));
            rests.push(self.junction(parts, !conjunction));
        }
        common.push(self.junction(rests, conjunction));
        self.junction(common, !conjunction)
    }

    /// What a condition is the conjunction or disjunction of.
    fn parts(&self, cond: CondId, conjunction: bool) -> Vec<CondId> {
        match self.cond(cond) {
            CondKind::And(parts) if conjunction => parts.clone(),
            CondKind::Or(parts) if !conjunction => parts.clone(),
            _ => vec![cond],
        }
    }

    /// Whether the condition, in which `variable` is the variable, holds for one of its values from 0 to before `upper`.
    pub(crate) fn exists(&mut self, body: CondId, variable: Atom, upper: &Poly) -> Result<CondId, Stop> {
        if Pool::as_truth(body) == Some(false) || self.range(upper).hi <= 0 {
            return Ok(Pool::truth(false));
        }
        if !self.mentions_in_cond(body, &|atom| atom == variable) {
            let some = self.less(&Poly::constant(0), upper)?;
            return Ok(self.and(vec![body, some]));
        }
        let constant = upper.constant_part();
        let before = upper.plus_constant(-constant)?;
        if (1..=4).contains(&constant) && before.as_constant().is_none() && self.range(&before).lo >= 0 {
            let mut parts = vec![self.exists(body, variable, &before)?];
            for step in 0..constant {
                let at = before.plus_constant(step)?;
                parts.push(self.replace_in_cond(body, variable, &at)?);
            }
            return Ok(self.or(parts));
        }
        let (number, _, body) = self.close(&Poly::constant(0), body, variable)?;
        Ok(self.intern_cond(CondKind::Exists(number, body, upper.clone())))
    }
}
