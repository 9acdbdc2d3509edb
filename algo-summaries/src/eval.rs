// SPDX-License-Identifier: Apache-2.0
//! Values of expressions and places of accesses in a symbolic state.
//!
//! A machine integer is the mathematical one in the range of its type: after each operation it is shown that the result is
//! in the range, or it is wrapped explicitly. Addresses are the exception: they are kept modulo 2^bits, as a sum that
//! begins with the address of an object, and each access shows that the sum lies within that object.

use cfa::ids::{ExprId, RegionId};
use cfa::ir::{BinOp, CmpOp, ExprKind, Op, Region, UnOp};
use cfa::{IntTy, Program};
use cpa_core::Stop;

use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, Pool};
use crate::range::Range;
use crate::state::{Cells, Named, ObjectId, State};
use crate::walk::Walker;

/// The objects that a loop makes have common contents: element `c` of the object of iteration `r` has position `r * PITCH + c`.
/// It is not less than the number of bytes of any object of which an element is accessed. The rows of arrays of arrays whose
/// lengths are not constant are numbered in the same way.
pub(crate) const PITCH: i128 = 1 << 40;

/// What stops the analysis, for a message.
pub(crate) fn gave_up<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::GaveUp(what.into()))
}

/// For each region whether its cells are read as signed numbers.
pub(crate) fn signed_regions(program: &Program) -> Vec<bool> {
    let mut signed = vec![false; program.regions.len()];
    for edge in &program.edges {
        if let Op::Load { var, region, .. } = &edge.op {
            signed[region.index()] |= program.var(*var).ty.signed;
        }
    }
    signed
}

