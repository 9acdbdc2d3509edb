// SPDX-License-Identifier: Apache-2.0
//! Programs with lists: what shapes prove, what they must not prove, and random programs against executions.

mod crowds;
mod nested;
mod proofs;
mod random;

use std::sync::Arc;

use cfa::{Options, Program, Property, Source};
use cpa_core::algorithm::at_target;
use cpa_core::{CallstackCpa, Composite, Cx, Exploration, LocationCpa, Remerge, ReversePostOrder, Status, Stop, run};
use cpa_shape::{ShapeCpa, ShapeOptions};

/// A list that is linked both ways, and functions to build one of nodes of two kinds.
const HEAD: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
    extern void *malloc(unsigned long); extern void *calloc(unsigned long, unsigned long); extern void free(void *); extern void abort(void);
    void assume(int cond) { if (!cond) abort(); }
    struct node { struct node *next; struct node *prev; int h; int g; };
    struct node *make(struct node *next, int h) {
      struct node *n = malloc(sizeof(struct node)); n->next = next; n->prev = 0; n->h = h; return n; }
    struct node *fresh(struct node *next, int h) {
      struct node *n = calloc(1, sizeof(struct node)); n->next = next; n->h = h; return n; }\n";

fn program(text: &str) -> Arc<Program> {
    let source = Source { name: "test.c".to_owned(), text: format!("{HEAD}{text}") };
    Arc::new(cfa::load(&[source], &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// What the exploration of a program came to.
#[derive(PartialEq, Eq, Debug)]
enum Explored {
    /// No state is at a target.
    Safe,
    /// Some state is, or there are more states than a test waits for.
    Open,
    /// The analysis said why it cannot go on.
    GaveUp(String),
}

fn explore(program: &Arc<Program>) -> Explored {
    explore_with(program, ShapeOptions::default())
}

fn explore_with(program: &Arc<Program>, options: ShapeOptions) -> Explored {
    let targets = program.targets(&Property::default_errors());
    let mut composite = Composite::new(Arc::clone(program));
    composite.add(LocationCpa::new(Arc::clone(program), targets).towards_targets());
    composite.add(CallstackCpa::new(Arc::clone(program)));
    composite.add(ShapeCpa::new(Arc::clone(program), options));
    let mut exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Prune);
    let mut steps = 0;
    let mut abort = |arg: &cpa_core::Arg, id| {
        steps += 1;
        steps > 9000 || at_target(arg, id)
    };
    match run(&mut Cx::unlimited(), &mut composite, &mut exploration, &mut abort, None) {
        Ok(Status::Finished) => Explored::Safe,
        Ok(_) => Explored::Open,
        Err(Stop::GaveUp(why)) => Explored::GaveUp(why),
        Err(stop) => panic!("{stop}"),
    }
}
