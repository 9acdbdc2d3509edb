// SPDX-License-Identifier: Apache-2.0
//! Reads witnesses in the format 2.0 to 2.2 and says everything that is wrong with their form.

use yaml_serde::Value;

/// A witness.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// What a correctness witness says.
    pub invariants: Vec<Claim>,
    /// The waypoints of a violation witness, in order; none in a correctness witness.
    pub waypoints: Vec<Waypoint>,
    /// Whether it is a violation witness.
    pub violation: bool,
    /// The input files with their SHA-256.
    pub hashes: Vec<(String, String)>,
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
}

/// An invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// Whether it belongs to a loop, not to a statement.
    pub of_loop: bool,
    /// Where.
    pub at: At,
    /// The C expression.
    pub value: String,
}

/// A waypoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waypoint {
    /// Its type: `assumption`, `branching`, `function_enter`, `function_return`, `target`.
    pub kind: String,
    /// `follow`, `avoid` or `cycle`.
    pub action: String,
    /// Where.
    pub at: At,
    /// The constraint.
    pub value: Option<String>,
}

struct Reader {
    problems: Vec<String>,
    version: String,
}

/// Reads a witness; fails with all that is wrong with it.
pub fn read(text: &str) -> Result<Witness, Vec<String>> {
    let value: Value = yaml_serde::from_str(text).map_err(|error| vec![format!("it is no YAML: {error}")])?;
    let mut reader = Reader { problems: Vec::new(), version: String::new() };
    let mut witness = Witness::default();
    match value.as_sequence() {
        Some(entries) if !entries.is_empty() => {
            for (at, entry) in entries.iter().enumerate() {
                reader.entry(&format!("entry {at}"), entry, &mut witness);
            }
        }
        _ => reader.problems.push("it is no list of entries".to_string()),
    }
    if witness.violation && !witness.invariants.is_empty() {
        reader.problems.push("it claims both a violation and a proof".to_string());
    }
    if reader.problems.is_empty() { Ok(witness) } else { Err(reader.problems) }
}

impl Reader {
    fn wrong(&mut self, place: &str, what: &str) {
        self.problems.push(format!("{place}: {what}"));
    }

    fn text(&mut self, place: &str, parent: &Value, key: &str) -> String {
        match parent.get(key).and_then(Value::as_str) {
            Some(text) if !text.is_empty() => text.to_string(),
            _ => {
                self.wrong(place, &format!("'{key}' is no string"));
                String::new()
            }
        }
    }

    fn one_of(&mut self, place: &str, parent: &Value, key: &str, allowed: &[&str]) -> String {
        let text = self.text(place, parent, key);
        if !text.is_empty() && !allowed.contains(&text.as_str()) {
            self.wrong(place, &format!("'{key}' is '{text}', not one of {}", allowed.join(", ")));
        }
        text
    }

    fn entry(&mut self, place: &str, entry: &Value, witness: &mut Witness) {
        let kind = self.one_of(place, entry, "entry_type", &["invariant_set", "violation_sequence"]);
        match entry.get("metadata") {
            Some(metadata) => self.metadata(&format!("{place}, metadata"), metadata, witness),
            None => self.wrong(place, "there is no 'metadata'"),
        }
        let Some(content) = entry.get("content").and_then(Value::as_sequence) else {
            return self.wrong(place, "'content' is no list");
        };
        for (at, item) in content.iter().enumerate() {
            let place = format!("{place}, content {at}");
            match kind.as_str() {
                "invariant_set" => self.invariant(&place, item, witness),
                "violation_sequence" => self.segment(&place, item, at + 1 == content.len(), witness),
                _ => {}
            }
        }
        if kind == "violation_sequence" {
            witness.violation = true;
            if content.is_empty() {
                self.wrong(place, "there is no segment");
            }
        }
    }

