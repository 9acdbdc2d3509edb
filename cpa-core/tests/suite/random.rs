// SPDX-License-Identifier: Apache-2.0
//! Random automata, explored with interruptions, random cuts and strange waitlist orders: at the end every concrete state
//! is contained in the graph, and all invariants hold on the way.

use std::collections::BTreeSet;

use cpa_core::algorithm::never;
use cpa_core::{Bfs, Cut, Cx, Dfs, Exploration, Remerge, ReversePostOrder, Status, Stop, Waitlist, run};

use crate::support::*;

fn waitlist(number: usize) -> Box<dyn Waitlist> {
    match number {
        0 => Box::new(Dfs::default()),
        1 => Box::new(Bfs::default()),
        _ => Box::new(ReversePostOrder::callstack_first()),
    }
}

fn check_contains_all(toys: &Toys, setup: &Setup, exploration: &Exploration, variables: usize) {
    let arg = exploration.arg();
    for (node, store) in toys.reachable(variables) {
        let mut there = at(arg, node.index()).into_iter();
        assert!(
            there.any(|id| arg.state(id).get(setup.known).stands_for(&store)),
            "{node} with {store:?} is missing in\n{}",
            arg.dump()
        );
    }
}

#[test]
fn every_concrete_state_is_contained_whatever_happens_on_the_way() {
    let variables = 3;
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let nodes = 3 + random.below(8);
        let edges = nodes + random.below(nodes);
        let toys = random_toys(&mut random, nodes, edges, variables, true);
        let mode = [Mode::Join, Mode::Separate, Mode::JoinIfEqual(1)][random.below(3)];
        let remerge = if random.below(2) == 0 { Remerge::Prune } else { Remerge::Keep };
        let mut setup = setup(&toys, mode, variables, &[]);
        setup.cpa.cpa_mut(setup.known).tracked = (0..variables).filter(|_| random.below(2) == 0).collect();
        let mut exploration = Exploration::new(waitlist(random.below(3)), remerge);
        let cx = &mut Cx::unlimited();
        for _ in 0..30 {
            setup.cpa.cpa_mut(setup.known).fuel = Some(u32::try_from(random.below(12)).unwrap());
            let status = run(cx, &mut setup.cpa, &mut exploration, &mut never, None);
            assert!(matches!(status, Ok(Status::Finished) | Err(Stop::Timeout)), "{status:?}");
            exploration.verify().unwrap();
            if status == Ok(Status::Finished) {
                check_contains_all(&toys, &setup, &exploration, variables);
            }
            let ids: Vec<_> = exploration.arg().ids().collect();
            let pivot = ids[random.below(ids.len())];
            let more = BTreeSet::from([random.below(variables)]);
            exploration.cut(&setup.cpa, &Cut { pivot, precisions: vec![setup.known.precision(more)] });
            exploration.verify().unwrap();
            assert!(exploration.waiting() > 0, "a cut leaves something to explore");
        }
        setup.cpa.cpa_mut(setup.known).fuel = None;
        assert_eq!(run(cx, &mut setup.cpa, &mut exploration, &mut never, None), Ok(Status::Finished));
        exploration.verify().unwrap();
        check_contains_all(&toys, &setup, &exploration, variables);
    }
}

#[test]
fn an_exact_domain_finds_exactly_the_concrete_states() {
    let variables = 2;
    for seed in 1..=100 {
        let mut random = Random::new(seed);
        let toys = random_toys(&mut random, 6, 10, variables, false);
        let mut setup = setup(&toys, Mode::Separate, variables, &[]);
        let mut exploration = Exploration::new(waitlist(random.below(3)), Remerge::Prune);
        run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
        let arg = exploration.arg();
        let reachable = toys.reachable(variables);
        for id in arg.ids() {
            let known = arg.state(id).get(setup.known);
            let some = reachable.iter().any(|(node, store)| *node == arg.location(id) && known.stands_for(store));
            assert!(some, "{id} stands for nothing that is reachable in\n{}", arg.dump());
        }
    }
}

#[test]
fn a_hundred_thousand_states_are_no_problem() {
    // Four counters modulo 5 at each of 200 locations: 125,000 states.
    let mut builder = Builder::new(200);
    for index in 0..200 {
        builder.edge(index, (index + 1) % 200, Toy::Add(index % 4, 1));
        builder.edge(index, (index + 3) % 200, Toy::Skip);
    }
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Flat, 4, &[]);
    let mut exploration = Exploration::new(Box::new(ReversePostOrder::new()), Remerge::Prune);
    run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
    assert!(exploration.arg().len() > 100_000, "{}", exploration.arg().len());
    exploration.verify().unwrap();
    let root = exploration.arg().root().unwrap();
    exploration.cut(&setup.cpa, &Cut { pivot: root, precisions: vec![] });
    assert_eq!(exploration.arg().len(), 1);
}
