// SPDX-License-Identifier: Apache-2.0
//! Z3 to terms.
//!
//! Operators that terms lack make the translation fail; those with an easy definition (concatenation, rotation,
//! reductions) are expressed by others.

use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::{Context, text};
use crate::error::Error;
use crate::term::{BvBin, BvCmp, BvUn, Sort, TermId, Terms, Value};

/// What constants and bound variables of Z3 stand for, in addition to the constants that the context made itself.
#[derive(Default)]
pub(super) struct Names {
    /// Terms for constants.
    pub(super) constants: FxHashMap<Z3_ast, TermId>,
    /// Terms for bound variables, by de Bruijn index.
    pub(super) bound: Vec<TermId>,
}

impl Context {
    /// The term for `root`, which is referenced by the caller.
    pub(super) fn back(&self, terms: &mut Terms, root: Z3_ast, names: &Names) -> Result<TermId, Error> {
        let c = self.raw();
        let mut memo: FxHashMap<Z3_ast, TermId> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&ast) = stack.last() {
            if memo.contains_key(&ast) {
                stack.pop();
                continue;
            }
            let operands = self.operands(ast)?;
            let missing: Vec<Z3_ast> = operands.iter().copied().filter(|x| !memo.contains_key(x)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let xs: Vec<TermId> = operands.iter().map(|x| memo[x]).collect();
            // SAFETY: `ast` is part of `root`, as are all terms below.
            let kind = unsafe { Z3_get_ast_kind(c, ast) };
            let t = match kind {
                AstKind::Numeral => {
                    let value = self.value_of(self.sort_of(ast)?, ast)?;
                    terms.value(value)
                }
                AstKind::Var => {
                    // SAFETY: as above.
                    let index = unsafe { Z3_get_index_value(c, ast) };
                    let bound = names.bound.get(index as usize).copied();
                    bound.ok_or_else(|| Error::Untranslatable("a foreign bound variable".to_owned()))?
                }
                AstKind::App => self.application(terms, ast, &xs, names)?,
                AstKind::Quantifier => return Err(Error::Untranslatable("a quantifier".to_owned())),
                AstKind::Sort | AstKind::FuncDecl | AstKind::Unknown => {
                    return Err(Error::Untranslatable("no term".to_owned()));
                }
            };
            memo.insert(ast, t);
            stack.pop();
        }
        Ok(memo[&root])
    }

    fn operands(&self, ast: Z3_ast) -> Result<Vec<Z3_ast>, Error> {
        let c = self.raw();
        // SAFETY: `ast` is alive, and so are its operands.
        unsafe {
            if Z3_get_ast_kind(c, ast) != AstKind::App {
                return Ok(Vec::new());
            }
            let app = self.made(Z3_to_app(c, ast))?;
            (0..Z3_get_app_num_args(c, app)).map(|i| self.made(Z3_get_app_arg(c, app, i))).collect()
        }
    }

    pub(super) fn sort_of(&self, ast: Z3_ast) -> Result<Sort, Error> {
        let c = self.raw();
        // SAFETY: `ast` is alive, and so is its sort.
        unsafe {
            let sort = self.made(Z3_get_sort(c, ast))?;
            match Z3_get_sort_kind(c, sort) {
                SortKind::Bool => Ok(Sort::Bool),
                SortKind::Int => Ok(Sort::Int),
                SortKind::Bv => match Z3_get_bv_sort_size(c, sort) {
                    width @ 1..=128 => Ok(Sort::Bv(width)),
                    width => Err(Error::Untranslatable(format!("a width of {width} bits"))),
                },
                SortKind::Array => {
                    let width = |sort: Option<Z3_sort>| {
                        let sort = self.made(sort)?;
                        if Z3_get_sort_kind(c, sort) == SortKind::Bv
                            && let width @ 1..=128 = Z3_get_bv_sort_size(c, sort)
                        {
                            return Ok(width);
                        }
                        Err(Error::Untranslatable("an array of other things than small bit-vectors".to_owned()))
                    };
                    let index = width(Z3_get_array_sort_domain(c, sort))?;
                    Ok(Sort::Array { index, element: width(Z3_get_array_sort_range(c, sort))? })
                }
                kind => Err(Error::Untranslatable(format!("the sort {kind:?}"))),
            }
        }
    }

