// SPDX-License-Identifier: Apache-2.0
//! The text that is parsed: the source with edits, and the way back from its offsets to those of the source.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

/// Replacements in a source text, which do not overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    by_start: BTreeMap<(u32, u32), (u32, String)>,
    /// Replacements that were taken back.
    retracted: FxHashSet<u32>,
}

impl Edits {
    /// Replaces the bytes from `start` to before `end`, or inserts if there are none; false if this place has been
    /// edited in the same way before.
    pub(crate) fn replace(&mut self, start: u32, end: u32, text: &str) -> bool {
        // Insertions at a place come before the replacement of what follows.
        let key = (start, u32::from(end > start));
        if self.by_start.contains_key(&key) || (key.1 == 1 && self.retracted.contains(&start)) {
            return false;
        }
        self.by_start.insert(key, (end, text.to_owned()));
        true
    }

    /// Closes a brace behind what ends at `at`, also if others are closed there.
    pub(crate) fn close_brace(&mut self, at: u32) {
        self.by_start.entry((at, 0)).or_insert_with(|| (at, String::new())).1.insert_str(0, " }");
    }

    /// Takes back the replacement of what starts at `start`, for good; whether there is one.
    pub(crate) fn retract(&mut self, start: u32) -> bool {
        self.by_start.remove(&(start, 1)).is_some() && self.retracted.insert(start)
    }

    /// Number of edits that were made; it grows with every change.
    pub(crate) fn changes(&self) -> usize {
        self.by_start.len() + 2 * self.retracted.len()
    }
}

/// The edited text.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    /// Pieces of the edited text: where they start in it, where in the source, and how many source bytes they stand for.
    pieces: Vec<(u32, u32, u32)>,
    shifted: bool,
}

impl Text {
    /// Applies the edits to `base`, which has the offsets of the source.
    pub(crate) fn new(base: &[u8], edits: &Edits) -> Self {
        let mut bytes = Vec::with_capacity(base.len() + 16);
        let mut pieces = vec![(0, 0, u32::MAX)];
        let mut shifted = false;
        let mut done = 0u32;
        for (&(start, _), (end, text)) in &edits.by_start {
            if start < done {
                continue;
            }
            bytes.extend_from_slice(&base[done as usize..start as usize]);
            let old = (end - start) as usize;
            let here = offset(bytes.len());
            bytes.extend_from_slice(text.as_bytes());
            if text.len() < old {
                bytes.resize(bytes.len() + old - text.len(), b' ');
            }
            if text.len() > old {
                shifted = true;
                pieces.push((here, start, end - start));
                pieces.push((offset(bytes.len()), *end, u32::MAX));
            }
            done = *end;
        }
        bytes.extend_from_slice(&base[done as usize..]);
        Self { bytes, pieces, shifted }
    }

    /// The offset in the source of an offset in the edited text.
    pub(crate) fn original(&self, at: usize) -> u32 {
        let at = offset(at);
        if !self.shifted {
            return at;
        }
        let (start, source, length) = self.pieces[self.pieces.partition_point(|piece| piece.0 <= at) - 1];
        source + (at - start).min(length)
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("sources are shorter than 4 GiB")
}

/// The identifier at the start of `text`.
pub(crate) fn identifier_at(text: &str, at: u32) -> &str {
    let rest = &text.as_bytes()[at as usize..];
    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b == b'$').count();
    &text[at as usize..at as usize + length]
}
