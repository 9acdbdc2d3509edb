// SPDX-License-Identifier: Apache-2.0
//! C programs as typed control-flow automata.

pub mod ids;
pub mod ir;
