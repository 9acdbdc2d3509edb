// SPDX-License-Identifier: Apache-2.0
//! What the tests share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use algo_kind::{KInduction, Options, Strategy};
use cfa::{Program, Property, Source};
use cpa_core::{Counting, Cx, Verdict};
use cpa_predicate::region::Library;
use cpa_predicate::{Encoding, Manager};

/// A program with some functions in front that programs use.
pub(crate) fn load(text: &str) -> Arc<Program> {
    let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
        short __VERIFIER_nondet_short(void); unsigned __VERIFIER_nondet_uint(void);
        long long __VERIFIER_nondet_longlong(void); unsigned long long __VERIFIER_nondet_ulonglong(void);
        void assume(int c) { if (!c) abort(); } void check(int c) { if (!c) reach_error(); } ";
    let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
    Arc::new(cfa::load(&[source], &cfa::Options::default()).unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// Bit-vectors.
pub(crate) fn manager(program: &Arc<Program>) -> Rc<RefCell<Manager>> {
    let manager = Manager::new(program, Encoding::Bitvector, Library::default());
    Rc::new(RefCell::new(manager.expect("bit-vectors are exact")))
}

/// Whether k-induction with invariants proves a program for k = 1.
pub(crate) fn proves(text: &str) -> bool {
    let program = load(text);
    let targets = program.targets(&Property::default_errors());
    let base = algo_bmc::Options { counting: Counting::Visits, last: Some(1), ..algo_bmc::Options::default() };
    let options = Options { base, invariants: Strategy::Induction };
    let outcome = KInduction::new(&program, &targets, &manager(&program), options).run(&mut Cx::unlimited());
    *outcome.verdict() == Verdict::True
}
