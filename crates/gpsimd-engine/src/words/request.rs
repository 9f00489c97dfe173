//! What a caller asks for, and the check of all of it before anything runs.
//!
//! Unaware of compilers: a [`Job`] is a request whose schemas parse, whose names are legal and whose files exist.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gpsimd_codegen::Op;
use gpsimd_lsp::{CpuId, Variant};
use gpsimd_toolchain::{Machine, PackJob, Toolchain};
use miette::Diagnostic;

use crate::ask::registrations::{self, Shapes};
use crate::stages::split::{self, Images};
use crate::words::error::{EngineError, Problem};

/// One op as the caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpRequest {
    /// The kernel function; `None` takes the op name of the schema (codegen.md §2: they may differ).
    pub kernel: Option<String>,
    /// PyTorch schema text; `None` takes what the kernel's own declaration means ([`crate::discovery`]).
    pub schema: Option<String>,
}

/// How many cores the library is for (toolchain.md §14 Q17: 1 and 8 are the only legal values).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    /// One image, which may use the whole 32 MiB bank.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packaging {
    /// As the reference driver: unless the caller's cflags contain exactly `-g` (toolchain.md §5).
    UnlessDebug,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Who strips and packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packer {
    /// This process.
    Native,
    /// The toolchain's own program, which only the vendor's has.
    Toolchain,
}

/// How the images of eight cores are linked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Linking {
    /// Once where the toolchain's output is known to allow it: the open toolchain.
    #[default]
    Auto,
    /// Once for cpu0, then moved to each core; each by itself where that cannot be proven right.
    Once,
    /// Each by itself.
    Each,
}

/// A library to build.
#[derive(Debug, Clone)]
pub struct Request {
    /// Output stem: `vector_add` gives `vector_add_cpu0.so` and so on. A last extension is dropped.
    pub name: String,
    /// Kernel sources, each compiled once.
    pub sources: Vec<PathBuf>,
    /// The ops, in registration order; none takes all that the shape sources register, or the one kernel there is.
    pub ops: Vec<OpRequest>,
    /// Sources of shape functions and registrations, for this machine (user-api.md §9).
    pub shape_sources: Vec<PathBuf>,
    /// Namespace of ops whose schema is read from the kernel [default: [`crate::DEFAULT_NAMESPACE`]].
    pub namespace: Option<String>,
    /// Whether the build's first half has run: [`crate::discovery`]; the second half then goes on with its log.
    pub is_logged: bool,
    /// Where the outputs appear.
    pub out_dir: PathBuf,
    /// Include directories; an entry may also be a flag such as `-Idir` (toolchain.md §14 Q10).
    pub includes: Vec<OsString>,
    /// Compiler flags for sources and wrapper, after ours, so that the last one wins.
    pub cflags: Vec<OsString>,
    /// Linker flags (the reference has none, toolchain.md §14 Q16).
    pub ldflags: Vec<OsString>,
    /// A program that starts the compilers (`ccache`).
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
}

/// A request found buildable.
#[derive(Debug, Clone)]
pub struct Job {
    /// Output stem.
    pub name: String,
    /// Kernel sources with the object stem each gets.
    pub sources: Vec<Source>,
    /// Ops with checked signatures.
    pub ops: Vec<Op>,
    /// The schema text of each op, as given.
    pub schemas: Vec<String>,
    /// The shape program's sources, if there are any.
    pub shapes: Option<Shapes>,
    /// See [`Request::is_logged`].
    pub is_logged: bool,
    /// Absolute output directory.
    pub out_dir: PathBuf,
    /// Include flags' directories.
    pub includes: Vec<PathBuf>,
    /// See [`Request::cflags`]; flags among the includes are appended.
    pub cflags: Vec<OsString>,
    /// See [`Request::ldflags`].
    pub ldflags: Vec<OsString>,
    /// See [`Request::launcher`].
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
    /// The compiler.
    pub toolchain: Toolchain,
}

/// A kernel source and the stem of its object file, unique within the job (codegen.md D10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As the caller gave it.
    pub path: PathBuf,
    /// `relu`, or `relu-2` for the second source of that stem.
    pub object_stem: OsString,
}

