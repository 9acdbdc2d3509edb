//! smt
