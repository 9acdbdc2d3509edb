// SPDX-License-Identifier: Apache-2.0
//! The command line of `cpa-verify`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// How a dump is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DumpFormat {
    /// One edge a line.
    Text,
    /// Graphviz.
    Dot,
    /// Tables of functions, variables, nodes and edges.
    Json,
}

/// What can be dumped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Dump {
    /// The control-flow automaton.
    Cfa,
    /// The blocks of block-abstraction memoization.
    Blocks,
    /// The abstract reachability graph.
    Arg,
    /// The predicates of the predicate analysis and where they are tracked.
    Predicates,
    /// The invariants of a proof at loops.
    Invariants,
    /// The queries to the SMT solver, as SMT-LIB 2 files in the folder of --output-path.
    Queries,
}

/// When files are preprocessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Preprocess {
    /// If they have directives.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a call of an unknown function without body means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Undefined {
    /// Any result, where the call can change nothing.
    Havoc,
    /// The call is not supported.
    Error,
    /// Any result, in any case.
    Skip,
}

/// The format of witnesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum WitnessFormat {
    /// YAML, version 2.0.
    #[value(name = "2.0")]
    V2_0,
    /// YAML, version 2.1.
    #[value(name = "2.1")]
    V2_1,
    /// GraphML, version 1.0.
    #[value(name = "graphml")]
    GraphMl,
}

/// Proves or refutes that a C program can reach an error.
///
/// Prints `Verification result: TRUE`, `FALSE` or `UNKNOWN` as its last line. Exit codes: 0 for every verdict, 1 for wrong
/// arguments, configuration or input, 3 for an internal error, 130 or 143 after an interrupt or termination. With
/// --exit-code-verdict: 0 TRUE, 10 FALSE, 20 UNKNOWN, 1 wrong arguments or configuration, 2 input that cannot be read.
#[derive(Clone, Parser, Debug)]
#[command(name = "cpa-verify", version, max_term_width = 100)]
pub struct Args {
    /// The C files of the program to verify.
    #[arg(value_name = "PROGRAM.c", required_unless_present_any = ["print_options", "print_presets", "completions", "man"])]
    pub programs: Vec<PathBuf>,
    /// The property: a .prp file. Without it, no call of reach_error, __VERIFIER_error or __assert_fail and no label
    /// ERROR may be reached.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// A named configuration; also written --NAME.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub preset: String,
    /// A TOML file with options, applied after the preset.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Sets one option, after preset and file; may be repeated.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub options: Vec<String>,
    /// The machine has 32-bit int, long and pointers (ILP32, the default).
    #[arg(long = "32", conflicts_with = "lp64")]
    pub ilp32: bool,
    /// The machine has 32-bit int, 64-bit long and pointers (LP64).
    #[arg(long = "64")]
    pub lp64: bool,
    /// The function where the program starts.
    #[arg(long, value_name = "NAME")]
    pub entry_function: Option<String>,
    /// Whether the files go through the C preprocessor of the system (`cc -E`) first: if they have directives, always, never.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub preprocess: Preprocess,
    /// What a call of an unknown function without body means: it returns any value (an assumption; not supported if it
    /// could change something through a pointer), it is an error, or it returns any value in any case.
    #[arg(long, value_name = "MEANING", default_value = "havoc")]
    pub undefined_functions: Undefined,
    /// Limit for the CPU time, such as 900s.
    #[arg(long, value_name = "TIME")]
    pub timelimit: Option<String>,
    /// Limit for the memory, such as 4GB.
    #[arg(long, value_name = "SIZE")]
    pub memlimit: Option<String>,
    /// How many stages of the plan may run at the same time; as many as there are cores by default.
    #[arg(long, value_name = "N")]
    pub cores: Option<u32>,
    /// Print which stages of the plan would run on the program, and why, and stop.
    #[arg(long)]
    pub explain_plan: bool,
    /// Print statistics before the verdict.
    #[arg(long)]
    pub stats: bool,
    /// Print a part of the program's representation and stop, or print in front of the result what the analysis found.
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["json", "sarif"])]
    pub dump: Option<Dump>,
    /// Write all there is to know about the run into a folder: witness, counterexample and harness, report, graphs,
    /// predicates, invariants, statistics, log, options and result.
    #[arg(long, value_name = "DIR", conflicts_with = "validate_witness")]
    pub output_path: Option<PathBuf>,
    /// The format of the dump.
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "dump")]
    pub format: DumpFormat,
    /// Write an executable counterexample: a C file that is compiled together with the program and makes it reach the error
    /// (exit code 107).
    #[arg(long, value_name = "FILE.c")]
    pub harness: Option<PathBuf>,
    /// Confirm a counterexample by executing it: compile the program with the system's C compiler, give it the inputs, and
    /// say beside the verdict whether it reaches the error.
    #[arg(long)]
    pub confirm: bool,
    /// Write a witness of the verdict: the invariants of a proof, or the way to the error.
    #[arg(long, value_name = "FILE.yml")]
    pub witness: Option<PathBuf>,
    /// The version of the witness format.
    #[arg(long, value_name = "VERSION", default_value = "2.0")]
    pub witness_format: WitnessFormat,
    /// Check a witness instead of looking for a verdict: its invariants must hold and the property with them, or its way must
    /// lead to the error.
    #[arg(long, value_name = "FILE.yml", conflicts_with_all = ["witness", "self_check"])]
    pub validate_witness: Option<PathBuf>,
    /// Check the witness of the own verdict in the same way; a verdict whose witness is not accepted becomes UNKNOWN.
    #[arg(long)]
    pub self_check: bool,
    /// If there is no answer, say what stopped each analysis, at which loop or construct, and what to try.
    #[arg(long)]
    pub explain_unknown: bool,
    /// Write a report: one HTML file with the source, the way to the error, invariants, drawings, statistics and options.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON object instead of lines.
    #[arg(long, conflicts_with_all = ["sarif", "quiet", "verbose"])]
    pub json: bool,
    /// Print the result as a SARIF log instead of lines.
    #[arg(long, conflicts_with_all = ["quiet", "verbose"])]
    pub sarif: bool,
    /// Make the exit code tell the verdict.
    #[arg(long)]
    pub exit_code_verdict: bool,
    /// Print nothing but the verdict and errors.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the progress of the analysis even if standard error is no terminal.
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print all options with documentation and defaults.
    #[arg(long)]
    pub print_options: bool,
    /// Print a script that completes command lines in a shell.
    #[arg(long, value_name = "SHELL")]
    pub completions: Option<clap_complete::Shell>,
    /// Print the manual page.
    #[arg(long)]
    pub man: bool,
    /// Print the names of all presets with the options they set.
    #[arg(long)]
    pub print_presets: bool,
}

/// The arguments with `--NAME` of a preset rewritten to `--preset=NAME`.
pub fn expand_presets(arguments: impl Iterator<Item = String>, is_preset: impl Fn(&str) -> bool) -> Vec<String> {
    arguments
        .map(|argument| match argument.strip_prefix("--") {
            Some(name) if is_preset(name) => format!("--preset={name}"),
            _ => argument,
        })
        .collect()
}
