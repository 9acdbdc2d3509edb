// SPDX-License-Identifier: Apache-2.0
//! How long runs with chosen inputs may become before they are given up.

/// The length of the shortest runs, in jumps backwards and calls.
const SHORTEST: u64 = 1024;
/// So many runs that were too long, one after the other, make the long runs longer; as long as none came to an end, one does.
const PATIENCE: u32 = 4;
/// By how much, as a power of two.
const RISE: u32 = 3;

/// Who has asked for a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Schedule {
    /// Most runs are short; a long one comes as often as it takes the time of many short ones (Luby, Sinclair, Zuckerman,
    /// *Optimal Speedup of Las Vegas Algorithms*, 1993).
    Mixed,
    /// All runs are as long as it takes to come to an end, for programs whose every run is long.
    Rising,
}

/// Two schedules that get the same time each.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    longest: u64,
    /// Runs of the mixed schedule so far.
    mixed: u64,
    rising: u64,
    /// Runs of the rising schedule that were cut off since one came to an end or the length rose.
    cut: u32,
    /// How many ways to choose the plainest inputs there are, which one is next, and how many are left at this length of the
    /// rising schedule.
    ways: u64,
    way: u64,
    ways_left: u64,
    /// Whether some run came to an end.
    ended: bool,
    /// Jumps backwards and calls of each schedule.
    spent: [u64; 2],
    current: Schedule,
}

impl Lengths {
    /// Lengths up to `longest`, for inputs that have so many plainest ways to choose them.
    pub(crate) fn new(longest: u64, ways: u64) -> Self {
        let rising = SHORTEST.min(longest);
        Lengths {
            longest,
            mixed: 0,
            rising,
            cut: 0,
            ways,
            way: 0,
            ways_left: 0,
            ended: false,
            spent: [0; 2],
            current: Schedule::Mixed,
        }
    }

    /// The greatest length of the next run.
    pub(crate) fn next(&mut self) -> u64 {
        let [mixed, rising] = self.spent;
        if rising < mixed {
            self.current = Schedule::Rising;
            return self.rising;
        }
        self.current = Schedule::Mixed;
        self.mixed += 1;
        SHORTEST.checked_shl(self.mixed.trailing_zeros()).map_or(self.longest, |length| length.min(self.longest))
    }

    /// Which way to choose the plainest inputs the run for which [`next`](Self::next) was asked should take, if it should: they
    /// were tried when runs were short, and are tried again, each at most once, when runs become longer.
    pub(crate) fn plain(&mut self) -> Option<u64> {
        if self.current == Schedule::Mixed {
            return None;
        }
        self.ways_left = self.ways_left.checked_sub(1)?;
        let way = self.way;
        self.way = (way + 1) % self.ways;
        Some(way)
    }

    /// The run for which [`next`](Self::next) was asked took `length` and then ended, or was cut off.
    pub(crate) fn ended(&mut self, length: u64, cut: bool) {
        // A run that takes nothing must not be repeated for ever.
        self.spent[usize::from(self.current == Schedule::Rising)] += length.max(1);
        self.ended |= !cut;
        if self.current == Schedule::Mixed {
            return;
        }
        self.cut = if cut { self.cut + 1 } else { 0 };
        if self.cut >= if self.ended { PATIENCE } else { 1 } {
            self.cut = 0;
            let longer = (self.rising << RISE).min(self.longest);
            if longer > self.rising {
                self.ways_left = self.ways;
            }
            self.rising = longer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of runs of a program whose every run takes `needed`.
    fn lengths(needed: u64, runs: usize) -> Vec<u64> {
        let mut lengths = Lengths::new(1 << 20, 7);
        (0..runs)
            .map(|_| {
                let length = lengths.next();
                lengths.ended(length.min(needed), length < needed);
                length
            })
            .collect()
    }

    #[test]
    fn long_runs_come_soon_if_no_short_one_ends() {
        let found = lengths(300_000, 1000);
        let first = found.iter().position(|&length| length >= 300_000).expect("a run that is long enough");
        let before: u64 = found[..first].iter().sum();
        assert!(before < 5 * 300_000, "{before} in vain");
    }

    #[test]
    fn most_runs_stay_short_if_short_ones_end() {
        let found = lengths(500, 1000);
        let short = found.iter().filter(|&&length| length == SHORTEST).count();
        assert!(short > 700, "{short} of 1000");
        assert!(found.iter().any(|&length| length >= 64 * SHORTEST));
    }

    #[test]
    fn plain_inputs_are_tried_again_when_runs_become_longer() {
        let mut lengths = Lengths::new(1 << 30, 7);
        let mut tried = Vec::new();
        for _ in 0..2000 {
            let length = lengths.next();
            let plain = lengths.plain();
            tried.extend(plain.filter(|_| length >= 100_000));
            // Of the plain ones the last one alone comes to an end before the length is a million.
            let needed = if plain.is_some_and(|way| way < 6) { 1_000_000 } else { 100_000 };
            lengths.ended(length.min(needed), length < needed);
        }
        assert!((0..7).all(|way| tried.contains(&way)), "{tried:?}");
        assert!(tried.len() < 30, "{} of 2000", tried.len());
    }

    #[test]
    fn no_run_is_longer_than_allowed() {
        let mut lengths = Lengths::new(5000, 7);
        for _ in 0..2000 {
            let length = lengths.next();
            assert!((1..=5000).contains(&length));
            lengths.ended(length, true);
        }
    }
}
