// SPDX-License-Identifier: Apache-2.0
//! Regions: sets of valuations of the predicates, stored as binary decision diagrams.
//!
//! An abstraction formula of Boolean predicate abstraction is a Boolean combination of predicates (Beyer, Dangl, Wendler,
//! *A Unifying View on SMT-Based Software Verification*, section 3.1); as a BDD over one variable for each predicate it is
//! canonical, so equality and implication are cheap. The library is exchangeable: [`oxidd`] builds everywhere, the cargo
//! feature `cudd` adds CUDD. Regions are named by ids and live as long as their manager.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use thiserror::Error;

#[cfg(feature = "cudd")]
pub mod cudd;
pub mod oxidd;

/// A set of valuations of the predicates; equal sets have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionId(u32);

impl RegionId {
    /// Tells regions apart.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// The root of a region's decision diagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionNode {
    /// All valuations, or none.
    Constant(bool),
    /// A decision on the predicate with number `var`.
    Decision {
        /// The number of the predicate.
        var: u32,
        /// The region where it holds.
        high: RegionId,
        /// The region where it does not hold.
        low: RegionId,
    },
}

/// The BDD library could not complete an operation.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the BDD library ran out of nodes")]
pub struct OutOfNodes;

/// What a BDD library must offer; every function value is canonical: equal functions compare equal.
pub trait BddLibrary {
    /// A handle of a function.
    type Bdd: Clone + Eq + Hash;
    /// The name of the library, for statistics.
    fn name(&self) -> &'static str;
    /// The constant function.
    fn constant(&self, value: bool) -> Self::Bdd;
    /// The projection to variable `var`; variables come into being on first use, ordered by number.
    fn var(&mut self, var: u32) -> Result<Self::Bdd, OutOfNodes>;
    /// Negation.
    fn not(&self, f: &Self::Bdd) -> Result<Self::Bdd, OutOfNodes>;
    /// Conjunction.
    fn and(&self, f: &Self::Bdd, g: &Self::Bdd) -> Result<Self::Bdd, OutOfNodes>;
    /// Disjunction.
    fn or(&self, f: &Self::Bdd, g: &Self::Bdd) -> Result<Self::Bdd, OutOfNodes>;
    /// Whether `f` implies `g`.
    fn implies(&self, f: &Self::Bdd, g: &Self::Bdd) -> Result<bool, OutOfNodes>;
    /// The top variable and its cofactors (high, low); none for constants.
    fn decision(&self, f: &Self::Bdd) -> Option<(u32, Self::Bdd, Self::Bdd)>;
}

/// Regions over some BDD library, see [`new_manager`].
pub trait Regions {
    /// The name of the BDD library.
    fn library(&self) -> &'static str;
    /// All valuations (`true`) or none.
    fn constant(&mut self, value: bool) -> RegionId;
    /// The valuations in which predicate `var` holds.
    fn var(&mut self, var: u32) -> Result<RegionId, OutOfNodes>;
    /// The complement.
    fn not(&mut self, f: RegionId) -> Result<RegionId, OutOfNodes>;
    /// The intersection.
    fn and(&mut self, f: RegionId, g: RegionId) -> Result<RegionId, OutOfNodes>;
    /// The union.
    fn or(&mut self, f: RegionId, g: RegionId) -> Result<RegionId, OutOfNodes>;
    /// Whether `f` is a subset of `g`.
    fn implies(&mut self, f: RegionId, g: RegionId) -> Result<bool, OutOfNodes>;
    /// The root of the region's diagram.
    fn node(&mut self, f: RegionId) -> RegionNode;
}

/// Which BDD library to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Library {
    /// OxiDD, written in Rust.
    #[default]
    Oxidd,
    /// CUDD; needs the cargo feature `cudd`.
    #[cfg(feature = "cudd")]
    Cudd,
}

/// A manager without regions yet.
pub fn new_manager(library: Library) -> Box<dyn Regions> {
    match library {
        Library::Oxidd => Box::new(Interned::new(oxidd::Oxidd::new())),
        #[cfg(feature = "cudd")]
        Library::Cudd => Box::new(Interned::new(cudd::Cudd::new())),
    }
}

