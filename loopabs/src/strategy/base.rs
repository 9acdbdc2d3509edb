// SPDX-License-Identifier: Apache-2.0
//! The base strategy: the loop itself. Its summary has no code; the printer leaves the original text in place.

use crate::strategy::Strategy;
use crate::summary::{Fidelity, Summary};

pub(super) fn apply() -> Summary {
    Summary::new(Strategy::Base, Fidelity::Exact)
}
