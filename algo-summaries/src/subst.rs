// SPDX-License-Identifier: Apache-2.0
//! What occurs where, and replacement of atoms.

use cpa_core::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, CondKind, Pool, Writes};

/// A search through everything that something is made of.
pub(crate) struct Search<'p> {
    pool: &'p Pool,
    seen: FxHashSet<Atom>,
    seen_arrays: FxHashSet<ArrayId>,
    seen_conds: FxHashSet<CondId>,
}

impl<'p> Search<'p> {
    /// A search that has seen nothing yet.
    pub(crate) fn new(pool: &'p Pool) -> Self {
        let (seen, seen_arrays, seen_conds) = Default::default();
        Search { pool, seen, seen_arrays, seen_conds }
    }

    /// Whether an atom that `wanted` accepts occurs in what was not seen before.
    pub(crate) fn poly(&mut self, poly: &Poly, wanted: &mut dyn FnMut(Atom) -> bool) -> bool {
        poly.atoms().into_iter().any(|atom| self.atom(atom, wanted))
    }

    fn atom(&mut self, atom: Atom, wanted: &mut dyn FnMut(Atom) -> bool) -> bool {
        if !self.seen.insert(atom) {
            return false;
        }
        if wanted(atom) {
            return true;
        }
        let pool = self.pool;
        match pool.kind(atom) {
            AtomKind::Iteration(_) | AtomKind::Hole(_) | AtomKind::Bound(_) | AtomKind::Base(_) => false,
            AtomKind::Input(_, parameters, ..) => parameters.iter().any(|poly| self.poly(poly, wanted)),
            AtomKind::Element(array, index) => self.array(*array, wanted) || self.poly(index, wanted),
            AtomKind::Sum(_, body, upper) => self.poly(body, wanted) || self.poly(upper, wanted),
            AtomKind::Ite(cond, yes, no) => self.cond(*cond, wanted) || self.poly(yes, wanted) || self.poly(no, wanted),
            AtomKind::Wrap(value, _) | AtomKind::Mod(value, _) | AtomKind::Row(_, value) => self.poly(value, wanted),
            AtomKind::Opaque(_, left, right, _) => self.poly(left, wanted) || self.poly(right, wanted),
        }
    }

    /// The same in the contents of an array.
    pub(crate) fn array(&mut self, array: ArrayId, wanted: &mut dyn FnMut(Atom) -> bool) -> bool {
        if !self.seen_arrays.insert(array) {
            return false;
        }
        let pool = self.pool;
        match pool.array(array) {
            ArrayKind::Unknown(_, parameters, _) => parameters.iter().any(|poly| self.poly(poly, wanted)),
            ArrayKind::Zero => false,
            ArrayKind::Store(base, index, value) => {
                self.array(*base, wanted) || self.poly(index, wanted) || self.poly(value, wanted)
            }
            ArrayKind::Layer(base, upper, writes) => {
                self.array(*base, wanted)
                    || self.poly(upper, wanted)
                    || self.poly(&writes.start, wanted)
                    || self.poly(&writes.value, wanted)
                    || self.cond(writes.guard, wanted)
            }
        }
    }

    /// The same in a condition.
    pub(crate) fn cond(&mut self, cond: CondId, wanted: &mut dyn FnMut(Atom) -> bool) -> bool {
        if !self.seen_conds.insert(cond) {
            return false;
        }
        let pool = self.pool;
        match pool.cond(cond) {
            CondKind::True | CondKind::False => false,
            CondKind::AtMostZero(value) | CondKind::Zero(value) => self.poly(value, wanted),
            CondKind::Not(inner) => self.cond(*inner, wanted),
            CondKind::And(parts) | CondKind::Or(parts) => parts.iter().any(|part| self.cond(*part, wanted)),
            CondKind::Exists(_, body, upper) => self.cond(*body, wanted) || self.poly(upper, wanted),
        }
    }
}

/// A simultaneous replacement of atoms by values.
pub(crate) struct Replacement {
    map: FxHashMap<Atom, Poly>,
    memo: FxHashMap<Atom, Poly>,
    arrays: FxHashMap<ArrayId, ArrayId>,
    conds: FxHashMap<CondId, CondId>,
}

impl Replacement {
    /// The replacement of these atoms.
    pub(crate) fn new(map: FxHashMap<Atom, Poly>) -> Self {
        let (memo, arrays, conds) = Default::default();
        Replacement { map, memo, arrays, conds }
    }

