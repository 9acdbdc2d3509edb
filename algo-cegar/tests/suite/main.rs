// SPDX-License-Identifier: Apache-2.0
//! Tests of the CEGAR loop with the toy domain of `cpa-core`, and of the replay on C programs.

mod cegar;
mod replay;
#[path = "../../../cpa-core/tests/suite/support.rs"]
mod support;
