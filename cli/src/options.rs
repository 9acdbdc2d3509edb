// SPDX-License-Identifier: Apache-2.0
//! The configuration: one typed field for each option, with its key, documentation and default in one table.
//!
//! Keys that mean what a CPAchecker key means carry its name. An option is set by a preset, a TOML file or
//! `--option KEY=VALUE`; a wrong key or value is an error with a suggestion.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// Why an option cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OptionError {
    /// There is no such option.
    #[error("there is no option '{key}'{}", suggestion(.similar))]
    UnknownKey {
        /// The key as given.
        key: String,
        /// The existing key that looks most like it.
        similar: Option<String>,
    },
    /// The value does not fit the option.
    #[error("'{value}' is no value for the option '{key}'; expected {expected}")]
    BadValue {
        /// The option.
        key: String,
        /// The value as given.
        value: String,
        /// What would be a value.
        expected: String,
    },
}

fn suggestion(similar: &Option<String>) -> String {
    match similar {
        Some(key) => format!("; did you mean '{key}'? --print-options lists all"),
        None => "; --print-options lists all".to_string(),
    }
}

/// The type of an option's value.
pub trait OptionValue: Sized {
    /// Reads a value.
    fn parse(text: &str) -> Option<Self>;
    /// Writes a value so that [`OptionValue::parse`] reads it.
    fn show(&self) -> String;
    /// What values look like.
    fn expected() -> String;
}

impl OptionValue for bool {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn expected() -> String {
        "true or false".into()
    }
}

impl OptionValue for u32 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn expected() -> String {
        "a whole number from 0".into()
    }
}

impl OptionValue for String {
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_string())
    }
    fn show(&self) -> String {
        self.clone()
    }
    fn expected() -> String {
        "a name".into()
    }
}

/// A time limit; none is written `0`.
impl OptionValue for Option<Duration> {
    fn parse(text: &str) -> Option<Self> {
        let (number, factor) = match text.strip_suffix("ms") {
            Some(number) => (number, 1e-3),
            None => match text.chars().last()? {
                's' => (&text[..text.len() - 1], 1.0),
                'm' => (text.strip_suffix("m")?, 60.0),
                'h' => (text.strip_suffix("h")?, 3600.0),
                _ => (text.strip_suffix("min").unwrap_or(text), if text.ends_with("min") { 60.0 } else { 1.0 }),
            },
        };
        let seconds = number.trim().parse::<f64>().ok()? * factor;
        if !(0.0..=1e9).contains(&seconds) {
            return None;
        }
        Some((seconds > 0.0).then(|| Duration::from_secs_f64(seconds)))
    }
    fn show(&self) -> String {
        self.map_or("0".into(), |d| format!("{}s", d.as_secs_f64()))
    }
    fn expected() -> String {
        "a time such as 900s, 15min or 0 for no limit".into()
    }
}

/// A number of bytes; no limit is written `0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes(pub u64);

impl OptionValue for Bytes {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "" | "B" => 1.0,
            "kB" | "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            "GiB" => 1024.0 * 1024.0 * 1024.0,
            _ => return None,
        };
        let value = digits.trim().parse::<f64>().ok()? * factor;
        (0.0..=1e18).contains(&value).then_some(Bytes(value as u64))
    }
    fn show(&self) -> String {
        format!("{}B", self.0)
    }
    fn expected() -> String {
        "a size such as 4GB, 500MB or 0 for no limit".into()
    }
}

/// Declares an enumeration whose values are written as in configuration files.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl OptionValue for $name {
            fn parse(text: &str) -> Option<Self> {
                $(if text.eq_ignore_ascii_case($text) { return Some(Self::$variant); })+
                None
            }
            fn show(&self) -> String {
                match self { $(Self::$variant => $text),+ }.to_string()
            }
            fn expected() -> String {
                [$($text),+].join(", ")
            }
        }
    };
}