    fn application(&self, terms: &mut Terms, ast: Z3_ast, xs: &[TermId], names: &Names) -> Result<TermId, Error> {
        let c = self.raw();
        // SAFETY: `ast` is alive, and so is its declaration.
        let (decl, kind) = unsafe {
            let app = self.made(Z3_to_app(c, ast))?;
            let decl = self.made(Z3_get_app_decl(c, app))?;
            (decl, Z3_get_decl_kind(c, decl))
        };
        if kind == DeclKind::Uninterpreted {
            if let Some(&t) = names.constants.get(&ast) {
                return Ok(t);
            }
            if let Some(&(sym, index)) = self.instances.get(&ast) {
                return Ok(terms.var(sym, index));
            }
            // SAFETY: as above.
            let name = unsafe { Z3_get_decl_name(c, decl).map(|name| text(Z3_get_symbol_string(c, name))) };
            return Err(Error::Untranslatable(format!("the function {}", name.unwrap_or_default())));
        }
        // SAFETY: as above; Z3 reports an error for a parameter that does not exist.
        let parameter = |i: u32| unsafe { Z3_get_decl_int_parameter(c, decl, i) } as u32;
        // The sort matters for bit-vector results only.
        let width = || match self.sort_of(ast)? {
            Sort::Bv(width) => Ok(width),
            Sort::Bool | Sort::Int | Sort::Array { .. } => {
                Err(Error::Untranslatable("a bit-vector operator without width".to_owned()))
            }
        };
        let t = match (kind, xs) {
            (DeclKind::True, _) => TermId::TRUE,
            (DeclKind::False, _) => TermId::FALSE,
            (DeclKind::Not, &[a]) => terms.not(a),
            (DeclKind::And, _) => terms.and_all(xs),
            (DeclKind::Or, _) => terms.or_all(xs),
            (DeclKind::Implies, &[a, b]) => terms.implies(a, b),
            (DeclKind::Xor, _) => xs.iter().fold(TermId::FALSE, |x, &y| terms.xor(x, y)),
            (DeclKind::Ite, &[d, a, b]) => terms.ite(d, a, b),
            (DeclKind::Eq | DeclKind::Iff | DeclKind::Oeq, &[a, b]) => terms.eq(a, b),
            (DeclKind::Distinct, _) => {
                let mut all = Vec::new();
                for (i, &x) in xs.iter().enumerate() {
                    all.extend(xs[i + 1..].iter().map(|&y| terms.ne(x, y)));
                }
                terms.and_all(&all)
            }
            (DeclKind::Select, &[a, i]) if is_array(terms, a) => terms.select(a, i),
            (DeclKind::Store, &[a, i, v]) if is_array(terms, a) => terms.store(a, i, v),
            (DeclKind::ConstArray, &[element]) => match self.sort_of(ast)? {
                Sort::Array { index, .. } => terms.const_array(index, element),
                Sort::Bool | Sort::Bv(_) | Sort::Int => {
                    return Err(Error::Untranslatable("a constant array".to_owned()));
                }
            },
            (DeclKind::Extract, &[a]) => terms.extract(parameter(0), parameter(1), a),
            (DeclKind::ZeroExt, &[a]) => terms.zext(width()?, a),
            (DeclKind::SignExt, &[a]) => terms.sext(width()?, a),
            (DeclKind::Concat, _) => concat(terms, width()?, xs),
            (DeclKind::Repeat, &[a]) => concat(terms, width()?, &vec![a; parameter(0) as usize]),
            (DeclKind::RotateLeft, &[a]) => rotate_left(terms, a, parameter(0)),
            (DeclKind::RotateRight, &[a]) => {
                let width = width()?;
                rotate_left(terms, a, width - parameter(0) % width)
            }
            (DeclKind::Bit2bool, &[a]) => {
                let bit = terms.extract(parameter(0), parameter(0), a);
                let one = terms.bv(1, 1);
                terms.eq(bit, one)
            }
            (DeclKind::Bcomp, &[a, b]) => {
                let equal = terms.eq(a, b);
                bit(terms, equal)
            }
            (DeclKind::Bredor, &[a]) => {
                let zero = terms.bv(terms.width(a), 0);
                let some = terms.ne(a, zero);
                bit(terms, some)
            }
            (DeclKind::Bredand, &[a]) => {
                let ones = terms.bv(terms.width(a), u128::MAX);
                let all = terms.eq(a, ones);
                bit(terms, all)
            }
            (DeclKind::Mkbv, _) => {
                let bits: Vec<TermId> = xs.iter().rev().map(|&x| bit(terms, x)).collect();
                concat(terms, width()?, &bits)
            }
            (DeclKind::Bneg, &[a]) => terms.bv_un(BvUn::Neg, a),
            (DeclKind::Bnot, &[a]) => terms.bv_un(BvUn::Not, a),
            _ => match (binary(kind), comparison(kind), xs) {
                (Some((op, negated)), _, &[first, ref rest @ ..]) => {
                    let t = rest.iter().fold(first, |x, &y| terms.bv_bin(op, x, y));
                    if negated { terms.bv_un(BvUn::Not, t) } else { t }
                }
                (_, Some((op, swapped)), &[a, b]) => {
                    let (a, b) = if swapped { (b, a) } else { (a, b) };
                    terms.bv_cmp(op, a, b)
                }
                _ => arithmetic(terms, kind, xs)?,
            },
        };
        Ok(t)
    }
}

fn is_array(terms: &Terms, t: TermId) -> bool {
    matches!(terms.sort(t), Sort::Array { .. })
}

