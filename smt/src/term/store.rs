// SPDX-License-Identifier: Apache-2.0
//! The store: interning of symbols and nodes, and what is known of a node without looking at it.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::extremum::Extremum;
use super::identity::StoreId;
use super::ids::{Sort, SymId, TermId, Value};
use super::leaves::{Comparison, LeafOp, Leaves};
use super::node::Term;
use super::polynomial::Polynomial;
use super::semantics::mask;

/// A symbol's definition.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
struct Symbol {
    name: String,
    sort: Sort,
    bounds: Option<(i128, i128)>,
}

/// Facts about a node, computed from those of its operands when it is made.
#[derive(Copy, Clone, Debug)]
struct Info {
    sort: Sort,
    leaves: Leaves,
    has_bounded: bool,
    has_float: bool,
    has_array: bool,
}

/// The hash-consing store. Building needs `&mut`, reading `&`.
#[derive(Clone, Debug)]
pub struct Terms {
    id: StoreId,
    symbols: IndexSet<Symbol, FxBuildHasher>,
    name_uses: FxHashMap<String, u32>,
    /// Whether an earlier symbol has the same name, so that printers have to tell them apart.
    ambiguous: Vec<bool>,
    nodes: IndexSet<Term, FxBuildHasher>,
    infos: Vec<Info>,
    /// Conjunctions and disjunctions of literals, and what negation made of them.
    pub(super) complements: FxHashMap<TermId, TermId>,
    pub(super) leaf_memo: FxHashMap<(LeafOp, TermId), TermId>,
    /// Comparisons of trees over the same condition.
    pub(super) compared: FxHashMap<(Comparison, TermId, TermId), TermId>,
    pub(super) selections: FxHashMap<(TermId, TermId), TermId>,
    pub(super) polynomials: FxHashMap<TermId, Polynomial>,
    /// The sides of equations of sums as they were before they got their normal form.
    pub(super) written: FxHashMap<TermId, (TermId, TermId)>,
    pub(super) extrema: FxHashMap<TermId, Extremum>,
    /// Nesting of constructors that call each other through if-then-else trees, see `leaves`.
    pub(super) depth: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    /// A store that holds the two Boolean constants.
    pub fn new() -> Self {
        let mut terms = Terms {
            id: StoreId::default(),
            symbols: IndexSet::default(),
            name_uses: FxHashMap::default(),
            ambiguous: Vec::new(),
            nodes: IndexSet::default(),
            infos: Vec::new(),
            complements: FxHashMap::default(),
            leaf_memo: FxHashMap::default(),
            compared: FxHashMap::default(),
            selections: FxHashMap::default(),
            polynomials: FxHashMap::default(),
            written: FxHashMap::default(),
            extrema: FxHashMap::default(),
            depth: 0,
        };
        let (t, f) = (terms.intern(Term::True), terms.intern(Term::False));
        assert_eq!((t, f), (TermId::TRUE, TermId::FALSE), "the constants come first");
        terms
    }

    pub(crate) fn id(&self) -> &StoreId {
        &self.id
    }

    /// The symbol of this name and sort. Symbols of one name but different sorts or bounds are different.
    pub fn symbol(&mut self, name: &str, sort: Sort) -> SymId {
        self.intern_symbol(Symbol { name: name.to_owned(), sort, bounds: None })
    }

    /// An integer symbol of which every instance lies in `lo..=hi`: every solver enforces that for the instances in
    /// what it is given. The constructors and [`Terms::eval`] make no use of the bounds.
    pub fn bounded_symbol(&mut self, name: &str, lo: i128, hi: i128) -> SymId {
        self.intern_symbol(Symbol { name: name.to_owned(), sort: Sort::Int, bounds: Some((lo, hi)) })
    }

    /// A symbol with a name that no symbol has so far: the prefix, `!` and a number.
    pub fn fresh_symbol(&mut self, prefix: &str, sort: Sort) -> SymId {
        let mut n = self.symbols.len();
        loop {
            let name = format!("{prefix}!{n}");
            if !self.name_uses.contains_key(&name) {
                return self.symbol(&name, sort);
            }
            n += 1;
        }
    }

    fn intern_symbol(&mut self, symbol: Symbol) -> SymId {
        if let Some(i) = self.symbols.get_index_of(&symbol) {
            return SymId(i as u32);
        }
        let uses = self.name_uses.entry(symbol.name.clone()).or_insert(0);
        self.ambiguous.push(*uses > 0);
        *uses += 1;
        SymId(self.symbols.insert_full(symbol).0 as u32)
    }

