// SPDX-License-Identifier: Apache-2.0
//! Values of variables and memory at cut points in concrete runs with random inputs.
//!
//! A candidate that some run refutes need not be tried, and equations that hold in all runs are good candidates. The runs are
//! those of the concrete machine; a run ends where its behaviour is undefined.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{NodeId, VarId};
use cfa::ir::IntTy;
use cfa::liveness::Current;
use cfa::machine::{Code, Machine, Setup, Storage};
use cpa_core::{Cx, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::{frames, is_current};
use super::memory::{Array, Layout};
use super::sums;
use crate::cutpoints::Cutpoints;
use crate::inputs::{RandomInputs, Rewinding};

/// How many jumps backwards a run has.
const JUMPS: u32 = 400;
/// How often a short run that ends is made again with other last inputs, and how many jumps that may cost all of them together.
const REWINDS: u32 = 8;
const JUMPS_AGAIN: u32 = 200_000;
/// After how many runs in which nothing new was seen there are no more.
const STALE: u32 = 100;
/// These runs are long, so that they come behind loops over large arrays.
const LONG: std::ops::Range<u32> = 20..30;
/// How many jumps backwards all long runs have together, and by what factor more if there are arrays.
const LONG_JUMPS: u32 = 6_000_000;
const WITH_ARRAYS: u32 = 3;
/// After how many jumps the limits are checked.
const CHECK: u32 = 1 << 16;
/// Next to how many computed indices elements are looked at.
const USES: usize = 6;
/// How many of them may come from one short run, so that they differ in the inputs, too.
const KEPT_OF_RUN: usize = 12;
/// The same for long runs, which look far, and how many these are chosen from.
const KEPT_OF_LONG: usize = 10;
const SEEN_OF_LONG: usize = 400;
/// From how many times as many the samples are chosen where there are arrays, and which part of them are those with rare values.
const CHOICE: usize = 4;
const RARE: usize = 3;
/// How many samples differ in nothing but variables whose values are not current.
const ALIKE: usize = 3;
/// Bytes of memory that a run may use.
const MAX_BYTES: usize = 64 << 20;

/// What was seen at a visit of a cut point.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sample {
    /// Values of the variables that the runs use.
    pub(crate) vars: FxHashMap<VarId, i128>,
    /// Values of the layout's cells.
    pub(crate) cells: Vec<Option<i128>>,
    /// Some elements of each of the layout's arrays, by their index.
    pub(crate) arrays: Vec<Vec<(i128, i128)>>,
    /// Sums of the first elements of each of them that is summed, by the number of elements.
    pub(crate) sums: Vec<Vec<(i128, i128)>>,
}

impl Sample {
    /// The element of an array of the layout with an index, if it is known.
    pub(crate) fn element(&self, array: usize, index: i128) -> Option<i128> {
        let elements = &self.arrays[array];
        let found = elements.binary_search_by_key(&index, |element| element.0).ok()?;
        Some(elements[found].1)
    }
}

/// Which samples are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// How many runs are made.
    runs: u32,
    /// How many samples are kept for a cut point.
    kept: usize,
    /// Whether some runs are long; if not, inputs vary more.
    far: bool,
}

/// Some, also behind long loops.
pub(crate) const FEW: Extent = Extent { runs: 1500, kept: 60, far: true };
/// Many of short runs, which show what bounds the values.
pub(crate) const MANY: Extent = Extent { runs: 1500, kept: 2000, far: false };

