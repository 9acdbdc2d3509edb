// SPDX-License-Identifier: Apache-2.0
//! What the memory of a program looks like, judged by the addresses in it: arrays with their element sizes and indices, and
//! cells, which do not move.
//!
//! Nothing is proved here. An array that is none, or that is missed, costs candidates, not soundness.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::eval::eval;
use cfa::ids::{ExprId, RegionId, VarId};
use cfa::ir::{BinOp, ExprKind, IntTy, Object, Op};
use rustc_hash::FxHashMap;

use super::pointers::{Place, Pointers};

/// How many cells are looked at.
const CELLS: usize = 8;
/// How many arrays are looked at.
const ARRAYS: usize = 16;

/// How many bytes next to an object constants may be that are meant for it.
const NEAR: i128 = 64;

/// A place in memory with a fixed address, or at a fixed distance from where a variable points to that is set once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) region: RegionId,
    pub(crate) base: Base,
    /// Bytes from the base.
    pub(crate) offset: i128,
    pub(crate) ty: IntTy,
}

impl Cell {
    /// Where it is in a state.
    pub(crate) fn address(&self, vars: &FxHashMap<VarId, i128>) -> Option<u64> {
        u64::try_from(self.base.address(vars)?.checked_add(self.offset)?).ok()
    }
}

/// Where an array begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Base {
    /// At a fixed address.
    Address(i128),
    /// Where a variable points to.
    Pointer(VarId),
}

impl Base {
    /// Whether it can be mentioned where variables can.
    pub(crate) fn is_in_scope(self, in_scope: &dyn Fn(VarId) -> bool) -> bool {
        match self {
            Base::Address(_) => true,
            Base::Pointer(var) => in_scope(var),
        }
    }

    fn address(self, vars: &FxHashMap<VarId, i128>) -> Option<i128> {
        match self {
            Base::Address(addr) => Some(addr),
            Base::Pointer(var) => vars.get(&var).copied(),
        }
    }
}

/// An index as it is computed: a constant and multiples of expressions, and perhaps where a pointer points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub(crate) constant: i128,
    pub(crate) parts: Vec<Part>,
    pub(crate) walk: Option<Walk>,
}

/// A pointer that goes from element to element: so many elements behind the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Walk {
    pub(crate) pointer: VarId,
    /// Where the elements begin.
    pub(crate) base: Base,
    /// Bytes between elements.
    pub(crate) stride: i128,
}

/// A summand of an index: a constant times a product of expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) factor: i128,
    pub(crate) product: Vec<ExprId>,
}

impl Part {
    /// The variables in the product.
    pub(crate) fn variables(&self, program: &Program) -> BTreeSet<VarId> {
        self.product.iter().flat_map(|&factor| program.exprs.vars(factor)).collect()
    }
}

impl Index {
    /// Whether two are at the same distance everywhere.
    pub(crate) fn is_parallel(&self, other: &Index) -> bool {
        (&self.parts, self.walk) == (&other.parts, other.walk)
    }

    /// The value in a state, as a mathematical number but for what the parts' own types do; none if a variable's is missing.
    pub(crate) fn value(&self, program: &Program, vars: &FxHashMap<VarId, i128>) -> Option<i128> {
        let mut sum = self.constant;
        for part in &self.parts {
            let mut product = part.factor;
            for &factor in &part.product {
                if !program.exprs.vars(factor).iter().all(|var| vars.contains_key(var)) {
                    return None;
                }
                product = product.checked_mul(eval(&program.exprs, factor, &mut |var| vars[&var]).ok()?)?;
            }
            sum = sum.checked_add(product)?;
        }
        if let Some(Walk { pointer, base, stride }) = self.walk {
            let distance = vars.get(&pointer)?.checked_sub(base.address(vars)?)?;
            if distance % stride != 0 {
                return None;
            }
            sum = sum.checked_add(distance / stride)?;
        }
        Some(sum)
    }

