// SPDX-License-Identifier: Apache-2.0
//! Plans: which analyses run on a program, in which order and for how long. A plan is data; the built-in ones are TOML
//! files in `cli/plans`, and users name files of their own.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use crate::features::Feature;
use crate::options::{Config, OptionError, OptionValue};
use crate::presets;

/// The built-in plans: name and text.
const PLANS: &[(&str, &str)] = &[
    ("default", include_str!("../plans/default.toml")),
    ("validate", concat!(include_str!("../plans/validate.toml"), include_str!("../plans/default.toml"))),
];

/// One analysis of a plan.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name, for messages.
    pub name: String,
    /// Its configuration.
    pub config: Config,
    /// CPU time of a turn that it gets before all first turns of stages, so that what is soon done does not wait for what is not.
    pub early: Option<Duration>,
    /// With several cores, the first stage that has this begins at once and keeps a core for so much CPU time, instead of its
    /// early turn.
    pub lead: Option<Duration>,
    /// CPU time of its first turn; each further turn is twice as long. Without it the stage runs to its end.
    pub turn: Option<Duration>,
    /// Whether the stage gets no second turn.
    pub once: bool,
    /// The features that a program must have, or must not have (`false`).
    pub when: Vec<(Feature, bool)>,
}

impl Stage {
    /// The first condition that a program with these features does not meet.
    pub fn obstacle(&self, features: &BTreeSet<Feature>) -> Option<String> {
        let (feature, wanted) = self.when.iter().find(|(feature, wanted)| features.contains(feature) != *wanted)?;
        Some(format!("the program has {}feature '{}'", if *wanted { "no " } else { "the " }, feature.name()))
    }
}

