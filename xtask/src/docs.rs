// SPDX-License-Identifier: Apache-2.0
//! Pages that are generated, so that they cannot tell anything but the truth: docs/options.md from the options that
//! `cpa-verify` itself prints.

use std::{env, fs, path::Path, process::Command};

const PAGE: &str = "docs/options.md";
const HEADER: &str = "# Options of cpa-verify\n\n\
    Every option with its default, as printed by `cpa-verify --print-options`; written by `cargo xtask docs`.\n\
    An option is set by `--option KEY=VALUE` or in a file for `--config`.\n\n";

pub(crate) fn write(root: &Path) -> Result<String, String> {
    let page = page(root)?;
    fs::write(root.join(PAGE), page).map_err(|e| format!("cannot write {PAGE}: {e}"))?;
    Ok(format!("docs: wrote {PAGE}"))
}

pub(crate) fn check(root: &Path) -> Result<String, String> {
    let page = page(root)?;
    let present = fs::read_to_string(root.join(PAGE)).map_err(|e| format!("cannot read {PAGE}: {e}"))?;
    if present == page {
        Ok(format!("docs: {PAGE} is up to date"))
    } else {
        Err(format!("{PAGE} is out of date: run cargo xtask docs"))
    }
}

fn page(root: &Path) -> Result<String, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--locked", "--package", "cli", "--bin", "cpa-verify", "--", "--print-options"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let options = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || options.trim().is_empty() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cpa-verify --print-options failed:\n{}", message.trim_end()));
    }
    Ok(format!("{HEADER}```text\n{}\n```\n", options.trim_end()))
}
