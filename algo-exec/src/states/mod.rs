// SPDX-License-Identifier: Apache-2.0
//! Exploration of the states of a program, as in explicit-state model checking, with symbols for what it does not know.
//!
//! A state gives each variable a number or a symbol; of symbols their bounds are known, single values that they do not have,
//! and which of two is the smaller one. So inputs that are only copied and compared need no enumeration, and a state machine
//! whose inputs have any number of values has few states. States are kept at loop heads, where equal ones meet; on the way from one
//! to the next they meet where branches join, if the way has many branches. If a variable has many values at loop heads, new
//! ones are replaced by the interval around them in which no comparison of the program tells values apart; when that leads to an
//! error that does not exist, more values are kept apart. This is dynamic precision adjustment (Beyer, Henzinger, Théoduloz,
//! *Program Analysis with Dynamic Precision Adjustment*, ASE 2008) of values and intervals. If the set of tracked variables is
//! refined, the values of most variables are not even known at loop heads, which leaves few states where many variables have
//! no influence. Cells of memory at known addresses have values as variables do. Left out: relations with distances, and
//! recursion.

mod eval;
mod explore;
mod grid;
mod memory;
mod quick;
mod state;
mod symbols;
mod tracked;
mod walk;
mod way;

pub use explore::{Options, States, Statistics};
