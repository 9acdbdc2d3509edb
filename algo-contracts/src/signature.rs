// SPDX-License-Identifier: Apache-2.0
//! What a contract of a function can speak about: its parameters, the global variables that it or a called function uses, what
//! it returns, and what it leaves in the global variables that are written.

use std::collections::{BTreeMap, BTreeSet};

use cfa::Program;
use cfa::ids::{FuncId, VarId};
use cfa::ir::{IntTy, Op, Scope};
use cpa_predicate::Manager;
use smt::{Sort, SymId};

/// A number before or after a call, with the symbol that stands for it in contracts. Before the call that is the symbol of the
/// variable itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Atom {
    pub(crate) var: VarId,
    pub(crate) symbol: SymId,
    pub(crate) ty: IntTy,
    /// Whether candidates are about it.
    pub(crate) numeric: bool,
}

/// The atoms of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signature {
    /// The parameters and the global variables when the function is entered; parameters first.
    pub(crate) before: Vec<Atom>,
    /// What it returns, if it does, and the global variables that may be written, when it returns.
    pub(crate) after: Vec<Atom>,
    /// The number of parameters.
    pub(crate) params: usize,
    /// Whether the first atom of `after` is what the function returns.
    pub(crate) returns: bool,
}

/// The signatures of the functions that can call themselves.
pub(crate) fn signatures(manager: &mut Manager, program: &Program) -> BTreeMap<FuncId, Signature> {
    let (mut used, mut written) =
        (vec![BTreeSet::new(); program.funcs.len()], vec![BTreeSet::new(); program.funcs.len()]);
    let mut callees = vec![BTreeSet::new(); program.funcs.len()];
    let is_global = |var: &VarId| program.var(*var).scope == Scope::Global;
    for edge in &program.edges {
        let func = program.node(edge.src).func.index();
        used[func].extend(program.read_by(&edge.op).into_iter().filter(is_global));
        written[func].extend(edge.op.written().filter(is_global));
        if let Op::Call { callee, .. } = edge.op {
            callees[func].insert(callee);
        }
    }
    let mut signatures = BTreeMap::new();
    for func in program.recursive() {
        let (mut reached, mut open) = (BTreeSet::from([func]), vec![func]);
        while let Some(next) = open.pop() {
            open.extend(callees[next.index()].iter().copied().filter(|&callee| reached.insert(callee)));
        }
        let of_reached = |sets: &[BTreeSet<VarId>]| -> BTreeSet<VarId> {
            reached.iter().flat_map(|func| sets[func.index()].iter().copied()).collect()
        };
        let (used, written) = (of_reached(&used), of_reached(&written));
        let data = program.func(func);
        let mut atom = |var: VarId, after: bool| {
            let variable = program.var(var);
            let symbol = match after {
                true => manager.terms.symbol(&format!("{}!after", variable.name), Sort::Bv(variable.ty.bits)),
                false => manager.encoder.symbol(&mut manager.terms, var),
            };
            let numeric = variable.float.is_none() && !variable.temporary;
            Atom { var, symbol, ty: variable.ty, numeric }
        };
        let before = data.params.iter().chain(used.union(&written)).map(|&var| atom(var, false)).collect();
        // Who returns something gives a value to a variable that has no name in the source.
        let result = data.ret.map(|ret| Atom { numeric: program.var(ret).float.is_none(), ..atom(ret, true) });
        let after = result.into_iter().chain(written.iter().map(|&var| atom(var, true))).collect();
        let signature = Signature { before, after, params: data.params.len(), returns: data.ret.is_some() };
        signatures.insert(func, signature);
    }
    signatures
}