/// Gives ids to the functions of a library.
struct Interned<L: BddLibrary> {
    library: L,
    functions: Vec<L::Bdd>,
    ids: HashMap<L::Bdd, RegionId>,
    implications: FxHashMap<(RegionId, RegionId), bool>,
}

impl<L: BddLibrary> Interned<L> {
    fn new(library: L) -> Self {
        Self { library, functions: Vec::new(), ids: HashMap::new(), implications: FxHashMap::default() }
    }

    fn intern(&mut self, f: L::Bdd) -> RegionId {
        if let Some(&id) = self.ids.get(&f) {
            return id;
        }
        let id = RegionId(u32::try_from(self.functions.len()).expect("fewer than 2^32 regions"));
        self.functions.push(f.clone());
        self.ids.insert(f, id);
        id
    }

    fn get(&self, id: RegionId) -> &L::Bdd {
        &self.functions[id.0 as usize]
    }
}

impl<L: BddLibrary> Regions for Interned<L> {
    fn library(&self) -> &'static str {
        self.library.name()
    }

    fn constant(&mut self, value: bool) -> RegionId {
        let f = self.library.constant(value);
        self.intern(f)
    }

    fn var(&mut self, var: u32) -> Result<RegionId, OutOfNodes> {
        let f = self.library.var(var)?;
        Ok(self.intern(f))
    }

    fn not(&mut self, f: RegionId) -> Result<RegionId, OutOfNodes> {
        let result = self.library.not(self.get(f))?;
        Ok(self.intern(result))
    }

    fn and(&mut self, f: RegionId, g: RegionId) -> Result<RegionId, OutOfNodes> {
        let result = self.library.and(self.get(f), self.get(g))?;
        Ok(self.intern(result))
    }

    fn or(&mut self, f: RegionId, g: RegionId) -> Result<RegionId, OutOfNodes> {
        let result = self.library.or(self.get(f), self.get(g))?;
        Ok(self.intern(result))
    }

    fn implies(&mut self, f: RegionId, g: RegionId) -> Result<bool, OutOfNodes> {
        if f == g {
            return Ok(true);
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return Ok(known);
        }
        let result = self.library.implies(self.get(f), self.get(g))?;
        self.implications.insert((f, g), result);
        Ok(result)
    }

    fn node(&mut self, f: RegionId) -> RegionNode {
        match self.library.decision(self.get(f)) {
            Some((var, high, low)) => RegionNode::Decision { var, high: self.intern(high), low: self.intern(low) },
            None => RegionNode::Constant(*self.get(f) == self.library.constant(true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn libraries() -> Vec<Library> {
        vec![
            Library::Oxidd,
            #[cfg(feature = "cudd")]
            Library::Cudd,
        ]
    }

    /// Evaluates a region by walking its diagram.
    fn holds(regions: &mut dyn Regions, mut f: RegionId, valuation: u32) -> bool {
        loop {
            match regions.node(f) {
                RegionNode::Constant(value) => return value,
                RegionNode::Decision { var, high, low } => f = if valuation >> var & 1 == 1 { high } else { low },
            }
        }
    }

    #[test]
    fn operations_agree_with_truth_tables() {
        for library in libraries() {
            let mut regions = new_manager(library);
            let mut pool: Vec<(RegionId, u16)> = Vec::new();
            for var in 0..4 {
                let table = (0..16u32).filter(|v| v >> var & 1 == 1).fold(0u16, |t, v| t | 1 << v);
                pool.push((regions.var(var).unwrap(), table));
            }
            for round in 0..60 {
                let (f, tf) = pool[(round * 7) % pool.len()];
                let (g, tg) = pool[(round * 13 + 3) % pool.len()];
                pool.push((regions.not(f).unwrap(), !tf));
                pool.push((regions.and(f, g).unwrap(), tf & tg));
                pool.push((regions.or(f, g).unwrap(), tf | tg));
                assert_eq!(regions.implies(f, g).unwrap(), tf & !tg == 0);
            }
            for &(f, table) in &pool {
                for valuation in 0..16 {
                    assert_eq!(holds(&mut *regions, f, valuation), table >> valuation & 1 == 1);
                }
                for &(g, other) in &pool {
                    assert_eq!(f == g, table == other, "canonical in {}", regions.library());
                }
            }
        }
    }
}