/// Problems of the request that no other crate owns.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum RequestError {
    #[error("no source files")]
    #[diagnostic(code(engine::no_sources), help("name at least one C++ kernel source"))]
    NoSources,
    #[error("source file {path} does not exist", path = .path.display())]
    #[diagnostic(code(engine::source_missing), help("paths are relative to {cwd}", cwd = .cwd.display()))]
    SourceMissing { path: PathBuf, cwd: PathBuf },
    #[error("source {path} is not a file", path = .path.display())]
    #[diagnostic(code(engine::source_not_file), help("name the C++ file itself, not its directory"))]
    SourceNotFile { path: PathBuf },
    #[error("source {path:?} has a name that is not UTF-8")]
    #[diagnostic(
        code(engine::source_name),
        help("rename it: manifests, logs and exported plans are text, and name their sources")
    )]
    SourceName { path: PathBuf },
    #[error("source {path} is named twice", path = .path.display())]
    #[diagnostic(code(engine::source_twice), help("its functions would be defined twice; name it once"))]
    SourceTwice { path: PathBuf },
    #[error("{name:?} cannot be a library name: {why}")]
    #[diagnostic(code(engine::name), help("use a plain file stem such as vector_add"))]
    Name { name: String, why: &'static str },
    #[error("op {kernel} has no schema")]
    #[diagnostic(
        code(engine::no_schema),
        help(
            "write --op '{kernel}=my_ops::{kernel}(Tensor x) -> Tensor'; `compile` can read it from the kernel"
        )
    )]
    NoSchema { kernel: String },
    #[error("include directory {path} does not exist", path = .path.display())]
    #[diagnostic(code(engine::include_missing), help("remove it or correct the path"))]
    IncludeMissing { path: PathBuf },
    #[error("the toolchain has no packer of its own")]
    #[diagnostic(
        code(engine::no_packer),
        help("xt-pkg-loadlib comes with the vendor's tools; --packer native needs nothing")
    )]
    NoPacker,
}

/// Checks everything that can be known before a compiler starts.
///
/// # Errors
/// [`EngineError::Request`] with every problem found.
pub fn check(request: &Request, toolchain: Toolchain) -> Result<Job, EngineError> {
    let mut problems = Vec::new();
    let ops = ops(&request.ops, &mut problems);
    job(request, ops, toolchain, problems)
}

/// Checks everything but that there are ops and that they have schemas.
pub(crate) fn check_sources(request: &Request, toolchain: Toolchain) -> Result<Job, EngineError> {
    let mut problems = Vec::new();
    let given: Vec<OpRequest> = request.ops.iter().filter(|op| op.schema.is_some()).cloned().collect();
    if !given.is_empty() {
        ops(&given, &mut problems);
    }
    job(request, Vec::new(), toolchain, problems)
}

fn job(
    request: &Request,
    ops: Vec<Op>,
    toolchain: Toolchain,
    mut problems: Vec<Problem>,
) -> Result<Job, EngineError> {
    let name = library_name(&request.name, &mut problems);
    let sources = sources(&request.sources, &["wrapper", "wrapper.guess"], &mut problems);
    let shapes = host_sources(&request.shape_sources, &mut problems);
    let (includes, include_flags) = includes(&request.includes, &mut problems);
    let mut cflags = request.cflags.clone();
    cflags.extend(include_flags);
    if let Some(Err(error)) = stack_size(&cflags).map(gpsimd_codegen::check_stack_size) {
        problems.push(Problem::new(error));
    }
    let probe = PackJob { linked: PathBuf::new(), stripped: PathBuf::new(), packed: PathBuf::new() };
    if request.packer == Packer::Toolchain && toolchain.pack(&probe).is_none() {
        problems.push(Problem::new(RequestError::NoPacker));
    }
    if let Some(Err(error)) = request.images.target().map(|target| split::table(&ops, target)) {
        problems.push(Problem::new(error));
    }
    if !problems.is_empty() {
        return Err(EngineError::Request { problems });
    }
    Ok(Job {
        name,
        sources,
        ops,
        shapes,
        is_logged: request.is_logged,
        schemas: request.ops.iter().filter_map(|op| op.schema.clone()).collect(),
        out_dir: std::path::absolute(&request.out_dir)
            .map_err(EngineError::io("cannot resolve", &request.out_dir))?,
        includes,
        cflags,
        ldflags: request.ldflags.clone(),
        launcher: request.launcher.clone(),
        cores: request.cores,
        is_linked_once: request.cores == Cores::Eight
            && request.packer == Packer::Native
            && match request.linking {
                Linking::Auto => matches!(toolchain, Toolchain::Open(_)),
                Linking::Once => true,
                Linking::Each => false,
            },
        packaged: match request.packaging {
            Packaging::Always => true,
            Packaging::Never => false,
            Packaging::UnlessDebug => !request.cflags.iter().any(|flag| flag == "-g"),
        },
        packer: request.packer,
        images: request.images,
        toolchain,
    })
}

/// `name` without its last extension, which the reference drops (toolchain.md §3.1).
pub(crate) fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

fn library_name(name: &str, problems: &mut Vec<Problem>) -> String {
    let stem = stem(name);
    let why = if stem.is_empty() {
        Some("it is empty")
    } else if stem.contains(|letter: char| letter == '/' || letter.is_control()) {
        Some("it contains a character that a file name cannot hold here")
    } else if stem.starts_with(['.', '-']) {
        Some("it starts with a character that hides the file or looks like an option")
    } else if stem == "builtin" || stem.starts_with("libbuiltincustomop_cpu") {
        Some("the vendor reserves it for built-in ops (codegen.md §2)")
    } else {
        None
    };
    if let Some(why) = why {
        problems.push(Problem::new(RequestError::Name { name: name.to_owned(), why }));
    }
    stem.to_owned()
}

