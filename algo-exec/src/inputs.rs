// SPDX-License-Identifier: Apache-2.0
//! Random inputs that are likely to be interesting, and their record.

use std::rc::Rc;
use std::sync::Arc;

use cfa::ir::{FloatTy, HavocOrigin, Op};
use cfa::machine::{Asked, Inputs, Random};
use cfa::{EdgeId, IntTy, MOST_ARGUMENTS, Program};
use rustc_hash::FxHashMap;

use crate::constants::{Constants, small};

/// A run asks for at most so many inputs.
const MAX_INPUTS: usize = 1 << 21;

/// One in so many runs has the same number as its inputs, one after the other.
const SWEEP: u64 = 8;

/// How the inputs of a place are chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// Always the same number.
    Same(i128),
    /// From -4 to 15.
    Small,
    /// 0 or 1.
    Bit,
    /// 1, and once in so many times 0, so that a loop that asks whether to go on goes on for long.
    Rarely(usize),
    /// From -128 to 1023.
    Medium,
    /// A constant of the program or one of its neighbours.
    Constant,
    /// The least and greatest values and their neighbours.
    Extreme,
    /// Any bits.
    Any,
    /// One more than last time.
    Counting,
    /// One less than last time.
    CountingDown,
}

/// The plainest inputs.
const PLAIN: [Way; 15] = [
    Way::Same(0),
    Way::Same(1),
    Way::Same(-1),
    Way::Same(2),
    Way::Bit,
    Way::Small,
    Way::Rarely(1 << 7),
    Way::Rarely(1 << 11),
    Way::Rarely(1 << 13),
    Way::Rarely(1 << 15),
    Way::Counting,
    Way::CountingDown,
    Way::Extreme,
    Way::Constant,
    Way::Any,
];

/// How the inputs of a run are chosen.
#[derive(Clone, Copy, Debug)]
enum Plan {
    /// All in the same way.
    Uniform(Way),
    /// Each place in a way of its own.
    PerPlace,
    /// Each input in a new way.
    Mixed,
}

/// The inputs of one run.
pub(crate) struct Chosen {
    program: Arc<Program>,
    constants: Rc<Constants>,
    random: Random,
    plan: Plan,
    /// The way of each place.
    ways: FxHashMap<EdgeId, Way>,
    /// How often all places were asked.
    count: i128,
    /// The inputs of an earlier run.
    earlier: Rc<[(EdgeId, i128)]>,
    /// So many of them are taken over as long as the same places ask.
    prefix: usize,
    /// Each input of the prefix is replaced with a chance of one in this; 0 for never.
    change_one_in: usize,
    /// What was given.
    pub(crate) values: Vec<(EdgeId, i128)>,
    /// What was given for bytes of memory, by address, in the order of the requests.
    pub(crate) bytes: Vec<(u64, u8)>,
}

