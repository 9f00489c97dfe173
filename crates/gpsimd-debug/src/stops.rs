//! What a session stops at: places in the program and bytes of memory, with hits counted and messages written.
//!
//! Unaware of how a run is stopped.

use gpsimd_device::cores::bus::Place;

/// What is stopped at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A line of a file.
    Line(String, u32),
    /// A function's begin.
    Function(String),
    /// An instruction.
    Address(u32),
    /// Bytes of memory.
    Bytes {
        /// As asked for.
        text: String,
        /// The first.
        place: Place,
        /// How many.
        len: usize,
        /// The core whose memory it is; `None`: a tensor, which all have.
        core: Option<usize>,
        /// Whether reading counts.
        reads: bool,
        /// Whether writing counts.
        writes: bool,
    },
}

/// Which of a breakpoint's hits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hits {
    /// All.
    #[default]
    All,
    /// The n-th and all behind it.
    From(u64),
    /// The n-th only.
    Only(u64),
    /// Every n-th.
    Every(u64),
}

impl Hits {
    /// As editors write it: `5`, `>= 5`, `== 5`, `% 5`.
    pub fn parse(text: &str) -> Option<Hits> {
        let text = text.trim();
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
        if let Some(rest) = text.strip_prefix(">=") {
            return number(rest).map(Hits::From);
        }
        if let Some(rest) = text.strip_prefix('>') {
            return number(rest).map(|number| Hits::From(number + 1));
        }
        if let Some(rest) = text.strip_prefix('%') {
            return number(rest).map(Hits::Every);
        }
        number(text.trim_start_matches('=')).map(Hits::Only)
    }

    /// Whether the `count`-th hit counts.
    pub fn counts(self, count: u64) -> bool {
        match self {
            Hits::All => true,
            Hits::From(first) => count >= first,
            Hits::Only(one) => count == one,
            Hits::Every(step) => count.is_multiple_of(step.max(1)),
        }
    }
}

/// Something to stop at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// Number, from 1.
    pub id: u32,
    /// Where.
    pub what: What,
    /// Which hits count.
    pub hits: Hits,
    /// What must hold for a hit to count.
    pub condition: Option<String>,
    /// Written instead of stopping; `{x}` stands for what x holds.
    pub message: Option<String>,
    /// Whether it is gone with its first stop.
    pub is_once: bool,
    /// Whether it stops at all.
    pub is_enabled: bool,
    /// Where it is on each core.
    pub places: Vec<Vec<u32>>,
    /// The line that it came to be on.
    pub line: Option<u32>,
    /// How often it was met.
    pub count: u64,
}

impl Breakpoint {
    /// Whether an instruction of a core is one of its places.
    pub fn is_at(&self, core: usize, pc: u32) -> bool {
        self.is_enabled && self.places.get(core).is_some_and(|places| places.contains(&pc))
    }

    /// As lists show it.
    pub fn shown(&self) -> String {
        match &self.what {
            What::Line(file, line) => format!("{file}:{}", self.line.unwrap_or(*line)),
            What::Function(name) => name.clone(),
            What::Address(at) => format!("*{at:#010x}"),
            What::Bytes { text, reads, writes, .. } => {
                let kind = match (reads, writes) {
                    (true, true) => "access of ",
                    (true, false) => "read of ",
                    _ => "write to ",
                };
                format!("{kind}{text}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_read_and_counted() {
        let rows = [
            ("3", Some(Hits::Only(3)), [false, false, true, false]),
            ("== 2", Some(Hits::Only(2)), [false, true, false, false]),
            (">= 3", Some(Hits::From(3)), [false, false, true, true]),
            ("> 3", Some(Hits::From(4)), [false, false, false, true]),
            ("% 2", Some(Hits::Every(2)), [false, true, false, true]),
        ];
        for (text, want, counts) in rows {
            let hits = Hits::parse(text);
            assert_eq!(hits, want, "{text}");
            assert_eq!([1, 2, 3, 4].map(|count| hits.unwrap().counts(count)), counts, "{text}");
        }
        assert_eq!(Hits::parse("often"), None);
        assert_eq!(Hits::parse("0"), None);
    }
}
