// SPDX-License-Identifier: Apache-2.0
//! Who may know whom: arrows point downwards only, domains and algorithms do not know each other, and each foreign
//! library that could be exchanged is known to one crate.

use std::collections::BTreeSet;

use crate::{Finding, manifests::Workspace};

/// Every crate of the workspace, present or planned, and the crates it may depend on. A new crate or arrow is a design
/// decision: it is made here and in docs/ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    ("cfa", &[]),
    ("smt", &[]),
    ("cpa-core", &["cfa"]),
    ("cpa-predicate", &["cfa", "smt", "cpa-core"]),
    ("cpa-value", &["cfa", "cpa-core"]),
    ("cpa-octagon", &["cfa", "cpa-core"]),
    ("cpa-shape", &["cfa", "cpa-core"]),
    ("algo-cegar", &["cfa", "cpa-core"]),
    ("algo-bam", &["cfa", "cpa-core", "algo-cegar"]),
    ("algo-bmc", &["cfa", "smt", "cpa-core", "cpa-predicate", "algo-cegar"]),
    ("algo-exec", &["cfa", "cpa-core", "algo-cegar"]),
    ("algo-kind", &["cfa", "smt", "cpa-core", "cpa-predicate", "algo-bmc"]),
    ("algo-contracts", &["cfa", "smt", "cpa-core", "cpa-predicate", "algo-kind"]),
    ("algo-summaries", &["cfa", "smt", "cpa-core"]),
    ("loopabs", &["cfa", "cpa-core"]),
    ("report", &["cfa", "cpa-core"]),
    (
        "cli",
        &[
            "cfa",
            "smt",
            "cpa-core",
            "cpa-predicate",
            "cpa-value",
            "cpa-octagon",
            "cpa-shape",
            "algo-cegar",
            "algo-bam",
            "algo-bmc",
            "algo-exec",
            "algo-kind",
            "algo-contracts",
            "algo-summaries",
            "loopabs",
            "report",
        ],
    ),
    ("bench-harness", &["report"]),
    ("xtask", &[]),
];

/// Foreign crates that only one crate may name, so that they can be replaced.
const OWNED: &[(&str, &str)] = &[
    ("tree-sitter", "cfa"),
    ("lang-c", "cfa"),
    ("tree-sitter-c", "cfa"),
    ("cadical", "smt"),
    ("z3", "smt"),
    ("z3-sys", "smt"),
    ("oxidd", "cpa-predicate"),
    ("cudd-sys", "cpa-predicate"),
];

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: BTreeSet<&str> = workspace.crates.iter().map(|c| c.name.as_str()).collect();
    let mut findings = Vec::new();
    for member in &workspace.crates {
        let place = format!("{}/Cargo.toml", member.folder);
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == member.name) else {
            findings.push(Finding::new(
                place,
                "the crate has no place in the crate graph, see ALLOWED in xtask/src/graph.rs",
            ));
            continue;
        };
        for dependency in &member.dependencies {
            let known = dependency.name.as_str();
            if members.contains(known) && known != member.name && !allowed.contains(&known) {
                findings.push(Finding::new(&place, format!("{} must not depend on {known}", member.name)));
            }
            if let Some((_, owner)) = OWNED.iter().find(|(name, owner)| *name == known && *owner != member.name) {
                findings.push(Finding::new(&place, format!("only {owner} may depend on {known}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::{Crate, Dependency};

    fn workspace(crates: &[(&str, &[&str])]) -> Workspace {
        let dependency = |name: &&str| Dependency { name: name.to_string(), local: false };
        let crates = crates.iter().map(|(name, dependencies)| Crate {
            name: name.to_string(),
            folder: name.to_string(),
            dependencies: dependencies.iter().map(dependency).collect(),
            build_script: None,
        });
        Workspace { crates: crates.collect() }
    }

    fn messages(crates: &[(&str, &[&str])]) -> Vec<String> {
        check(&workspace(crates)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn the_allowed_graph_has_no_cycle() {
        let known: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
        for (position, (name, allowed)) in ALLOWED.iter().enumerate() {
            for dependency in *allowed {
                assert!(known[..position].contains(dependency), "{name} -> {dependency}");
            }
        }
    }

    #[test]
    fn domains_and_algorithms_do_not_know_each_other() {
        for (name, allowed) in ALLOWED {
            if name.starts_with("cpa-") {
                assert!(!allowed.iter().any(|other| other.starts_with("algo-")), "{name}");
            }
            if ["algo-cegar", "algo-bam"].contains(name) {
                assert!(!allowed.iter().any(|other| other.starts_with("cpa-") && *other != "cpa-core"), "{name}");
            }
        }
    }

    #[test]
    fn findings() {
        assert!(messages(&[("cfa", &["thiserror"]), ("cpa-core", &["cfa", "cpa-core"])]).is_empty());
        assert_eq!(
            messages(&[
                ("cfa", &[]),
                ("cpa-core", &["cfa"]),
                ("algo-cegar", &["cpa-core", "cpa-predicate"]),
                ("cpa-predicate", &[])
            ]),
            ["algo-cegar/Cargo.toml: algo-cegar must not depend on cpa-predicate"]
        );
        assert_eq!(messages(&[("cli", &["z3"])]), ["cli/Cargo.toml: only smt may depend on z3"]);
        assert_eq!(messages(&[("new", &[])]).len(), 1);
    }
}
