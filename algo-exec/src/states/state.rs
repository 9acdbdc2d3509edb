// SPDX-License-Identifier: Apache-2.0
//! States: where the program is, and a value for each variable and for cells of memory, which may depend on symbols; packed
//! into bytes, equal states have equal bytes.

use cfa::{EdgeId, IntTy, NodeId, RegionId, VarId};

use super::eval::Known;
use super::memory::{Cell, Memory, Zeros};
use super::symbols::{Contradiction, Order, Symbol, Symbols};

/// The value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Val {
    /// Any value; also that of a variable that nobody reads any more.
    Any,
    /// This number.
    Const(i128),
    /// The symbol plus this number, as mathematical integers; in the range of the variable's type.
    Sym(Symbol, i128),
}

/// A question about the symbols of a state on which its next step depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Split {
    /// Whether a symbol is at most this.
    AtMost(Symbol, i128),
    /// Whether a symbol is this.
    Is(Symbol, i128),
    /// Whether the first symbol is at most the second one.
    Order(Symbol, Symbol),
    /// Whether two symbols are equal.
    Equal(Symbol, Symbol),
    /// Which value a variable has of which nothing is known; the answer is a new symbol.
    Named(VarId),
}

/// A state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) node: NodeId,
    /// The calls that it is below, the innermost last.
    pub(crate) calls: Vec<EdgeId>,
    pub(crate) vars: Vec<Val>,
    pub(crate) memory: Memory,
    pub(crate) symbols: Symbols,
}

impl State {
    /// The value of a variable, with equal symbols replaced.
    pub(crate) fn var(&self, index: usize) -> Val {
        self.resolve(self.vars[index])
    }

    /// A value, with equal symbols replaced.
    pub(crate) fn resolve(&self, value: Val) -> Val {
        match value {
            Val::Sym(symbol, offset) => {
                let symbol = self.symbols.representative(symbol);
                let (low, high) = self.symbols.bounds(symbol);
                if low == high { Val::Const(low + offset) } else { Val::Sym(symbol, offset) }
            }
            value => value,
        }
    }

    /// A new symbol within the bounds.
    pub(crate) fn fresh(&mut self, low: i128, high: i128) -> Val {
        if low == high { Val::Const(low) } else { Val::Sym(self.symbols.add(low, high), 0) }
    }

    /// A value of which this is known; a new symbol if that are only bounds.
    pub(crate) fn value(&mut self, known: Known) -> Val {
        match known {
            Known::Const(value) => Val::Const(value),
            Known::Sym(symbol, offset) => Val::Sym(symbol, offset),
            Known::Range(low, high) => self.fresh(low, high),
        }
    }

    /// Assumes the answer to a question.
    pub(crate) fn assume(&mut self, split: Split, truth: bool) -> Result<(), Contradiction> {
        match (split, truth) {
            (Split::AtMost(symbol, bound), true) => self.symbols.restrict(symbol, i128::MIN, bound),
            (Split::AtMost(symbol, bound), false) => self.symbols.restrict(symbol, bound + 1, i128::MAX),
            (Split::Is(symbol, value), true) => self.symbols.restrict(symbol, value, value),
            (Split::Is(symbol, value), false) => self.symbols.exclude(symbol, value),
            (Split::Order(a, b), true) => self.symbols.less(a, b, false),
            (Split::Order(a, b), false) => self.symbols.less(b, a, true),
            (Split::Equal(a, b), true) => self.symbols.equal(a, b),
            (Split::Equal(a, b), false) => self.symbols.different(a, b),
            (Split::Named(_), _) => Ok(()),
        }
    }

    /// Forgets the symbols that nothing depends on, and numbers the others in the order of variables and cells.
    pub(crate) fn compact(&mut self) {
        let mut kept: Vec<Symbol> = Vec::new();
        let mut position = vec![Symbol::MAX; self.symbols.count()];
        let mut renumbered = |value: Val| match value {
            Val::Sym(symbol, offset) => {
                let new = &mut position[symbol as usize];
                if *new == Symbol::MAX {
                    *new = kept.len() as Symbol;
                    kept.push(symbol);
                }
                Val::Sym(*new, offset)
            }
            value => value,
        };
        for index in 0..self.vars.len() {
            self.vars[index] = renumbered(self.var(index));
        }
        for index in 0..self.memory.cells.len() {
            self.memory.cells[index].value = renumbered(self.resolve(self.memory.cells[index].value));
        }
        self.symbols = self.symbols.select(&kept);
        self.rebase();
    }

    /// Moves symbols that are compared with no other one, such that the first variable or cell that depends on one is that symbol.
    fn rebase(&mut self) {
        let mut shift: Vec<Option<i128>> = vec![None; self.symbols.count()];
        for &(a, b, _) in self.symbols.orders() {
            shift[a as usize] = Some(0);
            shift[b as usize] = Some(0);
        }
        let cells = self.memory.cells.iter_mut().map(|cell| &mut cell.value);
        for value in self.vars.iter_mut().chain(cells) {
            if let Val::Sym(symbol, offset) = value {
                *offset -= *shift[*symbol as usize].get_or_insert(*offset);
            }
        }
        for (symbol, shift) in shift.into_iter().enumerate() {
            self.symbols.shift(symbol as Symbol, shift.unwrap_or(0));
        }
    }

