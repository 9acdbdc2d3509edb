// SPDX-License-Identifier: Apache-2.0
//! Boxes: a range for each input of an execution, and their division.
//!
//! An input is the n-th value that an edge asks for. An input without a range in the box may have any value.

use std::collections::BTreeMap;
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{EdgeId, VarId};
use cfa::ir::FloatTy;

use super::state::any;
use super::value::{Floats, Range, bits, number};

/// An input: an edge, and how often it asked before.
pub(crate) type Input = (EdgeId, u32);

/// Numbers in this range are divided evenly, others by the number of floating-point numbers between them.
const EVEN: f64 = 16.0;
/// So are narrow ranges, which are only divided this far when what is next to one number matters.
const NARROW: f64 = 1e-9;

/// The values of one input.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Part {
    /// Integers, or the bits of what is not a number.
    Integers(i128, i128),
    /// Numbers that are not NaN, by their places in the order of all numbers: 0 for zero, -1 for the negative zero.
    Numbers(FloatTy, i128, i128),
    /// What is not a number.
    Nan(FloatTy),
    /// All values of a format.
    All(FloatTy),
}

/// The place of a number with these bits in the order of all numbers.
fn place(ty: FloatTy, bits: i128) -> i128 {
    let sign = 1i128 << (ty.bits().bits - 1);
    if bits < sign { bits } else { sign - 1 - bits }
}

/// The bits of the number at a place.
fn at_place(ty: FloatTy, place: i128) -> i128 {
    let sign = 1i128 << (ty.bits().bits - 1);
    if place >= 0 { place } else { sign - 1 - place }
}

impl Part {
    fn new(program: &Program, var: VarId) -> Self {
        let data = program.var(var);
        match data.float {
            Some(ty) => Part::All(ty),
            None if data.truth => Part::Integers(0, 1),
            None => Part::Integers(data.ty.min(), data.ty.max()),
        }
    }

    fn range(self) -> Range {
        match self {
            Part::Integers(low, high) => Range::Int { low, high },
            Part::Numbers(ty, low, high) if low == high => Range::of(at_place(ty, low)),
            Part::Numbers(ty, low, high) => {
                let at = |place| number(ty, at_place(ty, place));
                Range::Float(Floats { ty, low: at(low), high: at(high), nan: false })
            }
            Part::Nan(ty) => Range::Float(Floats { ty, low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true }),
            Part::All(ty) => Range::Float(Floats::all(ty)),
        }
    }

    /// Two parts that have all values together; none if there is only one value.
    fn halves(self) -> Option<(Part, Part)> {
        match self {
            Part::All(ty) => {
                let end = bits(ty, f64::INFINITY);
                Some((Part::Nan(ty), Part::Numbers(ty, -1 - end, end)))
            }
            Part::Integers(low, high) if low < high => {
                let middle = (low + high).div_euclid(2);
                Some((Part::Integers(low, middle), Part::Integers(middle + 1, high)))
            }
            Part::Numbers(ty, low, high) if low < high => {
                let middle = middle(ty, low, high);
                Some((Part::Numbers(ty, low, middle), Part::Numbers(ty, middle + 1, high)))
            }
            Part::Nan(ty) => {
                let (infinity, sign) = (bits(ty, f64::INFINITY), 1i128 << (ty.bits().bits - 1));
                Some((Part::Integers(infinity + 1, sign - 1), Part::Integers(sign + infinity + 1, 2 * sign - 1)))
            }
            Part::Integers(..) | Part::Numbers(..) => None,
        }
    }

    /// One of the values, in the middle.
    fn sample(self) -> i128 {
        match self {
            Part::Integers(low, high) => (low + high).div_euclid(2),
            Part::Numbers(ty, low, high) if low < high => at_place(ty, middle(ty, low, high)),
            Part::Numbers(ty, low, _) => at_place(ty, low),
            // The canonical one.
            Part::Nan(ty) => bits(ty, f64::NAN),
            Part::All(_) => 0,
        }
    }
}

/// A place from `low` to before `high`.
fn middle(ty: FloatTy, low: i128, high: i128) -> i128 {
    let (a, b) = (number(ty, at_place(ty, low)), number(ty, at_place(ty, high)));
    if a.abs().max(b.abs()) <= EVEN && b - a > NARROW {
        place(ty, bits(ty, f64::midpoint(a, b))).clamp(low, high - 1)
    } else {
        (low + high).div_euclid(2)
    }
}

