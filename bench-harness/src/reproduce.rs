// SPDX-License-Identifier: Apache-2.0
//! The command `reproduce`: runs the experiments of the publications, puts our numbers beside theirs, draws the figures,
//! and says which claims hold.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

use crate::{
    args::{note, print},
    claims::Outcome,
    error::Error,
    experiment::{Experiment, PlotKind, PlotWish, Work},
    grid::{Format, Grid},
    html,
    launch::{Common, checked},
    matrix::{Matrix, Metric, Source},
    pace::Pace,
    plot::{self, Wish},
    report::write,
    run::remaining,
    table::{self, Rows, Style},
    units::{parse_duration, show_rough},
};

/// Run experiments of the publications and compare the results with what was published.
///
/// For each there are afterwards, in the folder, the results (.jsonl), a page (.html), the report that is also printed
/// (.md), the figures (.svg), and the outputs of all runs (logs). What is there already is not run again.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// Names of experiments, such as abe-5.2 [default: all]
    names: Vec<String>,
    /// The folder of the experiments [default: `experiments` here, above, or above this program]
    #[arg(long, value_name = "FOLDER")]
    experiments: Option<PathBuf>,
    /// Where everything goes
    #[arg(long, value_name = "FOLDER", default_value = "reproduction")]
    folder: PathBuf,
    /// Only say what experiments there are
    #[arg(long)]
    list: bool,
    /// Only look at the results that are there
    #[arg(long)]
    no_run: bool,
    /// Leave out tasks of experiments for which there is no time any more [default: 43min with --quick, else no limit]
    #[arg(long, value_name = "TIME", value_parser = checked(parse_duration))]
    within: Option<String>,
    /// The verifier, or NAME=PROGRAM for another tool
    #[arg(long, value_name = "PROGRAM")]
    tool: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// How long everything may take with `--quick`, so that it is done in less than 45 minutes.
const QUICK: Duration = Duration::from_mins(43);

/// An experiment with what is to be done for it.
struct Planned {
    name: String,
    experiment: Experiment,
    work: Work,
    /// Whether the runs are done now.
    run: bool,
    /// How long the runs that are not done already may take at most, one after the other.
    most: Duration,
}

/// A claim with what came out, and in which experiment.
struct Checked {
    id: String,
    says: String,
    experiment: String,
    outcome: Outcome,
}

/// Does what the arguments say and returns the exit code: 2 if a verdict is wrong, as for `run`.
pub(crate) fn reproduce(mut args: ReproduceArgs) -> Result<u8, Error> {
    let folder = match &args.experiments {
        Some(folder) => folder.clone(),
        None => find_folder()?,
    };
    let all = names(&folder)?;
    if all.is_empty() {
        return Err(Error::Usage(format!("no experiments (.toml) in {}", folder.display())));
    }
    if args.list {
        let titles = all.iter().map(|name| {
            let experiment = Experiment::read(&folder.join(format!("{name}.toml")))?;
            Ok(format!("{name}: {}\n", experiment.title))
        });
        return print(&titles.collect::<Result<String, Error>>()?).map(|()| 0);
    }
    if let Some(unknown) = args.names.iter().find(|name| !all.contains(name)) {
        return Err(Error::Usage(format!("no experiment '{unknown}'; there are {}", all.join(", "))));
    }
    let chosen = if args.names.is_empty() { all } else { args.names.clone() };
    // What is there already is not run again.
    args.common.resume = !args.common.overwrite;
    let within = match &args.within {
        Some(text) => Some(parse_duration(text).map_err(Error::Usage)?),
        None => Some(QUICK).filter(|_| args.common.quick),
    };
    let mut pace = Pace::new(within, args.common.jobs.into());
    let mut planned = Vec::new();
    // Several experiments may look at the same results.
    let mut bases = BTreeSet::new();
    for name in chosen {
        let experiment = Experiment::read(&folder.join(format!("{name}.toml")))?;
        let first = bases.insert(experiment.results_name.clone());
        planned.push(plan(experiment, name, &args, first)?);
    }
    let mut left: Duration = planned.iter().map(|one| one.most).sum();
    if !args.no_run {
        let runs: usize = planned.iter().filter(|one| !one.most.is_zero()).map(|one| one.work.jobs.len()).sum();
        let most = show_rough(pace.together(left));
        note(&format!("{} experiments with {runs} runs, at most {most}", planned.len()));
    }
    let mut code = 0;
    let mut checked = Vec::new();
    for mut one in planned {
        // What is done already takes no time.
        let omitted = if one.most.is_zero() { None } else { pace.fit(&mut one.work, left) };
        let most = one.most;
        left = left.saturating_sub(most);
        let (report, worst) = run_one(one, omitted, &mut args, &mut checked)?;
        pace.done(most);
        print(&report)?;
        code = code.max(worst);
        if code == 130 {
            break;
        }
    }
    print(&overview(&mut checked))?;
    Ok(code)
}

