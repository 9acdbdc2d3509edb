// SPDX-License-Identifier: Apache-2.0
//! What the nodes of a segment hold together, and in which order: words over letters, of which each says what one node holds.
//!
//! A language is given by the letters that a word begins and ends with and by the pairs that stand next to each other: a
//! strictly 2-testable language (McNaughton, Papert, *Counter-Free Automata*).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::graph::{Cell, End, Graph, Object, ObjectId, Value};
use crate::range::Range;

/// Numbers that one node holds: by offset the number of bytes and the range. Of other bytes nothing is said.
pub(crate) type Letter = BTreeMap<u64, (u64, Range)>;

/// The words that the nodes of a segment may be, as positions of letters. Each letter is in some word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    /// Sorted, all different.
    letters: Vec<Letter>,
    first: BTreeSet<usize>,
    last: BTreeSet<usize>,
    pairs: BTreeSet<(usize, usize)>,
}

impl Rows {
    /// All words over one letter, or the word that is this letter.
    fn of(letter: Letter, any_length: bool) -> Self {
        let only = BTreeSet::from([0]);
        let pairs = if any_length { BTreeSet::from([(0, 0)]) } else { BTreeSet::new() };
        Self { letters: vec![letter], first: only.clone(), last: only, pairs }
    }

    /// The words with other letters: sorted, and those that are the same are one.
    fn with_letters(&self, letters: &[Letter]) -> Self {
        let sorted: BTreeSet<&Letter> = letters.iter().collect();
        let places: BTreeMap<&Letter, usize> = sorted.iter().enumerate().map(|(at, &letter)| (letter, at)).collect();
        let place = |at: &usize| places[&letters[*at]];
        Self {
            letters: sorted.into_iter().cloned().collect(),
            first: self.first.iter().map(place).collect(),
            last: self.last.iter().map(place).collect(),
            pairs: self.pairs.iter().map(|(one, other)| (place(one), place(other))).collect(),
        }
    }

    /// The words of letters that are changed one by one.
    pub(crate) fn map(&self, change: impl FnMut(&Letter) -> Letter) -> Self {
        self.with_letters(&self.letters.iter().map(change).collect::<Vec<_>>())
    }

    /// At least the words that are made of one of these and one of the others behind it.
    pub(crate) fn then(&self, others: &Rows) -> Self {
        let behind = self.letters.len();
        let letters: Vec<Letter> = self.letters.iter().chain(&others.letters).cloned().collect();
        let mut pairs = self.pairs.clone();
        pairs.extend(others.pairs.iter().map(|(one, other)| (one + behind, other + behind)));
        for &one in &self.last {
            pairs.extend(others.first.iter().map(|other| (one, other + behind)));
        }
        let last = others.last.iter().map(|at| at + behind).collect();
        Self { letters: Vec::new(), first: self.first.clone(), last, pairs }.with_letters(&letters)
    }

    /// How many letters there are.
    pub(crate) fn kinds(&self) -> usize {
        self.letters.len()
    }

    /// All words over the letters.
    pub(crate) fn in_any_order(&self) -> Self {
        let all: BTreeSet<usize> = (0..self.letters.len()).collect();
        let pairs = all.iter().flat_map(|&one| all.iter().map(move |&other| (one, other))).collect();
        Self { letters: self.letters.clone(), first: all.clone(), last: all, pairs }
    }

    /// All words over one letter that says what all letters do.
    pub(crate) fn of_one_kind(&self) -> Self {
        Self::of(self.common(), true)
    }

    /// What all letters say.
    pub(crate) fn common(&self) -> Letter {
        let mut common = self.letters[0].clone();
        for letter in &self.letters[1..] {
            common.retain(|offset, (bytes, range)| match letter.get(offset) {
                Some((width, other)) if width == bytes => {
                    *range = range.hull(other);
                    true
                }
                Some(_) | None => false,
            });
        }
        common
    }

    /// Whether the letters and their pairs are those of the other words.
    pub(crate) fn is_alike(&self, other: &Rows) -> bool {
        self.letters == other.letters && self.pairs == other.pairs
    }

