// SPDX-License-Identifier: Apache-2.0
//! Random recursive functions: an error at a result that an execution has must not be proved unreachable.

use std::fmt::Write as _;

use cfa::machine::Random;

use crate::proved_soon;

/// Arguments are between its negation and itself.
const RANGE: i64 = 4;
/// Calls that may be active, and steps of an execution.
const DEPTH: u32 = 200;
const STEPS: u32 = 20_000;

/// The variables: parameters, a local variable, a global one.
const NAMES: [&str; 4] = ["a", "b", "r", "g"];

enum Value {
    Constant(i64),
    Variable(usize),
    Binary(char, Box<Value>, Box<Value>),
}

enum Statement {
    Assign(usize, Value),
    /// Puts the result of a function into a variable.
    Call(usize, usize, Value, Value),
    /// Returns if a comparison holds.
    Return(Value, &'static str, Value, Value),
    /// Does something that many times.
    Repeat(u32, Vec<Statement>),
}

struct Function {
    body: Vec<Statement>,
    last: Value,
}

/// An execution; none where a number leaves its type, or after too many steps.
struct Run<'a> {
    functions: &'a [Function],
    global: i64,
    steps: u32,
}

fn in_type(value: i64) -> Option<i64> {
    i32::try_from(value).ok().map(i64::from)
}

impl Run<'_> {
    fn value(&self, value: &Value, locals: &[i64; 3]) -> Option<i64> {
        match value {
            Value::Constant(value) => Some(*value),
            Value::Variable(3) => Some(self.global),
            Value::Variable(at) => Some(locals[*at]),
            Value::Binary(op, a, b) => {
                let (a, b) = (self.value(a, locals)?, self.value(b, locals)?);
                in_type(match op {
                    '+' => a + b,
                    '-' => a - b,
                    _ => a * b,
                })
            }
        }
    }

    fn call(&mut self, function: usize, a: i64, b: i64, depth: u32) -> Option<i64> {
        let mut locals = [a, b, 0];
        let functions = self.functions;
        match self.statements(&functions[function].body, &mut locals, depth)? {
            Some(returned) => Some(returned),
            None => self.value(&functions[function].last, &locals),
        }
    }

    /// What is returned, if something is.
    fn statements(&mut self, list: &[Statement], locals: &mut [i64; 3], depth: u32) -> Option<Option<i64>> {
        for statement in list {
            self.steps += 1;
            if depth > DEPTH || self.steps > STEPS {
                return None;
            }
            let (to, value) = match statement {
                Statement::Assign(to, value) => (*to, self.value(value, locals)?),
                Statement::Call(to, callee, a, b) => {
                    let (a, b) = (self.value(a, locals)?, self.value(b, locals)?);
                    (*to, self.call(*callee, a, b, depth + 1)?)
                }
                Statement::Return(a, op, b, result) => {
                    let (a, b) = (self.value(a, locals)?, self.value(b, locals)?);
                    let holds = match *op {
                        "<=" => a <= b,
                        "==" => a == b,
                        _ => a > b,
                    };
                    if holds {
                        return Some(Some(self.value(result, locals)?));
                    }
                    continue;
                }
                Statement::Repeat(times, list) => {
                    for _ in 0..*times {
                        if let returned @ Some(_) = self.statements(list, locals, depth)? {
                            return Some(returned);
                        }
                    }
                    continue;
                }
            };
            match to {
                3 => self.global = value,
                to => locals[to] = value,
            }
        }
        Some(None)
    }
}

struct Author(Random);

impl Author {
    fn value(&mut self, depth: u32) -> Value {
        match self.0.below(if depth > 1 { 4 } else { 8 }) {
            0 => Value::Constant([0, 1, 2, 3, -1, 7][self.0.below(6)]),
            1..=3 => Value::Variable(self.0.below(4)),
            _ => {
                let op = ['+', '-', '+', '-', '+', '*'][self.0.below(6)];
                Value::Binary(op, Box::new(self.value(depth + 1)), Box::new(self.value(depth + 1)))
            }
        }
    }

    /// The first parameter less something, so that recursion often ends.
    fn less(&mut self) -> Value {
        let by = 1 + self.0.below(2) as i64;
        Value::Binary('-', Box::new(Value::Variable(0)), Box::new(Value::Constant(by)))
    }