/// What is to be done for an experiment; nothing if it looks at results that another one makes.
fn plan(experiment: Experiment, name: String, args: &ReproduceArgs, first: bool) -> Result<Planned, Error> {
    let mut work = experiment.work(&args.common.wishes(&args.tool)?)?;
    let run = first && !args.no_run;
    if !run {
        work.jobs.clear();
    }
    let results = args.results(&experiment);
    let earlier = match args.common.resume && results.exists() {
        true => Source::read(&results)?.records,
        false => Vec::new(),
    };
    let most = Pace::most(remaining(work.jobs.clone(), &earlier, &results)?.iter());
    Ok(Planned { name, experiment, work, run, most })
}

impl ReproduceArgs {
    /// The ending of the names of files.
    fn ending(&self) -> &'static str {
        if self.common.quick { ".quick" } else { "" }
    }

    /// Where the results of an experiment are.
    fn results(&self, experiment: &Experiment) -> PathBuf {
        self.folder.join(format!("{}{}.jsonl", experiment.results_name, self.ending()))
    }
}

/// The folder `experiments` with experiments in it.
fn find_folder() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_default();
    let candidates = here.ancestors().chain(program.ancestors().skip(1)).map(|folder| folder.join("experiments"));
    let found = candidates.into_iter().find(|folder| names(folder).is_ok_and(|names| !names.is_empty()));
    found.ok_or_else(|| Error::Usage("no folder `experiments` is near; name it with --experiments".into()))
}

/// The names of the experiments in the folder.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let files = entries.flatten().map(|entry| entry.path());
    let experiments = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let mut names: Vec<String> =
        experiments.map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Runs one experiment and returns its report; `omitted` says on how many tasks of how many, if not on all.