    /// Whether what all letters say says it all.
    fn is_free(&self) -> bool {
        let all: BTreeSet<usize> = (0..self.letters.len()).collect();
        if all.len() == 1 {
            return true;
        }
        if self.first != all || self.last != all || self.pairs.len() != all.len() * all.len() {
            return false;
        }
        // One number, of which the ranges are one.
        let mut ranges = Vec::new();
        for letter in &self.letters {
            let mut entries = letter.iter();
            let (Some((offset, (bytes, range))), None) = (entries.next(), entries.next()) else { return false };
            ranges.push((offset, bytes, range));
        }
        ranges.windows(2).all(|pair| {
            let ((offset, bytes, range), next) = (pair[0], pair[1]);
            (offset, bytes) == (next.0, next.1) && range.is_continued_by(next.2)
        })
    }

    /// The letters that an end may be.
    pub(crate) fn at(&self, end: End) -> impl Iterator<Item = usize> {
        let letters = match end {
            End::First | End::Own => &self.first,
            End::Last => &self.last,
        };
        letters.iter().copied()
    }

    pub(crate) fn letter(&self, at: usize) -> &Letter {
        &self.letters[at]
    }

    /// Whether a letter alone is a word.
    pub(crate) fn is_word(&self, letter: usize) -> bool {
        self.first.contains(&letter) && self.last.contains(&letter)
    }

    /// What is left of the words of two or more letters that begin or end with the letter, without it; none if there are none.
    pub(crate) fn without(&self, letter: usize, end: End) -> Option<Self> {
        let mut rest = self.clone();
        match end {
            End::First | End::Own => {
                rest.first = self.pairs.iter().filter(|pair| pair.0 == letter).map(|pair| pair.1).collect()
            }
            End::Last => rest.last = self.pairs.iter().filter(|pair| pair.1 == letter).map(|pair| pair.0).collect(),
        }
        rest.trimmed()
    }

    /// With the letters only that are in some word; none if there are none.
    fn trimmed(&self) -> Option<Self> {
        let reach = |from: &BTreeSet<usize>, forward: bool| {
            let mut reached = from.clone();
            let mut open: Vec<usize> = from.iter().copied().collect();
            while let Some(at) = open.pop() {
                for &(one, other) in &self.pairs {
                    let (from, to) = if forward { (one, other) } else { (other, one) };
                    if from == at && reached.insert(to) {
                        open.push(to);
                    }
                }
            }
            reached
        };
        let (begun, ended) = (reach(&self.first, true), reach(&self.last, false));
        let kept: Vec<usize> = begun.intersection(&ended).copied().collect();
        let place = |at: usize| kept.binary_search(&at).ok();
        let both = |(one, other): &(usize, usize)| Some((place(*one)?, place(*other)?));
        (!kept.is_empty()).then(|| Self {
            letters: kept.iter().map(|&at| self.letters[at].clone()).collect(),
            first: self.first.iter().filter_map(|&at| place(at)).collect(),
            last: self.last.iter().filter_map(|&at| place(at)).collect(),
            pairs: self.pairs.iter().filter_map(both).collect(),
        })
    }

    /// The offsets that letters say something about, and how many bytes.
    pub(crate) fn offsets(&self) -> BTreeMap<u64, u64> {
        self.letters.iter().flatten().map(|(&offset, &(bytes, _))| (offset, bytes)).collect()
    }

    /// Whether these words stand for all of the others.
    pub(crate) fn include(&self, lesser: &Rows) -> bool {
        let includes = |greater: &Letter, letter: &Letter| {
            greater.iter().all(|(offset, (bytes, range))| {
                letter.get(offset).is_some_and(|(width, other)| width == bytes && range.includes(other))
            })
        };
        // The same letter, if it is there, or else the one that says most: a letter that says nothing includes all.
        let says_less = |letter: &Letter| {
            let widths: i128 = letter.values().map(|(_, range)| range.high() - range.low()).sum();
            (std::cmp::Reverse(letter.len()), widths)
        };
        let place = |letter: &Letter| {
            let same = self.letters.binary_search(letter).ok();
            let including = || (0..self.letters.len()).filter(|&at| includes(&self.letters[at], letter));
            same.or_else(|| including().min_by_key(|&at| says_less(&self.letters[at])))
        };
        let Some(places) = lesser.letters.iter().map(place).collect::<Option<Vec<usize>>>() else { return false };
        lesser.first.iter().all(|&at| self.first.contains(&places[at]))
            && lesser.last.iter().all(|&at| self.last.contains(&places[at]))
            && lesser.pairs.iter().all(|&(one, other)| self.pairs.contains(&(places[one], places[other])))
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, letter) in self.letters.iter().enumerate() {
            write!(f, " {at}:")?;
            letter.iter().try_for_each(|(offset, (_, range))| write!(f, " +{offset} {range}"))?;
        }
        write!(f, " from {:?} to {:?} by {:?}", self.first, self.last, self.pairs)
    }
}