    /// The index as a mathematical sum, as if no part of it wrapped around: for guesses.
    pub(crate) fn without_conversions(&self, program: &Program) -> Index {
        let mut index = Index { parts: Vec::new(), ..*self };
        for part in &self.parts {
            let [mut id] = part.product[..] else {
                index.parts.push(part.clone());
                continue;
            };
            loop {
                let number = |id: ExprId| program.exprs.as_const(id).map(|value| signed(value, program.exprs.ty(id)));
                match program.exprs.get(id).kind {
                    ExprKind::Cast(inner) => id = inner,
                    ExprKind::Binary(BinOp::Add, left, right) if number(right).is_some() => {
                        index.constant += part.factor * number(right).unwrap_or(0);
                        id = left;
                    }
                    ExprKind::Binary(BinOp::Sub, left, right) if number(right).is_some() => {
                        index.constant -= part.factor * number(right).unwrap_or(0);
                        id = left;
                    }
                    _ => break,
                }
            }
            index.parts.push(Part { factor: part.factor, product: vec![id] });
        }
        index
    }

    /// The variable that the index is, but for a constant and conversions.
    pub(crate) fn variable(&self, program: &Program) -> Option<VarId> {
        match &self.parts[..] {
            [part] if part.factor == 1 && self.walk.is_none() => match part.product[..] {
                [factor] => program.exprs.converted_var(factor),
                _ => None,
            },
            _ => None,
        }
    }

    /// The products of several expressions among the parts: where rows begin.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Index> {
        let products = self.parts.iter().filter(|part| part.product.len() > 1);
        products.map(|part| Index { constant: 0, parts: vec![part.clone()], walk: None })
    }
}

/// Elements of one size at equal distances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Array {
    pub(crate) region: RegionId,
    pub(crate) base: Base,
    /// Bytes from the base to the first element.
    pub(crate) offset: i128,
    /// Bytes between elements.
    pub(crate) stride: i128,
    /// The type of elements.
    pub(crate) ty: IntTy,
    /// Variables in indices.
    pub(crate) indices: BTreeSet<VarId>,
    /// How the program computes indices.
    pub(crate) uses: Vec<Index>,
    /// The number of elements, where the object is allocated.
    pub(crate) sizes: Vec<Index>,
    /// The number of elements, as far as it is fixed.
    pub(crate) lengths: Vec<i128>,
    /// Whether elements are added to something.
    pub(crate) summed: bool,
}

impl Array {
    /// The address of the element with index 0.
    pub(crate) fn start(&self, vars: &FxHashMap<VarId, i128>) -> Option<i128> {
        self.base.address(vars)?.checked_add(self.offset)
    }
}

/// The arrays and cells of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) arrays: Vec<Array>,
    pub(crate) cells: Vec<Cell>,
}

/// An address in parts.
#[derive(Default)]
pub(super) struct Address {
    pub(super) constant: i128,
    pub(super) pointers: Vec<(VarId, ExprId)>,
    pub(super) scaled: Vec<Part>,
}

impl Layout {
    /// What the accesses of a program show.
    pub(crate) fn of(program: &Program) -> Self {
        let mut layout = Layout::default();
        let pointers = Pointers::of(program);
        for (addr, region, ty) in accesses(program) {
            match program.exprs.as_const(addr) {
                Some(addr) => layout.cell(Cell { region, base: Base::Address(addr), offset: 0, ty }),
                None => layout.access(program, &pointers, (region, addr, ty)),
            }
        }
        layout.cells_of_objects(program);
        layout.find_sizes(program);
        layout.find_summed(program, &pointers);
        layout.aliases(program);
        layout.arrays.truncate(ARRAYS);
        layout
    }

    fn cell(&mut self, cell: Cell) {
        let place = |cell: &Cell| (cell.base, cell.offset, cell.ty.bits);
        if self.cells.len() < CELLS && !self.cells.iter().any(|known| place(known) == place(&cell)) {
            self.cells.push(cell);
        }
    }

