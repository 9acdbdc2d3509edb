// SPDX-License-Identifier: Apache-2.0
//! The commands that read result files and write tables, plots and scores.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};

use crate::{
    args::{note, print},
    benchexec,
    error::Error,
    grid::Format,
    html,
    matrix::{Matrix, Metric, Only, Source},
    plot::{self, Wish},
    table::{self, Rows, Style},
};

/// What all reports have in common: which results.
#[derive(Debug, Args)]
struct Selection {
    /// Result files; each is one configuration, or as many as it names
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Only these configurations, in this order; a name with a parameter stands for all its values
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Only tasks whose CATEGORY/NAME contains the text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only tasks on which a number that the tool printed is in a range, such as 'Number of CEGAR refinements=2..' or
    /// '...=0..1', for some configuration
    #[arg(long, value_name = "LABEL=FROM..TO")]
    with: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A table of tasks and configurations with a summary.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    #[command(flatten)]
    selection: Selection,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// What the cells say
    #[arg(long, value_enum, default_value_t)]
    style: Style,
    /// Which tasks have a row
    #[arg(long, value_enum, default_value_t)]
    rows: Rows,
    /// What the cells show: cpu, wall, memory, or the label of a statistic
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    metric: String,
    /// With --format csv: everything about every run
    #[arg(long)]
    raw: bool,
    /// The heading of the page
    #[arg(long, value_name = "TEXT", default_value = "cpa-bench results")]
    title: String,
}

/// A plot as SVG, or as PNG if the name of the file ends so.
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    #[command(subcommand)]
    kind: PlotKind,
}

#[derive(Debug, Subcommand)]
enum PlotKind {
    /// How many results are found in which time
    Quantile {
        #[command(flatten)]
        common: PlotCommon,
        /// The x axis is the accumulated score
        #[arg(long)]
        by_score: bool,
    },
    /// Two configurations against each other
    Scatter {
        #[command(flatten)]
        common: PlotCommon,
    },
    /// Time over a parameter, a line for each task
    Parameter {
        #[command(flatten)]
        common: PlotCommon,
        /// The configuration whose parameter it is [default: the first that has one]
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
    },
}

#[derive(Debug, Args)]
struct PlotCommon {
    #[command(flatten)]
    selection: Selection,
    /// What is drawn: cpu, wall, memory, or the label of a statistic
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    metric: String,
    /// Which correct results count
    #[arg(long, value_enum, default_value_t)]
    only: Only,
    /// Linear axes, where they would be logarithmic
    #[arg(long)]
    linear: bool,
    /// The heading
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
}

impl PlotCommon {
    fn wish(&self) -> Wish {
        Wish { metric: Metric::parse(&self.metric), only: self.only, linear: self.linear, title: self.title.clone() }
    }
}

/// Points as in the competition on software verification, by category.
#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    #[command(flatten)]
    selection: Selection,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Write the results for BenchExec's table-generator: a result XML file for each configuration.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Result files
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// The folder of the files
    #[arg(long, short, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,
    /// The name of the benchmark [default: the first file's]
    #[arg(long)]
    name: Option<String>,
}

/// Writes files for BenchExec and prints their names.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Error> {
    let sources: Vec<Source> = args.results.iter().map(|path| Source::read(path)).collect::<Result<_, _>>()?;
    let name = args.name.clone().or(sources.first().map(|source| source.name.clone())).unwrap_or_default();
    let mut names = String::new();
    for (file, xml) in benchexec::result_files(&Matrix::new(&sources), &sources, &name, &args.output) {
        let path = args.output.join(file);
        write(&path, &xml)?;
        names += &format!("{}\n", path.display());
    }
    print(&names)
}

/// Writes a table.
pub(crate) fn table(args: &TableArgs) -> Result<(), Error> {
    let (matrix, sources) = args.selection.load()?;
    let text = match args.format {
        Format::Html => html::page(&matrix, &sources, &args.title),
        format if args.raw => table::raw(&matrix).render(format),
        format => table::table(&matrix, args.style, args.rows, &Metric::parse(&args.metric)).render(format),
    };
    args.selection.write(&text)
}