/// The samples for each cut point, which differ, and in more than in variables that are not current there; with cells and elements
/// of arrays if a layout is given.
pub(crate) fn samples(
    cx: &Cx,
    program: &Program,
    targets: &BTreeSet<NodeId>,
    (cutpoints, current): (&Cutpoints, &Current),
    layout: &Layout,
    extent: Extent,
) -> Result<Vec<Vec<Sample>>, Stop> {
    let mut samples = vec![Vec::new(); cutpoints.points().len()];
    let lasting = (0..program.vars.len()).map(VarId::new).filter(|&var| !program.var(var).temporary);
    let lasting: Vec<VarId> = lasting.collect();
    let of_point = |point| {
        let frames = frames(program, point);
        lasting.iter().copied().partition(|&var| is_current(program, &frames, current, var))
    };
    // The variables that are current, and the others.
    let vars: Vec<(Vec<VarId>, Vec<VarId>)> = cutpoints.points().iter().map(of_point).collect();
    // What the others are in samples that are alike.
    let mut alike: Vec<FxHashMap<Vec<i128>, FxHashSet<Vec<i128>>>> = vec![FxHashMap::default(); vars.len()];
    let setup = Setup { pauses: &program.loops.heads, ..Setup::new(targets, Storage::Inputs) };
    // A program with too many variables for the machine has no samples.
    let Ok(code) = Code::new(program, &setup) else { return Ok(samples) };
    let mut machine = Machine::new(Rc::new(code), MAX_BYTES);
    let loops = &program.loops;
    // The heads of the loops in each loop.
    let within = |head: NodeId| -> Vec<NodeId> {
        let is_within = |inner: &NodeId| *inner != head && loops.around(*inner).any(|outer| outer.head == head);
        loops.heads.iter().copied().filter(is_within).collect()
    };
    let within: FxHashMap<NodeId, Vec<NodeId>> = loops.heads.iter().map(|&head| (head, within(head))).collect();
    let mut inputs = if extent.far { RandomInputs::new(program) } else { RandomInputs::varied(program) };
    let (mut long, mut jumped, mut again) = (LONG_JUMPS, 0u32, JUMPS_AGAIN);
    if !layout.arrays.is_empty() {
        long *= WITH_ARRAYS;
    }
    let mut stale = 0;
    let room = if layout.arrays.is_empty() { extent.kept } else { CHOICE * extent.kept };
    for number in 0..extent.runs {
        let all_have = |some| samples.iter().all(|seen: &Vec<Sample>| seen.len() >= some);
        if all_have(room) || stale >= STALE && !(extent.far && number < LONG.end) {
            break;
        }
        inputs.next_run(!layout.arrays.is_empty());
        let is_long = extent.far && LONG.contains(&number);
        if is_long && all_have(extent.kept) {
            continue;
        }
        machine.reset();
        // One that does not come to an end leaves some for the others.
        let jumps = if is_long { (long / (LONG.end - number) * 2).min(long) } else { JUMPS };
        let mut visits: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut seen: FxHashMap<usize, Vec<Sample>> = FxHashMap::default();
        let mut inputs = Rewinding::new(&mut inputs);
        let (mut pauses, mut asked, mut rewinds) = (0, 0, if is_long { 0 } else { REWINDS });
        for _ in 0..jumps {
            if machine.run(&mut inputs, 0).is_some() {
                // Other inputs since the last pause may lead on.
                if rewinds == 0 || inputs.asked() == asked || pauses > again || !inputs.rewind(asked) {
                    break;
                }
                (rewinds, again) = (rewinds - 1, again - pauses);
                machine.reset();
                (0..pauses).for_each(|_| _ = machine.run(&mut inputs, 0));
                continue;
            }
            (pauses, asked) = (pauses + 1, inputs.asked());
            long -= u32::from(is_long);
            jumped += 1;
            if jumped % CHECK == 0 {
                cx.check()?;
            }
            let Some(head) = machine.pause() else { continue };
            let visit = visits.entry(head).or_default();
            *visit += 1;
            // The first visits of each run, and later ones now and then.
            let is_seen = if is_long {
                // Inner loops begin anew.
                for &inner in &within[&head] {
                    visits.insert(inner, 0);
                }
                // A loop that was jumped into may not have been visited at its head.
                let is_rare = |head| visits.get(head).is_none_or(|&visit| is_rare(visit, number));
                loops.around(head).all(|one| is_rare(&one.head))
            } else {
                *visit < 6 || visit.is_multiple_of(7) && *visit <= 400 || visit.is_power_of_two()
            };
            if !is_seen {
                continue;
            }
            if let Some(number) = cutpoints.number(machine.active_calls(), head)
                && samples[number].len() < room
            {
                let of_run = seen.entry(number).or_default();
                if of_run.len() < if is_long { SEEN_OF_LONG } else { KEPT_OF_RUN } {
                    let sample = look(program, &machine, layout);
                    let (current, others) = &vars[number];
                    let alike = alike[number].entry(key(current, &sample)).or_default();
                    if alike.len() < ALIKE && alike.insert(values(others, &sample).collect()) {
                        of_run.push(sample);
                    }
                }
            }
        }
        stale = if seen.values().all(Vec::is_empty) { stale + 1 } else { 0 };
        for (number, of_run) in seen {
            let kept = of_run.len().min(if is_long { KEPT_OF_LONG } else { KEPT_OF_RUN });
            let kept = kept.min(room - samples[number].len());
            // Evenly spread, with the last one.
            let (count, mut chosen) = (of_run.len(), 0);
            for (at, sample) in of_run.into_iter().enumerate() {
                if (at + 1) * kept / count > chosen {
                    chosen += 1;
                    samples[number].push(sample);
                }
            }
        }
    }
    Ok(samples.into_iter().zip(&vars).map(|(seen, (current, _))| chosen(seen, current, extent.kept)).collect())
}

/// A variable, whether its value is negative, and the position of the value's first bit.
type Class = (VarId, bool, Option<u32>);

/// So many of the samples, in their order: some in which one of the variables has a value as in few others, such as a mode that is
/// seldom reached, and the others evenly spread.
fn chosen(samples: Vec<Sample>, vars: &[VarId], kept: usize) -> Vec<Sample> {
    if samples.len() <= kept {
        return samples;
    }
    // Values of the same sign and size are alike.
    let classes = |sample: &Sample| -> Vec<Class> {
        let class =
            |var: &VarId| sample.vars.get(var).map(|&value| (*var, value < 0, value.unsigned_abs().checked_ilog2()));
        vars.iter().filter_map(class).collect()
    };
    let mut often: FxHashMap<Class, usize> = FxHashMap::default();
    for class in samples.iter().flat_map(classes) {
        *often.entry(class).or_default() += 1;
    }
    let rarity = |sample: &Sample| classes(sample).iter().map(|class| often[class]).min().unwrap_or(usize::MAX);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|&at| rarity(&samples[at]));
    let others = order.split_off(kept / RARE);
    let rare: FxHashSet<usize> = order.into_iter().collect();
    let (spread, wanted) = (others.len(), kept - rare.len());
    let mut passed = 0;
    let mut is_chosen = |at: usize| {
        if rare.contains(&at) {
            return true;
        }
        passed += 1;
        passed * wanted / spread > (passed - 1) * wanted / spread
    };
    samples.into_iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, sample)| sample).collect()
}