/// Executions, described by the ranges of their inputs.
#[derive(Clone, Default, Debug)]
pub(crate) struct InputBox {
    /// With how often each part was divided.
    parts: Rc<BTreeMap<Input, (Part, u32)>>,
}

impl InputBox {
    fn part(&self, program: &Program, input: Input, var: VarId) -> (Part, u32) {
        self.parts.get(&input).copied().unwrap_or_else(|| (Part::new(program, var), 0))
    }

    /// The values of an input that a variable takes.
    pub(crate) fn range(&self, program: &Program, input: Input, var: VarId) -> Range {
        match self.parts.get(&input) {
            Some((part, _)) => part.range(),
            None if program.var(var).truth => Range::Int { low: 0, high: 1 },
            None => any(program, var),
        }
    }

    /// How often inputs were divided until this box was left.
    pub(crate) fn divisions(&self) -> u32 {
        self.parts.values().map(|(_, divided)| divided).sum()
    }

    /// One value of an input.
    pub(crate) fn sample(&self, program: &Program, input: Input, var: VarId) -> i128 {
        self.part(program, input, var).0.sample()
    }

    /// Two boxes that have all executions of this one, by the input that was divided least often; none if no input of those
    /// given can be divided.
    pub(crate) fn halves(&self, program: &Program, inputs: &[(Input, VarId)]) -> Option<[InputBox; 2]> {
        let divisible = inputs.iter().filter_map(|&(input, var)| {
            let (part, divided) = self.part(program, input, var);
            Some((divided, input, part.halves()?))
        });
        let (divided, input, (low, high)) = divisible.min_by_key(|&(divided, input, _)| (divided, input))?;
        Some([low, high].map(|part| {
            let mut parts = BTreeMap::clone(&self.parts);
            parts.insert(input, (part, divided + 1));
            InputBox { parts: Rc::new(parts) }
        }))
    }

    /// The box of one execution out of this one, as far as it is described by these inputs.
    pub(crate) fn point(&self, program: &Program, inputs: &[(Input, VarId)]) -> InputBox {
        let mut parts = BTreeMap::clone(&self.parts);
        for &(input, var) in inputs {
            let (part, divided) = self.part(program, input, var);
            let value = part.sample();
            let single = match part {
                Part::Integers(..) | Part::Nan(_) => Part::Integers(value, value),
                Part::Numbers(ty, ..) | Part::All(ty) => Part::Numbers(ty, place(ty, value), place(ty, value)),
            };
            parts.insert(input, (single, divided));
        }
        InputBox { parts: Rc::new(parts) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::IntTy;

    #[test]
    fn halves_have_all_values_and_none_twice() {
        let mut open = vec![Part::Integers(-3, 4)];
        let mut seen = Vec::new();
        while let Some(part) = open.pop() {
            match part.halves() {
                Some((low, high)) => open.extend([high, low]),
                None => seen.push(part.range()),
            }
        }
        assert_eq!(seen, (-3..=4).map(Range::of).collect::<Vec<_>>());
    }

    #[test]
    fn places_are_in_the_order_of_numbers() {
        for ty in [FloatTy::F32, FloatTy::F64] {
            let numbers = [f64::NEG_INFINITY, -1.5, -1e-40, -0.0, 0.0, 1e-40, 2.0, f64::INFINITY];
            let places = numbers.map(|x| place(ty, bits(ty, x)));
            assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
            assert!(numbers.iter().zip(places).all(|(&x, place)| at_place(ty, place) == bits(ty, x)));
            let Some((Part::Nan(_), Part::Numbers(_, low, high))) = Part::All(ty).halves() else { panic!() };
            assert_eq!((low, high), (places[0], places[7]));
        }
    }

    #[test]
    fn numbers_are_divided_until_one_is_left() {
        let mut part = Part::Numbers(FloatTy::F32, place(FloatTy::F32, bits(FloatTy::F32, -0.5)), 1 << 29);
        let mut steps = 0;
        while let Some((low, high)) = part.halves() {
            part = if steps % 2 == 0 { high } else { low };
            steps += 1;
            assert!(steps < 100);
        }
        assert!(part.range().single().is_some());
    }

    #[test]
    fn integers_of_all_types_fit() {
        let ty = IntTy { bits: 64, signed: false };
        assert_eq!(Part::Integers(ty.min(), ty.max()).sample(), (1 << 63) - 1);
    }
}