/// Writes a plot.
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Error> {
    let (PlotKind::Quantile { common, .. } | PlotKind::Scatter { common } | PlotKind::Parameter { common, .. }) =
        &args.kind;
    let (matrix, _) = common.selection.load()?;
    let scene = match &args.kind {
        PlotKind::Quantile { by_score, .. } => plot::quantile(&matrix, &common.wish(), *by_score),
        PlotKind::Scatter { .. } if matrix.columns.len() != 2 => {
            let labels: Vec<_> = matrix.columns.iter().map(|column| format!("'{}'", column.label)).collect();
            let message =
                format!("a scatter plot needs two configurations; choose with --columns from {}", labels.join(", "));
            return Err(Error::Usage(message));
        }
        PlotKind::Scatter { .. } => plot::scatter(&matrix, &common.wish(), 0, 1),
        PlotKind::Parameter { series, .. } => {
            let first = matrix.columns.iter().find(|column| column.parameter.is_some());
            let name = series.as_deref().or(first.map(|column| column.config.as_str()));
            let name = name.ok_or_else(|| Error::Usage("no configuration has a parameter".into()))?;
            plot::parameter(&matrix, &common.wish(), name)?
        }
    };
    let path = common.selection.output.as_deref();
    match path.filter(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"))) {
        None => common.selection.write(&scene.svg()),
        Some(path) => write(path, scene.png().map_err(Error::Usage)?),
    }
}

/// Writes scores.
pub(crate) fn score(args: &ScoreArgs) -> Result<(), Error> {
    let (matrix, _) = args.selection.load()?;
    args.selection.write(&table::scores(&matrix).render(args.format))
}

impl Selection {
    fn load(&self) -> Result<(Matrix, Vec<Source>), Error> {
        let sources: Vec<Source> = self.results.iter().map(|path| Source::read(path)).collect::<Result<_, _>>()?;
        for (source, path) in sources.iter().zip(&self.results) {
            if source.cut_off {
                note(&format!("{}: the last line is incomplete and left out", path.display()));
            }
        }
        let mut matrix = Matrix::new(&sources);
        if !self.columns.is_empty() {
            matrix.select_columns(&self.columns)?;
        }
        if let Some(text) = &self.filter {
            matrix.retain_rows(|row, _| row.task.contains(text));
        }
        if let Some(text) = &self.with {
            let (label, from, to) = range(text).ok_or_else(|| {
                Error::Usage(format!(
                    "'{text}' is not of the form LABEL=FROM..TO, such as 'Number of CEGAR refinements=2..'"
                ))
            })?;
            let metric = Metric::parse(label);
            matrix.retain_rows(|_, cells| {
                cells.iter().flatten().filter_map(|record| metric.of(record)).any(|value| (from..=to).contains(&value))
            });
        }
        Ok((matrix, sources))
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        match &self.output {
            None => print(text),
            Some(path) => write(path, text),
        }
    }
}

fn range(text: &str) -> Option<(&str, f64, f64)> {
    let (label, range) = text.rsplit_once('=')?;
    let (from, to) = range.split_once("..")?;
    let end = |text: &str, open: f64| if text.is_empty() { Some(open) } else { text.parse().ok() };
    Some((label, end(from, f64::NEG_INFINITY)?, end(to, f64::INFINITY)?))
}

/// Writes a file; its folder is made if need be.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    }
    fs::write(path, content).map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges() {
        assert_eq!(range("a=b=2..4"), Some(("a=b", 2.0, 4.0)));
        assert_eq!(range("n=..1"), Some(("n", f64::NEG_INFINITY, 1.0)));
        assert_eq!([range("n"), range("n=3"), range("n=a..")], [None, None, None]);
    }
}
