// SPDX-License-Identifier: Apache-2.0
//! Tests of the core with a toy domain on hand-made automata.

mod covering;
mod laws;
mod random;
mod support;
mod traps;
