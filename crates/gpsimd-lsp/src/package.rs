//! Linker support packages: a name, a map, and the six files rendered from them.
//!
//! Unaware of the disk; callers write the files. Facts: spec `lsp-and-memory.md` §2.

use crate::map::{MemoryMap, Segment};
use crate::window::{Variant, Window};
use crate::{script, specs};

/// The memory map of a custom op, with the bank as parameters. Facts: spec `lsp-and-memory.md` §3.3.
const CUSTOM_OP_MAP: &str = include_str!("../lsp/custom_op.xmm");

/// How the linker was started; each mode has its own script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkMode {
    /// Plain `ld`: pages aligned in the file.
    Default,
    /// `ld -n`.
    Nmagic,
    /// `ld -N`.
    Omagic,
    /// `ld -r`.
    Relocatable,
    /// `ld -Ur`.
    Constructors,
}

impl LinkMode {
    /// All five, in the order files are rendered.
    pub const ALL: [LinkMode; 5] = [
        LinkMode::Default,
        LinkMode::Nmagic,
        LinkMode::Omagic,
        LinkMode::Relocatable,
        LinkMode::Constructors,
    ];

    /// Script path inside a package.
    pub fn path(self) -> &'static str {
        match self {
            LinkMode::Default => "ldscripts/elf32xtensa.x",
            LinkMode::Nmagic => "ldscripts/elf32xtensa.xn",
            LinkMode::Omagic => "ldscripts/elf32xtensa.xbn",
            LinkMode::Relocatable => "ldscripts/elf32xtensa.xr",
            LinkMode::Constructors => "ldscripts/elf32xtensa.xu",
        }
    }

    /// What the second comment line says.
    pub(crate) fn note(self) -> &'static str {
        match self {
            LinkMode::Default => "Full link",
            LinkMode::Nmagic => "Full link, -n: text need not start on a page",
            LinkMode::Omagic => "Full link, -N: text is writable and need not start on a page",
            LinkMode::Relocatable => "Partial link, -r",
            LinkMode::Constructors => "Partial link, -Ur: constructors resolved",
        }
    }
}

/// One linker support package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lsp {
    /// Directory name, as in `-mlsp=<root>/<name>`.
    pub name: String,
    /// What it is rendered from.
    pub map: MemoryMap,
}

impl Lsp {
    /// The package that links a custom op for `variant`.
    #[allow(clippy::missing_panics_doc)] // the map is part of the program, and a test binds all nine variants
    pub fn custom_op(variant: Variant) -> Lsp {
        let window = variant.window();
        let bank = [
            ("BANK_BASE", u64::from(window.base)),
            ("BANK_SIZE", u64::from(window.len)),
            ("BANK_LAST", window.end() - 1),
        ]
        .map(|(key, value)| (key, format!("{value:#x}")));
        let bank: Vec<(&str, &str)> = bank.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let map =
            MemoryMap::parse_with(CUSTOM_OP_MAP, &bank).expect("the built-in map is valid for every variant");
        Lsp { name: variant.lsp_name(), map }
    }

    /// A package for any other map.
    pub fn from_map(name: impl Into<String>, map: MemoryMap) -> Lsp {
        Lsp { name: name.into(), map }
    }

    /// Every loaded output section with the range it must lie in, in script order. The rest of the script's sections are
    /// not loaded.
    pub fn output_sections(&self) -> Vec<(String, Window)> {
        let range = |segment: &Segment| Window {
            base: segment.first,
            len: u32::try_from(segment.size()).unwrap_or(u32::MAX),
        };
        script::outputs(&self.map).map(|(name, segment)| (name, range(segment))).collect()
    }

    /// Whether the script places an input section of this name.
    pub fn takes(&self, section: &str) -> bool {
        let script = self.script(LinkMode::Default);
        let inputs = script.lines().map(str::trim).filter(|line| line.contains("*("));
        let mut patterns = inputs.flat_map(|line| line.split(['(', ')', ' ']));
        patterns.any(|pattern| pattern.starts_with('.') && fits(pattern, section))
    }

    /// Names of all symbols that the address-bearing scripts define, PROVIDEd ones included.
    pub fn symbols(&self) -> Vec<String> {
        let script = self.script(LinkMode::Default);
        let assigned = script.lines().filter_map(|line| {
            let line = line.trim();
            let (name, _) = line.strip_prefix("PROVIDE(").unwrap_or(line).split_once(" = ")?;
            (name != "." && !name.contains(' ')).then(|| name.to_owned())
        });
        assigned.collect()
    }

    /// The script for one link mode.
    pub fn script(&self, mode: LinkMode) -> String {
        script::render(self, mode)
    }

    /// All six files as (path relative to the package directory, text): `specs`, then the scripts.
    pub fn render(&self) -> Vec<(String, String)> {
        let scripts = LinkMode::ALL.map(|mode| (mode.path().to_owned(), self.script(mode)));
        [("specs".to_owned(), specs::render())].into_iter().chain(scripts).collect()
    }
}

/// Whether a name fits a pattern of the linker's, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).any(|at| tail.get(at..).is_some_and(|tail| fits(rest, tail)))
        }),
    }
}