fn run_one(
    planned: Planned,
    omitted: Option<(usize, usize)>,
    args: &mut ReproduceArgs,
    checked: &mut Vec<Checked>,
) -> Result<(String, u8), Error> {
    let Planned { name, experiment, mut work, run, .. } = planned;
    let (quick, results) = (args.ending(), args.results(&experiment));
    args.common.output = Some(results.clone());
    args.common.log_dir = Some(args.folder.join("logs").join(format!("{}{quick}", experiment.results_name)));
    let mut text = format!("# {name}: {}\n\n", experiment.title);
    if !experiment.source.is_empty() {
        let _ = writeln!(text, "{}\n", experiment.source);
    }
    if !experiment.notes.is_empty() {
        let _ = writeln!(text, "{}\n", experiment.notes.trim());
    }
    note(&format!("{name}: {}", experiment.title));
    if let Some((kept, all)) = omitted {
        let _ = writeln!(text, "There was time for {kept} of {all} tasks.\n");
        note(&format!("{name}: there is time for {kept} of {all} tasks"));
    }
    let unavailable = std::mem::take(&mut work.unavailable);
    for (column, reason) in &unavailable {
        let _ = writeln!(text, "not measured: {column}: {reason}");
    }
    let columns = work.columns.clone();
    let code = if run {
        note(&format!("{name}: {} runs", work.jobs.len()));
        args.common.run(work, &results)?.1
    } else {
        0
    };
    let sources = if results.exists() { vec![Source::read(&results)?] } else { Vec::new() };
    let mut matrix = Matrix::new(&sources);
    let present: Vec<String> = columns.into_iter().filter(|column| matrix.column(column).is_some()).collect();
    matrix.select_columns(&present)?;
    for published in &experiment.published {
        let _ = writeln!(text, "\n## {}: ours | published\n", published.title);
        text.push_str(&fenced(&published.beside(&experiment.folder, &matrix)?));
        if !published.notes.is_empty() {
            let _ = writeln!(text, "\n{}", published.notes);
        }
    }
    let _ = writeln!(text, "\n## Our results\n");
    text.push_str(&fenced(&table::table(&matrix, Style::Thesis, Rows::None, &Metric::Cpu)));
    for wish in &experiment.plots {
        let file = format!("{name}{quick}-{}.svg", wish.title.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        match draw(wish, &matrix) {
            Ok(svg) => {
                write(&args.folder.join(&file), &svg)?;
                let _ = writeln!(text, "\n![{}]({file})", wish.title);
            }
            Err(reason) => {
                let _ = writeln!(text, "\nnot drawn: {}: {reason}", wish.title);
            }
        }
    }
    if !experiment.claims.is_empty() {
        let _ = writeln!(text, "\n## Claims\n");
    }
    for claim in &experiment.claims {
        let outcome = claim.check(&matrix, &unavailable);
        let _ = writeln!(text, "- {}: {}\n  {}", claim.id, claim.says, outcome.show());
        checked.push(Checked { id: claim.id.clone(), says: claim.says.clone(), experiment: name.clone(), outcome });
    }
    text.push('\n');
    write(&args.folder.join(format!("{name}{quick}.md")), &text)?;
    write(&args.folder.join(format!("{name}{quick}.html")), html::page(&matrix, &sources, &experiment.title))?;
    Ok((text, code))
}

/// Aligned, because it is read on a terminal, too.
fn fenced(grid: &Grid) -> String {
    format!("```text\n{}```\n", grid.render(Format::Text))
}

/// An error is the reason why it cannot be drawn.
fn draw(wish: &PlotWish, matrix: &Matrix) -> Result<String, String> {
    let mut matrix = matrix.clone();
    if !wish.columns.is_empty() {
        matrix.select_columns(&wish.columns).map_err(|e| e.to_string())?;
    }
    matrix.retain_rows(|row, cells| {
        let values = |label: &str| {
            let metric = Metric::parse(label);
            cells.iter().flatten().filter_map(|record| metric.of(record)).collect::<Vec<f64>>()
        };
        (wish.select.is_empty() || wish.select.iter().any(|text| row.task.contains(text.as_str())))
            && wish.at_least.iter().all(|(label, least)| values(label).iter().any(|value| value >= least))
            && wish.at_most.iter().all(|(label, most)| values(label).iter().all(|value| value <= most))
    });
    let only = wish.only;
    let drawn = Wish { metric: Metric::parse(&wish.metric), only, linear: false, title: wish.title.clone() };
    let scene = match wish.kind {
        PlotKind::Quantile if matrix.columns.is_empty() => return Err("no results".into()),
        PlotKind::Quantile => plot::quantile(&matrix, &drawn, false),
        PlotKind::Scatter if matrix.columns.len() != 2 => return Err("not both configurations have results".into()),
        PlotKind::Scatter => plot::scatter(&matrix, &drawn, 0, 1),
        PlotKind::Parameter => {
            let config = wish.columns.first().ok_or("no configuration is named")?;
            plot::parameter(&matrix, &drawn, config).map_err(|e| e.to_string())?
        }
    };
    Ok(scene.svg())
}

/// All claims in their order, and how many hold.
fn overview(checked: &mut [Checked]) -> String {
    let number = |id: &str| id.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap_or(u32::MAX);
    checked.sort_by(|a, b| number(&a.id).cmp(&number(&b.id)).then_with(|| a.experiment.cmp(&b.experiment)));
    let mut text = String::from("# All claims\n\n");
    let mut counts = [0; 3];
    for claim in checked.iter() {
        counts[match claim.outcome {
            Outcome::Holds(_) => 0,
            Outcome::Fails(_) => 1,
            Outcome::NotMeasured(_) => 2,
        }] += 1;
        let Checked { id, says, experiment, outcome } = claim;
        let _ = writeln!(text, "{id} ({experiment}): {says}\n    {}", outcome.show());
    }
    let [holds, fails, unmeasured] = counts;
    let _ = writeln!(text, "\n{holds} hold, {fails} do not hold, {unmeasured} were not measured");
    text
}
