// SPDX-License-Identifier: Apache-2.0
//! stub
use super::engine::{Interpolator, ItpOutcome, Task};
/// stub
#[derive(Clone, Debug)]
pub struct Spacer {
    /// a
    pub core_attempts: usize,
    /// b
    pub timeout: std::time::Duration,
}
impl Interpolator for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }
    fn interpolate(&mut self, _: &mut Task<'_>) -> ItpOutcome {
        ItpOutcome::GaveUp("stub".to_owned())
    }
}