    fn statement(&mut self) -> Statement {
        match self.0.below(5) {
            0 => Statement::Assign(1 + self.0.below(3), self.value(0)),
            1 => Statement::Return(self.value(1), ["<=", "==", ">"][self.0.below(3)], self.value(1), self.value(0)),
            _ => Statement::Call(2 + self.0.below(2), self.0.below(2), self.less(), self.value(1)),
        }
    }

    fn function(&mut self) -> Function {
        let end = Value::Constant([0, 0, 1, -2][self.0.below(4)]);
        let mut body = vec![Statement::Return(Value::Variable(0), "<=", end, self.value(1))];
        for _ in 0..=self.0.below(3) {
            let statement = match self.0.below(5) {
                0 => Statement::Repeat(self.0.below(3) as u32, vec![self.statement(), self.statement()]),
                _ => self.statement(),
            };
            body.push(statement);
        }
        Function { body, last: self.value(0) }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Constant(value) => format!("({value})"),
        Value::Variable(at) => NAMES[*at].to_string(),
        Value::Binary(op, a, b) => format!("({} {op} {})", value_text(a), value_text(b)),
    }
}

fn statement_text(statement: &Statement) -> String {
    match statement {
        Statement::Assign(to, value) => format!(" {} = {};", NAMES[*to], value_text(value)),
        Statement::Call(to, callee, a, b) => {
            format!(" {} = f{callee}({}, {});", NAMES[*to], value_text(a), value_text(b))
        }
        Statement::Return(a, op, b, result) => {
            format!(" if ({} {op} {}) return {};", value_text(a), value_text(b), value_text(result))
        }
        Statement::Repeat(times, list) => {
            let list: String = list.iter().map(statement_text).collect();
            format!(" for (int k = 0; k < {times}; k++) {{{list} }}")
        }
    }
}

fn program_text(functions: &[Function], check: &str) -> String {
    let mut text = String::from(
        "extern int input(void); void reach_error(void); int g; int f0(int a, int b); int f1(int a, int b);\n",
    );
    for (at, function) in functions.iter().enumerate() {
        write!(text, "int f{at}(int a, int b) {{ int r = 0;").unwrap();
        text.extend(function.body.iter().map(statement_text));
        writeln!(text, " return {}; }}", value_text(&function.last)).unwrap();
    }
    writeln!(
        text,
        "int main(void) {{ int a = input(), b = input();
           if (a < -{RANGE} || a > {RANGE} || b < -{RANGE} || b > {RANGE}) return 0;
           int x = f0(a, b); if ({check}) reach_error(); return 0; }}"
    )
    .unwrap();
    text
}

#[test]
fn what_executions_return_is_not_excluded() {
    let (mut asked, mut excluded, mut proofs) = (0, 0, 0);
    for seed in 1..=16u64 {
        let mut author = Author(Random::new(seed));
        let functions = [author.function(), author.function()];
        let mut results: Vec<Option<(i64, i64)>> = Vec::new();
        for a in -RANGE..=RANGE {
            for b in -RANGE..=RANGE {
                let mut run = Run { functions: &functions, global: 0, steps: 0 };
                results.push(run.call(0, a, b, 0).map(|result| (result, run.global)));
            }
        }
        let seen: Vec<(i64, i64)> = results.iter().copied().flatten().collect();
        let (Some(&(first, _)), Some(&(last, global))) = (seen.first(), seen.last()) else { continue };
        let (least, greatest) = (seen.iter().min().unwrap().0, seen.iter().max().unwrap().0);
        let checks = [
            format!("x == {first}"),
            format!("x == {last} && g == {global}"),
            format!("x <= {least}"),
            format!("x >= {greatest}"),
        ];
        for check in [&checks[seed as usize % 4], &checks[(seed as usize + 2) % 4]] {
            let text = program_text(&functions, check);
            asked += 1;
            assert!(!proved_soon(&text), "an execution has this result:\n{text}");
        }
        // What no execution has may be proved to be unreachable, and sometimes is.
        if results.iter().all(Option::is_some) {
            excluded += 1;
            proofs += u32::from(proved_soon(&program_text(&functions, &format!("x > {greatest}"))));
        }
    }
    assert!(asked >= 20, "only {asked} programs have an execution");
    assert!(proofs >= 1, "only {proofs} of {excluded} safe programs were proved");
}
