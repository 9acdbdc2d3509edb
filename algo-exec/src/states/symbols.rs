// SPDX-License-Identifier: Apache-2.0
//! What is known about the symbols of a state: mathematical integers within bounds, single values that they do not have, and which
//! of two is the smaller one.
//!
//! Constraints are closed under transitivity, unless there are very many, and passed on to the bounds, so most contradictions
//! are noticed at once. One that is not noticed only makes a state stand for more. Left out: distances between symbols.

/// A symbol: stands for the value of an input, or for one that is not known otherwise.
pub(crate) type Symbol = u32;

/// Values that are tried to find some that fulfil all constraints.
const MAX_TRIES: usize = 20_000;
/// Transitive orders are kept as long as there are at most so many orders.
const MAX_CLOSED: usize = 2000;
/// States keep at most so many excluded values.
const MAX_HOLES: usize = 256;

/// How the first symbol of a pair compares with the second one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Less,
    LessOrEqual,
    Different,
    GreaterOrEqual,
    Greater,
}

impl Order {
    fn turned(self) -> Order {
        match self {
            Order::Less => Order::Greater,
            Order::LessOrEqual => Order::GreaterOrEqual,
            Order::Different => Order::Different,
            Order::GreaterOrEqual => Order::LessOrEqual,
            Order::Greater => Order::Less,
        }
    }
}

/// The constraints contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contradiction;

/// What a state knows about its symbols.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Symbols {
    bounds: Vec<(i128, i128)>,
    /// The symbol that this one is equal to, or itself.
    same: Vec<Symbol>,
    /// At most one entry for each pair.
    orders: Vec<(Symbol, Symbol, Order)>,
    /// Values that representatives do not have.
    holes: Vec<(Symbol, i128)>,
}

impl Symbols {
    /// A new symbol.
    pub(crate) fn add(&mut self, low: i128, high: i128) -> Symbol {
        let symbol = self.bounds.len() as Symbol;
        self.bounds.push((low, high));
        self.same.push(symbol);
        symbol
    }

    pub(crate) fn count(&self) -> usize {
        self.bounds.len()
    }

    /// The symbol that stands for all that are equal to this one.
    pub(crate) fn representative(&self, mut symbol: Symbol) -> Symbol {
        while self.same[symbol as usize] != symbol {
            symbol = self.same[symbol as usize];
        }
        symbol
    }

    /// The least and the greatest value.
    pub(crate) fn bounds(&self, symbol: Symbol) -> (i128, i128) {
        self.bounds[self.representative(symbol) as usize]
    }

    /// Whether a symbol, a representative, is known to have another value.
    pub(crate) fn excludes(&self, symbol: Symbol, value: i128) -> bool {
        self.holes.contains(&(symbol, value))
    }

    /// How two symbols compare, as far as it is known beside their bounds; `a` and `b` are different representatives.
    pub(crate) fn order(&self, a: Symbol, b: Symbol) -> Option<Order> {
        self.orders.iter().find_map(|&(x, y, order)| {
            if (x, y) == (a, b) {
                Some(order)
            } else if (x, y) == (b, a) {
                Some(order.turned())
            } else {
                None
            }
        })
    }

