// SPDX-License-Identifier: Apache-2.0
//! Random programs with loops over arrays: an error that an execution reaches must not be proved unreachable.
//!
//! With the variable `CPA_RANDOM_PROGRAMS` that many programs are tried.

use std::fmt::Write as _;

use cfa::machine::Random;

use crate::proved;

/// The number of elements of each array.
const LENGTH: usize = 16;
/// The most rows and columns of the table.
const TABLE: usize = 6;

#[derive(Clone)]
enum Value {
    Constant(i32),
    Variable(usize),
    Counter(usize),
    Element(usize, Place),
    Cell(Place, Place),
    Binary(char, Box<Value>, Box<Value>),
}

/// A position in an array: a sum of counters, the second one times a number, and a number.
#[derive(Clone, Copy)]
struct Place {
    counter: usize,
    other: Option<(usize, i32)>,
    offset: i32,
    /// In a table: counted from the last row or column.
    from_end: bool,
}

impl Place {
    fn at(&self, counters: &[i32]) -> Option<usize> {
        let other = self.other.map_or(0, |(counter, times)| times * counters[counter]);
        usize::try_from(counters[self.counter] + other + self.offset).ok()
    }

    fn show(&self) -> String {
        let other = self.other.map_or(String::new(), |(counter, times)| format!(" + {times} * i{counter}"));
        format!("i{}{other} + ({})", self.counter, self.offset)
    }

    fn show_in_table(&self) -> String {
        if self.from_end { format!("n - 1 - ({})", self.show()) } else { self.show() }
    }
}

enum Statement {
    Assign(usize, Value),
    Store(usize, Place, Value),
    /// Writes a cell of a table with `n` rows and columns.
    Fill(Place, Place, Value),
    If(Value, &'static str, Value, Vec<Statement>, Vec<Statement>),
    /// With a flag it ends when `t` is 5.
    Loop {
        counter: usize,
        range: Steps,
        flag: bool,
        body: Vec<Statement>,
    },
    /// A pointer walks along an array; what it points to becomes more by a value.
    Walk {
        array: usize,
        number: usize,
        range: Steps,
        value: Value,
    },
}

/// The numbers that a loop goes through: up to a number or `n`, while they are less, or while they differ.
#[derive(Clone, Copy)]
struct Steps {
    from: i32,
    to: Option<i32>,
    step: i32,
    while_less: bool,
}

/// Longer loops have no end.
const MOST_STEPS: usize = 40;

impl Steps {
    fn goes_on(&self, at: i32, n: i32) -> bool {
        let to = self.to.unwrap_or(n);
        if self.while_less { at < to } else { at != to }
    }

    /// The operator and the end in C.
    fn show(&self) -> (&'static str, String) {
        (if self.while_less { "<" } else { "!=" }, self.to.map_or("n".to_string(), |to| to.to_string()))
    }
}

const VARIABLES: [&str; 4] = ["n", "x", "s", "t"];
const ARRAYS: [&str; 2] = ["a", "b"];

/// What a program does with wrap-around; none if it leaves an array.
#[derive(Clone, Default)]
struct Memory {
    variables: [i32; 4],
    counters: Vec<i32>,
    arrays: [[i32; LENGTH]; 2],
    /// Nothing is known of a cell before it is written.
    table: [[Option<i32>; TABLE]; TABLE],
}

impl Memory {
    /// Row and column of a cell, if the table has it.
    fn cell(&self, row: &Place, column: &Place) -> Option<(usize, usize)> {
        let length = usize::try_from(self.variables[0]).ok()?;
        let inside = |place: &Place| {
            let at = place.at(&self.counters).filter(|&at| at < length)?;
            Some(if place.from_end { length - 1 - at } else { at })
        };
        Some((inside(row)?, inside(column)?))
    }

