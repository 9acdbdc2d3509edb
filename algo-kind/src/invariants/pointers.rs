// SPDX-License-Identifier: Apache-2.0
//! What pointers point to: the elements that addresses seem to be computed for.
//!
//! As everything about the layout of memory a guess, see [`memory`](super::memory).

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::{ExprId, RegionId, VarId};
use cfa::ir::{Object, Op};
use rustc_hash::FxHashMap;

use super::memory::{Address, Array, Base, Index, Part, Walk, object_at, split, steady_variables};
use super::value::gcd;

/// An address as an element of an array.
pub(crate) struct Place {
    pub(crate) base: Base,
    /// Bytes from the base to the first element, and between elements.
    pub(super) offset: i128,
    pub(super) stride: i128,
    pub(crate) index: Index,
    /// The number of elements, as far as it is fixed.
    pub(super) lengths: Vec<i128>,
}

impl Place {
    fn new(parts: Address, object: Option<&Object>) -> Option<Self> {
        let stride = parts.scaled.iter().fold(0, |all, part| gcd(all, part.factor));
        if stride == 0 {
            return None;
        }
        let (base, rest, lengths) = match (&parts.pointers[..], object) {
            ([], Some(object)) => {
                let start = i128::from(object.addr);
                (Base::Address(start), parts.constant - start, vec![i128::from(object.size) / stride])
            }
            (&[(pointer, _)], None) => (Base::Pointer(pointer), parts.constant, Vec::new()),
            _ => return None,
        };
        let parts = parts.scaled.into_iter();
        let parts = parts.map(|part| Part { factor: part.factor / stride, product: part.product }).collect();
        let index = Index { constant: rest.div_euclid(stride), parts, walk: None };
        Some(Place { base, offset: rest.rem_euclid(stride), stride, index, lengths })
    }

    /// Whether it is an element of an array of the layout.
    pub(crate) fn is_in(&self, array: &Array) -> bool {
        (self.base, self.offset, self.stride) == (array.base, array.offset, array.stride)
    }
}

/// What variables are set to that may point to elements.
pub(crate) struct Pointers {
    set: FxHashMap<VarId, Vec<ExprId>>,
    /// Those that are set once.
    steady: BTreeSet<VarId>,
    /// Those that get addresses of objects, or what is computed from others.
    certain: BTreeSet<VarId>,
}

/// Through how many variables a pointer is followed.
const FOLLOWED: usize = 6;

impl Pointers {
    /// The pointers of a program.
    pub(crate) fn of(program: &Program) -> Self {
        let mut set: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
        let bits = program.machine.size_type().bits;
        for (var, value) in program.assigned().filter(|(var, _)| program.var(*var).ty.bits == bits) {
            let values = set.entry(var).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let certain = certain_pointers(program, &set);
        Self { set, steady: steady_variables(program), certain }
    }

    /// The array that an address seems to be computed for.
    pub(crate) fn place(&self, program: &Program, region: RegionId, addr: ExprId) -> Option<Place> {
        let (parts, object) = self.split(program, region, addr);
        match (&parts.pointers[..], &parts.scaled[..], object) {
            (&[(pointer, _)], [], None) => {
                let more = parts.constant;
                let element = self.element(program, region, pointer, more);
                element.or_else(|| self.walk(program, region, pointer, more))
            }
            _ => Place::new(parts, object),
        }
    }

    fn split<'p>(&self, program: &'p Program, region: RegionId, addr: ExprId) -> (Address, Option<&'p Object>) {
        let mut parts = Address::default();
        split(program, addr, 1, &mut parts);
        let object = object_at(program, region, parts.constant);
        if object.is_some() {
            // What is added to the address of an object is no pointer.
            parts.scaled.extend(parts.pointers.drain(..).map(|(_, id)| Part { factor: 1, product: vec![id] }));
        } else if parts.pointers.len() > 1 {
            // Indices of characters are not scaled.
            let indices = parts.pointers.extract_if(.., |(var, _)| !self.certain.contains(var));
            parts.scaled.extend(indices.map(|(_, id)| Part { factor: 1, product: vec![id] }));
        }
        (parts, object)
    }