impl Graph {
    /// The words that the nodes of an object may be, as letters with what it holds at all offsets but the given ones.
    pub(crate) fn rows(&self, object: &Object, but: &BTreeSet<u64>) -> Rows {
        let of_cells = |each: bool| -> Letter {
            let cells = object.cells.iter().filter(|(offset, cell)| !but.contains(offset) && (each || !cell.each));
            let ranges = cells.filter_map(|(&offset, cell)| Some((offset, (cell.bytes, self.numbers(cell.value)?))));
            ranges.filter(|(_, (bytes, range))| !range.is_any(*bytes)).collect()
        };
        match &object.rows {
            None => Rows::of(of_cells(true), object.is_segment()),
            Some(rows) => {
                let shared = of_cells(false);
                rows.map(|letter| {
                    let mut letter = letter.clone();
                    letter.retain(|offset, _| !but.contains(offset));
                    for (offset, entry) in &shared {
                        letter.entry(*offset).or_insert_with(|| entry.clone());
                    }
                    letter
                })
            }
        }
    }

    /// The nodes of a segment are one of these words.
    pub(crate) fn set_rows(&mut self, segment: ObjectId, rows: Rows) {
        if let ([letter], true) = (&rows.letters[..], rows.pairs.is_empty()) {
            self.end_segment(segment);
            self.hold(segment, letter);
            return;
        }
        let common = rows.common();
        let cells: Vec<(u64, Cell)> = common
            .into_iter()
            .map(|(offset, (bytes, range))| {
                let old = self.object(segment).cells.get(&offset).filter(|old| old.each && old.bytes == bytes);
                let value = self.with_range(old.map(|old| old.value), range);
                (offset, Cell { bytes, value, each: matches!(value, Value::Unknown(_)) })
            })
            .collect();
        let is_known = |cell: &Cell| {
            let compared = matches!(cell.value, Value::Unknown(symbol) if self.is_compared(symbol));
            cell.each && compared
        };
        // Of what some letters say nothing about it may be known how it compares.
        let kept: BTreeSet<u64> =
            self.object(segment).cells.iter().filter(|(_, cell)| is_known(cell)).map(|(&offset, _)| offset).collect();
        let object = self.object_mut(segment);
        for offset in rows.offsets().keys().filter(|offset| !kept.contains(offset)) {
            object.cells.remove(offset);
        }
        object.cells.extend(cells);
        object.rows = (!rows.is_free()).then_some(rows);
    }

    /// A single object holds what a letter says.
    pub(crate) fn hold(&mut self, id: ObjectId, letter: &Letter) {
        for (&offset, (bytes, range)) in letter {
            let old = self.object(id).cells.get(&offset).filter(|old| !old.each && old.bytes == *bytes);
            let value = self.with_range(old.map(|old| old.value), range.clone());
            self.object_mut(id).store(offset, Cell { bytes: *bytes, value, each: false });
        }
    }

    /// An unknown number in a range: the given one, if something is known of how it compares with others.
    fn with_range(&mut self, old: Option<Value>, range: Range) -> Value {
        match old {
            Some(Value::Unknown(symbol)) if self.is_compared(symbol) => {
                let value = range.value().map_or(Value::Unknown(symbol), Value::Int);
                self.restrict(symbol, range);
                value
            }
            _ => self.unknown(range),
        }
    }
}