    fn symbol_ref(&self, sym: SymId) -> &Symbol {
        self.symbols.get_index(sym.index()).expect("symbol ids come from this store")
    }

    /// The name a symbol was made with.
    pub fn symbol_name(&self, sym: SymId) -> &str {
        &self.symbol_ref(sym).name
    }

    /// The sort of a symbol.
    pub fn symbol_sort(&self, sym: SymId) -> Sort {
        self.symbol_ref(sym).sort
    }

    /// The interval of a bounded symbol.
    pub fn symbol_bounds(&self, sym: SymId) -> Option<(i128, i128)> {
        self.symbol_ref(sym).bounds
    }

    /// Number of symbols; their ids are `0..n` in order of creation.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// A name for an instance that no other instance has: `x` for index 0, `x@3` otherwise, and `x!7` with the
    /// symbol's number where two symbols share a name.
    pub fn instance_name(&self, sym: SymId, index: u32) -> String {
        let mut name = self.symbol_name(sym).to_owned();
        if self.ambiguous[sym.index()] {
            name = format!("{name}!{}", sym.0);
        }
        if index > 0 {
            name = format!("{name}@{index}");
        }
        name
    }

    /// Number of terms made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the Boolean constants are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The node of a term.
    pub fn get(&self, t: TermId) -> &Term {
        &self.nodes[t.index()]
    }

    /// The sort of a term.
    pub fn sort(&self, t: TermId) -> Sort {
        self.infos[t.index()].sort
    }

    /// The width of a bit-vector term.
    ///
    /// # Panics
    /// The caller guarantees the sort.
    pub fn width(&self, t: TermId) -> u32 {
        match self.sort(t) {
            Sort::Bv(width) => width,
            sort @ (Sort::Bool | Sort::Int | Sort::Array { .. }) => {
                panic!("a bit-vector was expected, not a term of sort {sort}")
            }
        }
    }

    /// Whether an instance of a bounded symbol occurs in the term.
    pub fn has_bounded(&self, t: TermId) -> bool {
        self.infos[t.index()].has_bounded
    }

    /// Whether there is no if-then-else with another sort than Boolean in the term, as far as its leaves tell.
    pub(super) fn is_flat(&self, t: TermId) -> bool {
        self.infos[t.index()].leaves != Leaves::Many && !matches!(self.get(t), Term::Ite(..))
    }

    /// Whether a floating-point operation occurs in the term.
    pub fn has_float(&self, t: TermId) -> bool {
        self.infos[t.index()].has_float
    }

    /// Whether an array occurs in the term.
    pub fn has_array(&self, t: TermId) -> bool {
        self.infos[t.index()].has_array
    }

    pub(super) fn leaves_of(&self, t: TermId) -> Leaves {
        self.infos[t.index()].leaves
    }

    /// No operation is applied to the leaves of a term any more.
    pub(super) fn forget_leaves(&mut self, t: TermId) {
        self.infos[t.index()].leaves = Leaves::Many;
    }

    /// The value of a constant.
    pub fn as_value(&self, t: TermId) -> Option<Value> {
        match *self.get(t) {
            Term::True => Some(Value::Bool(true)),
            Term::False => Some(Value::Bool(false)),
            Term::Bv { width, bits } => Some(Value::Bv { width, bits }),
            Term::Int(v) => Some(Value::Int(v)),
            _ => None,
        }
    }

    pub(crate) fn as_bv(&self, t: TermId) -> Option<u128> {
        match *self.get(t) {
            Term::Bv { bits, .. } => Some(bits),
            _ => None,
        }
    }

    pub(crate) fn as_int(&self, t: TermId) -> Option<i128> {
        match *self.get(t) {
            Term::Int(v) => Some(v),
            _ => None,
        }
    }

    /// True.
    pub const fn tru() -> TermId {
        TermId::TRUE
    }

    /// False.
    pub const fn fls() -> TermId {
        TermId::FALSE
    }

    /// A Boolean constant.
    pub fn bool(&self, b: bool) -> TermId {
        if b { TermId::TRUE } else { TermId::FALSE }
    }

