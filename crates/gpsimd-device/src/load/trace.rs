//! The way of a library, stage by stage, for people and programs.
//!
//! Unaware of what the stages do.

use std::collections::BTreeMap;
use std::fmt;

/// Everything that happened, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Trace {
    /// The stages.
    pub stages: Vec<Stage>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// What is to be known about it, with the name of each piece.
    pub facts: Vec<Fact>,
    /// What host and cores logged.
    pub log: Vec<String>,
}

/// A piece of knowledge.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value, as people read it.
    pub value: String,
}

impl Trace {
    pub(super) fn add<const N: usize>(
        &mut self,
        name: &'static str,
        facts: [(&'static str, String); N],
        log: Vec<String>,
    ) {
        let facts = facts.into_iter().map(|(name, value)| Fact { name, value }).collect();
        self.stages.push(Stage { name, facts, log });
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.stages.iter().enumerate() {
            writeln!(f, "{:>2} {}", index + 1, stage.name)?;
            for Fact { name, value } in &stage.facts {
                writeln!(f, "     {name:12} {value}")?;
            }
            for line in &stage.log {
                writeln!(f, "     | {line}")?;
            }
        }
        Ok(())
    }
}

/// Log lines of several cores (`P3: …`) with what they have in common said once: `P0-P7: …`.
pub(super) fn together(lines: &[String]) -> Vec<String> {
    let mut cores: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let (core, text) = line.split_once(": ").unwrap_or(("", line));
        cores.entry(core).or_default().push(without_prid(text));
    }
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (core, texts) in cores {
        match groups.iter_mut().find(|(_, other)| *other == texts) {
            Some((names, _)) => names.push(core),
            None => groups.push((vec![core], texts)),
        }
    }
    let mut merged = Vec::new();
    for (names, texts) in groups {
        let who = match names.as_slice() {
            [first, .., last] => format!("{first}-{last}"),
            names => names.concat(),
        };
        merged.extend(texts.iter().map(|text| format!("{who}: {text}")));
    }
    merged
}

/// A dispatch line names its core once more.
fn without_prid(text: &str) -> &str {
    match text.strip_prefix("In dispatch, CPU ID: ") {
        Some(rest) => rest.split_once(", ").map_or(text, |(_, rest)| rest),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_that_say_the_same_are_named_together() {
        let lines = ["P0: a", "P0: In dispatch, CPU ID: 0, got opcode 0xf0.", "P1: b", "P2: a"];
        let mut lines = lines.map(str::to_owned).to_vec();
        lines.push("P2: In dispatch, CPU ID: 2, got opcode 0xf0.".to_owned());
        assert_eq!(together(&lines), ["P0-P2: a", "P0-P2: got opcode 0xf0.", "P1: b"]);
    }
}