/// The shape program's sources and the compiler for them.
fn host_sources(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Option<Shapes> {
    if paths.is_empty() {
        return None;
    }
    let sources = sources(paths, &["lister"], problems);
    match registrations::compiler(&Machine::here()) {
        Ok(compiler) => Some(Shapes { compiler, sources }),
        Err(error) => {
            problems.push(Problem::of_machine(error));
            None
        }
    }
}

/// Sources with object stems; `taken` are the stems of objects that are ours.
fn sources(paths: &[PathBuf], taken: &[&str], problems: &mut Vec<Problem>) -> Vec<Source> {
    if paths.is_empty() {
        problems.push(Problem::new(RequestError::NoSources));
    }
    let mut stems: BTreeMap<OsString, usize> = BTreeMap::new();
    stems.extend(taken.iter().map(|stem| (OsString::from(stem), 1)));
    let mut seen = Vec::new();
    let mut sources = Vec::new();
    for path in paths {
        if path.to_str().is_none() {
            problems.push(Problem::new(RequestError::SourceName { path: path.clone() }));
            continue;
        }
        if !path.exists() {
            let cwd = std::env::current_dir().unwrap_or_default();
            problems.push(Problem::new(RequestError::SourceMissing { path: path.clone(), cwd }));
            continue;
        }
        if !path.is_file() {
            problems.push(Problem::new(RequestError::SourceNotFile { path: path.clone() }));
            continue;
        }
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            problems.push(Problem::new(RequestError::SourceTwice { path: path.clone() }));
            continue;
        }
        seen.push(real);
        sources.push(Source { path: path.clone(), object_stem: unique_stem(path, &mut stems) });
    }
    sources
}

fn unique_stem(path: &Path, taken: &mut BTreeMap<OsString, usize>) -> OsString {
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_owned();
    let count = taken.entry(stem.clone()).or_insert(0);
    *count += 1;
    if *count == 1 {
        return stem;
    }
    let mut numbered = stem;
    numbered.push(format!("-{count}"));
    // `a-2.cpp` may itself be among the sources: number until nobody has the name
    if taken.contains_key(&numbered) {
        unique_stem(Path::new(&numbered), taken)
    } else {
        taken.insert(numbered.clone(), 1);
        numbered
    }
}

/// Checks ops alone, for a caller that needs no compiler.
///
/// # Errors
/// [`EngineError::Request`] with every problem found.
pub fn check_ops(requested: &[OpRequest]) -> Result<Vec<Op>, EngineError> {
    let mut problems = Vec::new();
    let ops = ops(requested, &mut problems);
    if problems.is_empty() { Ok(ops) } else { Err(EngineError::Request { problems }) }
}

fn ops(requested: &[OpRequest], problems: &mut Vec<Problem>) -> Vec<Op> {
    let mut ops = Vec::new();
    for request in requested {
        let Some(schema) = &request.schema else {
            let kernel = request.kernel.clone().unwrap_or_default();
            problems.push(Problem::new(RequestError::NoSchema { kernel }));
            continue;
        };
        match gpsimd_schema::signature(schema) {
            Ok(signature) => {
                let kernel = request.kernel.clone().unwrap_or_else(|| signature.op.clone());
                ops.push(Op::new(kernel, signature));
            }
            Err(refusal) => problems.push(Problem::new(refusal)),
        }
    }
    // where every schema was refused, that there is no op left is no news
    if !ops.is_empty() || requested.is_empty() {
        problems.extend(gpsimd_codegen::check(&ops).into_iter().map(Problem::new));
    }
    ops
}

/// Splits the include list into directories and literal flags (toolchain.md §14 Q10: both are accepted). `-Idir` is a
/// directory whose existence nobody vouches for.
fn includes(entries: &[OsString], problems: &mut Vec<Problem>) -> (Vec<PathBuf>, Vec<OsString>) {
    let mut directories = Vec::new();
    let mut flags = Vec::new();
    for entry in entries {
        match entry.as_bytes() {
            [b'-', b'I', directory @ ..] if !directory.is_empty() => {
                directories.push(PathBuf::from(OsStr::from_bytes(directory)));
            }
            [b'-', ..] => flags.push(entry.clone()),
            _ => {
                let path = PathBuf::from(entry);
                if !path.is_dir() {
                    problems.push(Problem::new(RequestError::IncludeMissing { path: path.clone() }));
                }
                directories.push(path);
            }
        }
    }
    (directories, flags)
}

/// Stack that each op gets, in bytes, unless the flags say otherwise (codegen.md §5).
const DEFAULT_STACK_SIZE: u64 = 4196;

impl Job {
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
fn stack_size(cflags: &[OsString]) -> Option<u64> {
    let value = cflags.iter().rev().find_map(|flag| flag.to_str()?.strip_prefix("-DSTACK_SIZE="))?;
    match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
}
