//! cpa-predicate