    /// The bytes of a compact state.
    pub(crate) fn pack(&self) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(64);
        write(&mut bytes, self.node.index() as i128);
        write(&mut bytes, self.calls.len() as i128);
        for call in &self.calls {
            write(&mut bytes, call.index() as i128);
        }
        write(&mut bytes, self.symbols.count() as i128);
        for symbol in 0..self.symbols.count() {
            let (low, high) = self.symbols.bounds(symbol as Symbol);
            write(&mut bytes, low);
            write(&mut bytes, high);
        }
        write(&mut bytes, self.symbols.orders().len() as i128);
        for &(a, b, order) in self.symbols.orders() {
            write(&mut bytes, i128::from(a));
            write(&mut bytes, i128::from(b));
            bytes.push(order as u8);
        }
        write(&mut bytes, self.symbols.holes().len() as i128);
        for &(symbol, value) in self.symbols.holes() {
            write(&mut bytes, i128::from(symbol));
            write(&mut bytes, value);
        }
        let memory = &self.memory;
        write(&mut bytes, memory.heap.map_or(-1, i128::from));
        write(&mut bytes, memory.zeros.len() as i128);
        for zeros in &memory.zeros {
            write(&mut bytes, zeros.region.index() as i128);
            write(&mut bytes, i128::from(zeros.start));
            write(&mut bytes, i128::from(zeros.end - zeros.start));
        }
        write(&mut bytes, memory.cells.len() as i128);
        for cell in &memory.cells {
            write(&mut bytes, cell.region.index() as i128);
            write(&mut bytes, i128::from(cell.addr));
            bytes.push(cell.ty.bits as u8 | u8::from(cell.ty.signed));
            write_value(&mut bytes, cell.value);
        }
        for &value in &self.vars {
            write_value(&mut bytes, value);
        }
        bytes.into_boxed_slice()
    }

    /// The state that was packed.
    pub(crate) fn unpack(bytes: &[u8]) -> State {
        let mut reader = Reader { bytes, at: 0 };
        let node = NodeId::new(reader.number());
        let calls = (0..reader.number()).map(|_| EdgeId::new(reader.number())).collect();
        let bounds = (0..reader.number()).map(|_| (reader.read(), reader.read())).collect();
        let orders = (0..reader.number())
            .map(|_| (reader.number() as Symbol, reader.number() as Symbol, reader.order()))
            .collect();
        let holes = (0..reader.number()).map(|_| (reader.number() as Symbol, reader.read())).collect();
        let heap = u64::try_from(reader.read()).ok();
        let zeros = (0..reader.number()).map(|_| reader.zeros()).collect();
        let cells = (0..reader.number()).map(|_| reader.cell()).collect();
        let mut vars = Vec::new();
        while reader.at < bytes.len() {
            vars.push(reader.value());
        }
        State {
            node,
            calls,
            vars,
            memory: Memory { heap, zeros, cells },
            symbols: Symbols::restore(bounds, orders, holes),
        }
    }
}

/// Seven bits a byte, the least ones first; the sign is the lowest bit.
fn write(bytes: &mut Vec<u8>, value: i128) {
    let mut rest = (value << 1 ^ value >> 127).cast_unsigned();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn write_value(bytes: &mut Vec<u8>, value: Val) {
    match value {
        Val::Any => bytes.push(0),
        Val::Const(value) => {
            bytes.push(1);
            write(bytes, value);
        }
        Val::Sym(symbol, offset) => {
            bytes.push(2);
            write(bytes, i128::from(symbol));
            write(bytes, offset);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn read(&mut self) -> i128 {
        let (mut value, mut shift) = (0u128, 0);
        loop {
            let byte = self.byte();
            value |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return (value >> 1).cast_signed() ^ -((value & 1).cast_signed());
            }
            shift += 7;
        }
    }

    fn number(&mut self) -> usize {
        self.read() as usize
    }

    fn value(&mut self) -> Val {
        match self.byte() {
            0 => Val::Any,
            1 => Val::Const(self.read()),
            _ => Val::Sym(self.number() as Symbol, self.read()),
        }
    }

    fn zeros(&mut self) -> Zeros {
        let (region, start) = (RegionId::new(self.number()), self.number() as u64);
        Zeros { region, start, end: start + self.number() as u64 }
    }

    fn cell(&mut self) -> Cell {
        let (region, addr, ty) = (RegionId::new(self.number()), self.number() as u64, self.byte());
        let ty = IntTy { bits: u32::from(ty & !1), signed: ty & 1 == 1 };
        Cell { region, addr, ty, value: self.value() }
    }

    fn order(&mut self) -> Order {
        const ALL: [Order; 5] =
            [Order::Less, Order::LessOrEqual, Order::Different, Order::GreaterOrEqual, Order::Greater];
        ALL[usize::from(self.byte())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_state_is_the_same_afterwards() {
        let mut state = State {
            node: NodeId::new(1000),
            calls: vec![EdgeId::new(3), EdgeId::new(70000)],
            vars: vec![Val::Any, Val::Const(-1), Val::Const(i128::from(u64::MAX))],
            memory: Memory::new(4096),
            symbols: Symbols::default(),
        };
        let region = RegionId::new(300);
        state.memory.zero(region, 1 << 60, (1 << 60) + 12);
        let unused = state.fresh(0, 7);
        let (a, b) = (state.fresh(i128::from(i64::MIN), 5), state.fresh(-128, 127));
        let (Val::Sym(first, _), Val::Sym(second, _)) = (a, b) else { unreachable!() };
        assert_ne!(unused, a);
        state.vars.extend([b, Val::Sym(first, -4), b]);
        state.symbols.less(first, second, true).unwrap();
        state.memory.store(region, (1 << 60) + 4, IntTy { bits: 64, signed: true }, b);
        state.memory.store(region, (1 << 60) + 2, IntTy { bits: 8, signed: false }, Val::Const(255));
        state.compact();
        assert_eq!(state.symbols.count(), 2);
        assert_eq!(State::unpack(&state.pack()), state);
    }
}
