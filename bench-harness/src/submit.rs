// SPDX-License-Identifier: Apache-2.0
//! The command `submit`: many runs as an array job of SLURM. Each element of the array is `cpa-bench run` on one part of
//! the runs, with a result file of its own; they are put together by `cpa-bench merge`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use clap::{Args, Parser, ValueEnum};

use crate::{
    args::{note, print},
    error::Error,
    launch::RunArgs,
    report::write,
    run::Job,
    units::show_rough,
};

/// Submit runs to a cluster as an array job.
///
/// Everything behind `--` is given to `cpa-bench run`, in the present folder, for each part of the runs.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// Which cluster software
    #[arg(long, value_enum)]
    engine: Engine,
    /// Into how many parts the runs are divided
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    parts: u16,
    /// Where the script, the outputs and the results of the parts go
    #[arg(long, value_name = "FOLDER", default_value = "parts")]
    folder: PathBuf,
    /// A further option for the cluster, such as --partition=long; may be repeated
    #[arg(long = "sbatch", value_name = "OPTION", allow_hyphen_values = true)]
    further: Vec<String>,
    /// Only write the script
    #[arg(long)]
    dry_run: bool,
    /// Arguments of `cpa-bench run`
    #[arg(last = true, required = true)]
    arguments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// SLURM
    Slurm,
}

/// The arguments of `run` as a command of their own.
#[derive(Debug, Parser)]
#[command(name = "cpa-bench run")]
struct Run {
    #[command(flatten)]
    run: RunArgs,
}

/// Writes the script and submits it.
pub(crate) fn submit(args: &SubmitArgs) -> Result<(), Error> {
    let Engine::Slurm = args.engine;
    let words = ["run".to_string()].into_iter().chain(args.arguments.iter().cloned());
    let run = Run::try_parse_from(words).map_err(|e| Error::Usage(e.to_string()))?.run;
    if run.common.output.is_some() || run.common.shard.is_some() {
        return Err(Error::Usage("--output and --shard are chosen for each part".into()));
    }
    let (work, _) = run.any_work()?;
    let jobs = &work.jobs;
    if jobs.is_empty() {
        return Err(Error::Usage("no run is left".into()));
    }
    let parts = usize::from(args.parts).min(jobs.len());
    let needs = Needs::of(jobs, parts, usize::from(run.common.jobs), work.cores.or(run.common.cores.map(usize::from)));
    let system = |source| Error::System { action: "finding the present folder", source };
    let script = script(args, parts, &needs, &env::current_dir().map_err(system)?)?;
    let path = args.folder.join("job.sh");
    write(&path, &script)?;
    print(&format!(
        "{} runs in {parts} parts of at most {}; at most {:.1} CPU hours together\n",
        jobs.len(),
        show_rough(needs.time),
        needs.cpu.as_secs_f64() / 3600.0
    ))?;
    if !args.dry_run {
        let output = Command::new("sbatch").arg(&path).output();
        let bad = |message: String| Error::Tool { tool: "sbatch".into(), message };
        let output = output.map_err(|e| bad(e.to_string()))?;
        let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() && said.trim().is_empty() {
            return Err(bad(complaint.trim().to_string()));
        }
        note(said.trim());
        // It was submitted, so this is about how it ended, for which --sbatch=--wait waits.
        if !output.status.success() {
            return Err(Error::Usage(format!("some part failed ({}); see {}", output.status, args.folder.display())));
        }
    }
    let folder = args.folder.display();
    note(&format!("afterwards: cpa-bench merge {folder}/part-*.jsonl --output {folder}/all.jsonl"));
    Ok(())
}

/// What one part may need at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    time: Duration,
    cores: usize,
    memory: u64,
    /// CPU time of all parts together.
    cpu: Duration,
}

impl Needs {
    fn of(jobs: &[Job], parts: usize, workers: usize, cores: Option<usize>) -> Needs {
        let limits = || jobs.iter().map(|job| job.configuration.limits);
        // The longest part: every part-th run. Some minutes are for a machine that is slow to begin.
        let wall = (0..parts).map(|part| limits().skip(part).step_by(parts).map(|l| l.wall).sum::<Duration>()).max();
        let memory = limits().map(|l| l.memory).max().unwrap_or(0).saturating_mul(workers as u64);
        Needs {
            time: wall.unwrap_or_default() / workers as u32 + Duration::from_secs(300),
            cores: workers * cores.unwrap_or(1),
            // The harness itself, and what polling does not see in time.
            memory: memory.saturating_add(memory / 10 + 200_000_000),
            cpu: limits().map(|l| l.cpu).sum(),
        }
    }
}

fn script(args: &SubmitArgs, parts: usize, needs: &Needs, here: &Path) -> Result<String, Error> {
    let folder = here.join(&args.folder);
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let program = env::current_exe().map_err(|source| Error::System { action: "finding this program", source })?;
    let minutes = needs.time.as_secs().div_ceil(60);
    let megabytes = needs.memory.div_ceil(1_000_000);
    let further: String = args.further.iter().map(|option| format!("#SBATCH {option}\n")).collect();
    let arguments: String = args.arguments.iter().map(|argument| format!(" {}", quoted(argument))).collect();
    // Options of `run` must stand before those of the tool.
    let (folder, here) = (quoted(&folder.to_string_lossy()), quoted(&here.to_string_lossy()));
    let cores = needs.cores;
    Ok(format!(
        "#!/bin/sh\n#SBATCH --job-name=cpa-bench\n#SBATCH --array=1-{parts}\n#SBATCH --time={minutes}\n\
         #SBATCH --cpus-per-task={cores}\n#SBATCH --mem={megabytes}M\n#SBATCH --output={}/part-%a.out\n{further}\
         # What a part has done already is not run again when it is submitted once more.\n\
         part=${{SLURM_ARRAY_TASK_ID:?}}\ncd {here} || exit 1\n\
         exec {} run --shard \"$part/{parts}\" --resume --output {folder}/part-\"$part\".jsonl{arguments}\n",
        args.folder.display(),
        quoted(&program.to_string_lossy()),
    ))
}

/// As one word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(["a/b-c=1", "", "a b", "it's"].map(quoted), ["a/b-c=1", "''", "'a b'", "'it'\\''s'"]);
    }
}