    fn metadata(&mut self, place: &str, metadata: &Value, witness: &mut Witness) {
        self.version = self.one_of(place, metadata, "format_version", &["2.0", "2.1", "2.2"]);
        let uuid = self.text(place, metadata, "uuid");
        let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
        if parts != [8, 4, 4, 4, 12] || !uuid.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) {
            self.wrong(place, "'uuid' is no identifier in the form of RFC 4122");
        }
        let time = self.text(place, metadata, "creation_time");
        let zoned = time.ends_with('Z') || time.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
        if time.len() < 20 || time.as_bytes()[10] != b'T' || !zoned {
            self.wrong(place, "'creation_time' is no ISO 8601 time with zone");
        }
        match metadata.get("producer") {
            Some(producer) => {
                self.text(&format!("{place}, producer"), producer, "name");
                self.text(&format!("{place}, producer"), producer, "version");
            }
            None => self.wrong(place, "there is no 'producer'"),
        }
        let Some(task) = metadata.get("task") else { return self.wrong(place, "there is no 'task'") };
        let place = format!("{place}, task");
        self.text(&place, task, "specification");
        self.one_of(&place, task, "data_model", &["ILP32", "LP64"]);
        self.one_of(&place, task, "language", &["C"]);
        let files: Vec<&str> = task
            .get("input_files")
            .and_then(Value::as_sequence)
            .map(|files| files.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        if files.is_empty() {
            self.wrong(&place, "'input_files' is no list of names");
        }
        for file in files {
            let hash = task.get("input_file_hashes").and_then(|hashes| hashes.get(file)).and_then(Value::as_str);
            match hash {
                Some(hash) if hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()) => {
                    witness.hashes.push((file.to_string(), hash.to_lowercase()));
                }
                _ => self.wrong(&place, &format!("there is no SHA-256 of '{file}' in 'input_file_hashes'")),
            }
        }
    }

    fn at(&mut self, place: &str, parent: &Value) -> At {
        let Some(location) = parent.get("location") else {
            self.wrong(place, "there is no 'location'");
            return At::default();
        };
        let place = format!("{place}, location");
        let file = self.text(&place, location, "file_name");
        let number = |key: &str| location.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let line = number("line").filter(|line| *line > 0);
        if line.is_none() {
            self.wrong(&place, "'line' is no positive number");
        }
        if location.get("column").is_some() && number("column").is_none_or(|column| column == 0) {
            self.wrong(&place, "'column' is no positive number");
        }
        At { file, line: line.unwrap_or(0), column: number("column") }
    }

    fn invariant(&mut self, place: &str, item: &Value, witness: &mut Witness) {
        let Some(invariant) = item.get("invariant") else { return self.wrong(place, "there is no 'invariant'") };
        let kinds = [
            "loop_invariant",
            "location_invariant",
            "loop_transition_invariant",
            "location_transition_invariant",
            "function_contract",
        ];
        let known = if self.version == "2.0" { &kinds[..2] } else { &kinds[..] };
        let kind = self.one_of(place, invariant, "type", known);
        let at = self.at(place, invariant);
        self.one_of(place, invariant, "format", &["c_expression", "ext_c_expression", "acsl_expression"]);
        if matches!(kind.as_str(), "loop_invariant" | "location_invariant") {
            let value = self.text(place, invariant, "value");
            witness.invariants.push(Claim { of_loop: kind == "loop_invariant", at, value });
        }
    }

    fn segment(&mut self, place: &str, item: &Value, last: bool, witness: &mut Witness) {
        let Some(segment) = item.get("segment").and_then(Value::as_sequence) else {
            return self.wrong(place, "there is no list 'segment'");
        };
        if segment.is_empty() {
            self.wrong(place, "the segment has no waypoint");
        }
        for (at, item) in segment.iter().enumerate() {
            let final_one = at + 1 == segment.len();
            let place = format!("{place}, waypoint {at}");
            let Some(waypoint) = item.get("waypoint") else {
                self.wrong(&place, "there is no 'waypoint'");
                continue;
            };
            let kinds = ["assumption", "branching", "function_enter", "function_return", "target"];
            let kind = self.one_of(&place, waypoint, "type", &kinds);
            let action = self.one_of(&place, waypoint, "action", &["follow", "avoid", "cycle"]);
            if (action == "avoid") == final_one {
                self.wrong(&place, "all waypoints of a segment but the last one are to be avoided, and no others");
            }
            if (kind == "target") != (last && final_one) {
                self.wrong(&place, "the last waypoint, and no other one, is the target");
            }
            let location = self.at(&place, waypoint);
            let value = waypoint.get("constraint").and_then(|constraint| constraint.get("value"));
            let value = value.and_then(|value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Bool(truth) => Some(truth.to_string()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
            if matches!(kind.as_str(), "assumption" | "branching" | "function_return") && value.is_none() {
                self.wrong(&place, "there is no 'constraint' with a 'value'");
            }
            witness.waypoints.push(Waypoint { kind, action, at: location, value });
        }
    }
}
