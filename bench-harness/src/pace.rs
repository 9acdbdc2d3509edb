// SPDX-License-Identifier: Apache-2.0
//! How much of several experiments fits into a given time.
//!
//! The rule: before an experiment begins, the time that is left is compared with what it and all later ones can need at most,
//! each run its CPU limit and the time it may take to end. If that is too much, the experiment is run on an equal part of
//! its tasks, evenly spread, with all configurations on each of them. Experiments that need less than they might leave
//! their time to the later ones. Where they have needed more, because the machine is busy, that is expected of the later
//! ones, too.

use std::time::{Duration, Instant};

use crate::{
    experiment::{Work, spread},
    run::Job,
};

/// How long a run that is out of time may take to end.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Time for several experiments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    begin: Instant,
    /// None if time does not matter.
    within: Option<Duration>,
    /// Runs at once.
    workers: u32,
    /// What the experiments that are done needed at most, one run after the other.
    done: Duration,
}

impl Pace {
    /// The time begins now.
    pub(crate) fn new(within: Option<Duration>, workers: u32) -> Pace {
        Pace { begin: Instant::now(), within, workers, done: Duration::ZERO }
    }

    /// How long the runs may take at most, one after the other.
    pub(crate) fn most<'a>(jobs: impl Iterator<Item = &'a Job>) -> Duration {
        jobs.map(|job| job.configuration.limits.cpu + LAST_WORDS).sum()
    }

    /// How long runs may take that would take so long one after the other.
    pub(crate) fn together(&self, most: Duration) -> Duration {
        most / self.workers
    }

    /// Leaves out tasks if there is no time for all experiments that are left, which need at most `most` one after the
    /// other. Returns how many tasks of how many are run, if not all.
    pub(crate) fn fit(&self, work: &mut Work, most: Duration) -> Option<(usize, usize)> {
        self.fit_after(self.begin.elapsed(), work, most)
    }

    /// An experiment is done whose runs needed at most so long one after the other.
    pub(crate) fn done(&mut self, most: Duration) {
        self.done += most;
    }

    fn fit_after(&self, elapsed: Duration, work: &mut Work, most: Duration) -> Option<(usize, usize)> {
        let left = self.within?.saturating_sub(elapsed);
        let expected = self.together(self.done).as_secs_f64();
        let slowness = if expected > 0.0 { (elapsed.as_secs_f64() / expected).max(1.0) } else { 1.0 };
        let part = left.as_secs_f64() / (self.together(most).as_secs_f64() * slowness);
        if part >= 1.0 || work.jobs.is_empty() {
            return None;
        }
        let mut tasks: Vec<String> = Vec::new();
        for job in &work.jobs {
            if !tasks.contains(&job.task.name) {
                tasks.push(job.task.name.clone());
            }
        }
        let all = tasks.len();
        let kept = (all as f64 * part) as usize;
        let tasks = if kept == 0 { Vec::new() } else { spread(tasks, Some(kept)) };
        work.jobs.retain(|job| tasks.contains(&job.task.name));
        Some((kept, all))
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Arc};

    use super::*;
    use crate::{
        limits::Limits,
        run::{Configuration, LimitTexts},
        task::Task,
        tool::{Description, Tool},
    };

    /// Two configurations on so many tasks, with a limit of 10 s.
    fn work(tasks: usize) -> Work {
        let described = Description { command: vec!["sh".into()], ..Description::cpa_verify() };
        let tool = Arc::new(Tool::find(&described, None, &[]).unwrap());
        let limits = Limits { cpu: Duration::from_secs(10), wall: Duration::from_secs(30), memory: 1 << 30 };
        let configuration = |name: &str| {
            Arc::new(Configuration {
                name: Some(name.into()),
                parameter: None,
                tool: Arc::clone(&tool),
                options: Vec::new(),
                limits,
                limit_texts: LimitTexts { time: "10s".into(), memory: "1GiB".into() },
            })
        };
        let configurations = [configuration("a"), configuration("b")];
        let job = |configuration: &Arc<Configuration>, number| Job {
            configuration: Arc::clone(configuration),
            task: Task {
                name: format!("t/{number}"),
                category: "t".into(),
                inputs: Vec::new(),
                property: "unreach-call".into(),
                property_file: PathBuf::new(),
                expected: None,
                data_model: None,
            },
        };
        let jobs = configurations.iter().flat_map(|one| (0..tasks).map(move |number| job(one, number))).collect();
        Work { jobs, ..Work::default() }
    }

    #[test]
    fn what_does_not_fit_is_left_out_evenly() {
        let within = |seconds, workers| Pace::new(Some(Duration::from_secs(seconds)), workers);
        let most = Pace::most(work(10).jobs.iter());
        assert_eq!(most, Duration::from_secs(206));
        // All fit.
        let mut all = work(10);
        assert_eq!(Pace::new(None, 1).fit(&mut all, most), None);
        assert_eq!(within(210, 1).fit(&mut all, most), None);
        assert_eq!(within(105, 2).fit(&mut all, most), None);
        assert_eq!(all.jobs.len(), 20);
        // The others need as much again.
        let mut half = work(10);
        assert_eq!(within(210, 1).fit(&mut half, most * 2), Some((5, 10)));
        let names: Vec<&str> = half.jobs.iter().map(|job| job.task.name.as_str()).collect();
        assert_eq!(names, ["t/0", "t/2", "t/4", "t/6", "t/9", "t/0", "t/2", "t/4", "t/6", "t/9"]);
        // The first experiment took twice as long as it should have.
        let mut pace = within(412 + 206, 1);
        pace.done(most);
        let mut slow = work(10);
        assert_eq!(pace.fit_after(most * 2, &mut slow, most), Some((5, 10)));
        // A tenth of the time is no reason to expect a tenth.
        assert_eq!(pace.fit_after(most / 10, &mut work(10), most), None);
        // Nothing fits.
        let mut none = work(10);
        assert_eq!(within(10, 1).fit(&mut none, most), Some((0, 10)));
        assert!(none.jobs.is_empty());
    }
}
