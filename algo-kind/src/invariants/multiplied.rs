// SPDX-License-Identifier: Apache-2.0
//! Candidates for programs that multiply variables: what variables are assigned, and powers of two, of which divisions are
//! exact.

use cfa::ids::VarId;
use cfa::ir::{CmpOp, ExprKind, Op};
use smt::{BvBin, TermId};

use super::candidates::{Atom, Guesser, compare, has_polynomials, holds, is_usable};

/// How many assignments are looked at.
const ASSIGNMENTS: usize = 30;
/// How many variables are compared with powers of two.
const POWERS: usize = 4;
/// How many values of a variable in the samples tell that they are all powers of two.
const VALUES: usize = 3;
/// The exponents of bounds of powers of two.
const EXPONENTS: [u32; 5] = [16, 30, 31, 32, 62];

impl Guesser<'_> {
    /// Candidates that hold in all samples.
    pub(super) fn multiplied(&mut self, in_scope: &dyn Fn(VarId) -> bool, atoms: &[Atom], out: &mut Vec<TermId>) {
        if !has_polynomials(self.manager, self.program) {
            return;
        }
        let mut found = self.assigned(in_scope);
        self.powers(atoms, &mut found);
        found.retain(|&term| self.samples.iter().all(|sample| holds(self.manager, self.program, term, sample)));
        out.extend(found);
    }

    /// That variables are what they are assigned.
    fn assigned(&mut self, in_scope: &dyn Fn(VarId) -> bool) -> Vec<TermId> {
        let program = self.program;
        let usable = |var: VarId| is_usable(program, in_scope, var);
        let mut found = Vec::new();
        for edge in &program.edges {
            let Op::Assign { var, value } = edge.op else { continue };
            let vars = program.exprs.vars(value);
            let defines = usable(var) && !vars.contains(&var) && vars.iter().all(|&var| usable(var));
            let trivial = matches!(program.exprs.get(value).kind, ExprKind::Const(_) | ExprKind::Var(_));
            if !defines || trivial || vars.is_empty() || found.len() == ASSIGNMENTS {
                continue;
            }
            if let Ok(value) = self.manager.encoder.value(&mut self.manager.terms, value) {
                let x = self.term(Atom::Var(var));
                if self.manager.terms.width(x) == self.manager.terms.width(value) {
                    found.push(self.manager.terms.eq(x, value));
                }
            }
        }
        found
    }

    /// That variables are powers of two and not too large.
    fn powers(&mut self, atoms: &[Atom], out: &mut Vec<TermId>) {
        let is_power = |value: i128| value >= 0 && value & (value - 1) == 0;
        let mut powers = Vec::new();
        for &atom in atoms {
            let mut values: Vec<i128> = self.values([atom]).into_iter().map(|[value]| value).collect();
            values.sort_unstable();
            values.dedup();
            if values.len() >= VALUES && values.iter().all(|&value| is_power(value)) {
                powers.push(atom);
            }
        }
        powers.truncate(POWERS);
        for &power in &powers {
            let ty = self.ty(power);
            let x = self.term(power);
            let one = self.manager.encoder.constant(&mut self.manager.terms, 1, ty);
            let below = self.manager.terms.bv_bin(BvBin::Sub, x, one);
            let zero = self.manager.encoder.constant(&mut self.manager.terms, 0, ty);
            let common = self.manager.terms.bv_bin(BvBin::And, x, below);
            out.push(self.manager.terms.eq(common, zero));
            for bound in EXPONENTS.map(|exponent| 1i128 << exponent) {
                if bound < ty.max() {
                    let bound = self.manager.encoder.constant(&mut self.manager.terms, bound, ty);
                    out.push(compare(self.manager, CmpOp::Le, ty, x, bound));
                }
            }
        }
    }
}