    fn value(&self, value: &Value) -> Option<i32> {
        Some(match value {
            Value::Constant(value) => *value,
            Value::Variable(at) => self.variables[*at],
            Value::Counter(at) => self.counters[*at],
            Value::Element(array, place) => *self.arrays[*array].get(place.at(&self.counters)?)?,
            Value::Cell(row, column) => {
                let (row, column) = self.cell(row, column)?;
                self.table[row][column]?
            }
            Value::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    '*' => a.wrapping_mul(b),
                    _ => a.wrapping_rem(3),
                }
            }
        })
    }

    fn run(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Assign(at, value) => self.variables[*at] = self.value(value)?,
                Statement::Store(array, place, value) => {
                    let value = self.value(value)?;
                    *self.arrays[*array].get_mut(place.at(&self.counters)?)? = value;
                }
                Statement::Fill(row, column, value) => {
                    let (row, column) = self.cell(row, column)?;
                    self.table[row][column] = Some(self.value(value)?);
                }
                Statement::If(a, op, b, yes, no) => {
                    let (a, b) = (self.value(a)?, self.value(b)?);
                    let holds = match *op {
                        "<" => a < b,
                        "==" => a == b,
                        _ => a != b,
                    };
                    self.run(if holds { yes } else { no })?;
                }
                Statement::Loop { counter, range, flag, body } => {
                    self.counters.resize(self.counters.len().max(counter + 1), 0);
                    self.counters[*counter] = range.from;
                    let mut left = MOST_STEPS;
                    while range.goes_on(self.counters[*counter], self.variables[0])
                        && !(*flag && self.variables[3] == 5)
                    {
                        self.run(body)?;
                        self.counters[*counter] += range.step;
                        left = left.checked_sub(1)?;
                    }
                }
                Statement::Walk { array, number: _, range, value } => {
                    let mut at = range.from;
                    while range.goes_on(at, self.variables[0]) {
                        let value = self.value(value)?;
                        let element = self.arrays[*array].get_mut(usize::try_from(at).ok()?)?;
                        *element = element.wrapping_add(value);
                        at += range.step;
                    }
                }
            }
        }
        Some(())
    }
}

struct Author {
    dice: Random,
    counters: usize,
    open: Vec<usize>,
    walks: usize,
    table: bool,
}

impl Author {
    fn value(&mut self, depth: usize) -> Value {
        match self.dice.below(if depth > 2 { 5 } else { 8 }) {
            0 => Value::Constant([0, 1, 2, -1, 5, 100][self.dice.below(6)]),
            1 => Value::Variable(self.dice.below(4)),
            2 | 3 => Value::Counter(self.open[self.dice.below(self.open.len())]),
            4 | 5 if self.table && self.dice.below(2) == 0 => Value::Cell(self.place(), self.place()),
            4 | 5 => {
                let place = self.place();
                Value::Element(self.dice.below(2), place)
            }
            _ => {
                let op = ['+', '+', '-', '*', '%'][self.dice.below(5)];
                Value::Binary(op, Box::new(self.value(depth + 1)), Box::new(self.value(depth + 1)))
            }
        }
    }

    /// In loops within loops often one in a table with short rows.
    fn place(&mut self) -> Place {
        let counter = self.open[self.dice.below(self.open.len())];
        let offset = [0, 0, 0, 1, -1][self.dice.below(5)];
        let others: Vec<usize> = self.open.iter().copied().filter(|&other| other != counter).collect();
        let other = match others.as_slice() {
            [] => None,
            _ if self.dice.below(2) == 0 => None,
            others => Some((others[self.dice.below(others.len())], [2, 3, 4, 1][self.dice.below(4)])),
        };
        Place { counter, other, offset, from_end: self.dice.below(5) == 0 }
    }