    /// Finds the parts of objects to which variables point that are set once.
    fn cells_of_objects(&mut self, program: &Program) {
        let steady = steady_variables(program);
        for (addr, region, ty) in accesses(program) {
            let mut parts = Address::default();
            split(program, addr, 1, &mut parts);
            if let ([(var, _)], []) = (&parts.pointers[..], &parts.scaled[..])
                && steady.contains(var)
            {
                self.cell(Cell { region, base: Base::Pointer(*var), offset: parts.constant, ty });
            }
        }
    }

    fn access(&mut self, program: &Program, pointers: &Pointers, (region, addr, ty): (RegionId, ExprId, IntTy)) {
        let Some(Place { base, offset, stride, index, lengths }) = pointers.place(program, region, addr) else {
            return;
        };
        if stride < i128::from(ty.bits / 8) {
            return;
        }
        let indices: BTreeSet<VarId> = index.parts.iter().flat_map(|part| part.variables(program)).collect();
        let same = |array: &&mut Array| {
            (array.base, array.offset, array.stride, array.ty.bits) == (base, offset, stride, ty.bits)
        };
        match self.arrays.iter_mut().find(same) {
            Some(array) => {
                array.indices.extend(indices);
                if !array.uses.contains(&index) {
                    array.uses.push(index);
                }
            }
            None => {
                self.arrays.push(Array {
                    region,
                    base,
                    offset,
                    stride,
                    ty,
                    indices,
                    uses: vec![index],
                    lengths,
                    sizes: Vec::new(),
                    summed: false,
                });
            }
        }
    }

    /// Finds out how many elements allocated arrays have.
    fn find_sizes(&mut self, program: &Program) {
        for edge in &program.edges {
            let Op::Alloc { var, size, .. } = edge.op else { continue };
            let mut parts = Address::default();
            split(program, computed(program, size), 1, &mut parts);
            parts.scaled.extend(parts.pointers.into_iter().map(|(_, id)| Part { factor: 1, product: vec![id] }));
            for array in self.arrays.iter_mut().filter(|array| array.base == Base::Pointer(var)) {
                let stride = array.stride;
                if parts.scaled.iter().all(|part| part.factor % stride == 0) && !parts.scaled.is_empty() {
                    let parts = parts.scaled.iter().cloned();
                    let parts = parts.map(|part| Part { factor: part.factor / stride, ..part }).collect();
                    array.sizes.push(Index { constant: 0, parts, walk: None });
                }
            }
        }
    }

    /// Finds arrays whose elements are operands of sums.
    fn find_summed(&mut self, program: &Program, pointers: &Pointers) {
        let mut added: BTreeSet<VarId> = BTreeSet::new();
        for id in program.exprs.ids() {
            if let ExprKind::Binary(BinOp::Add | BinOp::Sub, left, right) = program.exprs.get(id).kind {
                added.extend([left, right].into_iter().filter_map(|side| program.exprs.converted_var(side)));
            }
        }
        for edge in &program.edges {
            let Op::Load { var, addr, region } = edge.op else { continue };
            if !added.contains(&var) {
                continue;
            }
            let Some(place) = pointers.place(program, region, addr) else { continue };
            for array in self.arrays.iter_mut().filter(|array| array.region == region) {
                array.summed |= place.is_in(array);
            }
        }
    }

    /// Arrays that are accessed through parameters and copies of pointers begin where the originals point to.
    fn aliases(&mut self, program: &Program) {
        let sources: Vec<(VarId, ExprId)> = program.assigned().collect();
        let mut next = 0;
        while next < self.arrays.len() && self.arrays.len() < 2 * ARRAYS {
            let array = self.arrays[next].clone();
            next += 1;
            let Base::Pointer(pointer) = array.base else { continue };
            for &(_, value) in sources.iter().filter(|(var, _)| *var == pointer) {
                let base = match program.exprs.get(value).kind {
                    ExprKind::Var(var) => Base::Pointer(var),
                    ExprKind::Const(addr) if addr != 0 => Base::Address(addr),
                    _ => continue,
                };
                let alias = Array { base, ..array.clone() };
                let same = |known: &Array| {
                    (known.base, known.offset, known.stride, known.ty.bits)
                        == (alias.base, alias.offset, alias.stride, alias.ty.bits)
                };
                if !self.arrays.iter().any(same) {
                    self.arrays.push(alias);
                }
            }
        }
    }
}

