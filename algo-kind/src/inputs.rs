// SPDX-License-Identifier: Apache-2.0
//! Random inputs for sample runs: small ones, and constants of the program.

use cfa::Program;
use cfa::ir::{ExprKind, IntTy};
use cfa::machine::{Asked, Inputs};

/// Runs in which the inputs grow by factors of two, before it begins anew.
const SPREADS: u32 = 12;

/// Inputs of so many bits are mostly the least or greatest ones in one of so many runs.
const NARROW: u32 = 16;
const EXTREME: u32 = 4;
/// In one of so many runs all inputs may be zero more often.
const BIASED: u32 = 3;
/// How often inputs are zero: so many of so many.
const ODDS: [(u64, u64); 5] = [(1, 2), (1, 8), (7, 8), (1, 32), (1, 3)];

/// In one of so many runs every place that asks for inputs has its own spread: many elements that differ little, for example.
const APART: u32 = 3;

/// How long arguments of the program are on average.
const LENGTH: u64 = 6;

/// In one of so many runs the inputs may be in order, so that arrays are sorted.
const SORTED: u32 = 4;
/// By how much.
const STEPS: [i128; 5] = [-1, 1, 1, 0, -1];

/// Random inputs, the same in every execution of the tool.
pub struct RandomInputs {
    random: Random,
    /// Constants of the program and their successors.
    interesting: Vec<i128>,
    run: u32,
    /// Most inputs are below it.
    spread: u64,
    /// The last input and how much the next one is greater, in runs with inputs in order.
    sorted: Option<(i128, i128)>,
    /// Whether inputs are often zero, or the least or greatest of their type, in some runs.
    varied: bool,
}

impl RandomInputs {
    /// Inputs for `program`; before each run comes [`RandomInputs::next_run`].
    pub fn new(program: &Program) -> Self {
        let mut interesting: Vec<i128> = vec![0, 1, -1, 2];
        for id in program.exprs.ids() {
            if let ExprKind::Const(value) = program.exprs.get(id).kind {
                interesting.extend([value, value + 1]);
            }
        }
        Self { random: Random(0x9e37_79b9_7f4a_7c15), interesting, run: 0, spread: 1, sorted: None, varied: false }
    }

    /// The same, in some runs often with zeros and the least and greatest numbers of small types.
    pub fn varied(program: &Program) -> Self {
        Self { varied: true, ..Self::new(program) }
    }

    /// Begins a run. Small inputs lead into loops and out of them; large ones show what overflows; in some runs they are in order
    /// if that is asked for.
    pub fn next_run(&mut self, in_order: bool) {
        self.spread = 1 << (self.run % SPREADS);
        let begin = i128::from(self.spread / 2);
        let step = STEPS[(self.run / SORTED) as usize % STEPS.len()];
        self.sorted = (in_order && self.run.is_multiple_of(SORTED)).then_some((begin, step));
        self.run += 1;
    }

    /// Below what most inputs of a place are in this run.
    fn spread(&self, asked: Asked) -> u64 {
        if self.run % APART != 2 {
            return self.spread;
        }
        1 << ((self.of_place(asked).next() >> 20) % u64::from(SPREADS / 2))
    }

    /// What depends on the run and the edge together.
    fn of_place(&self, asked: Asked) -> Random {
        Random(u64::from(self.run) << 32 | (asked.edge.index() as u64 + 1))
    }

    /// Whether an input is zero, where that is decided first: for truth values, and for all others in some runs. How often
    /// it is depends on the run and the edge, so that branches on inputs are taken rarely in one run and mostly in another.
    fn is_zero(&mut self, asked: Asked, ty: IntTy) -> Option<bool> {
        let truth = ty.max() == 1;
        if !(truth || self.varied && self.run % BIASED == 1) {
            return None;
        }
        let mut mixed = self.of_place(asked);
        let (zeros, of) = ODDS[(mixed.next() ^ mixed.next() >> 20) as usize % ODDS.len()];
        let is_zero = self.random.below(of) < zeros;
        (truth || is_zero).then_some(is_zero)
    }
}

