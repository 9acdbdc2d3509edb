// SPDX-License-Identifier: Apache-2.0
//! Tests of the analyses on small programs: worked examples of the literature, compared graph by graph, and programs where a
//! wrong step of an analysis gives a wrong answer.

mod bam;
mod bmc;
mod contracts;
mod kind;
mod loop_abstraction;
mod octagon;
mod predicate;
mod tiny;

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::ids::NodeId;
use cfa::{Options, Program, Property, Source};
use cli::options::Config;
use cli::presets::apply_preset;

/// Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, figure 2.
const UNIFYING_VIEW: &str = "
int main(void) {
  int x = 0;
  int y = 0;
  while (x < 2) {
    x++;
    y++;
    if (x != y) {
      ERROR: return 1;
    }
  }
  return 0;
}
";

/// What the other programs declare.
const HEADER: &str = "
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern float __VERIFIER_nondet_float(void);
extern void abort(void);
void reach_error(void) { abort(); }
";

/// Reads a program.
fn load_with(text: &str, options: &Options) -> Program {
    let source = Source { name: "example.c".into(), text: text.into() };
    cfa::load(&[source], options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A program with what is looked for in it.
fn task(text: &str, entry: &str) -> (Arc<Program>, BTreeSet<NodeId>) {
    let program = load_with(text, &Options { entry: entry.into(), ..Options::default() });
    let targets = program.targets(&Property::default_errors());
    (Arc::new(program), targets)
}

/// A preset with some options.
fn config(preset: &str, options: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    apply_preset(&mut config, preset).unwrap();
    for (key, value) in options {
        config.set(key, value).unwrap();
    }
    config
}
