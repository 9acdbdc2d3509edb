// SPDX-License-Identifier: Apache-2.0
//! Pseudo-random numbers for inputs and for random programs.

/// Pseudo-random numbers (Marsaglia, *Xorshift RNGs*), so that what was done with them can be repeated.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any 64 bits.
    // Not an iterator: there is always a next number.
    #[expect(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    /// One of several, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }
}
