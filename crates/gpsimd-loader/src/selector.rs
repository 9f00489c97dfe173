//! Which library: the environment rule, the resolver from opcodes, sets of opcodes.
//!
//! Unaware of where an environment comes from: its two facts are passed in. Facts: spec `load-and-dispatch.md` §1.3,
//! §2, `prelink.md` §12.2.

use std::fmt;

use crate::generation::Generation;
use crate::kernel_table::EXTENDED;
use crate::result::ResultCode;

/// Presence of this variable, whatever its value, selects library 3 where none was asked for.
pub const CPTC_VARIABLE: &str = "NRT_UCODE_UNSTABLE_LIBRARY_FLAG_CPTC_DECODE";

/// What the runtime's environment says, read once by whoever owns the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Environment {
    /// Whether [`CPTC_VARIABLE`] exists, be it empty.
    pub has_cptc_decode: bool,
}

impl Environment {
    /// Picks the facts out of the names of the environment's variables.
    pub fn from_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Environment {
        Environment { has_cptc_decode: names.into_iter().any(|name| name.as_ref() == CPTC_VARIABLE) }
    }
}

/// The vendor's two builds, which know different generations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Build {
    /// `libnrtucode.so`: without MAVERICK.
    #[default]
    Shipped,
    /// `libnrtucode_internal.so`.
    Internal,
}

impl Build {
    /// The generation of a coretype, if this build knows it.
    ///
    /// # Errors
    /// [`ResultCode::UnknownCore`].
    pub fn generation(self, coretype: u32) -> Result<Generation, ResultCode> {
        Generation::from_coretype(coretype)
            .filter(|&generation| self == Build::Internal || generation != Generation::Maverick)
            .ok_or(ResultCode::UnknownCore)
    }
}

/// The library a handle is made for: the caller's, or for 0 what the environment says. Accepts any number.
pub fn selector(library: u64, environment: Environment) -> u64 {
    match library {
        0 if environment.has_cptc_decode => 3,
        library => library,
    }
}

/// `nrtucode_ll_get_libraries_from_opcodes`: the one library to load, or none for no opcodes at all. The vendor never
/// reads the opcodes; only their number counts.
///
/// # Errors
/// [`ResultCode::UnknownCore`], unless there are no opcodes.
pub fn library_from_opcodes(
    build: Build,
    coretype: u32,
    num_opcodes: usize,
    environment: Environment,
) -> Result<Option<u64>, ResultCode> {
    if num_opcodes == 0 {
        return Ok(None);
    }
    match build.generation(coretype)? {
        Generation::Sunda => Ok(Some(0)),
        _ => Ok(Some(selector(0, environment))),
    }
}

/// `nrtucode_get_num_ext_isa_libs`.
///
/// # Errors
/// [`ResultCode::UnknownCore`].
pub fn num_ext_isa_libs(build: Build, coretype: u32) -> Result<usize, ResultCode> {
    build.generation(coretype).map(Generation::num_ext_isa_libs)
}

/// A set of opcodes, extended ones by spec.
#[derive(Debug, Clone)]
pub struct Opset {
    name: String,
    opcodes: [bool; 256],
    specs: [bool; 256],
}

impl Opset {
    /// An empty set; `name` prefixes its log lines.
    pub fn new(name: &str) -> Opset {
        Opset { name: name.to_owned(), opcodes: [false; 256], specs: [false; 256] }
    }

    /// Adds an instruction by its bytes: opcode at 0 and, for extended instructions, spec at 12. Returns the line that
    /// the vendor logs.
    ///
    /// # Errors
    /// [`ResultCode::Invalid`] for fewer than 13 bytes, where the vendor would read on.
    pub fn add_instruction(&mut self, instruction: &[u8]) -> Result<String, ResultCode> {
        let (&opcode, &spec) = instruction.first().zip(instruction.get(12)).ok_or(ResultCode::Invalid)?;
        self.opcodes[usize::from(opcode)] = true;
        if opcode != EXTENDED {
            return Ok(format!("{self} added opcode {opcode:#04x}"));
        }
        self.specs[usize::from(spec)] = true;
        Ok(format!("{self} added extended opcode {opcode:#04x} with specialization {spec:#04x}"))
    }

    /// Whether the set has the instruction.
    pub fn contains(&self, opcode: u8, spec: u8) -> bool {
        self.opcodes[usize::from(opcode)] && (opcode != EXTENDED || self.specs[usize::from(spec)])
    }

    /// `nrtucode_opset_get_library_index`: always 0, but an unknown coretype is noticed once there are opcodes.
    ///
    /// # Errors
    /// [`ResultCode::UnknownCore`].
    pub fn library_index(&self, build: Build, coretype: u32) -> Result<u64, ResultCode> {
        if self.opcodes.contains(&true) {
            build.generation(coretype)?;
        }
        Ok(0)
    }
}

impl fmt::Display for Opset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A pointer argument that the vendor's functions guard: NULL there prints a line to stderr and aborts the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, miette::Diagnostic)]
#[error("nrtucode: invalid API usage in `{function}`: `{argument}` is null")]
#[diagnostic(code(loader::null_argument), help("the vendor's library would abort the process here"))]
pub struct NullArgument {
    /// The function the line names.
    pub function: &'static str,
    /// The argument.
    pub argument: &'static str,
}

