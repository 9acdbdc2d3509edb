// SPDX-License-Identifier: Apache-2.0
//! Elements that are equal to elements of other arrays at indices that depend linearly on theirs.

use super::*;

impl Search<'_> {
    /// Equality with elements of other arrays at indices that depend linearly on k, as long as these are below a bound.
    pub(super) fn copies(&mut self, at: usize, arrays: &[usize], ranges: &[(Scalar, Scalar)]) -> Vec<TermId> {
        let mut found = Vec::new();
        let bits = self.layout.arrays[at].ty.bits;
        let mut seen = BTreeSet::new();
        for high in ranges.iter().map(|(_, high)| high).filter(|bound| seen.insert(bound.term)) {
            for &other in arrays.iter().filter(|&&other| other != at) {
                if self.layout.arrays[other].ty.bits != bits {
                    continue;
                }
                for (factor, offset) in [1, 2, 3, 4, 5].into_iter().flat_map(|a| (-2..=2).map(move |b| (a, b))) {
                    for own in [true, false] {
                        // Whether the index k itself is below the bound, or the other one.
                        if (factor, offset) != (1, 0) && self.is_copy(at, other, (factor, offset), high, own) {
                            let (mine, theirs) = (self.element(at), self.element_at(other, factor, offset));
                            let same = self.manager.terms.eq(mine, theirs);
                            let guard = self.guard_of(high, if own { (1, 0) } else { (factor, offset) });
                            found.push(self.manager.terms.implies(guard, same));
                        }
                    }
                }
            }
        }
        found
    }

    fn is_copy(&self, at: usize, other: usize, (factor, offset): (i128, i128), high: &Scalar, own: bool) -> bool {
        let mut same = BTreeSet::new();
        for (number, sample) in self.samples.iter().enumerate() {
            let Some(high) = high.values[number] else { continue };
            for &(index, value) in &sample.arrays[at] {
                let theirs = factor * index + offset;
                if index < 0 || theirs < 0 || (if own { index } else { theirs }) >= high {
                    continue;
                }
                if let Some(found) = sample.element(other, theirs) {
                    if found != value {
                        return false;
                    }
                    same.insert(value);
                }
            }
        }
        // Arrays with few values agree in many ways.
        same.len() >= 4
    }

    /// That k is not negative and a linear function of it is below a bound.
    fn guard_of(&mut self, high: &Scalar, (factor, offset): (i128, i128)) -> TermId {
        let width = INDEX;
        let k = self.any_index();
        let terms = &mut self.manager.terms;
        let (zero, factor, offset) =
            (number(terms, 0, width), number(terms, factor, width), number(terms, offset, width));
        let product = terms.bv_bin(BvBin::Mul, factor, k);
        let theirs = terms.bv_bin(BvBin::Add, product, offset);
        let high = widened(terms, high.term, high.ty, width).unwrap_or(zero);
        let above = terms.bv_cmp(BvCmp::Sle, zero, k);
        let below = terms.bv_cmp(BvCmp::Slt, theirs, high);
        let inside = terms.bv_cmp(BvCmp::Slt, k, high);
        terms.and_all(&[above, below, inside])
    }
}