/// Values of variables, where there are some.
fn values<'a>(vars: &'a [VarId], sample: &'a Sample) -> impl Iterator<Item = i128> + 'a {
    vars.iter().map(|var| sample.vars.get(var).copied().unwrap_or(i128::MIN))
}

/// What tells samples apart: these variables, and memory.
fn key(vars: &[VarId], sample: &Sample) -> Vec<i128> {
    let mut key: Vec<i128> = values(vars, sample).collect();
    key.extend(sample.cells.iter().map(|cell| cell.unwrap_or(i128::MIN)));
    for (index, value) in sample.arrays.iter().chain(&sample.sums).flatten() {
        key.extend([index, value]);
    }
    key
}

/// Whether a visit is one of some at growing distances, which differ from run to run: 1, 2, 4, 8 and so on, 1, 3, 7, 15 and so
/// on, or 1, 4, 10, 22 and so on.
fn is_rare(visit: u32, run: u32) -> bool {
    let mut next = 1;
    while next < visit {
        next = 2 * next + run % 3;
    }
    next == visit
}

/// What can be seen now.
fn look(program: &Program, machine: &Machine, layout: &Layout) -> Sample {
    let vars: FxHashMap<VarId, i128> = (0..program.vars.len())
        .map(VarId::new)
        .filter_map(|var| Some((var, machine.variable(program, var)?)))
        .collect();
    let cells = layout.cells.iter().map(|cell| machine.peek(cell.address(&vars)?, cell.ty)).collect();
    let arrays = layout.arrays.iter().map(|array| elements(program, machine, array, &vars)).collect();
    let sums = layout.arrays.iter().map(|array| prefix_sums(machine, array, &vars)).collect();
    Sample { vars, cells, arrays, sums }
}

/// Sums of the elements before indices that variables hold, and of all elements.
fn prefix_sums(machine: &Machine, array: &Array, vars: &FxHashMap<VarId, i128>) -> Vec<(i128, i128)> {
    match array.start(vars) {
        Some(start) if array.summed => {
            let indices: Vec<i128> = vars.values().chain(&array.lengths).copied().collect();
            sums::sample(machine, array, start, &indices)
        }
        _ => Vec::new(),
    }
}

/// The first elements of an array, those next to where variables and computed indices point to, and some of a few large indices.
fn elements(program: &Program, machine: &Machine, array: &Array, vars: &FxHashMap<VarId, i128>) -> Vec<(i128, i128)> {
    let Some(start) = array.start(vars) else { return Vec::new() };
    let mut indices: BTreeSet<i128> = (0..8).collect();
    for var in &array.indices {
        if let Some(&value) = vars.get(var) {
            indices.extend(value - 2..=value + 1);
        }
    }
    for index in array.uses.iter().take(USES) {
        for index in index.rows().chain([index.clone()]) {
            if let Some(value) = index.value(program, vars) {
                indices.extend(value - 2..=value + 1);
            }
        }
    }
    indices.extend(array.lengths.iter().flat_map(|length| [length / 2, length - 1]));
    let element = |index: i128| {
        let addr = index.checked_mul(array.stride)?.checked_add(start)?;
        let addr = u64::try_from(addr).ok()?;
        let value = match machine.peek(addr, array.ty) {
            None if machine.is_unwritten(addr, array.ty) => any_value(addr, array.ty),
            known => known?,
        };
        Some((index, value))
    };
    indices.into_iter().filter_map(element).collect()
}

/// What stands for a value that was never written: everything about it that is no accident is true of all values. Different ones
/// at different addresses, small ones in one of four cases.
fn any_value(addr: u64, ty: IntTy) -> i128 {
    let mixed = addr.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ty.wrap(if mixed.is_multiple_of(4) { i128::from(mixed >> 32) % 7 - 3 } else { i128::from(mixed >> 8) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_values_are_chosen() {
        let mode = VarId::new(0);
        let sample = |number: i128| {
            let value = if number == 77 { -1 } else { 1 };
            Sample { vars: FxHashMap::from_iter([(mode, value)]), cells: vec![Some(number)], ..Sample::default() }
        };
        let all: Vec<Sample> = (0..100).map(sample).collect();
        let some = chosen(all.clone(), &[mode], 10);
        assert_eq!(some.len(), 10);
        assert!(some.contains(&sample(77)));
        assert!(some.contains(&sample(99)), "the others are spread");
        assert!(some.is_sorted_by_key(|sample| sample.cells[0]));
        assert_eq!(chosen(all.clone(), &[mode], 100), all);
    }
}
