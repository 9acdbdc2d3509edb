// SPDX-License-Identifier: Apache-2.0
//! The value of an array: a default and the indices where it differs from that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::semantics::mask;

/// Index widths up to which two different defaults may describe one array; the default is normalised then. With wider
/// indices that would take more entries than models have.
const SMALL: u32 = 8;

/// A total map from bit-vectors to bit-vectors. Equal maps are equal values (see [`SMALL`]).
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct ArrayValue {
    index: u32,
    element: u32,
    default: u128,
    /// No entry has the default.
    entries: Arc<BTreeMap<u128, u128>>,
}

impl ArrayValue {
    /// An array that has the same element everywhere; bits above the width are cut off.
    pub fn constant(index: u32, element: u32, value: u128) -> Self {
        ArrayValue { index, element, default: value & mask(element), entries: Arc::default() }
    }

    /// The width of the indices.
    pub fn index_width(&self) -> u32 {
        self.index
    }

    /// The width of the elements.
    pub fn element_width(&self) -> u32 {
        self.element
    }

    /// The element at indices that have no entry.
    pub fn default_element(&self) -> u128 {
        self.default
    }

    /// The element at an index.
    pub fn get(&self, index: u128) -> u128 {
        self.entries.get(&(index & mask(self.index))).copied().unwrap_or(self.default)
    }

    /// The array with another element at one index.
    #[must_use]
    pub fn with(mut self, index: u128, value: u128) -> Self {
        let (index, value) = (index & mask(self.index), value & mask(self.element));
        if self.index <= SMALL && index == mask(self.index) && value != self.default {
            // The last element is the default.
            let old = self.default;
            let rest: BTreeMap<u128, u128> = (0..index).map(|i| (i, self.get(i))).filter(|e| e.1 != value).collect();
            debug_assert!(self.get(index) == old, "the last element was the default");
            self.default = value;
            self.entries = Arc::new(rest);
            return self;
        }
        if value == self.get(index) {
            return self;
        }
        let entries = Arc::make_mut(&mut self.entries);
        if value == self.default {
            entries.remove(&index);
        } else {
            entries.insert(index, value);
        }
        self
    }

    /// The entries that differ from the default, by index.
    pub fn entries(&self) -> impl Iterator<Item = (u128, u128)> + '_ {
        self.entries.iter().map(|(&i, &v)| (i, v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_maps_are_equal_values() {
        let a = ArrayValue::constant(1, 8, 3).with(0, 7);
        let b = ArrayValue::constant(1, 8, 7).with(1, 3);
        let c = ArrayValue::constant(1, 8, 0).with(1, 3).with(0, 7);
        assert_eq!(a, b);
        assert_eq!(a, c);
        let d = ArrayValue::constant(62, 32, 0).with(5, 1).with(6, 2).with(5, 0);
        assert_eq!(d, ArrayValue::constant(62, 32, 0).with(6, 2));
        assert_eq!((d.get(5), d.get(6)), (0, 2));
    }
}