/// The addresses that a program reads or writes, with their regions and the types of the values.
fn accesses(program: &Program) -> impl Iterator<Item = (ExprId, RegionId, IntTy)> {
    program.edges.iter().filter_map(|edge| match edge.op {
        Op::Load { var, addr, region } => Some((addr, region, program.var(var).ty)),
        Op::Store { addr, value, region } => Some((addr, region, program.exprs.ty(value))),
        _ => None,
    })
}

/// Variables that get a value once, outside of loops, and parameters that keep theirs.
pub(super) fn steady_variables(program: &Program) -> BTreeSet<VarId> {
    let parameters = program.funcs.iter().flat_map(|func| &func.params).map(|&var| (var, 1));
    let mut writes: FxHashMap<VarId, u32> = parameters.collect();
    for edge in &program.edges {
        if let Some(var) = edge.op.written() {
            // In a loop it may get several values.
            *writes.entry(var).or_default() += 1 + u32::from(program.loops.innermost(edge.src).is_some());
        }
    }
    let steady = |&(var, count): &(VarId, u32)| count == 1 && !program.var(var).temporary;
    writes.into_iter().filter(steady).map(|(var, _)| var).collect()
}

/// What a temporary variable that is assigned once holds; any other expression is itself.
fn computed(program: &Program, id: ExprId) -> ExprId {
    let ExprKind::Var(temporary) = program.exprs.get(id).kind else { return id };
    let mut assigned = program.edges.iter().filter_map(|edge| match edge.op {
        Op::Assign { var, value } if var == temporary => Some(value),
        _ => None,
    });
    match (assigned.next(), assigned.next()) {
        (Some(value), None) if program.var(temporary).temporary => value,
        _ => id,
    }
}

/// The object that an address with this constant is in when it is an address in a region. The constant of `a[i - 1]` is
/// before the object, where another one may be.
pub(super) fn object_at(program: &Program, region: RegionId, constant: i128) -> Option<&Object> {
    let distance = |object: &&Object| {
        let (start, end) = (i128::from(object.addr), i128::from(object.addr) + i128::from(object.size));
        if constant < start { start - constant } else { (constant - end + 1).max(0) }
    };
    let of_region = program.objects.iter().filter(|object| object.region == region);
    let near = of_region.filter(|object| distance(object) <= NEAR).min_by_key(distance);
    near.or_else(|| program.objects.iter().find(|object| distance(object) == 0))
}

/// Adds `factor` times an expression to the parts of an address.
pub(super) fn split(program: &Program, id: ExprId, factor: i128, out: &mut Address) {
    let expr = program.exprs.get(id);
    let constant = |id: ExprId| program.exprs.as_const(id).map(|value| signed(value, expr.ty));
    match expr.kind {
        ExprKind::Const(value) => out.constant += factor * signed_if_negative(value, expr.ty),
        ExprKind::Binary(BinOp::Add, a, b) => {
            split(program, a, factor, out);
            split(program, b, factor, out);
        }
        ExprKind::Binary(BinOp::Sub, a, b) if constant(b).is_some() => {
            split(program, a, factor, out);
            out.constant -= factor * constant(b).unwrap_or(0);
        }
        ExprKind::Binary(BinOp::Mul, a, b) => match (constant(a), constant(b)) {
            (_, Some(by)) => split_scaled(program, a, factor * by, out),
            (Some(by), _) => split_scaled(program, b, factor * by, out),
            _ => {
                let mut part = Part { factor, product: Vec::new() };
                multiply(program, id, &mut part);
                out.scaled.push(part);
            }
        },
        ExprKind::Var(var) if factor == 1 => out.pointers.push((var, id)),
        _ => out.scaled.push(Part { factor, product: vec![as_number(program, id)] }),
    }
}

