// SPDX-License-Identifier: Apache-2.0
//! What the tools print, in one place for writers and readers: verdict lines and counterexamples.

pub mod counterexample;
pub mod verdict;