    /// `a <= b`, or `a < b`.
    pub(crate) fn less(&mut self, a: Symbol, b: Symbol, strict: bool) -> Result<(), Contradiction> {
        let (a, b) = (self.representative(a), self.representative(b));
        if a == b {
            return if strict { Err(Contradiction) } else { Ok(()) };
        }
        let (mut below, mut above) = (vec![(a, false)], vec![(b, false)]);
        for &(x, y, order) in &self.orders {
            let (x, y, order) = match order {
                Order::Less | Order::LessOrEqual => (x, y, order),
                Order::Greater | Order::GreaterOrEqual => (y, x, order.turned()),
                Order::Different => continue,
            };
            if y == a {
                below.push((x, order == Order::Less));
            }
            if x == b {
                above.push((y, order == Order::Less));
            }
        }
        if self.orders.len() > MAX_CLOSED {
            below.truncate(1);
            above.truncate(1);
        }
        let mut equal = Vec::new();
        for &(x, first) in &below {
            for &(y, second) in &above {
                let strict = strict || first || second;
                if x == y {
                    // Then `b <= a` was known, and the pair of both is looked at too.
                    if strict {
                        return Err(Contradiction);
                    }
                    continue;
                }
                let order = match (self.order(x, y), strict) {
                    (Some(Order::Greater), _) | (Some(Order::GreaterOrEqual), true) => return Err(Contradiction),
                    (Some(Order::GreaterOrEqual), false) => {
                        equal.push((x, y));
                        continue;
                    }
                    (Some(Order::Less), _) => continue,
                    (Some(Order::Different), _) | (_, true) => Order::Less,
                    (Some(Order::LessOrEqual) | None, false) => Order::LessOrEqual,
                };
                self.set(x, y, order);
            }
        }
        for (x, y) in equal {
            self.equal(x, y)?;
        }
        self.propagate()
    }

    /// `a = b`.
    pub(crate) fn equal(&mut self, a: Symbol, b: Symbol) -> Result<(), Contradiction> {
        let (a, b) = (self.representative(a), self.representative(b));
        if a == b {
            return Ok(());
        }
        if matches!(self.order(a, b), Some(Order::Less | Order::Greater | Order::Different)) {
            return Err(Contradiction);
        }
        let (low, high) = self.bounds[b as usize];
        self.same[b as usize] = a;
        let (others, orders) = std::mem::take(&mut self.orders).into_iter().partition(|&(x, y, _)| x == b || y == b);
        self.orders = orders;
        let others: Vec<(Symbol, Symbol, Order)> = others;
        for hole in &mut self.holes {
            if hole.0 == b {
                hole.0 = a;
            }
        }
        self.restrict(a, low, high)?;
        self.tighten(a)?;
        for (x, y, order) in others {
            let (x, y) = (self.representative(x), self.representative(y));
            match order {
                // The two themselves.
                _ if x == y => {}
                Order::Less => self.less(x, y, true)?,
                Order::LessOrEqual => self.less(x, y, false)?,
                Order::Greater => self.less(y, x, true)?,
                Order::GreaterOrEqual => self.less(y, x, false)?,
                Order::Different => self.different(x, y)?,
            }
        }
        Ok(())
    }

    /// `a` and `b` differ.
    pub(crate) fn different(&mut self, a: Symbol, b: Symbol) -> Result<(), Contradiction> {
        let (a, b) = (self.representative(a), self.representative(b));
        if a == b {
            return Err(Contradiction);
        }
        match self.order(a, b) {
            Some(Order::LessOrEqual) => self.less(a, b, true),
            Some(Order::GreaterOrEqual) => self.less(b, a, true),
            Some(Order::Less | Order::Greater | Order::Different) => Ok(()),
            None => {
                self.set(a, b, Order::Different);
                self.propagate()
            }
        }
    }

    /// The value is within the bounds.
    pub(crate) fn restrict(&mut self, symbol: Symbol, low: i128, high: i128) -> Result<(), Contradiction> {
        let symbol = self.representative(symbol) as usize;
        let old = self.bounds[symbol];
        self.bounds[symbol] = (old.0.max(low), old.1.min(high));
        self.tighten(symbol as Symbol)?;
        if self.bounds[symbol] == old { Ok(()) } else { self.propagate() }
    }

    /// The value is not this one.
    pub(crate) fn exclude(&mut self, symbol: Symbol, value: i128) -> Result<(), Contradiction> {
        let symbol = self.representative(symbol);
        let old = self.bounds[symbol as usize];
        self.puncture(symbol, value)?;
        if self.bounds[symbol as usize] == old { Ok(()) } else { self.propagate() }
    }

