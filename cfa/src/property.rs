// SPDX-License-Identifier: Apache-2.0
//! Properties as in the property files of the software verification competition, as far as they are supported:
//! reachability of calls and labels.

use std::collections::BTreeSet;
use std::fmt;

use thiserror::Error;

use crate::ids::NodeId;
use crate::program::Program;

/// A reachability property: none of the calls and labels is ever reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// Functions that must not be called.
    pub calls: Vec<String>,
    /// Labels that must not be reached.
    pub labels: Vec<String>,
}

/// Why a property cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PropertyError {
    /// A property that is known but is not about reachability.
    #[error("property {0} is not supported; only the reachability of calls and labels is")]
    NotSupported(String),
    /// A text that is no property.
    #[error("'{0}' is not a property such as CHECK( init(main()), LTL(G ! call(reach_error())) )")]
    Malformed(String),
}

impl Property {
    /// Reads a property file; it may have several lines with one property each.
    pub fn parse(text: &str) -> Result<Self, PropertyError> {
        let mut property = Property::default();
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or("");
            let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            if compact.is_empty() {
                continue;
            }
            let malformed = || PropertyError::Malformed(line.trim().to_owned());
            let body = compact
                .strip_prefix("CHECK(init(main()),LTL(")
                .and_then(|rest| rest.strip_suffix("))"))
                .ok_or_else(malformed)?;
            if let Some(call) = body.strip_prefix("G!call(").and_then(|rest| rest.strip_suffix(')')) {
                let name = call.split('(').next().unwrap_or("");
                if !is_name(name) {
                    return Err(malformed());
                }
                property.calls.push(name.to_owned());
            } else if let Some(label) = body.strip_prefix("G!label(").and_then(|rest| rest.strip_suffix(')')) {
                if !is_name(label) {
                    return Err(malformed());
                }
                property.labels.push(label.to_owned());
            } else {
                return Err(PropertyError::NotSupported(property_name(body)));
            }
        }
        if property == Property::default() {
            return Err(PropertyError::Malformed(text.trim().to_owned()));
        }
        Ok(property)
    }

    /// The usual error functions and the label `ERROR`.
    pub fn default_errors() -> Self {
        let calls = ["reach_error", "__VERIFIER_error", "__assert_fail"];
        Self { calls: calls.map(str::to_owned).to_vec(), labels: vec!["ERROR".to_owned()] }
    }

    /// Short name: `unreach-call` or `unreach-label`.
    pub fn name(&self) -> &'static str {
        if self.calls.is_empty() { "unreach-label" } else { "unreach-call" }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls.iter().map(|name| format!("G ! call({name}())"));
        let labels = self.labels.iter().map(|name| format!("G ! label({name})"));
        let all: Vec<String> = calls.chain(labels).map(|ltl| format!("CHECK( init(main()), LTL({ltl}) )")).collect();
        f.write_str(&all.join("\n"))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The competition's name of a property.
fn property_name(ltl: &str) -> String {
    match ltl {
        "Gvalid-free" | "Gvalid-deref" | "Gvalid-memtrack" => "valid-memsafety".into(),
        "Gvalid-memcleanup" => "valid-memcleanup".into(),
        "G!overflow" => "no-overflow".into(),
        "G!data-race" => "no-data-race".into(),
        "Fend" => "termination".into(),
        other => other.into(),
    }
}

impl Program {
    /// The nodes where the property is violated: call sites and labels.
    pub fn targets(&self, property: &Property) -> BTreeSet<NodeId> {
        let calls = self.calls.iter().filter(|(name, ..)| property.calls.iter().any(|wanted| **wanted == **name));
        let labels = self.labels.iter().filter(|(name, _)| property.labels.iter().any(|wanted| **wanted == **name));
        calls.map(|(_, node, _)| *node).chain(labels.map(|(_, node)| *node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_property_files() {
        let property = Property::parse("CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n").unwrap();
        assert_eq!(property.calls, ["reach_error"]);
        assert_eq!(property.name(), "unreach-call");
        assert_eq!(property.to_string(), "CHECK( init(main()), LTL(G ! call(reach_error())) )");
        let property = Property::parse("CHECK( init(main()), LTL(G ! label(ERROR)) )").unwrap();
        assert_eq!(property.labels, ["ERROR"]);
    }

    #[test]
    fn names_what_is_not_supported() {
        let error = Property::parse("CHECK( init(main()), LTL(G ! overflow) )").unwrap_err();
        assert_eq!(error, PropertyError::NotSupported("no-overflow".into()));
        let error = Property::parse("CHECK( init(main()), LTL(F end) )").unwrap_err();
        assert_eq!(error, PropertyError::NotSupported("termination".into()));
        assert!(matches!(Property::parse("hello"), Err(PropertyError::Malformed(_))));
        assert!(matches!(Property::parse(""), Err(PropertyError::Malformed(_))));
    }
}
