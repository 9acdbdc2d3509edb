// SPDX-License-Identifier: Apache-2.0
//! Concatenation of bit-vectors.
//!
//! What is stored byte by byte and loaded again must be what it was: parts of one term that stand side by side in their
//! order become that part of it, copies of the sign become an extension, and choices by one condition are made once.

use super::ids::TermId;
use super::node::Term;
use super::store::Terms;

impl Terms {
    /// The bits of `high` above those of `low`; 128 at most.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        let (above, below) = (self.width(high), self.width(low));
        let width = above + below;
        debug_assert!(width <= 128, "bit-vectors have at most 128 bits");
        match (self.as_bv(high), self.as_bv(low)) {
            (Some(h), Some(l)) => return self.bv(width, h << below | l),
            (Some(0), None) => return self.zext(width, low),
            _ => {}
        }
        if let Some(t) = self.side_by_side(high, low, below) {
            return t;
        }
        match (self.get(high), self.get(low)) {
            // To the right, so that neighbours meet.
            (&Term::Concat(first, second), _) => {
                let rest = self.concat(second, low);
                return self.concat(first, rest);
            }
            (_, &Term::Concat(second, rest)) => {
                if let Some(merged) = self.side_by_side(high, second, self.width(second)) {
                    return self.concat(merged, rest);
                }
            }
            (&Term::Ite(c, a, b), &Term::Ite(d, v, w)) if c == d => {
                let merged = self.nested(|terms| {
                    let (x, y) = (terms.concat(a, v), terms.concat(b, w));
                    terms.ite(c, x, y)
                });
                if let Some(merged) = merged {
                    return merged;
                }
            }
            _ => {}
        }
        self.intern(Term::Concat(high, low))
    }

    /// Neighbouring parts of one term, or copies of the sign above a term.
    fn side_by_side(&mut self, high: TermId, low: TermId, below: u32) -> Option<TermId> {
        match *self.get(high) {
            Term::Extract { hi, lo, arg } if lo >= below => {
                if self.extract(lo - 1, lo - below, arg) == low {
                    return Some(self.extract(hi, lo - below, arg));
                }
                (hi == lo).then(|| self.sign_above(high, 1, low)).flatten()
            }
            Term::Extract { hi, lo, .. } if hi == lo => self.sign_above(high, 1, low),
            Term::Sext { width, arg } if self.width(arg) == 1 => self.sign_above(arg, width, low),
            // The high part of an extension by zeros: the rest of the operand, then zeros.
            Term::Zext { width, arg } => {
                let Term::Extract { hi, lo, arg: whole } = *self.get(arg) else { return None };
                if lo < below || self.extract(lo - 1, lo - below, whole) != low {
                    return None;
                }
                let part = self.extract(hi, lo - below, whole);
                Some(self.zext(width + below, part))
            }
            _ => None,
        }
    }

    /// `copies` times the bit `sign` above `low`, if it is the sign of that.
    fn sign_above(&mut self, sign: TermId, copies: u32, low: TermId) -> Option<TermId> {
        let below = self.width(low);
        (self.extract(below - 1, below - 1, low) == sign).then(|| self.sext(below + copies, low))
    }
}
