//! What a caller asks for, before and after it is complete, and what of it was found buildable.
//!
//! Unaware of how it is checked and of compilers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_codegen::Op;
use gpsimd_loader::kernel_table::TableOp;
use gpsimd_lsp::{CpuId, Variant};
use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

use crate::words::disk::HIDDEN;
use crate::words::images::{Images, Target};

/// A library as its author describes it: the tool finds what is left open ([`crate::build`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Draft {
    /// The ops, in registration order; none takes all that the shape sources register, or the one kernel there is.
    pub ops: Vec<OpRequest>,
    /// Namespace of ops whose schema is read from the kernel [default: [`crate::DEFAULT_NAMESPACE`]].
    pub namespace: Option<String>,
    /// All else.
    pub settings: Settings,
}

/// A library whose ops are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The ops, in registration order.
    pub ops: Vec<NamedOp>,
    /// All else.
    pub settings: Settings,
}

impl Draft {
    /// The request that it is, or itself if something must be found first.
    ///
    /// # Errors
    /// The draft: an op or its schema is not given, or shape sources are to be asked.
    pub fn closed(self) -> Result<Request, Box<Draft>> {
        let named: Option<Vec<NamedOp>> = self.ops.iter().cloned().map(OpRequest::named).collect();
        match named {
            Some(ops) if !ops.is_empty() && self.settings.shape_sources.is_empty() => {
                Ok(Request { ops, settings: self.settings })
            }
            // nothing is left to be asked, and what the sources need of PyTorch may be more than the simulated core has
            Some(ops) if !ops.is_empty() && self.settings.libtorch.is_some() => {
                let mut settings = self.settings;
                settings.host_shape_sources = std::mem::take(&mut settings.shape_sources);
                Ok(Request { ops, settings })
            }
            _ => Err(Box::new(self)),
        }
    }
}

/// One op as the caller names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpRequest {
    /// The kernel function; `None` takes the op name of the schema (codegen.md §2: they may differ).
    pub kernel: Option<String>,
    /// PyTorch schema text; `None` takes what the kernel's own declaration means ([`crate::build`]).
    pub schema: Option<String>,
}

impl OpRequest {
    /// With its schema, if it has one.
    pub(crate) fn named(self) -> Option<NamedOp> {
        Some(NamedOp { kernel: self.kernel, schema: self.schema? })
    }
}

/// One op with its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedOp {
    /// The kernel function; `None` takes the op name of the schema.
    pub kernel: Option<String>,
    /// PyTorch schema text.
    pub schema: String,
}

/// How many cores the library is for (toolchain.md §14 Q17: 1 and 8 are the only legal values).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cores {
    /// One image, which may use the whole 32 MiB bank.
    #[default]
    Single,
    /// Eight images, one per core, each in its own 2 MiB bank.
    Eight,
}

impl Cores {
    /// The images to link, in order.
    pub fn variants(self) -> Vec<Variant> {
        match self {
            Cores::Single => vec![Variant::Single],
            Cores::Eight => CpuId::all().map(Variant::Cpu).collect(),
        }
    }

    /// The manifest's `total_cpus`.
    pub fn count(self) -> u8 {
        match self {
            Cores::Single => 1,
            Cores::Eight => 8,
        }
    }
}

/// Whether `.stripped.so` and `.packed.so` are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Packaging {
    /// As the reference driver: unless the caller's cflags contain exactly `-g` (toolchain.md §5).
    #[default]
    UnlessDebug,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Checks that the compiler puts into a checked build, for the simulator to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Sanitizer {
    /// Redzones around variables, and variables whose scope has ended.
    Address,
    /// Arithmetic, indices, conversions, pointers.
    Undefined,
    /// Comparisons and differences of pointers into different objects; finds them with `Address` only.
    Pairs,
}

/// Who strips and packs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Packer {
    /// This process.
    #[default]
    Native,
    /// The toolchain's own program, which only the vendor's has.
    Toolchain,
}

/// How the images of eight cores are linked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Linking {
    /// Once where the toolchain's output is known to allow it: the open toolchain.
    #[default]
    Auto,
    /// Once for cpu0, then moved to each core; each by itself where that cannot be proven right.
    Once,
    /// Each by itself.
    Each,
}

/// What to build a library from, where to, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Output stem: `vector_add` gives `vector_add_cpu0.so` and so on. A last extension is dropped.
    pub name: String,
    /// Kernel sources, each compiled once.
    #[serde(with = "text")]
    pub sources: Vec<PathBuf>,
    /// Sources of shape functions and registrations, for this machine (user-api.md §9).
    #[serde(with = "text")]
    pub shape_sources: Vec<PathBuf>,
    /// Where the outputs appear.
    #[serde(with = "text")]
    pub out_dir: PathBuf,
    /// Include directories; an entry may also be a flag such as `-Idir` (toolchain.md §14 Q10).
    #[serde(with = "text")]
    pub includes: Vec<OsString>,
    /// Compiler flags for sources and wrapper, after ours, so that the last one wins.
    #[serde(with = "text")]
    pub cflags: Vec<OsString>,
    /// Linker flags (the reference has none, toolchain.md §14 Q16).
    #[serde(with = "text")]
    pub ldflags: Vec<OsString>,
    /// A program that starts the compilers (`ccache`).
    #[serde(with = "text")]
    pub launcher: Option<PathBuf>,
    /// One core or eight.
    pub cores: Cores,
    /// How eight images are linked.
    pub linking: Linking,
    /// Whether to strip and pack.
    pub packaging: Packaging,
    /// And by whom.
    pub packer: Packer,
    /// Which images to make.
    pub images: Images,
    /// Any of these makes a checked build, under a name of its own, which cannot ship.
    pub sanitizers: Vec<Sanitizer>,
    /// This machine's C++ compiler, to make a native twin beside the library.
    #[serde(with = "text")]
    pub native: Option<PathBuf>,
    /// Where a libtorch is installed, to make the twin's ops operators of that PyTorch.
    #[serde(with = "text")]
    pub libtorch: Option<PathBuf>,
    /// Shape sources for that alone: no image is made of them, and nobody asks them for ops.
    #[serde(with = "text")]
    pub host_shape_sources: Vec<PathBuf>,
}