/// An index before its conversion to the unsigned type of its size, which addresses are computed with.
fn as_number(program: &Program, id: ExprId) -> ExprId {
    match program.exprs.get(id).kind {
        ExprKind::Cast(inner) => {
            let (ty, of) = (program.exprs.ty(id), program.exprs.ty(inner));
            if of.signed && !ty.signed && of.bits == ty.bits { inner } else { id }
        }
        _ => id,
    }
}

/// A multiple of an expression, of which constant summands are moved out as long as that does not change its value.
fn split_scaled(program: &Program, id: ExprId, factor: i128, out: &mut Address) {
    match program.exprs.get(id).kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) => split(program, id, factor, out),
        ExprKind::Const(value) => out.constant += factor * value,
        _ => out.scaled.push(Part { factor, product: vec![as_number(program, id)] }),
    }
}

/// Multiplies a part with an expression, whose own factors are told apart.
fn multiply(program: &Program, id: ExprId, part: &mut Part) {
    let expr = program.exprs.get(id);
    match expr.kind {
        ExprKind::Const(value) => part.factor = part.factor.saturating_mul(signed(value, expr.ty)),
        ExprKind::Binary(BinOp::Mul, left, right) => {
            multiply(program, left, part);
            multiply(program, right, part);
        }
        _ => part.product.push(id),
    }
}

fn signed(value: i128, ty: IntTy) -> i128 {
    IntTy { signed: true, ..ty }.wrap(value)
}

/// Constants of the size of addresses stay as they are; those close to the greatest value are negative offsets.
fn signed_if_negative(value: i128, ty: IntTy) -> i128 {
    if value > ty.max() - (1 << 24) { signed(value, ty) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Source};

    fn layout(text: &str) -> Layout {
        let source = Source { name: "t.c".into(), text: text.into() };
        Layout::of(&cfa::load(&[source], &Options::default()).unwrap())
    }

    #[test]
    fn arrays_of_structures_and_of_arrays() {
        let found = layout(
            "struct s { int x; char y; } a[10]; int m[4][6]; int main(void) { int i = 0, j = 1;
            while (i < 3) { a[i + 1].y = 1; m[i][j] = 2; i++; } return a[2].x; }",
        );
        let [y, m] = &found.arrays[..] else { panic!("{found:?}") };
        assert_eq!((y.offset, y.stride, y.lengths[0]), (4, 8, 10));
        assert_eq!((m.offset, m.stride, m.lengths[0]), (0, 4, 24));
        let factors: Vec<i128> = m.uses[0].parts.iter().map(|part| part.factor).collect();
        assert_eq!(factors, [6, 1], "rows have six elements");
        assert_eq!(found.cells.len(), 1, "a[2].x has a fixed address");
    }

    #[test]
    fn sizes_and_rows_of_allocated_arrays_and_which_are_summed() {
        let found = layout(
            "extern void *malloc(unsigned); int main(void) { int m = 3, n = 4, i = 0, s = 0; int a[m][n];
            short *b = malloc(n * sizeof(short)); while (i < 3) { a[i][1] = i; b[i] = 1; s += b[i]; i++; } return s; }",
        );
        let [a, b] = &found.arrays[..] else { panic!("{found:?}") };
        let products = |index: &Index| index.parts.iter().map(|part| part.product.len()).collect::<Vec<_>>();
        assert_eq!((a.stride, products(&a.sizes[0])), (4, vec![2]), "m times n elements");
        assert_eq!(a.uses[0].rows().count(), 1, "a row begins at i times n");
        assert_eq!((b.stride, products(&b.sizes[0])), (2, vec![1]));
        assert_eq!((a.summed, b.summed), (false, true));
    }

    #[test]
    fn arrays_behind_parameters() {
        let found = layout(
            "int g[9]; void f(int *p) { for (int i = 0; i < 9; i++) p[i] = i; } int main(void) { f(g); return 0; }",
        );
        let bases: Vec<bool> = found.arrays.iter().map(|array| matches!(array.base, Base::Address(_))).collect();
        assert_eq!(bases, [false, true]);
    }
}
