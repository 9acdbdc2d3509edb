// SPDX-License-Identifier: Apache-2.0
//! How far a run has come: one line that is redrawn on a terminal, a line every ten seconds elsewhere.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use crate::{
    result::{Record, Status},
    units::show_rough,
};

/// Writes to standard error; that it cannot be written to is no reason to stop.
#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    total: usize,
    done: usize,
    correct: usize,
    wrong: usize,
    started: Instant,
    drawn: Instant,
}

impl Progress {
    /// For so many tasks, beginning now.
    pub fn new(total: usize) -> Progress {
        let now = Instant::now();
        Progress {
            terminal: io::stderr().is_terminal(),
            total,
            done: 0,
            correct: 0,
            wrong: 0,
            started: now,
            drawn: now,
        }
    }

    /// Another task is done. What must not be missed gets a line of its own at once.
    pub fn record(&mut self, record: &Record) {
        self.done += 1;
        self.correct += usize::from(record.status == Status::Correct);
        self.wrong += usize::from(record.status == Status::Wrong);
        if matches!(record.status, Status::Wrong | Status::Crash) {
            let reason = record.reason.as_deref().unwrap_or_default();
            self.message(&format!("{}: {}: {reason}", record.status.name(), record.task));
        }
    }

    /// To be called a few times a second.
    pub fn tick(&mut self) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(10) };
        if self.drawn.elapsed() >= pause {
            self.drawn = Instant::now();
            let end = if self.terminal { "" } else { "\n" };
            self.write(&format!("{}{end}", self.line()));
        }
    }

    /// A line that stays.
    pub fn message(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Removes the line that is redrawn.
    pub fn finish(&self) {
        if self.terminal {
            self.write("");
        }
    }

    fn line(&self) -> String {
        let left = (self.total - self.done) as u32;
        let rest = match self.done {
            0 => String::new(),
            done => format!(", about {} left", show_rough(self.started.elapsed() * left / done as u32)),
        };
        format!("{}/{} done, {} correct, {} wrong{rest}", self.done, self.total, self.correct, self.wrong)
    }

    fn write(&self, text: &str) {
        let start = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = write!(io::stderr(), "{start}{text}");
    }
}