impl Inputs for RandomInputs {
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        if let Some((last, step)) = &mut self.sorted {
            let value = *last;
            *last += *step;
            return Some(ty.wrap(value));
        }
        if let Some(is_zero) = self.is_zero(asked, ty) {
            return Some(i128::from(!is_zero));
        }
        let narrow = ty.bits <= NARROW;
        let spread = self.spread(asked);
        let value = match self.random.below(8) {
            1.. if narrow && self.varied && self.run % EXTREME == 1 => {
                [ty.min(), ty.max(), 0, 1][self.random.below(4) as usize]
            }
            0 => self.interesting[self.random.below(self.interesting.len() as u64) as usize],
            1 => -i128::from(self.random.below(spread)),
            _ => i128::from(self.random.below(spread + 1)),
        };
        Some(ty.wrap(value))
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(self.random.next() as u8)
    }

    /// One of so many is the last one; most others are among the constants of the program.
    fn character(&mut self, _asked: Asked) -> Option<u8> {
        if self.random.below(LENGTH) == 0 {
            return Some(0);
        }
        let constant = self.interesting[self.random.below(self.interesting.len() as u64) as usize];
        let visible = u8::try_from(constant).ok().filter(u8::is_ascii_graphic);
        Some(visible.unwrap_or(b'!' + self.random.below(u64::from(b'~' - b'!')) as u8))
    }
}

/// How many inputs of a run are kept.
const MOST_KEPT: usize = 1 << 16;

/// The inputs of one run, the first of them kept, so that it can be made again up to some place, from where on it has others.
pub(crate) struct Rewinding<'a> {
    inputs: &'a mut RandomInputs,
    kept: Vec<i128>,
    next: usize,
}

impl<'a> Rewinding<'a> {
    /// For a run that begins.
    pub(crate) fn new(inputs: &'a mut RandomInputs) -> Self {
        Self { inputs, kept: Vec::new(), next: 0 }
    }

    /// How many inputs the run has had.
    pub(crate) fn asked(&self) -> usize {
        self.next
    }

    /// Begins the run again, with so many of its first inputs; not if they are not kept.
    pub(crate) fn rewind(&mut self, same: usize) -> bool {
        let is_kept = same <= self.kept.len();
        if is_kept {
            self.kept.truncate(same);
            self.next = 0;
        }
        is_kept
    }

    fn next(&mut self, more: impl FnOnce(&mut RandomInputs) -> Option<i128>) -> Option<i128> {
        let input = match self.kept.get(self.next) {
            Some(&kept) => kept,
            None => more(self.inputs)?,
        };
        if self.next == self.kept.len() && self.next < MOST_KEPT {
            self.kept.push(input);
        }
        self.next += 1;
        Some(input)
    }
}

impl Inputs for Rewinding<'_> {
    fn character(&mut self, asked: Asked) -> Option<u8> {
        self.next(|inputs| inputs.character(asked).map(i128::from)).and_then(|character| u8::try_from(character).ok())
    }

    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        self.next(|inputs| inputs.value(asked, ty))
    }

    fn byte(&mut self, asked: Asked, addr: u64) -> Option<u8> {
        let byte = self.next(|inputs| inputs.byte(asked, addr).map(i128::from))?;
        u8::try_from(byte).ok()
    }
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }
}

#[cfg(test)]
mod tests {
    use cfa::ids::EdgeId;

    use super::*;

    #[test]
    fn a_run_that_is_made_again_begins_as_before() {
        let source = cfa::Source { name: "t.c".into(), text: "int main(void) { return 0; }".into() };
        let program = cfa::load(&[source], &cfa::Options::default()).expect("it is a program");
        let mut inputs = RandomInputs::new(&program);
        inputs.spread = 1 << 40;
        let mut run = Rewinding::new(&mut inputs);
        let asked = Asked { edge: EdgeId::new(0), step: 0 };
        let next = |run: &mut Rewinding<'_>| run.value(asked, IntTy { bits: 64, signed: true });
        let first: Vec<_> = (0..9).map(|_| next(&mut run)).collect();
        assert_eq!(run.asked(), 9);
        assert!(run.rewind(4));
        let second: Vec<_> = (0..9).map(|_| next(&mut run)).collect();
        assert_eq!(first[..4], second[..4]);
        assert_ne!(first[4..], second[4..]);
        (0..2 * MOST_KEPT).for_each(|_| _ = next(&mut run));
        assert!(!run.rewind(MOST_KEPT + 1));
        assert!(run.rewind(MOST_KEPT));
    }
}