/// Settings found usable: kernels can be compiled, whatever their ops are.
#[derive(Debug, Clone)]
pub struct Project {
    /// Output stem.
    pub name: String,
    /// Kernel sources with the object stem each gets.
    pub sources: Vec<Source>,
    /// The shape program's sources, if there are any.
    pub shapes: Vec<Source>,
    /// Absolute output directory.
    pub out_dir: PathBuf,
    /// What relative names are relative to; none when it is gone.
    pub directory: Option<PathBuf>,
    /// Include flags' directories.
    pub includes: Vec<PathBuf>,
    /// See [`Settings::cflags`]; flags among the includes are appended.
    pub cflags: Vec<OsString>,
    /// See [`Settings::ldflags`].
    pub ldflags: Vec<OsString>,
    /// See [`Settings::launcher`].
    pub launcher: Option<PathBuf>,
    /// One core or eight.
    pub cores: Cores,
    /// Whether eight images come from one link.
    pub is_linked_once: bool,
    /// Whether images are stripped and packed.
    pub packaged: bool,
    /// By whom.
    pub packer: Packer,
    /// Which images to make.
    pub images: Images,
    /// See [`Settings::sanitizers`].
    pub sanitizers: Vec<Sanitizer>,
    /// See [`Settings::native`].
    pub native: Option<PathBuf>,
    /// See [`Settings::libtorch`].
    pub operators: Option<Operators>,
}

/// What makes a native twin's ops operators of an installed PyTorch.
#[derive(Debug, Clone)]
pub struct Operators {
    /// Where its headers and libraries are: `include` and `lib`.
    pub libtorch: PathBuf,
    /// Shape sources, for this machine.
    pub shapes: Vec<Source>,
}

/// A request found buildable.
#[derive(Debug, Clone)]
pub struct Job {
    /// All but the ops.
    pub project: Project,
    /// Ops with checked signatures.
    pub ops: Vec<Op>,
    /// The same as they were given, kernels named.
    pub named: Vec<NamedOp>,
    /// What the split image is for and the rows of its kernel table, if one is to be made.
    pub split: Option<(Target, Vec<TableOp>)>,
}

/// A source and the stem of its object file, unique within the job (codegen.md D10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As the caller gave it.
    pub path: PathBuf,
    /// `relu`, or `relu-2` for the second source of that stem.
    pub object_stem: OsString,
}

impl Project {
    /// No library, but what all libraries are linked with, checked builds among them.
    pub(crate) fn of_sdk(out_dir: &Path) -> Project {
        Project {
            name: "sdk".into(),
            sources: Vec::new(),
            shapes: Vec::new(),
            out_dir: out_dir.to_owned(),
            directory: std::env::current_dir().ok(),
            includes: Vec::new(),
            cflags: Vec::new(),
            ldflags: Vec::new(),
            launcher: None,
            cores: Cores::Single,
            is_linked_once: false,
            packaged: false,
            packer: Packer::Native,
            images: Images::default(),
            sanitizers: vec![Sanitizer::Address],
            native: None,
            operators: None,
        }
    }

    /// Whether the build is for the simulator's own checks.
    pub fn is_checked(&self) -> bool {
        !self.sanitizers.is_empty()
    }

    /// The library's hidden directory.
    pub(crate) fn library(&self) -> PathBuf {
        self.out_dir.join(HIDDEN).join(&self.name)
    }
}

/// Stack that each op gets, in bytes, unless the flags say otherwise (codegen.md §5).
const DEFAULT_STACK_SIZE: u64 = 4196;

impl Project {
    /// Stack that each op gets, in bytes; none if the flags give it as an expression.
    pub fn stack_size(&self) -> Option<u64> {
        let is_given = |flag: &OsString| flag.as_encoded_bytes().starts_with(b"-DSTACK_SIZE");
        match self.cflags.iter().any(is_given) {
            true => stack_size(&self.cflags),
            false => Some(DEFAULT_STACK_SIZE),
        }
    }
}

/// The last `-DSTACK_SIZE=n` among the flags, if it is a plain number.
pub(crate) fn stack_size(cflags: &[OsString]) -> Option<u64> {
    let value = cflags.iter().rev().find_map(|flag| flag.to_str()?.strip_prefix("-DSTACK_SIZE="))?;
    match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
}

/// `name` without its last extension, which the reference drops (toolchain.md §3.1).
pub(crate) fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}