/// Stages in the order in which they get a core.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The stages; at least one.
    pub stages: Vec<Stage>,
}

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// There is no such plan.
    #[error("there is no plan '{name}'; the plans are: {known}, and files whose names end in .toml")]
    Unknown {
        /// The name as given.
        name: String,
        /// All names.
        known: String,
    },
    /// The file of a plan cannot be read.
    #[error("plan {path}: {error}")]
    File {
        /// The file as given.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The text is not a plan.
    #[error("plan {plan}: {message}")]
    Syntax {
        /// The plan.
        plan: String,
        /// What the parser says.
        message: String,
    },
    /// A stage has a wrong entry.
    #[error("plan {plan}, stage {stage}: {problem}")]
    Stage {
        /// The plan.
        plan: String,
        /// The stage.
        stage: String,
        /// What is wrong.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanText {
    stage: Vec<StageText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageText {
    name: String,
    preset: String,
    #[serde(default)]
    options: Vec<String>,
    early: Option<String>,
    lead: Option<String>,
    turn: Option<String>,
    #[serde(default)]
    once: bool,
    #[serde(default)]
    when: Vec<String>,
}

impl Plan {
    /// A plan of one stage without conditions and turns.
    pub fn single(name: &str, config: Config) -> Self {
        let stage = Stage {
            name: name.to_string(),
            config,
            early: None,
            lead: None,
            turn: None,
            once: false,
            when: Vec::new(),
        };
        Plan { stages: vec![stage] }
    }

    /// The plan that a configuration asks for. The stages of a named plan start from the configuration's limits and
    /// entry function; their presets and options set the rest.
    pub fn of(config: &Config) -> Result<Self, PlanError> {
        if config.restart != "none" {
            return Plan::restart(&config.restart, config);
        }
        if config.plan == "none" {
            return Ok(Plan::single("analysis", config.clone()));
        }
        if config.plan.ends_with(".toml") {
            let text = std::fs::read_to_string(&config.plan)
                .map_err(|error| PlanError::File { path: config.plan.clone(), error })?;
            return Plan::parse(&config.plan, &text, config);
        }
        let Some((_, text)) = PLANS.iter().find(|(name, _)| *name == config.plan) else {
            let known = PLANS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return Err(PlanError::Unknown { name: config.plan.clone(), known: format!("none, {known}") });
        };
        Plan::parse(&config.plan, text, config)
    }

    /// The restart algorithm: presets with limits, one after the other (document 001, section 2.3.4).
    fn restart(presets: &str, base: &Config) -> Result<Self, PlanError> {
        let stages = presets.split(',').map(|part| {
            let (preset, limit) = part.trim().split_once(':').map_or((part.trim(), None), |(a, b)| (a, Some(b)));
            let text = StageText {
                name: preset.to_string(),
                preset: preset.to_string(),
                options: Vec::new(),
                early: None,
                lead: None,
                turn: limit.map(str::to_string),
                once: limit.is_some(),
                when: Vec::new(),
            };
            let stage = preset.to_string();
            parse_stage(text, base).map_err(|problem| PlanError::Stage { plan: "restart".into(), stage, problem })
        });
        Ok(Plan { stages: stages.collect::<Result<Vec<_>, _>>()? })
    }

    fn parse(plan: &str, text: &str, base: &Config) -> Result<Self, PlanError> {
        let read: PlanText = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map_or_else(String::new, |line| format!("line {line}: "));
            PlanError::Syntax { plan: plan.to_string(), message: format!("{place}{}", error.message()) }
        })?;
        let stages = read.stage.into_iter().map(|stage| {
            let name = stage.name.clone();
            parse_stage(stage, base).map_err(|problem| PlanError::Stage {
                plan: plan.to_string(),
                stage: name,
                problem,
            })
        });
        let stages = stages.collect::<Result<Vec<_>, _>>()?;
        if stages.is_empty() {
            return Err(PlanError::Syntax { plan: plan.to_string(), message: "there is no stage".into() });
        }
        Ok(Plan { stages })
    }

    /// The stages that a program with these features gets. Only the first one that has a lead keeps it.
    pub fn applicable(&self, features: &BTreeSet<Feature>) -> Vec<Stage> {
        let applies = |stage: &&Stage| stage.obstacle(features).is_none();
        let mut stages: Vec<Stage> = self.stages.iter().filter(applies).cloned().collect();
        stages.iter_mut().filter(|stage| stage.lead.is_some()).skip(1).for_each(|stage| stage.lead = None);
        stages
    }

    /// What would run on a program with these features, and why the rest would not.
    pub fn explain(&self, features: &BTreeSet<Feature>) -> Vec<String> {
        let found = features.iter().map(|feature| feature.name()).collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("Features: {}", if found.is_empty() { "none" } else { &found })];
        let mut applicable = self.applicable(features).into_iter();
        lines.extend(self.stages.iter().filter_map(|stage| match stage.obstacle(features) {
            Some(obstacle) => Some(format!("Stage {} does not run: {obstacle}", stage.name)),
            None => applicable.next().map(|stage| format!("Stage {stage}")),
        }));
        lines
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs", self.name)?;
        match self.turn {
            Some(turn) if self.once => write!(f, " for {} s of CPU time", turn.as_secs_f64()),
            Some(turn) => write!(f, " in turns, the first of {} s of CPU time", turn.as_secs_f64()),
            None => write!(f, " to its end"),
        }?;
        if let Some(early) = self.early {
            write!(f, ", after an early one of {} s", early.as_secs_f64())?;
        }
        if let Some(lead) = self.lead {
            write!(f, ", with several cores one of {} s from the beginning", lead.as_secs_f64())?;
        }
        let conditions: Vec<String> = self
            .when
            .iter()
            .map(|(feature, wanted)| format!("{}{}", if *wanted { "" } else { "!" }, feature.name()))
            .collect();
        if conditions.is_empty() { Ok(()) } else { write!(f, ", because: {}", conditions.join(", ")) }
    }
}