    fn statements(&mut self, depth: usize) -> Vec<Statement> {
        (0..=self.dice.below(2)).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Statement {
        match self.dice.below(if depth > 2 { 6 } else { 9 }) {
            0 if self.dice.below(2) == 0 => Statement::Assign(3, Value::Constant(5)),
            1 if self.dice.below(2) == 0 => self.extremum(),
            0..=2 => Statement::Assign(2 + self.dice.below(2), self.value(1)),
            3 if self.dice.below(3) == 0 => {
                let (array, range, value) = (self.dice.below(2), self.steps(), self.value(1));
                self.walks += 1;
                Statement::Walk { array, number: self.walks, range, value }
            }
            3..=5 if self.table && self.dice.below(2) == 0 => {
                let (row, column) = (self.place(), self.place());
                Statement::Fill(row, column, self.value(1))
            }
            3..=5 => {
                let place = self.place();
                Statement::Store(self.dice.below(2), place, self.value(1))
            }
            6 | 7 => {
                let op = ["<", "==", "!="][self.dice.below(3)];
                let (a, b) = (self.value(2), self.value(2));
                Statement::If(a, op, b, self.statements(depth + 1), self.statements(depth + 1))
            }
            _ => self.repeat(depth),
        }
    }

    /// `if (value < s) s = value;` or the same for the greatest value.
    fn extremum(&mut self) -> Statement {
        let (value, var) = (self.value(1), 2 + self.dice.below(2));
        let now = Value::Variable(var);
        let (left, right) = if self.dice.below(2) == 0 { (value.clone(), now) } else { (now, value.clone()) };
        Statement::If(left, "<", right, vec![Statement::Assign(var, value)], Vec::new())
    }

    fn steps(&mut self) -> Steps {
        let to = if self.dice.below(2) == 0 { None } else { Some(2 + self.dice.below(5) as i32) };
        let while_less = self.dice.below(3) > 0;
        Steps { from: self.dice.below(3) as i32, to, step: [1, 1, 1, 2][self.dice.below(4)], while_less }
    }

    /// A loop that fills the table.
    fn fill(&mut self) -> Statement {
        let (row, column) = (self.counters, self.counters + 1);
        self.counters += 2;
        self.open.extend([row, column]);
        let value = self.value(2);
        let mut at = |counter| Place { counter, other: None, offset: 0, from_end: self.dice.below(2) == 0 };
        let mut body = vec![Statement::Fill(at(row), at(column), value)];
        self.open.clear();
        for counter in [column, row] {
            let range = Steps { from: 0, to: None, step: 1, while_less: true };
            body = vec![Statement::Loop { counter, range, flag: false, body }];
        }
        body.remove(0)
    }

    fn repeat(&mut self, depth: usize) -> Statement {
        let counter = self.counters;
        self.counters += 1;
        self.open.push(counter);
        let body = self.statements(depth + 1);
        self.open.pop();
        let (range, flag) = (self.steps(), self.dice.below(2) == 0);
        Statement::Loop { counter, range, flag, body }
    }
}

fn show_value(value: &Value) -> String {
    match value {
        Value::Constant(value) => format!("({value})"),
        Value::Variable(at) => VARIABLES[*at].to_string(),
        Value::Counter(at) => format!("i{at}"),
        Value::Element(array, place) => format!("{}[{}]", ARRAYS[*array], place.show()),
        Value::Cell(row, column) => format!("m[{}][{}]", row.show_in_table(), column.show_in_table()),
        Value::Binary('%', a, _) => format!("({} % 3)", show_value(a)),
        Value::Binary(op, a, b) => format!("({} {op} {})", show_value(a), show_value(b)),
    }
}

fn show(statements: &[Statement], text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Assign(at, value) => writeln!(text, "{} = {};", VARIABLES[*at], show_value(value)).unwrap(),
            Statement::Store(array, place, value) => {
                writeln!(text, "{}[{}] = {};", ARRAYS[*array], place.show(), show_value(value)).unwrap();
            }
            Statement::Fill(row, column, value) => {
                writeln!(text, "m[{}][{}] = {};", row.show_in_table(), column.show_in_table(), show_value(value))
                    .unwrap();
            }
            Statement::If(a, op, b, yes, no) => {
                writeln!(text, "if ({} {op} {}) {{", show_value(a), show_value(b)).unwrap();
                show(yes, text);
                writeln!(text, "}} else {{").unwrap();
                show(no, text);
                writeln!(text, "}}").unwrap();
            }
            Statement::Walk { array, number, range, value } => {
                let (array, (op, to), from, step) = (ARRAYS[*array], range.show(), range.from, range.step);
                let value = show_value(value);
                writeln!(
                    text,
                    "for (int *p{number} = {array} + {from}; p{number} {op} {array} + {to}; p{number} += {step}) *p{number} += {value};"
                )
                .unwrap();
            }
            Statement::Loop { counter, range, flag, body } => {
                let ((op, to), from, step) = (range.show(), range.from, range.step);
                let goes_on = if *flag { " && t != 5" } else { "" };
                writeln!(text, "for (int i{counter} = {from}; i{counter} {op} {to}{goes_on}; i{counter} += {step}) {{")
                    .unwrap();
                show(body, text);
                writeln!(text, "}}").unwrap();
            }
        }
    }
}

