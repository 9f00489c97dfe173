//! Variables between redzones: which one an address is in or beside, from what the compiler left in memory about them.
//!
//! Unaware of who asks and of what is wrong. Two sources: the descriptor of each global (`__asan_register_globals`) and the
//! description of each stack frame, which the frame's prologue points to behind a magic word at its lower end.

use super::peek::Peek;

/// What a frame's lowest word holds while the frame lives.
const FRAME_MAGIC: u32 = 0x41B5_8AB3;
/// Frames are laid out in units of this.
const FRAME_ALIGN: u32 = 32;
/// How far below an address its frame may begin.
const FRAME_REACH: u32 = 64 << 10;
/// Longest description and longest name that are read.
const TEXT_LIMIT: u32 = 4096;
/// Bytes of a global's descriptor.
const DESCRIPTOR: u32 = 32;
/// Most globals of one image.
const MOST_GLOBALS: u32 = 1 << 16;

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// In the frame of a function.
    Stack,
    /// In the image.
    Global,
}

/// A variable with redzones around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Where it lives.
    pub storage: Storage,
    /// Its first byte.
    pub start: u32,
    /// Its bytes.
    pub len: u32,
    /// Bytes up to the end of its right redzone.
    pub with_redzone: u32,
    /// As the compiler calls it.
    pub name: String,
    /// Line of its declaration; 0 if it is not known.
    pub line: u32,
}

impl Variable {
    /// Whether an address is in it, not in its redzones.
    pub fn holds(&self, addr: u32) -> bool {
        addr.wrapping_sub(self.start) < self.len
    }

    /// Bytes between an address and the variable.
    fn distance(&self, addr: u32) -> u32 {
        match addr.checked_sub(self.start) {
            None => self.start - addr,
            Some(offset) => offset.saturating_sub(self.len.saturating_sub(1)),
        }
    }
}

/// The globals of an image, as its constructors registered them.
#[derive(Debug, Clone, Default)]
pub struct Globals(Vec<Variable>);

impl Globals {
    /// Reads `count` descriptors at an address; returns the new globals.
    pub fn register(&mut self, table: u32, count: u32, memory: &dyn Peek) -> &[Variable] {
        let before = self.0.len();
        for index in 0..count.min(MOST_GLOBALS) {
            let Some(at) = index.checked_mul(DESCRIPTOR).and_then(|offset| table.checked_add(offset)) else {
                break;
            };
            let Some(variable) = global(at, memory) else { break };
            self.0.push(variable);
        }
        self.0.get(before..).unwrap_or_default()
    }

    /// The global that an address belongs to, redzones included.
    pub fn find(&self, addr: u32) -> Option<&Variable> {
        self.0.iter().find(|global| addr.wrapping_sub(global.start) < global.with_redzone)
    }
}

fn global(at: u32, memory: &dyn Peek) -> Option<Variable> {
    let word = |index: u32| memory.word(at.checked_add(4 * index)?);
    let (start, len, with_redzone) = (word(0)?, word(1)?, word(2)?);
    let name = memory.text(word(3)?, TEXT_LIMIT)?;
    let location = word(6)?;
    let line = if location == 0 { 0 } else { memory.word(location.checked_add(4)?).unwrap_or(0) };
    // only nameless things are called by section symbols and labels
    let name = if name.starts_with(['*', '.']) { String::new() } else { name };
    (with_redzone >= len).then_some(Variable {
        storage: Storage::Global,
        start,
        len,
        with_redzone,
        name,
        line,
    })
}

/// The variable on the stack that an address is in or nearest to; `is_redzone` tells redzones from other memory.
pub fn on_stack(addr: u32, memory: &dyn Peek, is_redzone: impl Fn(u32) -> bool) -> Option<Variable> {
    let first = addr & !(FRAME_ALIGN - 1);
    let bases = (0..FRAME_REACH / FRAME_ALIGN).map_while(|unit| first.checked_sub(unit * FRAME_ALIGN));
    for base in bases {
        // a description left behind by a frame that is gone has no redzone at its head
        if memory.word(base)? != FRAME_MAGIC || !is_redzone(base) {
            continue;
        }
        let text = memory.text(memory.word(base + 4)?, TEXT_LIMIT)?;
        let variables = frame(base, &text)?;
        return variables.into_iter().min_by_key(|variable| variable.distance(addr));
    }
    None
}

/// Reads `N (OFFSET SIZE LENGTH NAME[:LINE])*`.
fn frame(base: u32, text: &str) -> Option<Vec<Variable>> {
    fn number(text: &str) -> Option<(u32, &str)> {
        let (digits, rest) = text.split_once(' ').unwrap_or((text, ""));
        Some((digits.parse().ok()?, rest))
    }
    let (count, mut rest) = number(text)?;
    let mut variables = Vec::new();
    for _ in 0..count {
        let (offset, after) = number(rest)?;
        let (len, after) = number(after)?;
        let (name_len, after) = number(after)?;
        let name = after.get(..name_len as usize)?;
        rest = after.get(name_len as usize..)?.trim_start();
        let (name, line) = match name.rsplit_once(':') {
            Some((name, line)) => (name, line.parse().unwrap_or(0)),
            None => (name, 0),
        };
        let name = if name == "<unknown>" { "" } else { name };
        let start = base.checked_add(offset)?;
        variables.push(Variable {
            storage: Storage::Stack,
            start,
            len,
            with_redzone: len,
            name: name.to_owned(),
            line,
        });
    }
    Some(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_damaged_ones_are_not() {
        let variables = frame(0x8_E000, "2 32 64 5 in:25 128 256 6 res:26").unwrap();
        let seen: Vec<_> = variables.iter().map(|v| (v.start, v.len, v.name.as_str(), v.line)).collect();
        assert_eq!(seen, [(0x8_E020, 64, "in", 25), (0x8_E080, 256, "res", 26)]);
        for text in ["", "x", "1", "1 32", "1 32 64 99 in", "4294967296 1 1 1 a"] {
            assert_eq!(frame(0, text), None, "{text}");
        }
    }

    #[test]
    fn the_nearest_variable_is_named() {
        let variables = frame(0x1000, "2 32 4 1 a 64 4 1 b").unwrap();
        let nearest = |addr: u32| variables.iter().min_by_key(|v| v.distance(addr)).unwrap().name.clone();
        assert_eq!([0x1020, 0x1024, 0x1030, 0x1038, 0x1044].map(nearest), ["a", "a", "a", "b", "b"]);
    }
}