choice!(/** The algorithm around the exploration. */ Algorithm {
    /** Counterexample-guided abstraction refinement. */ Cegar = "CEGAR",
    /** That, with block-abstraction memoization. */ Bam = "BAM",
    /** One exploration with everything tracked; for analyses of values. */ Cpa = "CPA",
    /** Bounded model checking. */ Bmc = "BMC",
    /** Execution with concrete inputs. */ Execution = "EXECUTION",
    /** Execution with all inputs that matter, if they are few. */ Exhaustive = "EXHAUSTIVE",
    /** Execution with ranges of inputs, which are divided. */ Subdivision = "SUBDIVISION",
    /** Ranges of variables that hold in all rounds of loops. */ Ranges = "RANGES",
    /** Exploration of states whose values may be symbols. */ States = "STATES",
    /** Symbolic execution that passes each loop in one step. */ Summaries = "SUMMARIES",
    /** Inductive contracts of recursive functions. */ Contracts = "CONTRACTS",
    /** k-induction. */ KInduction = "KINDUCTION",
});
choice!(/** Where the auxiliary invariants of k-induction come from. */ InvariantChoice {
    /** There are none. */ Nothing = "DO_NOTHING",
    /** A data-flow analysis over disjunctions of intervals. */ ReachedSet = "REACHED_SET",
    /** That, and candidates from the program and from runs of it that are inductive together. */ Induction = "INDUCTION",
});
choice!(/** Which domains run together, beside locations and calls. */ Domains {
    /** Predicate abstraction. */ Predicate = "predicate",
    /** Explicit values. */ Value = "value",
    /** Octagons. */ Octagon = "octagon",
    /** Linked lists of any length. */ Shape = "shape",
    /** Explicit values, and predicates where values are not enough. */ ValuePredicate = "value, predicate",
});
choice!(/** How states at one location are merged. */ MergeType {
    /** Not at all. */ Sep = "SEP",
    /** To what both have in common. */ Join = "JOIN",
});
choice!(/** How octagons at one location are merged. */ OctagonMerge {
    /** Not at all. */ Sep = "SEP",
    /** To the smallest octagon around both. */ Join = "JOIN",
    /** By widening. */ Widening = "WIDENING",
});
choice!(/** Which numerical domain the octagon analysis uses. */ NumericDomain {
    /** Intervals. */ Boxes = "box",
    /** Octagons. */ Octagon = "octagon",
    /** Intervals and linear equalities. */ Equalities = "linear-equalities",
    /** Intervals and closed polyhedra. */ Polyhedra = "polyhedra",
    /** Polyhedra with strict inequalities, which are the same where all numbers are integers. */
    StrictPolyhedra = "polyhedra-strict",
});
choice!(/** How the abstraction of a block is computed. */ ComputationChoice {
    /** The strongest conjunction of predicates and their negations. */ Cartesian = "CARTESIAN",
    /** The strongest Boolean combination, by all models. */ Boolean = "BOOLEAN",
    /** First the Cartesian part, then models of what is left. */ Combined = "COMBINED",
});
choice!(/** How abstraction formulas are stored. */ FormulaChoice {
    /** As binary decision diagrams. */ Bdd = "BDD",
    /** As terms of the solver. */ Formula = "FORMULA",
});
choice!(/** How states inside a block are merged. */ PredicateMerge {
    /** To the disjunction of their path formulas. */ Abe = "ABE",
    /** Not at all. */ Sep = "SEP",
});
choice!(/** What a refinement does with interpolants. */ StrategyChoice {
    /** Their atoms become predicates. */ Predicate = "PREDICATE",
    /** They are conjoined to the states of the path. */ Impact = "IMPACT",
    /** Both. */ Both = "BOTH",
});
choice!(/** Where a predicate is tracked. */ PredicateSharing {
    /** Where it was found, on paths behind the pivot. */ Path = "PATH",
    /** Where it was found. */ Location = "LOCATION",
    /** In the function where it was found. */ Function = "FUNCTION",
    /** Everywhere. */ Global = "GLOBAL",
});
choice!(/** Whether states are covered by force before they are expanded. */ ForcedCoverings {
    /** They are not. */ None = "NONE",
    /** By strengthening them along the path from a common ancestor. */ Impact = "IMPACT",
});
choice!(/** What is tracked at the start. */ InitialPrecision {
    /** Everything. */ Full = "STATIC_FULL",
    /** Nothing; refinements add what is needed. */ Empty = "REFINEABLE_EMPTY",
});
choice!(/** Where a refinement takes effect. */ PrecisionSharing {
    /** At all locations. */ Scope = "SCOPE",
    /** Where the value matters. */ Location = "LOCATION",
});
choice!(/** Which infeasible prefix of a path is refuted. */ PrefixPreference {
    /** The one that needs the fewest and best variables. */ Best = "DOMAIN_MIN",
    /** The first one. */ Shortest = "LENGTH_MIN",
    /** The last one. */ Longest = "LENGTH_MAX",
});
choice!(/** Which parts of a program are blocks. */ BlockHeuristic {
    /** Functions. */ Functions = "FunctionPartitioning",
    /** Loops. */ Loops = "LoopPartitioning",
    /** Both. */ FunctionsAndLoops = "FunctionAndLoopPartitioning",
});
choice!(/** How the bound of an unrolling grows. */ Adjuster {
    /** Not at all. */ Static = "STATIC",
    /** By one. */ Increment = "INCREMENT",
    /** To twice its value. */ Double = "DOUBLE",
});
choice!(/** The waitlist. */ Traversal {
    /** Newest state first. */ Dfs = "DFS",
    /** Oldest state first. */ Bfs = "BFS",
});
choice!(/** How machine integers become terms. */ EncodingChoice {
    /** Exact bit-vectors. */ Bitvector = "bitvector",
    /** Integers with wrap-around modelled; bit-vectors where that is not exact. */ Integer = "integer",
});
choice!(/** The BDD library. */ BddChoice {
    /** OxiDD. */ Oxidd = "oxidd",
    /** CUDD, in builds with the feature `cudd`. */ Cudd = "cudd",
});