impl Chosen {
    /// Inputs for a new run. The first runs try the plainest inputs one after the other; some of the later ones try all
    /// numbers from 0 on, the same one wherever a program asks.
    pub(crate) fn new(program: &Arc<Program>, constants: &Rc<Constants>, number: u64, mut random: Random) -> Self {
        let plan = match PLAIN.get(number as usize) {
            Some(way) => Plan::Uniform(*way),
            None if Self::sweeps(number) => Plan::Uniform(Way::Same(i128::from(number / SWEEP))),
            None => match random.below(8) {
                0 | 1 => Plan::Uniform(way(&mut random)),
                2..=4 => Plan::PerPlace,
                _ => Plan::Mixed,
            },
        };
        Chosen {
            program: Arc::clone(program),
            constants: Rc::clone(constants),
            random,
            plan,
            ways: FxHashMap::default(),
            count: 0,
            earlier: Rc::from([]),
            prefix: 0,
            change_one_in: 0,
            values: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// So many of the first runs try the plainest inputs.
    pub(crate) const PLAIN: u64 = PLAIN.len() as u64;

    /// Whether a run is one of those that try all numbers.
    pub(crate) fn sweeps(number: u64) -> bool {
        number % SWEEP == SWEEP - 1
    }

    /// Begins with inputs of an earlier run, some of them changed.
    pub(crate) fn mutating(mut self, earlier: &Rc<[(EdgeId, i128)]>) -> Self {
        if earlier.is_empty() {
            return self;
        }
        // Either the end is new, or a few inputs are.
        self.earlier = Rc::clone(earlier);
        if self.random.below(2) == 0 {
            self.prefix = self.random.below(earlier.len() + 1);
        } else {
            self.prefix = earlier.len();
            self.change_one_in = [2, 4, 16, earlier.len().max(2)][self.random.below(4)];
        }
        self
    }

    /// Whether anything was asked for.
    pub(crate) fn was_asked(&self) -> bool {
        !self.values.is_empty() || !self.bytes.is_empty()
    }

    /// Whether a place is where the first parameter of `main` gets its value.
    fn is_argument_count(&self, edge: EdgeId) -> bool {
        let Op::Havoc { var, origin: HavocOrigin::Uninitialised } = &self.program.edge(edge).op else { return false };
        let main = self.program.func(self.program.main);
        &*main.name == "main" && main.params.first() == Some(var)
    }

    fn choose(&mut self, edge: EdgeId, ty: IntTy) -> i128 {
        let random = &mut self.random;
        let way = match self.plan {
            Plan::Uniform(way) => way,
            Plan::Mixed => way(random),
            Plan::PerPlace => *self.ways.entry(edge).or_insert_with(|| match random.below(6) {
                0 | 1 => Way::Same(small(random)),
                // What is furthest from where something goes wrong is often the same for all rounds of a loop.
                2 => Way::Same(self.constants.integer(random)),
                _ => way(random),
            }),
        };
        let float = match &self.program.edge(edge).op {
            Op::Havoc { var, .. } => self.program.var(*var).float,
            _ => None,
        };
        match float {
            Some(float) => self.float(way, float),
            None => self.integer(way, ty),
        }
    }

    fn integer(&mut self, way: Way, ty: IntTy) -> i128 {
        let random = &mut self.random;
        let value = match way {
            Way::Same(value) => value,
            Way::Small => small(random),
            Way::Bit => random.below(2) as i128,
            Way::Medium => random.below(1152) as i128 - 128,
            Way::Rarely(one_in) => i128::from(random.below(one_in) > 0),
            Way::Constant => self.constants.integer(random),
            Way::Extreme => match random.below(6) {
                0 => ty.max() - 1,
                1 => ty.min() + 1,
                2 | 3 => ty.max(),
                _ => ty.min(),
            },
            Way::Any => i128::from(random.next()),
            Way::Counting => self.count,
            Way::CountingDown => -self.count,
        };
        ty.wrap(value)
    }

    fn float(&mut self, way: Way, ty: FloatTy) -> i128 {
        let random = &mut self.random;
        let value = match way {
            Way::Same(value) => value as f64,
            Way::Rarely(one_in) => f64::from(u8::from(random.below(one_in) > 0)),
            Way::Small | Way::Bit => [-1.0, 0.0, 0.5, 1.0, 2.0, -0.5, 1.5, 10.0][random.below(8)],
            Way::Medium => (random.next() >> 11) as f64 / (1u64 << 53) as f64 * 200.0 - 100.0,
            Way::Constant => match self.constants.doubles.len() {
                0 => small(random) as f64,
                n => {
                    let value = self.constants.doubles[random.below(n)];
                    [value, value, value.next_up(), value.next_down(), -value][random.below(5)]
                }
            },
            Way::Extreme => {
                [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324]
                    [random.below(8)]
            }
            Way::Any => f64::from_bits(random.next()),
            Way::Counting => self.count as f64,
            Way::CountingDown => -self.count as f64,
        };
        match ty {
            FloatTy::F32 => i128::from((value as f32).to_bits()),
            FloatTy::F64 => i128::from(value.to_bits()),
        }
    }
}

impl Inputs for Chosen {
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        let at = self.values.len();
        if at >= MAX_INPUTS {
            return None;
        }
        self.count += 1;
        let kept = match self.earlier[..self.prefix].get(at) {
            Some((edge, value)) if *edge == asked.edge => {
                (self.change_one_in == 0 || self.random.below(self.change_one_in) != 0).then_some(*value)
            }
            Some(_) => {
                // The run took another way; what comes later does not fit.
                self.prefix = 0;
                None
            }
            None => None,
        };
        let value = match kept {
            Some(value) => value,
            None => {
                let truth = matches!(self.program.edge(asked.edge).op,
                    Op::Havoc { var, .. } if self.program.var(var).truth);
                let mut value = self.choose(asked.edge, ty);
                if self.is_argument_count(asked.edge) {
                    value = value.rem_euclid(MOST_ARGUMENTS as i128);
                }
                if truth && value != 0 && value != 1 { i128::from(self.random.below(2) as u64) } else { value }
            }
        };
        self.values.push((asked.edge, value));
        Some(value)
    }

    fn byte(&mut self, _asked: Asked, addr: u64) -> Option<u8> {
        if self.bytes.len() >= MAX_INPUTS {
            return None;
        }
        let byte = match self.random.below(4) {
            0 => self.random.next() as u8,
            1 => 1,
            _ => 0,
        };
        self.bytes.push((addr, byte));
        Some(byte)
    }
}

fn way(random: &mut Random) -> Way {
    match random.below(16) {
        0..=3 => Way::Small,
        4 | 5 => Way::Bit,
        6 => Way::Medium,
        7..=11 => Way::Constant,
        12 | 13 => Way::Extreme,
        14 => Way::Any,
        _ if random.below(2) == 0 => Way::CountingDown,
        _ => Way::Counting,
    }
}