impl NullArgument {
    /// Every guarded argument on this path, in the order in which each function looks at them. Both generators of
    /// sequences speak under the name of their common part.
    pub const GUARDS: [NullArgument; 11] = [
        guard("nrtucode_ll_create", "ctx"),
        guard("nrtucode_ll_create", "out_ll"),
        guard("nrtucode_ll_destroy", "ll"),
        guard("nrtucode_ll_get_sequence_common", "ll"),
        guard("nrtucode_ll_get_sequence_common", "core"),
        guard("nrtucode_ll_get_sequence_common", "instr_buf"),
        guard("nrtucode_ll_get_sequence_common", "num_instrs_pushed"),
        guard("nrtucode_ll_get_libraries_from_opcodes", "libs"),
        guard("nrtucode_ll_get_libraries_from_opcodes", "num_libs"),
        guard("nrtucode_opset_get_library_index", "opset"),
        guard("nrtucode_opset_get_library_index", "lib_index"),
    ];

    /// The arguments of a call that may be NULL, checked in the vendor's order: pass each name with whether it is there.
    ///
    /// # Errors
    /// The first guarded argument of `function` that is not there.
    pub fn check(function: &str, present: &[(&str, bool)]) -> Result<(), NullArgument> {
        let missing = |guard: &&NullArgument| {
            guard.function == function && present.iter().any(|(name, is)| *name == guard.argument && !is)
        };
        match NullArgument::GUARDS.iter().find(missing) {
            Some(guard) => Err(*guard),
            None => Ok(()),
        }
    }
}

const fn guard(function: &'static str, argument: &'static str) -> NullArgument {
    NullArgument { function, argument }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSET: Environment = Environment { has_cptc_decode: false };
    const SET: Environment = Environment { has_cptc_decode: true };

    #[test]
    fn environment_is_presence_only() {
        assert_eq!(Environment::from_names(["PATH", CPTC_VARIABLE]), SET);
        assert_eq!(Environment::from_names(["PATH", "NRT_UCODE_UNSTABLE_LIBRARY_FLAG"]), UNSET);
    }

    #[test]
    fn resolver() {
        // load-and-dispatch.md §2.1, §16: coretype, opcodes, environment -> library or code
        let rows = [
            (6, 1, SET, Ok(Some(0))),
            (13, 1, UNSET, Ok(Some(0))),
            (13, 1, SET, Ok(Some(3))),
            (21, 200, SET, Ok(Some(3))),
            (29, 1, UNSET, Ok(Some(0))),
            (99, 0, SET, Ok(None)),
            (7, 1, UNSET, Err(ResultCode::UnknownCore)),
            (37, 1, SET, Err(ResultCode::UnknownCore)),
        ];
        for (coretype, opcodes, environment, want) in rows {
            assert_eq!(
                library_from_opcodes(Build::Shipped, coretype, opcodes, environment),
                want,
                "{coretype}"
            );
        }
        assert_eq!(library_from_opcodes(Build::Internal, 37, 1, SET), Ok(Some(3)));
    }

    #[test]
    fn selectors() {
        // load-and-dispatch.md §2.4
        let rows = [(0, UNSET, 0), (0, SET, 3), (1, SET, 1), (1, UNSET, 1), (u64::MAX, SET, u64::MAX)];
        for (library, environment, want) in rows {
            assert_eq!(selector(library, environment), want);
        }
    }

    #[test]
    fn library_counts() {
        let rows = [
            (6, Ok(1)),
            (13, Ok(4)),
            (21, Ok(4)),
            (29, Ok(4)),
            (37, Err(ResultCode::UnknownCore)),
            (5, Err(ResultCode::UnknownCore)),
        ];
        for (coretype, want) in rows {
            assert_eq!(num_ext_isa_libs(Build::Shipped, coretype), want, "{coretype}");
        }
        assert_eq!(num_ext_isa_libs(Build::Internal, 37), Ok(4));
    }

    #[test]
    fn opsets() {
        let mut opset = Opset::new("set");
        assert_eq!(opset.library_index(Build::Shipped, 99), Ok(0), "an empty set knows no coretype");
        let mut instruction = [0; 64];
        instruction[0] = 0x7e;
        instruction[12] = 9;
        assert_eq!(opset.add_instruction(&instruction).unwrap(), "set added opcode 0x7e");
        assert!(opset.contains(0x7e, 0) && !opset.contains(EXTENDED, 9));
        instruction[0] = EXTENDED;
        assert_eq!(
            opset.add_instruction(&instruction).unwrap(),
            "set added extended opcode 0xf0 with specialization 0x09"
        );
        assert!(opset.contains(EXTENDED, 9) && !opset.contains(EXTENDED, 8));
        assert_eq!(opset.library_index(Build::Shipped, 13), Ok(0));
        assert_eq!(opset.library_index(Build::Shipped, 99), Err(ResultCode::UnknownCore));
        assert_eq!(opset.add_instruction(&instruction[..12]), Err(ResultCode::Invalid));
    }

    #[test]
    fn null_arguments() {
        let check = NullArgument::check(
            "nrtucode_ll_get_sequence_common",
            &[("core", false), ("ll", false), ("instr_buf", true)],
        );
        assert_eq!(
            check.unwrap_err().to_string(),
            "nrtucode: invalid API usage in `nrtucode_ll_get_sequence_common`: `ll` is null",
            "the first in the vendor's order"
        );
        let check = NullArgument::check("nrtucode_ll_create", &[("ctx", true), ("out_ll", false)]);
        assert_eq!(
            check.unwrap_err().to_string(),
            "nrtucode: invalid API usage in `nrtucode_ll_create`: `out_ll` is null"
        );
        assert_eq!(NullArgument::check("nrtucode_ll_destroy", &[("ll", true)]), Ok(()));
    }
}