/// The documentation of one option.
#[derive(Clone, Debug)]
pub struct OptionDoc {
    /// The dotted key.
    pub key: &'static str,
    /// What it does.
    pub doc: String,
    /// What values look like.
    pub expected: String,
    /// The default, as it would be written.
    pub default: String,
}

macro_rules! options {
    ($($(#[doc = $doc:literal])+ $key:literal $field:ident : $ty:ty = $default:expr;)+) => {
        /// The options of a run.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Config { $($(#[doc = $doc])+ pub $field: $ty),+ }

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl Config {
            /// All options with their documentation, in a fixed order.
            pub fn documentation() -> Vec<OptionDoc> {
                let default = Self::default();
                vec![$(OptionDoc {
                    key: $key,
                    doc: concat!($($doc, "\n"),+).lines().map(str::trim).collect::<Vec<_>>().join(" "),
                    expected: <$ty as OptionValue>::expected(),
                    default: default.$field.show(),
                }),+]
            }

            /// Sets one option from text.
            pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
                $(if key == $key {
                    self.$field = <$ty as OptionValue>::parse(value).ok_or_else(|| OptionError::BadValue {
                        key: key.to_string(), value: value.to_string(), expected: <$ty as OptionValue>::expected(),
                    })?;
                    return Ok(());
                })+
                let similar = [$($key),+].into_iter()
                    .map(|known| (strsim::normalized_damerau_levenshtein(key, known), known))
                    .max_by(|a, b| a.0.total_cmp(&b.0))
                    .filter(|(similarity, _)| *similarity > 0.5)
                    .map(|(_, known)| known.to_string());
                Err(OptionError::UnknownKey { key: key.to_string(), similar })
            }

            /// All options with their values, as they would be written.
            pub fn values(&self) -> Vec<(&'static str, String)> {
                vec![$(($key, self.$field.show())),+]
            }
        }
    };
}

options! {
    /// Limit for the CPU time of the run; 0 means no limit.
    "limits.time.cpu" time_cpu: Option<Duration> = None;
    /// Limit for the wall time of the run; 0 means no limit.
    "limits.time.wall" time_wall: Option<Duration> = None;
    /// Limit for the memory of the process; 0 means no limit.
    "limits.memory" memory: Bytes = Bytes(0);
    /// The plan: which analyses run one after the other or side by side; `none` means the one that the other options
    /// describe. A name that ends in `.toml` is a file; `cli/plans/default.toml` shows its form.
    "analysis.plan" plan: String = "none".to_string();
    /// How many stages of the plan run at the same time; 0 means as many as there are cores.
    "analysis.cores" cores: u32 = 0;
    /// Presets that run one after the other, each from the beginning, until one has an answer: separated by commas, each with
    /// a limit for its CPU time if it has one, as in `octagon-widening-cex:100s, octagon-refiner`. It takes the place of
    /// the plan.
    "restartAlgorithm.configFiles" restart: String = "none".to_string();
    /// The preset that checks counterexamples of analyses of values and octagons on the path program: what is left of the
    /// program when only the edges of the counterexample may be taken. A counterexample that it refutes ends the analysis.
    "counterexample.checker.config" cex_checker: String = "none".to_string();
    /// The function where the program starts.
    "analysis.entryFunction" entry_function: String = "main".to_string();
    /// What is run: abstraction refinement, one exploration, bounded model checking, k-induction, execution, exploration of
    /// states, summaries of loops or contracts of recursive functions.
    "analysis.algorithm" algorithm: Algorithm = Algorithm::Cegar;
    /// Which domains run together, beside locations and calls.
    "CompositeCPA.cpas" domains: Domains = Domains::Predicate;
    /// The order in which states are explored.
    "analysis.traversal.order" traversal: Traversal = Traversal::Dfs;
    /// Whether states earlier in the reverse post-order of their function are explored first, so that the branches of a
    /// block meet before the analysis goes on ("topological" order).
    "analysis.traversal.useReversePostorder" use_rpo: bool = true;
    /// Whether states with a deeper call stack are explored first; belongs to the reverse post-order.
    "analysis.traversal.useCallstack" use_callstack: bool = true;
    /// Whether large blocks are made before the analysis: the automaton is replaced by one whose edges are sequences and choices
    /// of operations, and predicates are abstracted at each of its locations. For predicate analyses with refinement; the
    /// options about the ends of blocks (`cpa.predicate.blk.*`) are about the original automaton and have no effect then.
    "cfa.summarize" summarize: bool = false;
    /// Whether the analyses run on a slice of the program: without the steps and loops that cannot influence whether an error is
    /// reached. An error that they find is searched for in the program itself, which they run on if it is not there. Has no
    /// effect with loop abstraction.
    "cfa.slice" slice: bool = false;
    /// Whether loops are abstracted: the analysis runs on the program with loop abstractions and takes them back where they
    /// are too coarse.
    "loopabs.enabled" loop_abstraction: bool = false;
    /// The strategies of loop abstraction that may be used, separated by commas: h (havoc), n (naive), c (constant
    /// extrapolation), o (output abstraction), p (phase extrapolation), i (invariants of k-induction,
    /// when the others did not suffice).
    "loopabs.strategies" loop_strategies: String = "h,n,c,o,p,i".to_string();
    /// Which strategies are more precise than others; the most abstract ones are tried first.
    "loopabs.order" loop_order: String = "b<p<i<o<c<n<h".to_string();
    /// Execution: whether a program that asks for inputs is run with chosen ones. Otherwise only programs without inputs
    /// are decided.
    "execution.random.enabled" execution_random: bool = true;
    /// Execution: the greatest number of runs with chosen inputs; 0 means no limit.
    "execution.random.runs" execution_runs: u32 = 0;
    /// Execution: the greatest length of a run with chosen inputs, in iterations of loops and calls of functions.
    "execution.random.length" execution_length: u32 = 4_000_000;
    /// Execution: what the pseudo-random inputs depend on.
    "execution.random.seed" execution_seed: u32 = 1;
    /// Execution: the greatest size of the program's memory together with what is noted about it.
    "execution.memory" execution_memory: Bytes = Bytes(1_000_000_000);
    /// The folder where the queries to the SMT solver are written, a file for each solver; none if it is empty.
    "solver.queryFolder" query_folder: String = String::new();
    /// Exploration of states: how many values of a variable are kept apart at loop heads at first; others are replaced by the
    /// interval around them in which no comparison tells values apart. Where that is too coarse, eight times as many are.
    "states.values" states_values: u32 = 16;
    /// Exploration of states: of which variables the values are known at loop heads.
    "states.initialPrecisionType" states_precision: InitialPrecision = InitialPrecision::Full;
    /// Exploration of states: about how many bytes the states may take.
    "states.memory" states_memory: Bytes = Bytes(1_000_000_000);
    /// How machine integers become terms. The integer encoding falls back to bit-vectors for a program that it cannot
    /// represent exactly.
    "cpa.predicate.encoding" encoding: EncodingChoice = EncodingChoice::Bitvector;
    /// Abstract at loop heads.
    "cpa.predicate.blk.alwaysAtLoops" blk_at_loops: bool = true;
    /// Abstract after function calls and returns.
    "cpa.predicate.blk.alwaysAtFunctions" blk_at_functions: bool = false;
    /// Abstract as soon as the longest path of a block has this many edges (1 is single-block encoding); 0 means never.
    "cpa.predicate.blk.threshold" blk_threshold: u32 = 0;
    /// Whether a block ends everywhere from the threshold on; without, only where the next two options say so.
    "cpa.predicate.blk.alwaysAfterThreshold" blk_after_threshold: bool = true;
    /// Abstract at loop heads if the threshold is reached (with `alwaysAtLoops` off: loops are unrolled inside a block).
    "cpa.predicate.blk.loops" blk_loops: bool = false;
    /// Abstract after function calls and returns if the threshold is reached.
    "cpa.predicate.blk.functions" blk_functions: bool = false;
    /// Abstract where branches meet.
    "cpa.predicate.blk.alwaysAtJoin" blk_at_join: bool = false;
    /// How states inside a block are merged.
    "cpa.predicate.merge" predicate_merge: PredicateMerge = PredicateMerge::Abe;
    /// Check the satisfiability of a path at branches, when this many edges were added since the last check; 0 means
    /// never.
    "cpa.predicate.satCheck" sat_check: u32 = 0;
    /// How the abstraction of a block is computed.
    "cpa.predicate.abstraction.computation" computation: ComputationChoice = ComputationChoice::Combined;
    /// How abstraction formulas are stored: decision diagrams are compared cheaply, formulas are compared by the solver.
    "cpa.predicate.abstraction.type" formula_type: FormulaChoice = FormulaChoice::Bdd;
    /// Whether abstractions and the models found for them are kept for equal blocks.
    "cpa.predicate.abs.useCache" abstraction_cache: bool = true;
    /// The time for one solver query of an abstraction or coverage check. Where it is not enough, the abstraction becomes
    /// weaker, or the state is not covered.
    "cpa.predicate.abstraction.queryTimeout" query_timeout: Option<Duration> = Some(Duration::from_secs(1));
    /// The library for binary decision diagrams.
    "cpa.predicate.bdd" bdd: BddChoice = BddChoice::Oxidd;
    /// What a refinement does with interpolants.
    "cpa.predicate.refinement.strategy" strategy: StrategyChoice = StrategyChoice::Predicate;
    /// Whether IMPACT strengthens states only on the end of a path that the formulas of the states before it exclude, if
    /// there is one.
    "cpa.predicate.refinement.suffix" suffix: bool = false;
    /// Where a predicate is tracked that a refinement found at some location. (The strategy BOTH shares at least by
    /// location.)
    "cpa.predicate.precision.sharing" predicate_sharing: PredicateSharing = PredicateSharing::Path;
    /// Whether states are covered by force before they are expanded.
    "cpa.predicate.forcedCovering" forced_covering: ForcedCoverings = ForcedCoverings::None;
    /// The interpolation engines in the order in which they are asked, separated by commas.
    "cpa.predicate.refinement.engines" engines: String = "newton,uniform,spacer,candidates,sp".to_string();
    /// How many solver calls may be spent on making the unsatisfiable core of a path smaller.
    "cpa.predicate.refinement.coreAttempts" core_attempts: u32 = 8;
    /// How many solver calls may be spent on making the interpolant at one cut simpler, in each of two passes.
    "cpa.predicate.refinement.simplifyAttempts" simplify_attempts: u32 = 12;
    /// Block-abstraction memoization: which parts of the program are blocks, beside recursive functions, which always are.
    "cpa.bam.blockHeuristic" bam_blocks: BlockHeuristic = BlockHeuristic::FunctionsAndLoops;
    /// Block-abstraction memoization: functions and loops with fewer locations of their own are no blocks.
    "cpa.bam.minBlockSize" bam_min_size: u32 = 10;
    /// Block-abstraction memoization: whether refinements change copies of graphs; otherwise they change the graphs.
    "cpa.bam.useCopyOnWriteRefinement" bam_copy: bool = true;
    /// Block-abstraction memoization: how many graphs of blocks are remembered; 0 means no limit.
    "cpa.bam.maxCachedBlocks" bam_max_cached: u32 = 0;
    /// How states of the value analysis are merged.
    "cpa.value.merge" value_merge: MergeType = MergeType::Sep;
    /// The numerical domain of the octagon analysis, for integer variables: intervals, octagons, intervals with linear
    /// equalities or with convex polyhedra. Integers need no strict inequalities, so the last two are the same.
    "cpa.numeric.domain" numeric_domain: NumericDomain = NumericDomain::Octagon;
    /// How states of the octagon analysis are merged.
    "cpa.octagon.mergeop.type" octagon_merge: OctagonMerge = OctagonMerge::Sep;
    /// Whether octagons are merged at loop heads only.
    "cpa.octagon.mergeop.onlyMergeAtLoopHeads" octagon_heads: bool = false;
    /// What the octagon analysis tracks at the start.
    "cpa.octagon.initialPrecisionType" octagon_precision: InitialPrecision = InitialPrecision::Full;
    /// Whether octagons know floating-point variables, with bounds rounded outwards; otherwise these have any value.
    "cpa.octagon.handleFloats" octagon_floats: bool = false;
    /// Whether widening of octagons stops at constants that the program compares with, if they are few.
    "cpa.octagon.wideningThresholds" octagon_thresholds: bool = true;
    /// The CPU time that the refinement of octagons spends on one path; 0 means no limit.
    "cpa.octagon.refiner.timeForOctagonFeasibilityCheck" octagon_time: Option<Duration> = None;
    /// Analysis of shapes: whether it is known of unknown numbers which single values they do not have, and not only their
    /// bounds.
    "cpa.shape.holes" shape_holes: bool = true;
    /// Analysis of shapes: of more objects than this, those that no variable points to are gathered in crowds without an order;
    /// with many states at the head of a loop of fewer.
    "cpa.shape.objectsApart" shape_apart: u32 = 24;
    /// Analysis of shapes: how little of lists and numbers is told apart from the beginning: 0 for the most, 3 for the least;
    /// with many states at the head of a loop it becomes less.
    "cpa.shape.coarseness" shape_coarse: u32 = 0;
    /// Where a variable is tracked that the value analysis needs for a refutation.
    "cpa.value.precision.sharing" value_sharing: PrecisionSharing = PrecisionSharing::Scope;
    /// Which infeasible prefix of a path the value analysis refutes.
    "cpa.value.refinement.prefixPreference" value_prefixes: PrefixPreference = PrefixPreference::Best;
    /// The bound of an unrolling: how often the body of each loop is run after it was entered, and how many further
    /// activations of a function there are on the call stack. The first bound, if it grows.
    "cpa.loopbound.maxLoopIterations" max_iterations: u32 = 1;
    /// How the bound grows when nothing was found.
    "cpa.loopbound.maxLoopIterationAdjusterFactory" adjuster: Adjuster = Adjuster::Double;
    /// The greatest bound; 0 means no limit.
    "cpa.loopbound.maxLoopIterationsUpperBound" max_iterations_upper: u32 = 0;
    /// Whether it is checked that no execution is longer than what was unrolled (forward condition). Without, bounded model
    /// checking proves only programs whose loops end by constants.
    "bmc.boundingAssertions" bounding_assertions: bool = true;
    /// Whether bounded model checking leaves out executions that come back to a loop head with nothing changed that is read
    /// later: loops that wait for something end then.
    "bmc.changingIterations" changes: bool = true;
    /// Bounded model checking tells the cells of an array with at most so many apart at each access, by cases of the index.
    "bmc.cellsApart" cells_apart: u32 = 16;
    /// Where the auxiliary invariants of k-induction come from: nowhere, a data-flow analysis, or in addition candidates
    /// that are inductive together.
    "bmc.invariantGenerationStrategy" invariant_strategy: InvariantChoice = InvariantChoice::Induction;
    /// The preset of octagons or another numerical domain that proposes invariants to k-induction, which are used once they are
    /// proved; `none` for none.
    "invariantGeneration.config" invariant_config: String = "none".to_string();
    /// Whether the satisfiability of target states is checked.
    "bmc.checkTargetStates" check_targets: bool = true;
    /// Whether the atoms of interpolants become predicates, not the interpolants as a whole.
    "cpa.predicate.refinement.splitItpAtoms" split_atoms: bool = true;
}

impl Config {
    /// Whether several analyses run, as stages of a plan.
    pub fn is_staged(&self) -> bool {
        self.plan != "none" || self.restart != "none"
    }

    /// The defaults with the settings that the stages of a plan share with the whole run.
    pub fn stage_base(&self) -> Self {
        let (entry_function, query_folder) = (self.entry_function.clone(), self.query_folder.clone());
        Self { entry_function, query_folder, ..Self::default() }
    }
}

impl fmt::Display for OptionDoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}\n    {}\n    values: {}", self.key, self.default, self.doc, self.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_read_back() {
        let mut config = Config::default();
        for (key, value) in Config::default().values() {
            config.set(key, &value).unwrap();
        }
        assert_eq!(config, Config::default());
    }

    #[test]
    fn wrong_keys_and_values_are_explained() {
        let mut config = Config::default();
        let error = config.set("cpa.predicate.blk.treshold", "1").unwrap_err();
        assert!(error.to_string().contains("did you mean 'cpa.predicate.blk.threshold'"), "{error}");
        let error = config.set("cpa.predicate.blk.threshold", "many").unwrap_err();
        assert!(error.to_string().contains("expected a whole number"), "{error}");
    }

    #[test]
    fn limits() {
        let time = |text| <Option<Duration> as OptionValue>::parse(text);
        assert_eq!(time("900s"), Some(Some(Duration::from_secs(900))));
        assert_eq!(time("2min"), Some(Some(Duration::from_secs(120))));
        assert_eq!(time("500ms"), Some(Some(Duration::from_millis(500))));
        assert_eq!(time("0"), Some(None));
        assert_eq!(time("-1s"), None);
        assert_eq!(time("soon"), None);
        assert_eq!(Bytes::parse("4GB"), Some(Bytes(4_000_000_000)));
        assert_eq!(Bytes::parse("15 apples"), None);
    }
}