/// A Boolean as a bit-vector of width 1.
fn bit(terms: &mut Terms, b: TermId) -> TermId {
    let (one, zero) = (terms.bv(1, 1), terms.bv(1, 0));
    terms.ite(b, one, zero)
}

/// The parts side by side, the first one highest.
fn concat(terms: &mut Terms, width: u32, parts: &[TermId]) -> TermId {
    let joined = parts.iter().rev().copied().reduce(|low, high| terms.concat(high, low));
    joined.unwrap_or_else(|| terms.bv(width, 0))
}

fn rotate_left(terms: &mut Terms, a: TermId, by: u32) -> TermId {
    let width = terms.width(a);
    let by = by % width;
    let left = terms.bv(width, u128::from(by));
    let right = terms.bv(width, u128::from(width - by));
    let high = terms.bv_bin(BvBin::Shl, a, left);
    let low = terms.bv_bin(BvBin::Lshr, a, right);
    terms.bv_bin(BvBin::Or, high, low)
}

/// The operator, and whether the result is to be complemented.
fn binary(kind: DeclKind) -> Option<(BvBin, bool)> {
    Some(match kind {
        DeclKind::Badd => (BvBin::Add, false),
        DeclKind::Bsub => (BvBin::Sub, false),
        DeclKind::Bmul => (BvBin::Mul, false),
        // The variants "I" are used where the divisor is not zero, or where zero is treated as usual.
        DeclKind::Budiv | DeclKind::BudivI => (BvBin::Udiv, false),
        DeclKind::Bsdiv | DeclKind::BsdivI => (BvBin::Sdiv, false),
        DeclKind::Burem | DeclKind::BuremI => (BvBin::Urem, false),
        DeclKind::Bsrem | DeclKind::BsremI => (BvBin::Srem, false),
        DeclKind::Bshl => (BvBin::Shl, false),
        DeclKind::Blshr => (BvBin::Lshr, false),
        DeclKind::Bashr => (BvBin::Ashr, false),
        DeclKind::Band => (BvBin::And, false),
        DeclKind::Bor => (BvBin::Or, false),
        DeclKind::Bxor => (BvBin::Xor, false),
        DeclKind::Bnand => (BvBin::And, true),
        DeclKind::Bnor => (BvBin::Or, true),
        DeclKind::Bxnor => (BvBin::Xor, true),
        _ => return None,
    })
}

/// The operator, and whether the operands are to be swapped.
fn comparison(kind: DeclKind) -> Option<(BvCmp, bool)> {
    Some(match kind {
        DeclKind::Ult => (BvCmp::Ult, false),
        DeclKind::Uleq => (BvCmp::Ule, false),
        DeclKind::Ugt => (BvCmp::Ult, true),
        DeclKind::Ugeq => (BvCmp::Ule, true),
        DeclKind::Slt => (BvCmp::Slt, false),
        DeclKind::Sleq => (BvCmp::Sle, false),
        DeclKind::Sgt => (BvCmp::Slt, true),
        DeclKind::Sgeq => (BvCmp::Sle, true),
        _ => return None,
    })
}

fn arithmetic(terms: &mut Terms, kind: DeclKind, xs: &[TermId]) -> Result<TermId, Error> {
    let divisor = |terms: &Terms, k: TermId| match terms.as_value(k) {
        Some(Value::Int(k)) if k != 0 => Ok(k),
        _ => Err(Error::Untranslatable("division by a variable".to_owned())),
    };
    if !xs.iter().all(|&x| terms.sort(x) == Sort::Int) {
        return Err(Error::Untranslatable(format!("the operator {kind:?}")));
    }
    Ok(match (kind, xs) {
        (DeclKind::Le, &[a, b]) => terms.int_le(a, b),
        (DeclKind::Lt, &[a, b]) => terms.int_lt(a, b),
        (DeclKind::Ge, &[a, b]) => terms.int_ge(a, b),
        (DeclKind::Gt, &[a, b]) => terms.int_gt(a, b),
        (DeclKind::Add, _) => terms.int_sum(xs),
        (DeclKind::Sub, &[first, ref rest @ ..]) => rest.iter().fold(first, |x, &y| terms.int_sub(x, y)),
        (DeclKind::Uminus, &[a]) => terms.int_neg(a),
        (DeclKind::Mul, &[first, ref rest @ ..]) => rest.iter().fold(first, |x, &y| terms.int_mul(x, y)),
        (DeclKind::Idiv, &[a, k]) => {
            let k = divisor(terms, k)?;
            terms.int_div(a, k)
        }
        (DeclKind::Mod, &[a, k]) => {
            let k = divisor(terms, k)?;
            terms.int_mod(a, k)
        }
        (DeclKind::Rem, &[a, k]) => {
            let k = divisor(terms, k)?;
            let r = terms.int_mod(a, k);
            if k > 0 { r } else { terms.int_neg(r) }
        }
        _ => return Err(Error::Untranslatable(format!("the operator {kind:?}"))),
    })
}
