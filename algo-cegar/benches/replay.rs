// SPDX-License-Identifier: Apache-2.0
//! How fast counterexamples are replayed before anybody hears of them: runs of a loop with inputs. The size is
//! the number of steps.

use std::hint::black_box;
use std::rc::Rc;

use algo_cegar::replay;
use cfa::machine::{Asked, Code, End, Inputs, Machine, Setup, Storage};
use cfa::{IntTy, NodeId, Options, Program, Property, Source};
use cpa_core::{Counterexample, Step};
use criterion::{BenchmarkId, Criterion};

const PROGRAM: &str = "extern int input(void); void reach_error(void); int sum[16];
    void add(int x) { if (x > 0) sum[x % 16] += x; }
    int main(void) { for (int i = 0; i < N; i++) add(input()); reach_error(); }";

/// Gives numbers, and notes where they went.
#[derive(Default)]
struct Numbers(Vec<(usize, i128)>);

impl Inputs for Numbers {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        let value = asked.step as i128 * 7919 % 1000 - 300;
        self.0.push((asked.step as usize, value));
        Some(value)
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        None
    }
}

/// The run of the program.
fn run(program: &Program) -> (Counterexample, NodeId) {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).expect("it is small")), 1 << 20);
    machine.limit_steps(usize::MAX);
    let mut numbers = Numbers::default();
    let Some(End::Target(target)) = machine.run(&mut numbers, u64::MAX) else { panic!("the error is reached") };
    let steps: Vec<Step> = machine.steps().iter().map(|taken| Step::from(*taken)).collect();
    (Counterexample { steps, inputs: numbers.0, ..Counterexample::default() }, target)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("replay");
    for rounds in [10, 1_000, 100_000] {
        let text = PROGRAM.replace('N', &rounds.to_string());
        let source = Source { name: "bench.c".into(), text };
        let program = cfa::load(&[source], &Options::default()).expect("it is a program");
        let (cex, target) = run(&program);
        group.bench_function(BenchmarkId::new("steps", cex.steps.len()), |bench| {
            bench.iter(|| replay(&program, black_box(&cex), target).expect("it is a run"));
        });
    }
    group.finish();
    criterion.final_summary();
}
