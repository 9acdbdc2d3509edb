// SPDX-License-Identifier: Apache-2.0
//! Terms to Z3, memoised for the life of the context.

use z3_sys::*;

use super::context::{Context, c_string};
use crate::error::Error;
use crate::term::{BvBin, BvCmp, BvUn, Sort, SymId, Term, TermId, Terms};

impl Context {
    /// The Z3 term for `t`.
    pub(super) fn translate(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        if let Some(&ast) = self.memo.get(&t) {
            return Ok(ast);
        }
        self.bind(terms);
        let order = {
            let memo = &self.memo;
            terms.post_order_by(
                &[t],
                |s| memo.contains_key(&s),
                |s, push| match self.sums(terms, s) {
                    Some((a, b)) => [a, b].into_iter().for_each(push),
                    None => terms.get(s).for_each_child(push),
                },
            )
        };
        for s in order {
            let ast = self.node(terms, s)?;
            self.memo.insert(s, ast);
        }
        Ok(self.memo[&t])
    }

    /// The sides of an equation whose sums are kept.
    fn sums(&self, terms: &Terms, t: TermId) -> Option<(TermId, TermId)> {
        let sides = if self.keep_sums { terms.sides_as_written(t) } else { None };
        sides.filter(|&(a, _)| terms.width(a) > 1)
    }

    /// `a = b` by the lowest bit and the others: Z3 does not rearrange the sums then.
    fn equal_parts(&self, width: u32, a: Z3_ast, b: Z3_ast) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: the operands are kept, here and below.
        let part = |hi: u32, lo: u32| unsafe {
            let a = self.keep(Z3_mk_extract(c, hi, lo, a))?;
            let b = self.keep(Z3_mk_extract(c, hi, lo, b))?;
            self.keep(Z3_mk_eq(c, a, b))
        };
        let parts = [part(width - 1, 1)?, part(0, 0)?];
        self.keep(unsafe { Z3_mk_and(c, 2, parts.as_ptr()) })
    }

    pub(super) fn sort(&self, sort: Sort) -> Result<Z3_sort, Error> {
        // SAFETY: the context is alive. Sorts of constants stay alive with them; these basic sorts always do.
        let made = unsafe {
            match sort {
                Sort::Bool => Z3_mk_bool_sort(self.raw()),
                Sort::Bv(width) => Z3_mk_bv_sort(self.raw(), width),
                Sort::Int => Z3_mk_int_sort(self.raw()),
                Sort::Array { index, element } => return self.array_sort(index, element),
            }
        };
        self.made(made)
    }

    fn numeral(&self, text: &str, sort: Sort) -> Result<Option<Z3_ast>, Error> {
        let sort = self.sort(sort)?;
        let text = c_string(text);
        // SAFETY: the string outlives the call.
        Ok(unsafe { Z3_mk_numeral(self.raw(), text.as_ptr(), sort) })
    }

    /// A numeral, referenced.
    pub(super) fn numeral_of(&self, text: &str, sort: Sort) -> Result<Z3_ast, Error> {
        let numeral = self.numeral(text, sort)?;
        self.keep(numeral)
    }

    fn variable(&mut self, terms: &Terms, sym: SymId, index: u32) -> Result<Option<Z3_ast>, Error> {
        let name = self.symbol(&terms.instance_name(sym, index))?;
        let sort = self.sort(terms.symbol_sort(sym))?;
        // SAFETY: the context is alive.
        let ast = unsafe { Z3_mk_const(self.raw(), name, sort) };
        if let Some(ast) = ast {
            self.instances.insert(ast, (sym, index));
        }
        Ok(ast)
    }

    /// The node of a term whose operands are translated, referenced.
    fn node(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        match terms.get(t) {
            Term::FpUn(..) | Term::FpBin(..) | Term::FpCmp(..) => return self.float_node(terms, t),
            Term::ConstArray { .. } | Term::Select(..) | Term::Store { .. } => return self.array_node(terms, t),
            Term::Var { .. } | Term::Ite(..) if self.eliminate_arrays && is_array(terms, t) => {
                return self.array_node(terms, t);
            }
            &Term::Eq(a, _) if self.eliminate_arrays && is_array(terms, a) => {
                return Err(Error::Untranslatable("an equation between arrays".to_owned()));
            }
            _ => {}
        }
        if let Some((a, b)) = self.sums(terms, t) {
            return self.equal_parts(terms.width(a), self.memo[&a], self.memo[&b]);
        }
        let c = self.raw();
        let many = |xs: &[TermId]| -> Vec<Z3_ast> { xs.iter().map(|x| self.memo[x]).collect() };
        // SAFETY: the context is alive, and the operands are referenced by the memo.
        let ast = unsafe {
            match *terms.get(t) {
                Term::True => Z3_mk_true(c),
                Term::False => Z3_mk_false(c),
                Term::Bv { width, bits } => match u64::try_from(bits) {
                    Ok(small) => Z3_mk_unsigned_int64(c, small, self.sort(Sort::Bv(width))?),
                    Err(_) => self.numeral(&bits.to_string(), Sort::Bv(width))?,
                },
                Term::Int(v) => return self.int(v),
                Term::Var { sym, index } => self.variable(terms, sym, index)?,
                Term::Not(a) => Z3_mk_not(c, self.memo[&a]),
                Term::And(ref xs) => {
                    let xs = many(xs);
                    Z3_mk_and(c, xs.len() as u32, xs.as_ptr())
                }
                Term::Or(ref xs) => {
                    let xs = many(xs);
                    Z3_mk_or(c, xs.len() as u32, xs.as_ptr())
                }
                Term::Ite(d, a, b) => Z3_mk_ite(c, self.memo[&d], self.memo[&a], self.memo[&b]),
                Term::Eq(a, b) => Z3_mk_eq(c, self.memo[&a], self.memo[&b]),
                Term::BvUn(op, a) => {
                    let make = match op {
                        BvUn::Neg => Z3_mk_bvneg,
                        BvUn::Not => Z3_mk_bvnot,
                    };
                    make(c, self.memo[&a])
                }
                Term::BvBin(op, a, b) => binary(op)(c, self.memo[&a], self.memo[&b]),
                Term::BvCmp(op, a, b) => comparison(op)(c, self.memo[&a], self.memo[&b]),
                Term::Extract { hi, lo, arg } => Z3_mk_extract(c, hi, lo, self.memo[&arg]),
                Term::Zext { width, arg } => Z3_mk_zero_ext(c, width - terms.width(arg), self.memo[&arg]),
                Term::Sext { width, arg } => Z3_mk_sign_ext(c, width - terms.width(arg), self.memo[&arg]),
                Term::Concat(a, b) => Z3_mk_concat(c, self.memo[&a], self.memo[&b]),
                Term::FpUn(..)
                | Term::FpBin(..)
                | Term::FpCmp(..)
                | Term::ConstArray { .. }
                | Term::Select(..)
                | Term::Store { .. } => unreachable!("translated above"),
                Term::IntAdd(ref xs) => {
                    let xs = many(xs);
                    Z3_mk_add(c, xs.len() as u32, xs.as_ptr())
                }
                Term::IntMulConst(k, a) => {
                    let k = self.int(k)?;
                    Z3_mk_mul(c, 2, [k, self.memo[&a]].as_ptr())
                }
                Term::IntMul(a, b) => Z3_mk_mul(c, 2, [self.memo[&a], self.memo[&b]].as_ptr()),
                Term::IntDiv(a, k) => {
                    let k = self.int(k)?;
                    Z3_mk_div(c, self.memo[&a], k)
                }
                Term::IntMod(a, k) => {
                    let k = self.int(k)?;
                    Z3_mk_mod(c, self.memo[&a], k)
                }
                Term::IntLe(a, b) => Z3_mk_le(c, self.memo[&a], self.memo[&b]),
            }
        };
        self.keep(ast)
    }
}

