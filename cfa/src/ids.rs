// SPDX-License-Identifier: Apache-2.0
//! Typed indices of the entities of a [`crate::Program`], printed as in the dumps: `n3`, `e7`, `v2`.

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        impl $name {
            /// The entity with the given position in its table.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 entities"))
            }
            /// The position of the entity in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

entity!(/** A program location. */ NodeId, "n");
entity!(/** A control-flow edge. */ EdgeId, "e");
entity!(/** A variable of the program, or a temporary of the lowering. */ VarId, "v");
entity!(/** A function, with or without a body. */ FuncId, "f");
entity!(/** A side-effect-free expression. */ ExprId, "x");
entity!(/** A loop of the control-flow graph. */ LoopId, "l");
entity!(/** A part of memory. */ RegionId, "r");
entity!(/** A block of a partitioning. */ BlockId, "b");
