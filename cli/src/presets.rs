// SPDX-License-Identifier: Apache-2.0
//! Named configurations and configuration files, both TOML.

use thiserror::Error;
use toml::{Table, Value};

use crate::options::{Config, OptionError};

/// The presets: name and text.
const PRESETS: &[(&str, &str)] = &[
    ("bmc", include_str!("../presets/bmc.toml")),
    ("bmc-incremental", include_str!("../presets/bmc-incremental.toml")),
    ("bmc-la", include_str!("../presets/bmc-la.toml")),
    ("default", include_str!("../presets/default.toml")),
    ("contracts", include_str!("../presets/contracts.toml")),
    ("execution", include_str!("../presets/execution.toml")),
    ("exhaustive", include_str!("../presets/exhaustive.toml")),
    ("impact", include_str!("../presets/impact.toml")),
    ("impact-abelf", include_str!("../presets/impact-abelf.toml")),
    ("impact-sbe", include_str!("../presets/impact-sbe.toml")),
    ("kinduction", include_str!("../presets/kinduction.toml")),
    ("kinduction-dfInvariants", include_str!("../presets/kinduction-dfInvariants.toml")),
    ("kinduction-la", include_str!("../presets/kinduction-la.toml")),
    ("kinduction-octagon", include_str!("../presets/kinduction-octagon.toml")),
    ("kinduction-plain", include_str!("../presets/kinduction-plain.toml")),
    ("numeric-box", include_str!("../presets/numeric-box.toml")),
    ("numeric-eq", include_str!("../presets/numeric-eq.toml")),
    ("numeric-oct", include_str!("../presets/numeric-oct.toml")),
    ("numeric-poly", include_str!("../presets/numeric-poly.toml")),
    ("octagon-bam", include_str!("../presets/octagon-bam.toml")),
    ("octagon", include_str!("../presets/octagon.toml")),
    ("octagon-box", include_str!("../presets/octagon-box.toml")),
    ("octagon-float", include_str!("../presets/octagon-float.toml")),
    ("octagon-join", include_str!("../presets/octagon-join.toml")),
    ("octagon-join-cex", include_str!("../presets/octagon-join-cex.toml")),
    ("octagon-join-lh", include_str!("../presets/octagon-join-lh.toml")),
    ("octagon-la", include_str!("../presets/octagon-la.toml")),
    ("octagon-restart-100-float", include_str!("../presets/octagon-restart-100-float.toml")),
    ("octagon-restart-250-float", include_str!("../presets/octagon-restart-250-float.toml")),
    ("octagon-restart-jr", include_str!("../presets/octagon-restart-jr.toml")),
    ("octagon-restart-100", include_str!("../presets/octagon-restart-100.toml")),
    ("octagon-restart-250", include_str!("../presets/octagon-restart-250.toml")),
    ("octagon-widening", include_str!("../presets/octagon-widening.toml")),
    ("octagon-widening-cex", include_str!("../presets/octagon-widening-cex.toml")),
    ("octagon-widening-cex-float", include_str!("../presets/octagon-widening-cex-float.toml")),
    ("octagon-widening-float", include_str!("../presets/octagon-widening-float.toml")),
    ("octagon-widening-lh", include_str!("../presets/octagon-widening-lh.toml")),
    ("octagon-refiner-float", include_str!("../presets/octagon-refiner-float.toml")),
    ("octagon-refiner", include_str!("../presets/octagon-refiner.toml")),
    ("predicate", include_str!("../presets/predicate.toml")),
    ("predicate-bam", include_str!("../presets/predicate-bam.toml")),
    ("predicate-bam-inplace", include_str!("../presets/predicate-bam-inplace.toml")),
    ("predicate-abelf", include_str!("../presets/predicate-abelf.toml")),
    ("predicate-la", include_str!("../presets/predicate-la.toml")),
    ("predicate-sbe", include_str!("../presets/predicate-sbe.toml")),
    ("ranges", include_str!("../presets/ranges.toml")),
    ("shape", include_str!("../presets/shape.toml")),
    ("shape-coarse", include_str!("../presets/shape-coarse.toml")),
    ("shape-intervals", include_str!("../presets/shape-intervals.toml")),
    ("states", include_str!("../presets/states.toml")),
    ("states-cegar", include_str!("../presets/states-cegar.toml")),
    ("subdivision", include_str!("../presets/subdivision.toml")),
    ("summaries", include_str!("../presets/summaries.toml")),
    ("symexec", include_str!("../presets/symexec.toml")),
    ("ufo", include_str!("../presets/ufo.toml")),
    ("value", include_str!("../presets/value.toml")),
    ("value-la", include_str!("../presets/value-la.toml")),
    ("value-bam", include_str!("../presets/value-bam.toml")),
    ("value-bam-inplace", include_str!("../presets/value-bam-inplace.toml")),
    ("value-nocegar", include_str!("../presets/value-nocegar.toml")),
    ("value-predicate", include_str!("../presets/value-predicate.toml")),
];

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// There is no such preset.
    #[error("there is no preset '{name}'; the presets are: {known}")]
    UnknownPreset {
        /// The name as given.
        name: String,
        /// All names.
        known: String,
    },
    /// The text is not TOML.
    #[error("{source_name}: not a TOML file: {message}")]
    Syntax {
        /// The file.
        source_name: String,
        /// What the parser says.
        message: String,
    },
    /// A value has a type that no option has.
    #[error("{source_name}: the value of '{key}' must be a text, a number or true or false")]
    Type {
        /// The file.
        source_name: String,
        /// The key.
        key: String,
    },
    /// An option cannot be set.
    #[error("{source_name}: {error}")]
    Option {
        /// The file or the command line.
        source_name: String,
        /// What is wrong.
        error: OptionError,
    },
}

/// The names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// Name and text of all presets.
pub fn all() -> &'static [(&'static str, &'static str)] {
    PRESETS
}

/// Applies a preset.
pub fn apply_preset(config: &mut Config, name: &str) -> Result<(), ConfigError> {
    let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(ConfigError::UnknownPreset { name: name.to_string(), known });
    };
    apply_toml(config, text, &format!("preset {name}"))
}

/// Applies the options of a TOML text; tables are prefixes of keys.
pub fn apply_toml(config: &mut Config, text: &str, source_name: &str) -> Result<(), ConfigError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
        source_name: source_name.to_string(),
        message: error.message().to_string(),
    })?;
    apply_table(config, &table, "", source_name)
}

fn apply_table(config: &mut Config, table: &Table, prefix: &str, source_name: &str) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let text = match value {
            Value::Table(inner) => {
                apply_table(config, inner, &key, source_name)?;
                continue;
            }
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            Value::Datetime(_) | Value::Array(_) => {
                return Err(ConfigError::Type { source_name: source_name.to_string(), key });
            }
        };
        config.set(&key, &text).map_err(|error| ConfigError::Option { source_name: source_name.to_string(), error })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid() {
        for name in names() {
            apply_preset(&mut Config::default(), name).unwrap();
        }
    }

    #[test]
    fn files_name_what_is_wrong() {
        let error = apply_toml(&mut Config::default(), "[cpa.predicate]\nblk.treshold = 3", "my.toml").unwrap_err();
        assert!(error.to_string().starts_with("my.toml: there is no option 'cpa.predicate.blk.treshold'"), "{error}");
        let error = apply_toml(&mut Config::default(), "[[", "my.toml").unwrap_err();
        assert!(error.to_string().contains("not a TOML file"), "{error}");
    }
}