fn parse_stage(text: StageText, base: &Config) -> Result<Stage, String> {
    let mut config = base.stage_base();
    presets::apply_preset(&mut config, &text.preset).map_err(|error| error.to_string())?;
    if config.is_staged() {
        return Err(format!("the preset {} has a plan of its own", text.preset));
    }
    for option in &text.options {
        let (key, value) = option.split_once('=').ok_or_else(|| format!("option '{option}': expected KEY=VALUE"))?;
        config.set(key.trim(), value.trim()).map_err(|error: OptionError| error.to_string())?;
    }
    let time = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => <Option<Duration> as OptionValue>::parse(text)
            .ok_or_else(|| format!("{name} '{text}': expected {}", <Option<Duration> as OptionValue>::expected())),
    };
    let [early, lead, turn] = [time("early", &text.early)?, time("lead", &text.lead)?, time("turn", &text.turn)?];
    let condition = |text: &String| {
        let (name, wanted) = text.strip_prefix('!').map_or((text.as_str(), true), |name| (name, false));
        let known = || Feature::ALL.map(Feature::name).join(", ");
        let feature = Feature::by_name(name).ok_or_else(|| format!("no feature '{name}'; there are {}", known()))?;
        Ok::<_, String>((feature, wanted))
    };
    let when = text.when.iter().map(condition).collect::<Result<Vec<_>, _>>()?;
    Ok(Stage { name: text.name, config, early, lead, turn, once: text.once, when })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_plans_are_valid() {
        for (name, text) in PLANS {
            let plan = Plan::parse(name, text, &Config::default()).unwrap();
            assert!(plan.stages.iter().any(|stage| stage.when.is_empty()), "{name} has a stage for every program");
        }
    }

    #[test]
    fn restarts() {
        let mut config = Config::default();
        let plan = |config: &Config| Plan::of(config).map_err(|error| error.to_string());
        config.set("restartAlgorithm.configFiles", "octagon-widening-cex:100s, octagon-refiner").unwrap();
        let lines = plan(&config).unwrap().explain(&BTreeSet::new());
        assert_eq!(lines[1], "Stage octagon-widening-cex runs for 100 s of CPU time");
        assert_eq!(lines[2], "Stage octagon-refiner runs to its end");
        config.set("restartAlgorithm.configFiles", "octagon:soon").unwrap();
        assert!(plan(&config).unwrap_err().contains("stage octagon: turn 'soon'"));
        config.set("restartAlgorithm.configFiles", "octagon-restart-100").unwrap();
        assert!(plan(&config).unwrap_err().contains("a plan of its own"));
        for preset in ["octagon-restart-jr", "octagon-restart-100", "octagon-restart-250"] {
            let mut config = Config::default();
            presets::apply_preset(&mut config, preset).unwrap();
            assert_eq!(plan(&config).unwrap().stages.len(), 2);
        }
    }

    #[test]
    fn files() {
        let path = std::env::temp_dir().join(format!("cpa-verify-{}-plan.toml", std::process::id()));
        let mut config = Config { plan: path.to_str().unwrap().to_string(), ..Config::default() };
        let mistake = |config: &Config| Plan::of(config).unwrap_err().to_string();
        assert!(mistake(&config).contains("-plan.toml: "), "a missing file is named");
        std::fs::write(&path, "[[stage]]\nname = 'a'\npreset = 'value'\nturn = '2s'\n").unwrap();
        assert_eq!(
            Plan::of(&config).unwrap().explain(&BTreeSet::new())[1],
            "Stage a runs in turns, the first of 2 s of CPU time"
        );
        std::fs::write(&path, "[[stage]]\nname = 'a'\n\npreset = 'value'\nturns = '2s'\n").unwrap();
        assert!(mistake(&config).contains("-plan.toml: line 5: unknown field `turns`"), "{}", mistake(&config));
        std::fs::remove_file(&path).unwrap();
        config.plan = "mine".to_string();
        assert!(mistake(&config).contains("none, default, validate, and files whose names end in .toml"));
    }

    #[test]
    fn conditions_and_mistakes() {
        let text = "[[stage]]\nname = 'a'\npreset = 'predicate'\nturn = '5s'\nwhen = ['!loops']";
        let plan = Plan::parse("p", text, &Config::default()).unwrap();
        assert_eq!(plan.stages[0].obstacle(&BTreeSet::new()), None);
        let loops = BTreeSet::from([Feature::Loops]);
        assert_eq!(plan.stages[0].obstacle(&loops).as_deref(), Some("the program has the feature 'loops'"));
        assert_eq!(plan.explain(&loops)[1], "Stage a does not run: the program has the feature 'loops'");
        let text = "[[stage]]\nname = 'a'\npreset = 'value'\nearly = '50ms'\nlead = '1s'\nturn = '2s'";
        assert_eq!(
            Plan::parse("p", text, &Config::default()).unwrap().explain(&loops)[1],
            "Stage a runs in turns, the first of 2 s of CPU time, after an early one of 0.05 s, with several cores one of 1 s from \
             the beginning"
        );
        let second = text.replace("'a'", "'b'");
        assert_eq!(
            Plan::parse("p", &format!("{text}\n{second}"), &Config::default()).unwrap().explain(&loops)[2],
            "Stage b runs in turns, the first of 2 s of CPU time, after an early one of 0.05 s",
            "one stage leads"
        );
        let wrong = |text: &str| Plan::parse("p", text, &Config::default()).unwrap_err().to_string();
        assert!(wrong("stage = []").contains("there is no stage"));
        assert!(wrong("[[stage]]\nname = 'a'\npreset = 'predicate'\nwhen = ['lops']").contains("no feature 'lops'"));
        assert!(wrong("[[stage]]\nname = 'a'\npreset = 'value'\nearly = 'soon'").contains("early 'soon': expected"));
        assert!(wrong("[[stage]]\nname = 'a'\npreset = 'nothing'").contains("there is no preset 'nothing'"));
        assert!(wrong("[[stage]]\nname = 'a'\npreset = 'default'").contains("a plan of its own"));
    }
}