fn is_array(terms: &Terms, t: TermId) -> bool {
    matches!(terms.sort(t), Sort::Array { .. })
}

type Binary = unsafe extern "C" fn(Z3_context, Z3_ast, Z3_ast) -> Option<Z3_ast>;

fn binary(op: BvBin) -> Binary {
    match op {
        BvBin::Add => Z3_mk_bvadd,
        BvBin::Sub => Z3_mk_bvsub,
        BvBin::Mul => Z3_mk_bvmul,
        BvBin::Udiv => Z3_mk_bvudiv,
        BvBin::Sdiv => Z3_mk_bvsdiv,
        BvBin::Urem => Z3_mk_bvurem,
        BvBin::Srem => Z3_mk_bvsrem,
        BvBin::Shl => Z3_mk_bvshl,
        BvBin::Lshr => Z3_mk_bvlshr,
        BvBin::Ashr => Z3_mk_bvashr,
        BvBin::And => Z3_mk_bvand,
        BvBin::Or => Z3_mk_bvor,
        BvBin::Xor => Z3_mk_bvxor,
    }
}

fn comparison(op: BvCmp) -> Binary {
    match op {
        BvCmp::Ult => Z3_mk_bvult,
        BvCmp::Ule => Z3_mk_bvule,
        BvCmp::Slt => Z3_mk_bvslt,
        BvCmp::Sle => Z3_mk_bvsle,
    }
}