/// A program that runs the statements with any `n` from 1 to 6 and any `x`, and calls `reach_error` in the given case. The table is
/// an array of arrays, or its rows are numbered in an object of the heap.
fn program(statements: &[Statement], case: &str, heap: bool) -> String {
    let head = format!(
        "extern int __VERIFIER_nondet_int(void); extern void abort(void); void reach_error(void) {{ abort(); }}
        int a[{LENGTH}]; int b[{LENGTH}];
        int main(void) {{ int n = __VERIFIER_nondet_int(); int x = __VERIFIER_nondet_int(); int s = 0; int t = 1;
        if (n < 1 || n > {TABLE}) return 0;\n"
    );
    let mut text = String::new();
    show(statements, &mut text);
    writeln!(text, "if ({case}) reach_error(); return 0; }}").unwrap();
    if heap {
        let text = text.replace("m[", "m[(").replace("][", ") * n + ");
        format!("extern void *malloc(unsigned);\n{head} int *m = malloc(n * n * sizeof(int));\n{text}")
    } else {
        format!("{head} int m[n][n];\n{text}")
    }
}

#[test]
fn what_an_execution_does_is_not_excluded() {
    let programs = std::env::var("CPA_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(60);
    let (mut checked, mut strong) = (0, 0);
    for seed in 1..7 * programs {
        if checked >= programs {
            break;
        }
        let table = seed % 3 == 0;
        let mut author = Author { dice: Random::new(seed), counters: 0, open: Vec::new(), walks: 0, table: false };
        let mut statements: Vec<Statement> = Vec::new();
        if table {
            statements.push(author.fill());
        }
        author.table = table;
        statements.extend((0..=author.dice.below(3)).map(|_| author.repeat(0)));
        let (n, x) = (1 + author.dice.below(TABLE) as i32, [0, 3, -7, 1000][author.dice.below(4)]);
        let mut memory = Memory { variables: [n, x, 0, 1], ..Memory::default() };
        // A program that leaves its arrays has no meaning.
        if memory.run(&statements).is_none() {
            continue;
        }
        let at = author.dice.below(8);
        let (row, column) = (at % TABLE, author.dice.below(TABLE));
        let (what, value) = match author.dice.below(if table { 6 } else { 3 }) {
            3.. if row.max(column) < n as usize && memory.table[row][column].is_some() => {
                (format!("m[{row}][{column}]"), memory.table[row][column].unwrap_or(0))
            }
            0 => ("s".to_string(), memory.variables[2]),
            1 => (format!("a[{at}]"), memory.arrays[0][at]),
            _ => (format!("b[{at}]"), memory.arrays[1][at]),
        };
        // Written such that no literal is out of range.
        let (high, low) = (value / 2, value - value / 2);
        // For one input alone, since what is false of it may be possible for others.
        let heap = seed % 2 == 0;
        let wrong = program(&statements, &format!("n == {n} && x == {x} && {what} == ({high}) + ({low})"), heap);
        assert!(!proved(&wrong), "proved, but n = {n} and x = {x} reach the error:\n{wrong}");
        let case = format!("n == {n} && x == {x} && {what} != ({high}) + ({low})");
        strong += u64::from(proved(&program(&statements, &case, heap)));
        checked += 1;
    }
    assert_eq!(checked, programs, "most programs stay inside of their arrays");
    assert!(strong >= programs / 3, "what certainly happens is proved for {strong} programs only");
}
