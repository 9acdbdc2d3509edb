// SPDX-License-Identifier: Apache-2.0
//! Tests of the constructors against a naive evaluator, of the walks, and dumps.

mod laws;
mod printing;
pub(crate) mod reference;
mod simplification;