    fn values(&self, pointer: VarId) -> &[ExprId] {
        self.set.get(&pointer).map_or(&[], |values| &values[..])
    }

    /// What is so many bytes behind where a variable points to that gets the address of an element, `struct s *p = &a[i];`
    fn element(&self, program: &Program, region: RegionId, mut pointer: VarId, mut more: i128) -> Option<Place> {
        for _ in 0..FOLLOWED {
            let &[value, ..] = self.values(pointer) else { return None };
            let (mut parts, object) = self.split(program, region, value);
            parts.constant += more;
            match (&parts.pointers[..], &parts.scaled[..]) {
                (&[(next, _)], []) if next != pointer => (pointer, more) = (next, parts.constant),
                (_, []) => return None,
                // Steps to the next element.
                _ if parts.pointers.iter().any(|part| part.0 == pointer) => return None,
                _ => return Place::new(parts, object),
            }
        }
        None
    }

    /// What is so many bytes behind where a variable points to that goes from element to element: `p++`.
    fn walk(&self, program: &Program, region: RegionId, pointer: VarId, more: i128) -> Option<Place> {
        let mut vars = vec![pointer];
        let (mut bases, mut stride, mut next) = (BTreeSet::new(), 0, 0);
        while let Some(&var) = vars.get(next) {
            next += 1;
            let values = self.values(var);
            if values.is_empty() || var != pointer && self.steady.contains(&var) {
                bases.insert(Base::Pointer(var));
                continue;
            }
            for &value in values {
                let (parts, object) = self.split(program, region, value);
                match (&parts.pointers[..], &parts.scaled[..], object) {
                    ([], [], Some(object)) => _ = bases.insert(Base::Address(i128::from(object.addr))),
                    (&[(from, _)], [], None) => {
                        stride = gcd(stride, parts.constant);
                        if !vars.contains(&from) {
                            vars.push(from);
                        }
                    }
                    _ => return None,
                }
            }
            if vars.len() > FOLLOWED {
                return None;
            }
        }
        let mut bases = bases.into_iter();
        let (Some(base), None) = (bases.next(), bases.next()) else { return None };
        if stride == 0 {
            return None;
        }
        let lengths = match base {
            Base::Address(start) => {
                object_at(program, region, start).map(|object| i128::from(object.size) / stride).into_iter().collect()
            }
            Base::Pointer(_) => Vec::new(),
        };
        let walk = Some(Walk { pointer, base, stride });
        let index = Index { constant: more.div_euclid(stride), parts: Vec::new(), walk };
        Some(Place { base, offset: more.rem_euclid(stride), stride, index, lengths })
    }
}

/// Variables that get addresses: of new objects, of other ones, or what is added to those in such variables.
fn certain_pointers(program: &Program, set: &FxHashMap<VarId, Vec<ExprId>>) -> BTreeSet<VarId> {
    let allocated = program.edges.iter().filter_map(|edge| match edge.op {
        Op::Alloc { var, .. } => Some(var),
        _ => None,
    });
    let mut certain: BTreeSet<VarId> = allocated.collect();
    let is_inside = |addr: i128| {
        let is_of = |object: &Object| (0..i128::from(object.size)).contains(&(addr - i128::from(object.addr)));
        program.objects.iter().any(is_of)
    };
    loop {
        let known = certain.len();
        for (&var, values) in set {
            let points = values.iter().any(|&value| {
                let mut parts = Address::default();
                split(program, value, 1, &mut parts);
                parts.pointers.iter().any(|(var, _)| certain.contains(var)) || is_inside(parts.constant)
            });
            if points {
                certain.insert(var);
            }
        }
        if certain.len() == known {
            return certain;
        }
    }
}