    /// Replaces contents of arrays, too.
    pub(crate) fn and_array(&mut self, array: ArrayId, by: ArrayId) {
        self.arrays.insert(array, by);
    }

    /// The value after the replacement.
    pub(crate) fn poly(&mut self, pool: &mut Pool, poly: &Poly) -> Result<Poly, Stop> {
        let atoms = poly.atoms();
        let mut new = Vec::with_capacity(atoms.len());
        let mut changed = false;
        for atom in atoms {
            let value = self.atom(pool, atom)?;
            changed |= value.as_atom() != Some(atom);
            new.push((atom, value));
        }
        if !changed {
            return Ok(poly.clone());
        }
        let (summands, divisor) = poly.parts();
        let mut sum = Poly::constant(0);
        for (monomial, coefficient) in summands {
            let mut product = Poly::constant(*coefficient);
            for (atom, power) in monomial {
                let at = new.binary_search_by_key(atom, |(atom, _)| *atom).expect("all atoms were replaced");
                product = product.times(&new[at].1.power(*power)?)?;
            }
            sum = sum.plus(&product)?;
        }
        sum.over(divisor)
    }

    fn atom(&mut self, pool: &mut Pool, atom: Atom) -> Result<Poly, Stop> {
        if let Some(value) = self.map.get(&atom).or_else(|| self.memo.get(&atom)) {
            return Ok(value.clone());
        }
        let value = match pool.kind(atom).clone() {
            AtomKind::Iteration(_) | AtomKind::Hole(_) | AtomKind::Bound(_) | AtomKind::Base(_) => Poly::atom(atom),
            AtomKind::Row(object, index) => {
                let index = self.poly(pool, &index)?;
                Poly::atom(pool.atom(AtomKind::Row(object, index)))
            }
            AtomKind::Input(name, parameters, lo, hi) => {
                let parameters = self.all(pool, &parameters)?;
                Poly::atom(pool.atom(AtomKind::Input(name, parameters, lo, hi)))
            }
            AtomKind::Element(array, index) => {
                let (array, index) = (self.array(pool, array)?, self.poly(pool, &index)?);
                pool.read(array, &index, &mut |_, _| Ok(None))?
            }
            AtomKind::Sum(number, body, upper) => {
                let upper = self.poly(pool, &upper)?;
                let hole = pool.hole();
                let body = pool.open(&body, number, hole)?;
                let body = self.poly(pool, &body)?;
                pool.sum(&body, hole, &upper)?
            }
            AtomKind::Ite(cond, yes, no) => {
                let cond = self.cond(pool, cond)?;
                let (yes, no) = (self.poly(pool, &yes)?, self.poly(pool, &no)?);
                pool.ite(cond, yes, no)
            }
            AtomKind::Wrap(value, ty) => {
                let value = self.poly(pool, &value)?;
                pool.wrap(&value, ty)
            }
            AtomKind::Mod(value, divisor) => {
                let value = self.poly(pool, &value)?;
                pool.modulo(&value, divisor)?
            }
            AtomKind::Opaque(op, left, right, ty) => {
                let (left, right) = (self.poly(pool, &left)?, self.poly(pool, &right)?);
                let value = pool.operation(op, &left, &right, ty)?;
                pool.wrap(&value, ty)
            }
        };
        self.memo.insert(atom, value.clone());
        Ok(value)
    }

    fn all(&mut self, pool: &mut Pool, polys: &[Poly]) -> Result<Vec<Poly>, Stop> {
        polys.iter().map(|poly| self.poly(pool, poly)).collect()
    }

