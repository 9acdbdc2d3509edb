// SPDX-License-Identifier: Apache-2.0
//! Regions over CUDD, an alternative BDD library behind the cargo feature `cudd`.
//!
//! Every function that is handed out keeps one reference until the manager ends: regions live as long as the analysis, so
//! there is nothing to release earlier.
#![allow(unsafe_code, reason = "CUDD is a C library")]

use std::ptr::{self, NonNull};

use cudd_sys::cudd::{
    CUDD_CACHE_SLOTS, CUDD_UNIQUE_SLOTS, Cudd_E, Cudd_Init, Cudd_IsComplement, Cudd_IsConstant, Cudd_NodeReadIndex,
    Cudd_Not, Cudd_Quit, Cudd_ReadLogicZero, Cudd_ReadOne, Cudd_Ref, Cudd_Regular, Cudd_T, Cudd_bddAnd, Cudd_bddIthVar,
    Cudd_bddLeq, Cudd_bddOr,
};
use cudd_sys::{DdManager, DdNode};

use super::{BddLibrary, OutOfNodes};

// The crate cudd-sys declares the functions but, without its download, links nothing. The linker looks for libcudd in the
// system's folders and in those of LIBRARY_PATH.
// SAFETY: the block declares nothing; it only names the library.
#[link(name = "cudd")]
unsafe extern "C" {}

/// A referenced node of the manager that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node(NonNull<DdNode>);

/// A CUDD manager.
pub struct Cudd {
    manager: NonNull<DdManager>,
}

impl Cudd {
    /// A manager without variables.
    pub fn new() -> Self {
        // SAFETY: the arguments are the documented defaults; the result is checked.
        let manager = unsafe { Cudd_Init(0, 0, CUDD_UNIQUE_SLOTS, CUDD_CACHE_SLOTS, 0) };
        Self { manager: NonNull::new(manager).expect("CUDD starts with a small table, which fits into memory") }
    }

    fn raw(&self) -> *mut DdManager {
        self.manager.as_ptr()
    }

    /// Takes over a result of CUDD, which is null when memory ran out.
    fn keep(&self, node: *mut DdNode) -> Result<Node, OutOfNodes> {
        let node = NonNull::new(node).ok_or(OutOfNodes)?;
        // SAFETY: the node was just returned by an operation of this manager.
        unsafe { Cudd_Ref(node.as_ptr()) };
        Ok(Node(node))
    }
}

impl Default for Cudd {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Cudd {
    fn drop(&mut self) {
        // SAFETY: the manager was made by Cudd_Init and nobody uses it or its nodes any more.
        unsafe { Cudd_Quit(self.raw()) };
    }
}

impl BddLibrary for Cudd {
    type Bdd = Node;

    fn name(&self) -> &'static str {
        "CUDD"
    }

    fn constant(&self, value: bool) -> Node {
        // SAFETY: the manager is alive; constants always exist and are never freed.
        let node = unsafe { if value { Cudd_ReadOne(self.raw()) } else { Cudd_ReadLogicZero(self.raw()) } };
        Node(NonNull::new(node).expect("constants exist"))
    }

    fn var(&mut self, var: u32) -> Result<Node, OutOfNodes> {
        let index = i32::try_from(var).map_err(|_| OutOfNodes)?;
        // SAFETY: the manager is alive and the index is not negative.
        let node = unsafe { Cudd_bddIthVar(self.raw(), index) };
        self.keep(node)
    }

    fn not(&self, f: &Node) -> Result<Node, OutOfNodes> {
        // SAFETY: the node is alive; its complement is the same node with a marked pointer.
        let node = unsafe { Cudd_Not(f.0.as_ptr()) };
        self.keep(node)
    }

    fn and(&self, f: &Node, g: &Node) -> Result<Node, OutOfNodes> {
        // SAFETY: both nodes belong to this manager and are referenced.
        let node = unsafe { Cudd_bddAnd(self.raw(), f.0.as_ptr(), g.0.as_ptr()) };
        self.keep(node)
    }

    fn or(&self, f: &Node, g: &Node) -> Result<Node, OutOfNodes> {
        // SAFETY: both nodes belong to this manager and are referenced.
        let node = unsafe { Cudd_bddOr(self.raw(), f.0.as_ptr(), g.0.as_ptr()) };
        self.keep(node)
    }

    fn implies(&self, f: &Node, g: &Node) -> Result<bool, OutOfNodes> {
        // SAFETY: both nodes belong to this manager and are referenced.
        Ok(unsafe { Cudd_bddLeq(self.raw(), f.0.as_ptr(), g.0.as_ptr()) } == 1)
    }

    fn decision(&self, f: &Node) -> Option<(u32, Node, Node)> {
        // SAFETY: the node is alive, so its cofactors are; a complemented edge hands its mark on to both cofactors.
        unsafe {
            let regular = Cudd_Regular(f.0.as_ptr());
            if Cudd_IsConstant(regular) == 1 {
                return None;
            }
            let negate = Cudd_IsComplement(f.0.as_ptr()) == 1;
            let mark = |node: *mut DdNode| if negate { Cudd_Not(node) } else { node };
            let (high, low) = (mark(Cudd_T(regular)), mark(Cudd_E(regular)));
            debug_assert!(!ptr::eq(high, low));
            let keep = |node| self.keep(node).expect("cofactors of a node exist");
            Some((Cudd_NodeReadIndex(regular), keep(high), keep(low)))
        }
    }
}