    fn puncture(&mut self, symbol: Symbol, value: i128) -> Result<(), Contradiction> {
        let (low, high) = self.bounds[symbol as usize];
        if low <= value && value <= high && !self.excludes(symbol, value) {
            self.holes.push((symbol, value));
            self.tighten(symbol)?;
        }
        Ok(())
    }

    /// Moves the bounds of a representative to values that it may have.
    fn tighten(&mut self, symbol: Symbol) -> Result<(), Contradiction> {
        let (mut low, mut high) = self.bounds[symbol as usize];
        while low <= high && self.excludes(symbol, low) {
            low += 1;
        }
        while low < high && self.excludes(symbol, high) {
            high -= 1;
        }
        self.bounds[symbol as usize] = (low, high);
        if low > high { Err(Contradiction) } else { Ok(()) }
    }

    /// Adds a number to a symbol of which no order is known.
    pub(crate) fn shift(&mut self, symbol: Symbol, by: i128) {
        for hole in &mut self.holes {
            if hole.0 == symbol {
                hole.1 += by;
            }
        }
        let bounds = &mut self.bounds[symbol as usize];
        *bounds = (bounds.0 + by, bounds.1 + by);
    }

    /// Forgets bounds: the symbol has any value between these.
    pub(crate) fn widen(&mut self, symbol: Symbol, low: i128, high: i128) {
        let symbol = self.representative(symbol) as usize;
        let old = self.bounds[symbol];
        self.bounds[symbol] = (old.0.min(low), old.1.max(high));
        self.holes.retain(|&(other, _)| other as usize != symbol);
    }

    fn set(&mut self, a: Symbol, b: Symbol, order: Order) {
        for entry in &mut self.orders {
            if (entry.0, entry.1) == (a, b) {
                entry.2 = order;
                return;
            }
            if (entry.0, entry.1) == (b, a) {
                entry.2 = order.turned();
                return;
            }
        }
        self.orders.push((a, b, order));
    }

