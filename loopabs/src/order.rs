// SPDX-License-Identifier: Apache-2.0
//! The order of strategies by how abstract they are, and the choice by it (section 3.2, equations 1 and 3).
//!
//! As printed, equation 1 takes the maximal elements of a reflexive order, which has none; the strict order is meant.

use std::collections::BTreeSet;

use crate::strategy::Strategy;

/// A strict partial order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    less: BTreeSet<(Strategy, Strategy)>,
}

impl Default for Order {
    /// b < p < i < o < c < n < h.
    fn default() -> Self {
        Self::parse("b<p<i<o<c<n<h").expect("a chain")
    }
}

impl Order {
    /// Reads chains of letters or names: `b<o<c<n<h`, `b<c,b<n<h`. None if the text is no order.
    pub fn parse(text: &str) -> Option<Self> {
        let mut less = BTreeSet::new();
        for chain in text.split(',').filter(|chain| !chain.trim().is_empty()) {
            let strategies: Option<Vec<Strategy>> = chain.split('<').map(|name| Strategy::parse(name.trim())).collect();
            less.extend(strategies?.windows(2).map(|pair| (pair[0], pair[1])));
        }
        loop {
            let implied: Vec<_> = less
                .iter()
                .flat_map(|(a, b)| less.iter().filter(move |(c, _)| c == b).map(move |(_, d)| (*a, *d)))
                .filter(|pair| !less.contains(pair))
                .collect();
            if implied.is_empty() {
                break;
            }
            less.extend(implied);
        }
        less.iter().all(|(a, b)| a != b).then_some(Self { less })
    }

    /// Whether the first strategy is more precise than the second one.
    pub fn less(&self, one: Strategy, other: Strategy) -> bool {
        self.less.contains(&(one, other))
    }

    /// The most abstract ones of some strategies.
    pub fn select(&self, available: &BTreeSet<Strategy>) -> BTreeSet<Strategy> {
        let maximal = |one: &&Strategy| !available.iter().any(|other| self.less(**one, *other));
        available.iter().filter(maximal).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_abstract_strategies_are_selected() {
        let all: BTreeSet<Strategy> = Strategy::ALL.into();
        let order = Order::default();
        assert_eq!(order.select(&all), BTreeSet::from([Strategy::Havoc]));
        assert_eq!(
            order.select(&BTreeSet::from([Strategy::Base, Strategy::Constant])),
            BTreeSet::from([Strategy::Constant])
        );
        assert_eq!(order.select(&BTreeSet::new()), BTreeSet::new());
        let partial = Order::parse("b < naive, b < c").unwrap();
        let two = BTreeSet::from([Strategy::Naive, Strategy::Constant]);
        assert_eq!(partial.select(&BTreeSet::from([Strategy::Base, Strategy::Naive, Strategy::Constant])), two);
    }

    #[test]
    fn a_cycle_is_no_order() {
        assert_eq!(Order::parse("b<n,n<h,h<b"), None);
        assert_eq!(Order::parse("b<x"), None);
        assert!(Order::parse("b<n,n<h").unwrap().less(Strategy::Base, Strategy::Havoc));
    }
}
