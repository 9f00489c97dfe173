//! The way of a library, stage by stage, for people and programs: numbered as the story of a custom op numbers them, and short
//! enough that a small op's way is one screen.
//!
//! Unaware of what the stages do and of where their facts come from.

use std::collections::BTreeMap;
use std::fmt;

/// Columns of the text.
const WIDTH: usize = 100;

/// The stages of the story: those that make a library, bring it to the device, run it (9), and take it off (10).
const STORY: [(&str, u8); 25] = [
    ("schema", 1),
    ("wrapper", 1),
    ("compile", 2),
    ("link", 3),
    ("strip", 4),
    ("pack", 4),
    ("unpack", 5),
    ("create", 5),
    ("adopt", 5),
    ("prelink", 6),
    ("stage", 6),
    ("resolve", 7),
    ("record", 7),
    ("table", 8),
    ("load", 8),
    ("bind", 8),
    ("boot", 8),
    ("fetch", 9),
    ("dispatch", 9),
    ("switch", 9),
    ("marshal", 9),
    ("execute", 9),
    ("return", 9),
    ("unload", 10),
    ("destroy", 10),
];

/// Everything that happened, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Trace {
    /// The stages.
    pub stages: Vec<Stage>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Stage {
    /// Which of the story's stages it belongs to.
    pub stage: u8,
    /// Its name.
    pub name: &'static str,
    /// What is to be known about it, with the name of each piece.
    pub facts: Vec<Fact>,
    /// What host and cores logged.
    pub log: Vec<String>,
}

/// A piece of knowledge.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value, as people read it.
    pub value: String,
}

impl Stage {
    /// A stage of the story.
    pub fn new(
        name: &'static str,
        facts: impl IntoIterator<Item = (&'static str, String)>,
        log: Vec<String>,
    ) -> Stage {
        let stage = STORY.iter().find(|(known, _)| *known == name).map_or(0, |(_, number)| *number);
        let facts = facts.into_iter().map(|(name, value)| Fact { name, value }).collect();
        Stage { stage, name, facts, log }
    }
}

/// What happens in a call: the only stages that come again and again.
const CALL: u8 = 9;

/// Stages from which on those of earlier calls make room: a device may be called for days.
const MOST: usize = 4096;

impl Trace {
    /// To be told when a call begins.
    pub(super) fn begin_call(&mut self) {
        if self.stages.len() >= MOST {
            self.stages.retain(|stage| stage.stage != CALL);
        }
    }

    /// Adds the stage that failed, with what host and cores logged there.
    pub fn fail(&mut self, name: &'static str, why: &dyn fmt::Display, log: Vec<String>) {
        let lines = why.to_string();
        let facts = lines.lines().map(|line| ("refused", line.to_owned()));
        self.stages.push(Stage::new(name, facts, log));
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = 0;
        for Stage { stage, name, facts, log } in &self.stages {
            let mut number = if *stage == last { String::new() } else { stage.to_string() };
            let mut name = *name;
            last = *stage;
            if facts.is_empty() {
                writeln!(f, "{number:>2} {name}")?;
            }
            for Fact { name: what, value } in facts {
                let line = format!("{number:>2} {name:9} {what:11} {value}");
                writeln!(f, "{}", cut(line.trim_end()))?;
                (number, name) = (String::new(), "");
            }
            for line in log {
                writeln!(f, "{}", cut(&format!("   | {line}")))?;
            }
        }
        Ok(())
    }
}

/// A line, or as much of it as fits.
fn cut(line: &str) -> String {
    match line.chars().count() > WIDTH {
        true => line.chars().take(WIDTH - 1).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

/// Bytes in hexadecimal, with runs of zeros counted: `95 10 00*10 01`.
pub(super) fn hex(bytes: impl AsRef<[u8]>) -> String {
    const RUN: usize = 4;
    let mut words = Vec::new();
    for run in bytes.as_ref().chunk_by(|a, b| a == b) {
        match run {
            [0, ..] if run.len() >= RUN => words.push(format!("00*{}", run.len())),
            _ => words.extend(run.iter().map(|byte| format!("{byte:02x}"))),
        }
    }
    words.join(" ")
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
    fn calls_without_end_leave_a_trace_with_one() {
        let mut trace = Trace::default();
        trace.stages.push(Stage::new("boot", [], Vec::new()));
        for _ in 0..MOST {
            trace.begin_call();
            trace.stages.extend(["fetch", "execute"].map(|name| Stage::new(name, [], Vec::new())));
        }
        assert!(trace.stages.len() <= MOST + 1);
        assert_eq!(trace.stages[0].name, "boot");
        assert_eq!(trace.stages.last().map(|stage| stage.name), Some("execute"));
    }

    #[test]
    fn cores_that_say_the_same_are_named_together() {
        let lines = ["P0: a", "P0: In dispatch, CPU ID: 0, got opcode 0xf0.", "P1: b", "P2: a"];
        let mut lines = lines.map(str::to_owned).to_vec();
        lines.push("P2: In dispatch, CPU ID: 2, got opcode 0xf0.".to_owned());
        assert_eq!(together(&lines), ["P0-P2: a", "P0-P2: got opcode 0xf0.", "P1: b"]);
    }

    #[test]
    fn runs_of_zeros_are_counted() {
        let rows: [(&[u8], &str); 4] = [
            (&[], ""),
            (&[0, 0, 0], "00 00 00"),
            (&[0; 4], "00*4"),
            (&[1, 0, 0, 0, 0, 0, 2, 2], "01 00*5 02 02"),
        ];
        for (bytes, want) in rows {
            assert_eq!(hex(bytes), want);
        }
    }

    #[test]
    fn stages_are_numbered_once_and_lines_fit() {
        let facts = [("code", "x".repeat(200)), ("data", "y".to_owned())];
        let mut trace = Trace { stages: vec![Stage::new("prelink", facts, vec!["z".repeat(200)])] };
        trace.fail("stage", &"no room\nat all", Vec::new());
        let text = trace.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        let heads: Vec<&str> = text.lines().map(|line| line.split("  ").next().unwrap_or_default()).collect();
        assert_eq!(heads.len(), 5, "{text}");
        assert!(text.starts_with(" 6 prelink   code        xxx"), "{text}");
        assert!(
            text.ends_with("   stage     refused     no room\n             refused     at all\n"),
            "{text}"
        );
    }
}