    /// Passes orders on to the bounds, until nothing changes. Each round moves a bound; long marches are cut short.
    pub(crate) fn propagate(&mut self) -> Result<(), Contradiction> {
        for _ in 0..64 {
            let mut changed = false;
            for at in 0..self.orders.len() {
                let (x, y, order) = self.orders[at];
                let (a, b, order) = match order {
                    Order::Less | Order::LessOrEqual | Order::Different => (x as usize, y as usize, order),
                    Order::Greater | Order::GreaterOrEqual => (y as usize, x as usize, order.turned()),
                };
                let (first, second) = (self.bounds[a], self.bounds[b]);
                if order == Order::Different {
                    if first.0 == first.1 {
                        self.puncture(b as Symbol, first.0)?;
                    }
                    if second.0 == second.1 {
                        self.puncture(a as Symbol, second.0)?;
                    }
                } else {
                    let gap = i128::from(order == Order::Less);
                    self.bounds[a].1 = first.1.min(second.1 - gap);
                    self.bounds[b].0 = second.0.max(first.0 + gap);
                    self.tighten(a as Symbol)?;
                    self.tighten(b as Symbol)?;
                }
                changed |= (self.bounds[a], self.bounds[b]) != (first, second);
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// The symbols of `kept` (representatives, each once) in this order, without those that the bounds imply.
    pub(crate) fn select(&self, kept: &[Symbol]) -> Symbols {
        let mut position = vec![Symbol::MAX; self.bounds.len()];
        for (new, &old) in kept.iter().enumerate() {
            position[old as usize] = new as Symbol;
        }
        let mut orders: Vec<(Symbol, Symbol, Order)> = Vec::new();
        for &(x, y, order) in &self.orders {
            let (mut a, mut b, mut order) = (position[x as usize], position[y as usize], order);
            if a == Symbol::MAX || b == Symbol::MAX {
                continue;
            }
            if a > b {
                (a, b, order) = (b, a, order.turned());
            }
            let (first, second) = (self.bounds[kept[a as usize] as usize], self.bounds[kept[b as usize] as usize]);
            let implied = match order {
                Order::Less => first.1 < second.0,
                Order::LessOrEqual => first.1 <= second.0,
                Order::Different => first.1 < second.0 || second.1 < first.0,
                Order::GreaterOrEqual => second.1 <= first.0,
                Order::Greater => second.1 < first.0,
            };
            if !implied {
                orders.push((a, b, order));
            }
        }
        orders.sort_unstable_by_key(|&(a, b, _)| (a, b));
        let mut holes: Vec<(Symbol, i128)> = Vec::new();
        for &(symbol, value) in &self.holes {
            let (low, high) = self.bounds[symbol as usize];
            if position[symbol as usize] != Symbol::MAX && low < value && value < high {
                holes.push((position[symbol as usize], value));
            }
        }
        holes.sort_unstable();
        holes.truncate(MAX_HOLES);
        Symbols {
            holes,
            bounds: kept.iter().map(|&old| self.bounds[old as usize]).collect(),
            same: (0..kept.len() as Symbol).collect(),
            orders,
        }
    }

    /// All orders, in which only representatives occur.
    pub(crate) fn orders(&self) -> &[(Symbol, Symbol, Order)] {
        &self.orders
    }

    /// All single values that a symbol, a representative, does not have.
    pub(crate) fn holes(&self) -> &[(Symbol, i128)] {
        &self.holes
    }

    /// The constraints with these bounds, orders and holes, as [`Self::select`] gives them.
    pub(crate) fn restore(
        bounds: Vec<(i128, i128)>,
        orders: Vec<(Symbol, Symbol, Order)>,
        holes: Vec<(Symbol, i128)>,
    ) -> Self {
        let same = (0..bounds.len() as Symbol).collect();
        Symbols { bounds, same, orders, holes }
    }

    /// Values for all symbols that fulfil the constraints, if some are found.
    pub(crate) fn solve(&self) -> Option<Vec<i128>> {
        let mut ordered: Vec<Symbol> = self.orders.iter().flat_map(|&(a, b, _)| [a, b]).collect();
        ordered.sort_by_key(|&symbol| (self.bounds(symbol).1 - self.bounds(symbol).0, symbol));
        ordered.dedup();
        let mut solved = self.search(&ordered)?;
        for symbol in 0..self.count() as Symbol {
            let first = solved.candidates(symbol).find(|&value| !solved.excludes(symbol, value))?;
            solved.restrict(symbol, first, first).ok()?;
        }
        Some((0..self.count() as Symbol).map(|symbol| solved.bounds(symbol).0).collect())
    }

    /// Gives values to these symbols, with backtracking.
    fn search(&self, symbols: &[Symbol]) -> Option<Symbols> {
        let candidates = |known: &Symbols, depth: usize| symbols.get(depth).map(|&symbol| known.candidates(symbol));
        let Some(first) = candidates(self, 0) else { return Some(self.clone()) };
        let mut stack = vec![(self.clone(), first)];
        for _ in 0..MAX_TRIES {
            let depth = stack.len();
            let (known, values) = stack.last_mut()?;
            let Some(value) = values.next() else {
                stack.pop();
                continue;
            };
            let mut next = known.clone();
            if next.restrict(symbols[depth - 1], value, value).is_err() {
                continue;
            }
            let Some(values) = candidates(&next, depth) else { return Some(next) };
            stack.push((next, values));
        }
        None
    }

    /// Values that a symbol may have, the more likely ones first.
    fn candidates(&self, symbol: Symbol) -> impl Iterator<Item = i128> + use<> {
        let (low, high) = self.bounds(symbol);
        // Zero is what people expect to see.
        let zero = (low <= 0 && 0 <= high).then_some(0);
        let first = low..=high.min(low.saturating_add(300));
        zero.into_iter().chain(first).chain((high - 3).max(low)..=high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_transitive_and_reach_the_bounds() {
        let mut symbols = Symbols::default();
        let [a, b, c] = [0, 0, 0].map(|_| symbols.add(0, 9));
        symbols.less(a, b, true).unwrap();
        symbols.less(b, c, false).unwrap();
        assert_eq!(symbols.order(c, a), Some(Order::Greater));
        assert_eq!((symbols.bounds(a), symbols.bounds(b), symbols.bounds(c)), ((0, 8), (1, 9), (1, 9)));
        assert_eq!(symbols.clone().less(c, a, false), Err(Contradiction));
        symbols.less(c, b, false).unwrap();
        assert_eq!(symbols.representative(b), symbols.representative(c));
        assert_eq!(symbols.different(b, c), Err(Contradiction));
    }

    #[test]
    fn very_many_orders_are_not_closed() {
        let mut symbols = Symbols::default();
        let all: Vec<Symbol> = (0..200).map(|_| symbols.add(0, 999)).collect();
        for pair in all.windows(2) {
            symbols.less(pair[0], pair[1], true).unwrap();
        }
        assert!(symbols.orders().len() < MAX_CLOSED + all.len() + 100);
        assert_eq!(symbols.order(all[0], all[9]), Some(Order::Less));
        assert_eq!(symbols.order(all[198], all[199]), Some(Order::Less));
        assert_eq!(symbols.order(all[0], all[199]), None);
        assert_eq!(symbols.less(all[199], all[0], false), Err(Contradiction), "the bounds tell");
    }

    #[test]
    fn what_differs_and_is_not_greater_is_less() {
        let mut symbols = Symbols::default();
        let [a, b] = [0, 0].map(|_| symbols.add(-5, 5));
        symbols.different(a, b).unwrap();
        assert_eq!(symbols.clone().equal(a, b), Err(Contradiction));
        symbols.less(a, b, false).unwrap();
        assert_eq!(symbols.order(a, b), Some(Order::Less));
    }

    #[test]
    fn equal_symbols_share_what_is_known() {
        let mut symbols = Symbols::default();
        let [a, b, c] = [0, 0, 0].map(|_| symbols.add(0, 99));
        symbols.less(b, c, true).unwrap();
        symbols.restrict(a, 50, 99).unwrap();
        symbols.equal(a, b).unwrap();
        assert_eq!(symbols.bounds(b), (50, 98));
        assert_eq!(symbols.clone().less(c, a, false), Err(Contradiction));
        assert_eq!(symbols.bounds(c), (51, 99));
    }

    #[test]
    fn a_solution_fulfils_all_constraints() {
        let mut symbols = Symbols::default();
        let all: Vec<Symbol> = (0..4).map(|_| symbols.add(0, 3)).collect();
        for (i, &a) in all.iter().enumerate() {
            for &b in &all[i + 1..] {
                symbols.different(a, b).unwrap();
            }
        }
        symbols.less(all[3], all[0], true).unwrap();
        let mut values = symbols.solve().unwrap();
        assert!(values[3] < values[0]);
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 3]);
    }

    #[test]
    fn a_solution_is_searched_for() {
        // Three different ones below another one, which its bounds do not show.
        let mut symbols = Symbols::default();
        let top = symbols.add(-5, 100);
        let below: Vec<Symbol> = (0..3).map(|_| symbols.add(0, 126)).collect();
        for &symbol in &below {
            symbols.less(symbol, top, true).unwrap();
        }
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            symbols.different(below[a], below[b]).unwrap();
        }
        symbols.exclude(top, 3).unwrap();
        let values = symbols.solve().unwrap();
        assert_eq!(values[0], 4);
        // Four different ones of three.
        let mut symbols = Symbols::default();
        let all: Vec<Symbol> = (0..4).map(|_| symbols.add(0, 2)).collect();
        for (i, &a) in all.iter().enumerate() {
            for &b in &all[i + 1..] {
                symbols.different(a, b).unwrap();
            }
        }
        assert_eq!(symbols.solve(), None);
    }
}
