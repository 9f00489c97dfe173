//! What one core executes: its functions, lines, and where a breakpoint of a line or a function goes.
//!
//! Unaware of what state the core is in.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use gpsimd_device::explain::evidence;
use gpsimd_device::explain::symbols::{Frame, Symbols};

use crate::error::DebugError;
use crate::lines::{Lines, Row};

/// The last part of a path.
pub(crate) fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The images that cores run, owned by whoever owns the session.
#[derive(Debug, Default)]
pub struct Images {
    images: Vec<Image>,
    /// Which image each core runs.
    of_core: Vec<usize>,
}

/// An unstripped image, and how far it was moved after the link.
#[derive(Debug, PartialEq, Eq)]
struct Image {
    bytes: Vec<u8>,
    shift: u32,
}

impl Images {
    /// What the cores of a machine run.
    pub fn of(programs: &[evidence::Program<'_>]) -> Images {
        let mut images = Images::default();
        for program in programs {
            let image = Image { bytes: program.symbols.image().to_vec(), shift: program.symbols.shift() };
            let known = images.images.iter().position(|known| *known == image);
            images.of_core.push(known.unwrap_or(images.images.len()));
            if known.is_none() {
                images.images.push(image);
            }
        }
        images
    }
}

/// Names and lines of all images.
pub(crate) struct Programs<'i> {
    programs: Vec<Program<'i>>,
    of_core: &'i [usize],
}

impl<'i> Programs<'i> {
    pub fn of(images: &'i Images) -> Programs<'i> {
        let program = |image: &'i Image| Program {
            symbols: Symbols::read(&image.bytes).moved_by(image.shift),
            lines: Lines::read(&image.bytes),
            shift: image.shift,
            variables: OnceCell::new(),
        };
        Programs { programs: images.images.iter().map(program).collect(), of_core: &images.of_core }
    }

    /// What a core runs.
    pub fn get(&self, core: usize) -> Option<&Program<'i>> {
        self.programs.get(*self.of_core.get(core)?)
    }
}

/// Names and lines of an image where a core has it.
pub(crate) struct Program<'i> {
    pub symbols: Symbols<'i>,
    lines: Lines,
    shift: u32,
    variables: OnceCell<Result<gpsimd_variables::Program, String>>,
}

/// A line, told apart from others of the same number by the functions around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// Frames at an address, innermost first.
    pub frames: Vec<Frame>,
}

impl Location {
    /// The frame `depth` calls away from the function that has code of its own, if there are so many.
    pub fn at_depth(&self, depth: usize) -> Option<&Frame> {
        self.frames.len().checked_sub(depth + 1).and_then(|at| self.frames.get(at))
    }

    /// Inlined calls on the way to the address.
    pub fn depth(&self) -> usize {
        self.frames.len().saturating_sub(1)
    }

    /// Whether what runs there is the kernel author's.
    pub fn is_authors(&self) -> bool {
        self.frames.first().is_some_and(|frame| frame.line > 0 && !frame.is_runtime())
    }

    /// Whether there is a line.
    pub fn has_line(&self) -> bool {
        self.frames.first().is_some_and(|frame| frame.line > 0)
    }
}

impl Program<'_> {
    /// What the image tells of variables.
    pub fn variables(&self) -> Result<&gpsimd_variables::Program, DebugError> {
        let read = || {
            let program = gpsimd_variables::Program::parse(self.symbols.image());
            program.map(|program| program.moved_by(self.shift)).map_err(|error| error.to_string())
        };
        let read = self.variables.get_or_init(read).as_ref();
        read.map_err(|reason| DebugError::Variables { reason: reason.clone() })
    }

    /// Where an address is in the source.
    pub fn location(&self, pc: u32) -> Location {
        Location { frames: self.symbols.frames(pc) }
    }

    /// Whether a line begins at an address.
    pub fn begins(&self, pc: u32) -> bool {
        self.lines.begins(pc.wrapping_sub(self.shift))
    }

    /// Every source file.
    pub fn files(&self) -> &[String] {
        self.lines.files()
    }

    fn moved(&self, row: &Row) -> u32 {
        row.address.wrapping_add(self.shift)
    }

    /// Where to stop for a line: once in every function, and in every copy of an inlined one. The line is the next one that
    /// has code.
    pub fn line(&self, file: &str, line: u32) -> Vec<(u32, u32)> {
        let mut first: BTreeMap<Vec<(String, u32)>, (u32, u32)> = BTreeMap::new();
        for row in self.lines.of(file, line) {
            let at = self.moved(&row);
            // the calls around an inlined copy tell it from others
            let frames = self.symbols.frames(at).into_iter().enumerate();
            let key = frames.map(|(depth, frame)| (frame.function, if depth == 0 { 0 } else { frame.line }));
            let found = first.entry(key.collect()).or_insert((at, row.line));
            found.0 = found.0.min(at);
        }
        first.into_values().collect()
    }

    /// The lines of a file, among these, that have code.
    pub fn lines_with_code(&self, file: &str, lines: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = *lines.start();
        while let Some(line) =
            self.lines.of(file, next).first().map(|row| row.line).filter(|line| lines.contains(line))
        {
            found.push(line);
            next = line + 1;
        }
        found
    }

    /// Where to stop for a function: behind its prologue; in every inlined copy.
    pub fn function(&self, name: &str) -> Vec<u32> {
        let is_named = |known: &str| known == name || known.ends_with(&format!("::{name}"));
        let mut places = BTreeSet::new();
        if let Some((start, len)) = self.symbols.place(name) {
            places.insert(self.behind_prologue(start, len));
        }
        let mut copies: BTreeMap<Vec<(String, u32)>, u32> = BTreeMap::new();
        for row in self.lines.statements() {
            let at = self.moved(row);
            let frames = self.symbols.frames(at);
            let Some(frame) = frames.first().filter(|frame| is_named(&frame.function)) else { continue };
            if !frame.inlined {
                // one of several of the name, by its first line
                if self.symbols.place(name).is_none()
                    && let Some((start, len)) = self.symbols.place(&frame.function)
                {
                    places.insert(self.behind_prologue(start, len));
                }
                continue;
            }
            let key = frames.iter().skip(1).map(|frame| (frame.function.clone(), frame.line)).collect();
            let first = copies.entry(key).or_insert(at);
            *first = (*first).min(at);
        }
        places.extend(copies.into_values());
        places.into_iter().collect()
    }

    /// Where the arguments of the function that starts here are in place.
    pub fn first_line(&self, start: u32) -> u32 {
        let extent = self.symbols.extent(start);
        extent.map_or(start, |(start, len)| self.behind_prologue(start, len))
    }

    /// Where a function's arguments are in place: where the compiler says so, else at its second line.
    fn behind_prologue(&self, start: u32, len: u32) -> u32 {
        let from = start.wrapping_sub(self.shift);
        let rows = self.lines.between(from, from.saturating_add(len));
        let marked = rows.iter().find(|row| row.is_behind_prologue);
        let second = || rows.iter().find(|row| row.is_statement && row.line != 0 && row.address != from);
        marked.or_else(second).map_or(start, |row| self.moved(row))
    }
}