    /// A bit-vector constant; bits above the width are cut off.
    pub fn bv(&mut self, width: u32, bits: u128) -> TermId {
        debug_assert!((1..=128).contains(&width), "bit-vectors have 1 to 128 bits");
        self.intern(Term::Bv { width, bits: bits & mask(width) })
    }

    /// An integer constant.
    pub fn int(&mut self, v: i128) -> TermId {
        self.intern(Term::Int(v))
    }

    /// The constant of a value.
    pub fn value(&mut self, v: Value) -> TermId {
        match v {
            Value::Bool(b) => self.bool(b),
            Value::Bv { width, bits } => self.bv(width, bits),
            Value::Int(v) => self.int(v),
            Value::Array(a) => self.array_constant(&a),
        }
    }

    /// An instance of a symbol.
    pub fn var(&mut self, sym: SymId, index: u32) -> TermId {
        self.intern(Term::Var { sym, index })
    }

    /// An instance of a symbol, if it was made before.
    pub fn find_var(&self, sym: SymId, index: u32) -> Option<TermId> {
        self.nodes.get_index_of(&Term::Var { sym, index }).map(|i| TermId(i as u32))
    }

    /// The id of a node, which the caller has simplified.
    pub(super) fn intern(&mut self, node: Term) -> TermId {
        let (index, new) = self.nodes.insert_full(node);
        let id = TermId(u32::try_from(index).expect("fewer than 2^32 terms"));
        if new {
            let info = self.compute_info(id);
            self.infos.push(info);
        }
        id
    }

    fn compute_info(&self, t: TermId) -> Info {
        let node = self.get(t);
        let mut has_bounded = matches!(*node, Term::Var { sym, .. } if self.symbol_bounds(sym).is_some());
        let mut has_float = matches!(*node, Term::FpUn(..) | Term::FpBin(..) | Term::FpCmp(..));
        let mut has_array = false;
        let mut operands_flat = true;
        let mut consider = |c: TermId| {
            has_bounded |= self.has_bounded(c);
            has_float |= self.has_float(c);
            has_array |= self.has_array(c);
            operands_flat &= self.is_flat(c);
        };
        match *node {
            Term::Store { array, base, ref writes } => {
                consider(array);
                consider(base);
                has_bounded |= writes.traits().has_bounded;
                has_float |= writes.traits().has_float;
                operands_flat &= !writes.traits().has_choice;
            }
            _ => node.for_each_child(consider),
        }
        let sort = match *node {
            Term::True
            | Term::False
            | Term::Not(_)
            | Term::And(_)
            | Term::Or(_)
            | Term::Eq(..)
            | Term::BvCmp(..)
            | Term::FpCmp(..)
            | Term::IntLe(..) => Sort::Bool,
            Term::Bv { width, .. } | Term::Zext { width, .. } | Term::Sext { width, .. } => Sort::Bv(width),
            Term::Extract { hi, lo, .. } => Sort::Bv(hi - lo + 1),
            Term::Concat(a, b) => Sort::Bv(self.width(a) + self.width(b)),
            Term::ConstArray { index, element } => Sort::Array { index, element: self.width(element) },
            Term::Select(a, _) => match self.sort(a) {
                Sort::Array { element, .. } => Sort::Bv(element),
                sort @ (Sort::Bool | Sort::Int | Sort::Bv(_)) => {
                    panic!("an array was expected, not a term of sort {sort}")
                }
            },
            Term::FpUn(op, a) => Sort::Bv(op.result_width(self.width(a))),
            Term::Var { sym, .. } => self.symbol_sort(sym),
            Term::BvUn(_, a)
            | Term::BvBin(_, a, _)
            | Term::Ite(_, a, _)
            | Term::FpBin(_, a, _)
            | Term::Store { array: a, .. } => self.sort(a),
            Term::Int(_)
            | Term::IntAdd(_)
            | Term::IntMulConst(..)
            | Term::IntMul(..)
            | Term::IntDiv(..)
            | Term::IntMod(..) => Sort::Int,
        };
        let leaves = match *node {
            _ if sort == Sort::Bool => Leaves::Many,
            Term::Bv { .. } | Term::Int(_) => Leaves::Consts,
            Term::Ite(_, a, b) => self.leaves_of(a).union(self.leaves_of(b)),
            _ if operands_flat => Leaves::One(t),
            _ => Leaves::Many,
        };
        has_array |= matches!(sort, Sort::Array { .. });
        Info { sort, leaves, has_bounded, has_float, has_array }
    }
}