    /// The contents after the replacement.
    pub(crate) fn array(&mut self, pool: &mut Pool, array: ArrayId) -> Result<ArrayId, Stop> {
        if let Some(new) = self.arrays.get(&array) {
            return Ok(*new);
        }
        let new = match pool.array(array).clone() {
            ArrayKind::Unknown(name, parameters, ty) => {
                let parameters = self.all(pool, &parameters)?;
                pool.intern_array(ArrayKind::Unknown(name, parameters, ty))
            }
            ArrayKind::Zero => array,
            ArrayKind::Store(base, index, value) => {
                let base = self.array(pool, base)?;
                let (index, value) = (self.poly(pool, &index)?, self.poly(pool, &value)?);
                pool.intern_array(ArrayKind::Store(base, index, value))
            }
            ArrayKind::Layer(base, upper, writes) => {
                let base = self.array(pool, base)?;
                let upper = self.poly(pool, &upper)?;
                let hole = pool.hole();
                let (value, guard) = pool.open_writes(&writes, hole)?;
                let (value, guard) = (self.poly(pool, &value)?, self.cond(pool, guard)?);
                let start = self.poly(pool, &writes.start)?;
                let (depth, value, guard) = pool.close(&value, guard, hole)?;
                let writes = Writes { depth, start, stride: writes.stride, value, guard };
                pool.intern_array(ArrayKind::Layer(base, upper, writes))
            }
        };
        self.arrays.insert(array, new);
        Ok(new)
    }

    /// The condition after the replacement.
    pub(crate) fn cond(&mut self, pool: &mut Pool, cond: CondId) -> Result<CondId, Stop> {
        if let Some(new) = self.conds.get(&cond) {
            return Ok(*new);
        }
        let new = match pool.cond(cond).clone() {
            CondKind::True | CondKind::False => cond,
            CondKind::AtMostZero(value) => {
                let value = self.poly(pool, &value)?;
                pool.at_most_zero(&value)?
            }
            CondKind::Zero(value) => {
                let value = self.poly(pool, &value)?;
                pool.equal(&value, &Poly::constant(0))?
            }
            CondKind::Not(inner) => {
                let inner = self.cond(pool, inner)?;
                pool.not(inner)?
            }
            CondKind::And(parts) => {
                let parts = parts.into_iter().map(|part| self.cond(pool, part)).collect::<Result<Vec<_>, _>>()?;
                pool.and(parts)
            }
            CondKind::Or(parts) => {
                let parts = parts.into_iter().map(|part| self.cond(pool, part)).collect::<Result<Vec<_>, _>>()?;
                pool.or(parts)
            }
            CondKind::Exists(number, body, upper) => {
                let upper = self.poly(pool, &upper)?;
                let hole = pool.hole();
                let body = pool.open_cond(body, number, hole)?;
                let body = self.cond(pool, body)?;
                pool.exists(body, hole, &upper)?
            }
        };
        self.conds.insert(cond, new);
        Ok(new)
    }
}

impl Pool {
    /// Whether an atom that `wanted` accepts occurs in a value.
    pub(crate) fn mentions(&self, poly: &Poly, wanted: &dyn Fn(Atom) -> bool) -> bool {
        Search::new(self).poly(poly, &mut |atom| wanted(atom))
    }

    /// Whether one occurs in a condition.
    pub(crate) fn mentions_in_cond(&self, cond: CondId, wanted: &dyn Fn(Atom) -> bool) -> bool {
        Search::new(self).cond(cond, &mut |atom| wanted(atom))
    }

    fn replacing(&self, atom: Atom, value: &Poly) -> Replacement {
        Replacement::new(std::iter::once((atom, value.clone())).collect())
    }

    /// The value with one atom replaced.
    pub(crate) fn replace(&mut self, poly: &Poly, atom: Atom, value: &Poly) -> Result<Poly, Stop> {
        self.replacing(atom, value).poly(self, poly)
    }

    /// The condition with one atom replaced.
    pub(crate) fn replace_in_cond(&mut self, cond: CondId, atom: Atom, value: &Poly) -> Result<CondId, Stop> {
        self.replacing(atom, value).cond(self, cond)
    }

    /// A body with the atom in place of its bound variable.
    pub(crate) fn open(&mut self, body: &Poly, number: u32, hole: Atom) -> Result<Poly, Stop> {
        let bound = self.atom(AtomKind::Bound(number));
        self.replace(body, bound, &Poly::atom(hole))
    }

    /// The same for a condition.
    pub(crate) fn open_cond(&mut self, body: CondId, number: u32, hole: Atom) -> Result<CondId, Stop> {
        let bound = self.atom(AtomKind::Bound(number));
        self.replace_in_cond(body, bound, &Poly::atom(hole))
    }

    /// Value and guard of the writes of an iteration.
    pub(crate) fn open_writes(&mut self, writes: &Writes, hole: Atom) -> Result<(Poly, CondId), Stop> {
        Ok((self.open(&writes.value, writes.depth, hole)?, self.open_cond(writes.guard, writes.depth, hole)?))
    }
}
