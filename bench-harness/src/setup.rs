// SPDX-License-Identifier: Apache-2.0
//! The circumstances of a result file, written beside it as `NAME.setup.json`: machine, tools, limits, tasks. With it, a
//! run can be repeated, and it can be told whether two runs were on the same tasks.

use std::{collections::BTreeMap, fs, path::Path, time::SystemTime};

use serde_json::{Value, json};

use crate::{
    error::Error,
    run::{Job, Plan},
};

/// Writes the file.
pub(crate) fn write(results: &Path, jobs: &[Job], plan: &Plan) -> Result<(), Error> {
    if !results.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir()) || is_device(results) {
        return Ok(());
    }
    let path = results.with_extension("setup.json");
    let text = serde_json::to_string_pretty(&setup(jobs, plan)).unwrap_or_default() + "\n";
    fs::write(&path, text).map_err(Error::file("write", path))
}

fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file())
}

fn setup(jobs: &[Job], plan: &Plan) -> Value {
    let mut configurations = BTreeMap::new();
    let mut tasks = BTreeMap::new();
    for Job { configuration, task } in jobs {
        configurations.entry(configuration.column()).or_insert_with(|| {
            json!({
                "tool": configuration.tool.name,
                "options": configuration.options,
                "timelimit_s": configuration.limits.cpu.as_secs_f64(),
                "walllimit_s": configuration.limits.wall.as_secs_f64(),
                "memlimit_bytes": configuration.limits.memory,
            })
        });
        tasks.entry((&task.name, &task.property)).or_insert(task);
    }
    let mut hash = Hash::default();
    for task in tasks.values() {
        hash.add(task.name.as_bytes());
        hash.add(task.property.as_bytes());
        for file in task.inputs.iter().chain([&task.property_file]) {
            hash.add(&fs::read(file).unwrap_or_default());
        }
    }
    json!({
        "cpa_bench": env!("CARGO_PKG_VERSION"),
        "started_unix_s": SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        "machine": machine(),
        "runs_at_once": plan.workers,
        "cores_per_run": plan.cores,
        "bound_to_cores": plan.pin,
        "measured_by": plan.cgroups.name(),
        "why_not_by_cgroup": plan.cgroups.reason(),
        "configurations": configurations,
        "tasks": tasks.len(),
        "tasks_fnv1a": format!("{:016x}", hash.0),
    })
}

fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let first = |text: String, label: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(label).map(str::to_string));
        line.map(|rest| rest.trim_start_matches([' ', '\t', ':']).to_string())
    };
    json!({
        "name": read("/proc/sys/kernel/hostname").trim(),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "processor": first(read("/proc/cpuinfo"), "model name"),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": first(read("/proc/meminfo"), "MemTotal"),
    })
}

/// FNV-1a with 64 bits: it tells whether something is the same by accident, not by malice.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds a text and its end.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn the_hash_sees_where_texts_end() {
        let hash = |texts: &[&str]| {
            let mut hash = Hash::default();
            texts.iter().for_each(|text| hash.add(text.as_bytes()));
            hash.0
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(hash(&["ab"]), hash(&["ab"]));
    }
}
