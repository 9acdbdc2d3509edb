// SPDX-License-Identifier: Apache-2.0
//! Tests of the explicit-value analysis: against concrete runs, and of the refinement loop.

mod contained;
mod verdicts;

use std::sync::Arc;

use cfa::{MachineModel, Options, Program, Source};

/// A program with the usual declarations in front.
fn program(text: &str) -> Arc<Program> {
    let head = "extern void reach_error(void); extern void abort(void); extern void *malloc(unsigned long);\n\
        extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void);\n\
        extern unsigned __VERIFIER_nondet_uint(void); extern _Bool __VERIFIER_nondet_bool(void);\n";
    let source = Source { name: "test.c".to_owned(), text: format!("{head}{text}") };
    let options = Options { machine: MachineModel::Lp64, ..Options::default() };
    Arc::new(cfa::load(&[source], &options).unwrap())
}
