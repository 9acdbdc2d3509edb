// SPDX-License-Identifier: Apache-2.0
//! Programs that contracts prove, programs that they must not prove, and random ones.

mod proofs;
mod random;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use algo_contracts::Contracts;
use cfa::{Options, Property, Source, load};
use cpa_core::{Budget, CancelToken, Cx, Stop, Verdict};
use cpa_predicate::region::Library;
use cpa_predicate::{Encoding, Manager};

/// Some time.
struct Until(Instant);

impl Budget for Until {
    fn check(&self) -> Result<(), Stop> {
        if self.remaining() == Some(Duration::ZERO) { Err(Stop::Timeout) } else { Ok(()) }
    }
    fn remaining(&self) -> Option<Duration> {
        Some(self.0.saturating_duration_since(Instant::now()))
    }
}

/// What contracts say about whether `reach_error` is called.
fn verdict(text: &str) -> String {
    verdict_of(text, &mut Cx::unlimited())
}

fn verdict_of(text: &str, cx: &mut Cx) -> String {
    let source = Source { name: "t.c".into(), text: text.into() };
    let program = load(&[source], &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let targets = program.targets(&Property::default_errors());
    let program = Arc::new(program);
    let manager =
        Manager::new(&program, Encoding::Bitvector, Library::Oxidd).expect("bit-vectors represent everything");
    let mut contracts = Contracts::new(&program, &targets, &Rc::new(RefCell::new(manager)));
    let outcome = contracts.run(cx);
    assert!(!matches!(outcome.verdict(), Verdict::False(_)), "contracts refute nothing");
    outcome.verdict().to_string()
}

/// Whether contracts prove that `reach_error` is not called.
fn proved(text: &str) -> bool {
    verdict(text) == "TRUE"
}

/// Whether contracts prove that within a second.
fn proved_soon(text: &str) -> bool {
    let budget = Until(Instant::now() + Duration::from_secs(1));
    verdict_of(text, &mut Cx::new(Box::new(budget), CancelToken::new())) == "TRUE"
}
