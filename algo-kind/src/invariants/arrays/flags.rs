// SPDX-License-Identifier: Apache-2.0
//! Facts about all elements in a range as long as a variable has one of its few values: "nothing was out of order so far".

use super::conditions::Shape;
use super::*;

/// How many variables are looked at.
const FLAGS: usize = 3;
/// The most values that one of them is set to.
const VALUES: usize = 3;

/// A variable that has one of few values.
pub(super) struct Flag {
    scalar: Scalar,
    values: BTreeSet<i128>,
}

impl Search<'_> {
    /// Variables that are only set to constants.
    pub(super) fn flags(&mut self) -> Vec<Flag> {
        let mut set: IndexMap<VarId, Option<BTreeSet<i128>>> = IndexMap::new();
        for edge in &self.program.edges {
            let Some(var) = edge.op.written() else { continue };
            let value = match edge.op {
                Op::Assign { value, .. } => self.program.exprs.as_const(value),
                _ => None,
            };
            let known = set.entry(var).or_insert_with(|| Some(BTreeSet::new()));
            match (known.as_mut(), value) {
                (Some(values), Some(value)) => _ = values.insert(value),
                _ => *known = None,
            }
        }
        let few = |values: &BTreeSet<i128>| (2..=VALUES).contains(&values.len());
        let flags = set.into_iter().filter_map(|(var, values)| Some((var, values.filter(few)?)));
        let flags: Vec<_> = flags.filter(|(var, _)| self.is_number(*var)).take(FLAGS).collect();
        flags.into_iter().map(|(var, values)| Flag { scalar: self.variable(var), values }).collect()
    }

    /// Which of the conditions elements in a range meet as long as a variable has one of its values, with how far they reach.
    pub(super) fn while_flagged(
        &mut self,
        at: usize,
        (flags, shapes): (&[Flag], &[&Shape]),
        rows: &[Row],
        high: &Scalar,
    ) -> Vec<(TermId, i128)> {
        let mut found = Vec::new();
        for flag in flags {
            for &value in &flag.values {
                let some: Vec<Row> =
                    rows.iter().copied().filter(|row| flag.scalar.values[row.0] == Some(value)).collect();
                if some.len() < 3 || some.len() == rows.len() {
                    continue;
                }
                let value = number(&mut self.manager.terms, value, flag.scalar.ty.bits);
                let is_set = self.manager.terms.eq(flag.scalar.term, value);
                for shape in shapes {
                    let Some(truths) = self.truths(at, shape, &some, high) else { continue };
                    let Some(fact) = self.condition(at, shape, &truths) else { continue };
                    found.push((self.manager.terms.implies(is_set, fact), shape.reach));
                }
            }
        }
        found
    }
}