impl Walker<'_> {
    /// Whether the facts of the state imply the condition.
    pub(crate) fn holds(&mut self, state: &State, cond: CondId) -> Result<bool, Stop> {
        self.prover.follows(&mut self.pool, &state.facts, cond)
    }

    /// The address of an object that a sum begins with; fails for what is made of addresses in another way.
    pub(crate) fn base(&self, value: &Poly) -> Result<Option<Atom>, Stop> {
        if !self.pool.has_address(value) {
            return Ok(None);
        }
        let starts = |atom: &Atom| matches!(self.pool.kind(*atom), AtomKind::Base(_) | AtomKind::Row(..));
        let base = value.atoms().into_iter().find(starts);
        match base {
            Some(base) if !self.pool.has_address(&value.minus(&Poly::atom(base))?) => Ok(Some(base)),
            _ => gave_up("an address is used as a number"),
        }
    }

    /// Whether a value is an address, or by cases one of several addresses or 0.
    pub(crate) fn is_pointer(&self, value: &Poly) -> bool {
        let of_case = |case: &Poly| case.as_constant() == Some(0) || self.is_pointer(case);
        match value.as_atom().map(|atom| self.pool.kind(atom)) {
            Some(AtomKind::Ite(_, yes, no)) => of_case(yes) && of_case(no),
            _ => matches!(self.base(value), Ok(Some(_))),
        }
    }

    /// A result as a value of its type.
    pub(crate) fn fit(&mut self, state: &State, mut value: Poly, ty: IntTy) -> Result<Poly, Stop> {
        let is_address = self.is_pointer(&value)
            || match self.base(&value) {
                Err(_) if self.guess => {
                    // Such as the distance between two pointers of which one is not known in this round.
                    value = self.pool.without_addresses(&value)?;
                    false
                }
                base => base?.is_some(),
            };
        if is_address {
            return if ty.bits == self.program.machine.size_type().bits {
                Ok(value)
            } else {
                gave_up("an address is used as a number")
            };
        }
        if let Some(constant) = value.as_constant() {
            return Ok(Poly::constant(ty.wrap(constant)));
        }
        if Range::of_type(ty).contains(self.pool.range(&value)) || self.guess {
            return Ok(value);
        }
        let above = self.pool.at_most(&Poly::constant(ty.min()), &value)?;
        let below = self.pool.at_most(&value, &Poly::constant(ty.max()))?;
        if self.holds(state, above)? && self.holds(state, below)? {
            return Ok(value);
        }
        Ok(self.pool.wrap(&value, ty))
    }

    /// The value of an expression. With `modular`, and for a type as wide as addresses, only modulo 2^bits.
    pub(crate) fn value(&mut self, state: &State, id: ExprId, modular: bool) -> Result<Poly, Stop> {
        let expr = self.program.exprs.get(id).clone();
        let ty = expr.ty;
        let modular = modular && ty.bits == self.program.machine.size_type().bits;
        let fit = |walker: &mut Self, value: Poly| if modular { Ok(value) } else { walker.fit(state, value, ty) };
        match expr.kind {
            ExprKind::Const(value) => Ok(Poly::constant(value)),
            ExprKind::Var(var) => match state.vars.get(&var) {
                Some(value) => Ok(value.clone()),
                None => {
                    let name = self.names.name(Named::Variable(var), &State::new());
                    Ok(self.pool.input(name, Vec::new(), Range::of_type(ty)))
                }
            },
            ExprKind::Unary(UnOp::Neg, arg) => {
                let arg = self.value(state, arg, modular)?;
                self.plain(&arg)?;
                let value = arg.times_constant(-1)?;
                fit(self, value)
            }
            ExprKind::Unary(UnOp::BitNot, arg) => {
                let arg = self.value(state, arg, false)?;
                self.plain(&arg)?;
                // The greatest value of an unsigned type has all bits.
                let ones = if ty.signed { -1 } else { ty.max() };
                Poly::constant(ones).minus(&arg)
            }
            ExprKind::Binary(op, left, right) => self.binary(state, op, left, right, ty, modular),
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                let cond = self.cond(state, id)?;
                Ok(self.pool.indicator(cond))
            }
            ExprKind::Ite(cond, yes, no) => {
                let cond = self.cond(state, cond)?;
                let (yes, no) = (self.value(state, yes, false)?, self.value(state, no, false)?);
                if Pool::as_truth(cond).is_none() && yes != no {
                    self.plain(&yes)?;
                    self.plain(&no)?;
                }
                Ok(self.pool.ite(cond, yes, no))
            }
            ExprKind::Cast(arg) => {
                let from = self.program.exprs.ty(arg);
                // What is known modulo 2^bits of a wide type is known modulo those of a narrow one, not the other way round.
                let value = self.value(state, arg, modular && from.bits >= ty.bits)?;
                fit(self, value)
            }
            _ => gave_up("floating-point numbers are not summarised"),
        }
    }

    /// Refuses addresses.
    fn plain(&self, value: &Poly) -> Result<(), Stop> {
        if self.pool.has_address(value) { gave_up("an address is used as a number") } else { Ok(()) }
    }

    fn binary(
        &mut self,
        state: &State,
        op: BinOp,
        left: ExprId,
        right: ExprId,
        ty: IntTy,
        modular: bool,
    ) -> Result<Poly, Stop> {
        let linear = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul);
        let a = self.value(state, left, modular && linear)?;
        let b = self.value(state, right, modular && linear)?;
        let result = match op {
            BinOp::Add => a.plus(&b)?,
            BinOp::Sub => a.minus(&b)?,
            BinOp::Mul => {
                self.plain(&a)?;
                self.plain(&b)?;
                a.times(&b)?
            }
            _ => {
                self.plain(&a)?;
                self.plain(&b)?;
                self.other(state, op, &a, &b, ty)?
            }
        };
        if modular && linear { Ok(result) } else { self.fit(state, result, ty) }
    }

    /// Division, shifts and bit operators, by the case that holds.
    fn other(&mut self, state: &State, op: BinOp, a: &Poly, b: &Poly, ty: IntTy) -> Result<Poly, Stop> {
        let value = self.pool.operation(op, a, b, ty)?;
        let Some(AtomKind::Ite(cond, yes, no)) = value.as_atom().map(|atom| self.pool.kind(atom).clone()) else {
            return Ok(value);
        };
        if self.holds(state, cond)? {
            return Ok(yes);
        }
        let not = self.pool.not(cond)?;
        Ok(if self.holds(state, not)? { no } else { value })
    }

    /// Whether an expression is not 0.
    pub(crate) fn cond(&mut self, state: &State, id: ExprId) -> Result<CondId, Stop> {
        match self.program.exprs.get(id).kind.clone() {
            ExprKind::Cmp(op, left, right) => {
                let (a, b) = (self.value(state, left, false)?, self.value(state, right, false)?);
                if self.program.exprs.ty(left).signed && matches!(op, CmpOp::Lt | CmpOp::Le) {
                    self.plain(&a)?;
                    self.plain(&b)?;
                }
                self.compare(state, op, &a, &b)
            }
            ExprKind::Not(arg) => {
                let arg = self.cond(state, arg)?;
                self.pool.not(arg)
            }
            ExprKind::And(left, right) => {
                let parts = vec![self.cond(state, left)?, self.cond(state, right)?];
                Ok(self.pool.and(parts))
            }
            ExprKind::Or(left, right) => {
                let parts = vec![self.cond(state, left)?, self.cond(state, right)?];
                Ok(self.pool.or(parts))
            }
            _ => {
                let value = self.value(state, id, false)?;
                self.compare(state, CmpOp::Ne, &value, &Poly::constant(0))
            }
        }
    }

    fn compare(&mut self, state: &State, op: CmpOp, a: &Poly, b: &Poly) -> Result<CondId, Stop> {
        if self.pool.has_address(a) || self.pool.has_address(b) {
            return self.compare_addresses(state, op, a, b);
        }
        match op {
            CmpOp::Eq => self.pool.equal(a, b),
            CmpOp::Ne => {
                let equal = self.pool.equal(a, b)?;
                self.pool.not(equal)
            }
            CmpOp::Lt => self.pool.less(a, b),
            CmpOp::Le => self.pool.at_most(a, b),
        }
    }

    /// Compares an address with 0 or with another one in the same object.
    fn compare_addresses(&mut self, state: &State, op: CmpOp, a: &Poly, b: &Poly) -> Result<CondId, Stop> {
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        let (pointer, other, turned) = if self.pool.has_address(a) { (a, b, false) } else { (b, a, true) };
        let kind = pointer.as_atom().map(|atom| self.pool.kind(atom).clone());
        if let Some(AtomKind::Ite(cond, yes, no)) = kind
            && equality
        {
            let of_case = |walker: &mut Self, case: &Poly| {
                if turned { walker.compare(state, op, other, case) } else { walker.compare(state, op, case, other) }
            };
            let (yes, no) = (of_case(self, &yes)?, of_case(self, &no)?);
            let not = self.pool.not(cond)?;
            let (first, second) = (self.pool.and(vec![cond, yes]), self.pool.and(vec![not, no]));
            return Ok(self.pool.or(vec![first, second]));
        }
        let same =
            self.base(pointer)?.filter(|base| other.as_constant() == Some(0) || self.base(other) == Ok(Some(*base)));
        let Some(base) = same else {
            if self.guess {
                // One of the pointers is not known in this round.
                let (a, b) = (self.pool.without_addresses(a)?, self.pool.without_addresses(b)?);
                return self.compare(state, op, &a, &b);
            }
            return gave_up("addresses are compared");
        };
        let distance = pointer.minus(&Poly::atom(base))?;
        if other.as_constant() == Some(0) && equality {
            // A new object does not lie at 0, nor does its end.
            let inside = distance.as_constant() == Some(0) || self.guess || self.reaches(state, base, &distance)?;
            return if inside { Ok(Pool::truth(op == CmpOp::Ne)) } else { gave_up("addresses are compared") };
        }
        if !self.pool.has_address(other) {
            return gave_up("addresses are compared");
        }
        let from = other.minus(&Poly::atom(base))?;
        let (distance, from) = if turned { (from, distance) } else { (distance, from) };
        if self.guess || self.reaches(state, base, &distance)? && self.reaches(state, base, &from)? {
            return self.compare(state, op, &distance, &from);
        }
        gave_up("addresses are compared that may lie outside of an object")
    }

    /// Whether a distance from the start of an object stays in it, or is that of its end.
    fn reaches(&mut self, state: &State, base: Atom, distance: &Poly) -> Result<bool, Stop> {
        let (AtomKind::Base(object) | AtomKind::Row(object, _)) = *self.pool.kind(base) else { return Ok(false) };
        let Some(size) = state.objects.get(&object).map(|extent| extent.size.clone()) else { return Ok(false) };
        self.stays(state, distance, 0, &size)
    }

    /// Whether what begins at a distance from the start of something and is so long stays inside of it.
    fn stays(&mut self, state: &State, distance: &Poly, length: i128, size: &Poly) -> Result<bool, Stop> {
        let begins = self.pool.at_most(&Poly::constant(0), distance)?;
        let ends = self.pool.at_most(&distance.plus_constant(length)?, size)?;
        Ok(self.holds(state, begins)? && self.holds(state, ends)?)
    }

    /// The objects with fixed addresses of which a part may lie in the region.
    pub(crate) fn fixed_objects(&self, region: RegionId) -> impl Iterator<Item = ObjectId> + use<'_> {
        let objects = &self.program.objects;
        let of = |addr: &u64| objects.binary_search_by_key(addr, |object| object.addr).ok();
        self.program.region(region).objects.iter().filter_map(of).map(|at| at as ObjectId)
    }

    /// What is in the part of an object.
    pub(crate) fn contents(&mut self, state: &State, cells: Cells) -> ArrayId {
        if let Some(array) = state.memory.get(&cells) {
            return *array;
        }
        let region: &Region = self.program.region(cells.1);
        if region.zeroed {
            return self.pool.intern_array(ArrayKind::Zero);
        }
        let ty = IntTy { bits: region.width.unwrap_or(8), signed: self.signed[cells.1.index()] };
        let name = self.names.name(Named::Initial(cells), &State::new());
        self.pool.intern_array(ArrayKind::Unknown(name, Vec::new(), ty))
    }

    /// The cell of an access: which part of which object, and its position there.
    pub(crate) fn locate(
        &mut self,
        state: &State,
        addr: ExprId,
        bits: u32,
        region: RegionId,
    ) -> Result<(Cells, Poly), Stop> {
        let mut address = self.value(state, addr, true)?;
        if self.is_pointer(&address) {
            // The facts may tell which case it is.
            address = self.settled(&state.facts, &address)?;
        }
        let program = self.program;
        if program.region(region).width != Some(bits) {
            return gave_up("memory is accessed with different widths");
        }
        let bytes = i128::from(bits / 8);
        let (object, row, distance) = match self.base(&address)? {
            Some(base) => {
                let (object, mut row) = match self.pool.kind(base) {
                    AtomKind::Base(object) => (*object, None),
                    AtomKind::Row(object, index) => (*object, Some(index.clone())),
                    _ => unreachable!("it is an address"),
                };
                let mut distance = address.minus(&Poly::atom(base))?;
                let rows = state.objects.get(&object).map_or(Vec::new(), |extent| extent.rows.clone());
                if !rows.is_empty() {
                    let Some((number, rest)) = self.row(state, &rows, distance, bytes)? else {
                        return gave_up("an access may be out of bounds");
                    };
                    (row, distance) = (Some(number), rest);
                } else if !self.guess && !self.inside_new(state, (object, row.is_some()), region, &distance, bytes)? {
                    return gave_up("an access may be out of bounds");
                }
                (object, row, distance)
            }
            None => match (self.fixed(state, &address, region, bytes)?, state.objects.keys().next()) {
                (Some((object, distance)), _) => (object, None, distance),
                // The pointer becomes known in the next round.
                (None, Some(&object)) if self.guess => (object, None, address),
                _ => return gave_up("an access may be out of bounds"),
            },
        };
        let column = if self.pool.is_multiple(&distance, bytes)? {
            distance.over(bytes)?
        } else if self.guess {
            // Where a pointer is that moves becomes known in the next round.
            distance
        } else {
            return gave_up("an access may be misaligned");
        };
        let index = match row {
            Some(row) => row.times_constant(PITCH)?.plus(&column)?,
            None => column,
        };
        Ok(((object, region), index))
    }

    /// The number of the row of an array of arrays that an access stays inside of, and its distance from the start of the row.
    fn row(
        &mut self,
        state: &State,
        rows: &[(Poly, Poly)],
        distance: Poly,
        bytes: i128,
    ) -> Result<Option<(Poly, Poly)>, Stop> {
        let (mut number, mut rest) = (Poly::constant(0), distance);
        for (at, (count, length)) in rows.iter().enumerate() {
            let (mut row, mut within) = rest.divided(length)?;
            // What is counted from the end of a row looks like something in front of the next one.
            if within.has_negative() && !self.stays(state, &within, 1, length)? {
                let (before, from_end) = (row.plus_constant(-1)?, within.plus(length)?);
                if self.stays(state, &from_end, 1, length)? {
                    (row, within) = (before, from_end);
                }
            }
            let is_row = self.guess || self.stays(state, &row, 1, count)? && (at == 0 || self.fits(state, count)?);
            if !is_row {
                return Ok(None);
            }
            number = number.times_constant(PITCH)?.plus(&row)?;
            rest = within;
        }
        let Some((_, length)) = rows.last() else { return Ok(None) };
        let is_inside = self.guess || self.stays(state, &rest, bytes, length)? && self.fits(state, length)?;
        Ok(is_inside.then_some((number, rest)))
    }

    /// Whether a number is not greater than the distance between rows in the contents.
    fn fits(&mut self, state: &State, number: &Poly) -> Result<bool, Stop> {
        let fits = self.pool.at_most(number, &Poly::constant(PITCH))?;
        self.holds(state, fits)
    }

    /// Whether an access with this distance from the start of a new object, or of one of the objects that a loop made,
    /// stays inside, or has no other object that it could meet.
    fn inside_new(
        &mut self,
        state: &State,
        (object, is_row): (ObjectId, bool),
        region: RegionId,
        distance: &Poly,
        bytes: i128,
    ) -> Result<bool, Stop> {
        let Some(size) = state.objects.get(&object).map(|extent| extent.size.clone()) else { return Ok(false) };
        let inside = self.stays(state, distance, bytes, &size)?;
        if is_row {
            // A row that is longer than the distance of rows in the contents would reach into the next one.
            return Ok(inside && self.fits(state, &distance.plus_constant(bytes)?)?);
        }
        let alone = state.objects.len() == 1 && self.program.region(region).objects.is_empty();
        let space = Poly::constant(self.program.machine.size_type().max() + 1);
        Ok(inside || alone && self.stays(state, distance, bytes, &space)?)
    }

    /// The object with a fixed address that an access stays inside of, and the distance from its start.
    fn fixed(
        &mut self,
        state: &State,
        address: &Poly,
        region: RegionId,
        bytes: i128,
    ) -> Result<Option<(ObjectId, Poly)>, Stop> {
        let program = self.program;
        let mut candidates: Vec<ObjectId> = self.fixed_objects(region).collect();
        let constant = address.constant_part();
        let start = |id: ObjectId| i128::from(program.objects[id as usize].addr);
        candidates.sort_by_key(|id| (start(*id) - constant).abs());
        for id in candidates.into_iter().take(3) {
            let object = &program.objects[id as usize];
            let distance = address.plus_constant(-i128::from(object.addr))?;
            if self.guess {
                return Ok(Some((id, distance)));
            }
            if self.stays(state, &distance, bytes, &Poly::constant(i128::from(object.size)))? {
                return Ok(Some((id, distance)));
            }
        }
        Ok(None)
    }
}
