// SPDX-License-Identifier: Apache-2.0
//! Programs that summaries prove, programs that they must not prove, and random ones.

mod mixed;
mod proofs;
mod random;
mod scattered;
mod tables;

use std::sync::Arc;

use algo_summaries::Summaries;
use cfa::{Options, Property, Source, load};
use cpa_core::{Cx, Verdict};

/// Whether summaries prove that `reach_error` is not called.
fn proved(text: &str) -> bool {
    let source = Source { name: "t.c".into(), text: text.into() };
    let program = load(&[source], &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let targets = program.targets(&Property::default_errors());
    let mut summaries = Summaries::new(Arc::new(program), targets);
    match summaries.run(&mut Cx::unlimited()).verdict() {
        Verdict::True => true,
        Verdict::Unknown(_) => false,
        Verdict::False(_) => panic!("summaries refute nothing"),
    }
}
