// SPDX-License-Identifier: Apache-2.0
//! Regions over OxiDD, the default BDD library: pure Rust, builds everywhere.
//!
//! OxiDD fixes the number of nodes when the manager is made; the table is only touched as far as it is used.

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::util::OutOfMemory;
use oxidd::{BooleanFunction, Function, Manager, ManagerRef};

use super::{BddLibrary, OutOfNodes};

/// Nodes that one analysis may use.
const NODE_CAPACITY: usize = 1 << 22;
/// Entries of the operation cache.
const CACHE_CAPACITY: usize = 1 << 16;

impl From<OutOfMemory> for OutOfNodes {
    fn from(_: OutOfMemory) -> Self {
        OutOfNodes
    }
}

/// The OxiDD library.
pub struct Oxidd {
    manager: BDDManagerRef,
}

impl Oxidd {
    /// A manager without variables.
    pub fn new() -> Self {
        Self { manager: oxidd::bdd::new_manager(NODE_CAPACITY, CACHE_CAPACITY, 1) }
    }
}

impl Default for Oxidd {
    fn default() -> Self {
        Self::new()
    }
}

impl BddLibrary for Oxidd {
    type Bdd = BDDFunction;

    fn name(&self) -> &'static str {
        "OxiDD"
    }

    fn constant(&self, value: bool) -> BDDFunction {
        self.manager.with_manager_shared(|m| if value { BDDFunction::t(m) } else { BDDFunction::f(m) })
    }

    fn var(&mut self, var: u32) -> Result<BDDFunction, OutOfNodes> {
        self.manager.with_manager_exclusive(|m| {
            let known = m.num_vars();
            if var >= known {
                m.add_vars(var + 1 - known);
            }
        });
        Ok(self.manager.with_manager_shared(|m| BDDFunction::var(m, var))?)
    }

    fn not(&self, f: &BDDFunction) -> Result<BDDFunction, OutOfNodes> {
        Ok(f.not()?)
    }

    fn and(&self, f: &BDDFunction, g: &BDDFunction) -> Result<BDDFunction, OutOfNodes> {
        Ok(f.and(g)?)
    }

    fn or(&self, f: &BDDFunction, g: &BDDFunction) -> Result<BDDFunction, OutOfNodes> {
        Ok(f.or(g)?)
    }

    fn implies(&self, f: &BDDFunction, g: &BDDFunction) -> Result<bool, OutOfNodes> {
        Ok(f.imp(g)?.valid())
    }

    fn decision(&self, f: &BDDFunction) -> Option<(u32, BDDFunction, BDDFunction)> {
        let (high, low) = f.cofactors()?;
        let var = f.with_manager_shared(|m, edge| m.level_to_var(m.get_node(edge).level()));
        Some((var, high, low))
    }
}
