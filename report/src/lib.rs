// SPDX-License-Identifier: Apache-2.0
//! What the tools say about a result, in one place for writers and readers: verdict lines, counterexamples as text and as
//! executable files.

pub mod cexpr;
pub mod counterexample;
pub mod graph;
pub mod graphml;
pub mod harness;
pub mod html;
pub mod inputs;
pub mod instrument;
pub mod lint;
pub mod path;
mod reading;
pub mod sha256;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod witness;
