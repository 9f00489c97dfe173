//! Everything about a request that can be known to be wrong before a compiler starts.
//!
//! Unaware of plans: what passes is a [`Job`], whose schemas parse, whose names are legal and whose files exist.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gpsimd_codegen::Op;
use gpsimd_loader::kernel_table::{self, TableError, TableOp};
use miette::Diagnostic;

use crate::words::error::{EngineError, Problem};
use crate::words::images::Target;
use crate::words::kit::Kit;
use crate::words::request::{
    Cores, Draft, Job, Linking, NamedOp, OpRequest, Operators, Packaging, Packer, Project, Request, Settings,
    Source, stack_size, stem,
};

/// Problems of the request that no other crate owns.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum RequestError {
    #[error("no source files")]
    #[diagnostic(code(engine::no_sources), help("name at least one C++ kernel source"))]
    NoSources,
    #[error("source file {path} does not exist", path = .path.display())]
    #[diagnostic(code(engine::source_missing), help("{}paths are relative to {}", meant(.path), .cwd.display()))]
    SourceMissing { path: PathBuf, cwd: PathBuf },
    #[error("source {path} is not a file", path = .path.display())]
    #[diagnostic(code(engine::source_not_file), help("name the C++ file itself, not its directory"))]
    SourceNotFile { path: PathBuf },
    #[error("{path} is {found}, not a C++ source", path = .path.display())]
    #[diagnostic(code(engine::source_kind), help("{help}"))]
    SourceKind { path: PathBuf, found: &'static str, help: &'static str },
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
    #[diagnostic(code(engine::name), help("{help}"))]
    Name { name: String, why: &'static str, help: String },
    #[error("--out-dir {path} is {found}", path = .path.display())]
    #[diagnostic(
        code(engine::out_dir),
        help(
            "it is the directory that the library's files go to (build, unless you say); the library's name is -o NAME"
        )
    )]
    OutDir { path: PathBuf, found: &'static str },
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
    #[error("this toolchain's compiler and runtime have no checked form")]
    #[diagnostic(code(engine::sanitize_toolchain), help("build with the open toolchain: --toolchain open"))]
    SanitizeToolchain,
    #[error("a checked build is for images at fixed addresses")]
    #[diagnostic(
        code(engine::sanitize_split),
        help("leave out --image: the handlers and redzones do not fit the 32 KiB of a split image")
    )]
    SanitizeSplit,
}

/// Checks everything that can be known before a compiler starts.
///
/// # Errors
/// [`EngineError::Request`] with every problem found.
pub fn check(request: &Request, kit: &Kit) -> Result<Job, EngineError> {
    let mut problems = Vec::new();
    let ops = ops(&request.ops, &mut problems);
    let project = project(&request.settings, kit, &mut problems);
    let target = request.settings.images.target();
    let split = target.and_then(|target| match table(&ops, target) {
        Ok(rows) => Some((target, rows)),
        Err(error) => {
            problems.push(Problem::new(error));
            None
        }
    });
    let named = ops.iter().zip(&request.ops);
    let named =
        named.map(|(op, given)| NamedOp { kernel: Some(op.kernel.clone()), schema: given.schema.clone() });
    let named = named.collect();
    whole(project, problems).map(|project| Job { project, ops, named, split })
}

/// Checks everything but that there are ops and that they have schemas.
///
/// # Errors
/// [`EngineError::Request`] with every problem found.
pub(crate) fn check_draft(draft: &Draft, kit: &Kit) -> Result<Project, EngineError> {
    let mut problems = Vec::new();
    let given: Vec<NamedOp> = draft.ops.iter().cloned().filter_map(OpRequest::named).collect();
    if !given.is_empty() {
        ops(&given, &mut problems);
    }
    let project = project(&draft.settings, kit, &mut problems);
    whole(project, problems)
}

fn whole(project: Result<Project, EngineError>, problems: Vec<Problem>) -> Result<Project, EngineError> {
    if problems.is_empty() { project } else { Err(EngineError::Request { problems }) }
}

/// The project of the settings; right if no problem was found.
fn project(settings: &Settings, kit: &Kit, problems: &mut Vec<Problem>) -> Result<Project, EngineError> {
    let is_checked = !settings.sanitizers.is_empty();
    let name = library_name(&settings.name, problems) + if is_checked { ".checked" } else { "" };
    if is_checked && !kit.compiles_sdk() {
        problems.push(Problem::new(RequestError::SanitizeToolchain));
    }
    if is_checked && settings.images.target().is_some() {
        problems.push(Problem::new(RequestError::SanitizeSplit));
    }
    let sources = sources(&settings.sources, &["wrapper", "wrapper.guess"], problems);
    let shapes = match settings.shape_sources.as_slice() {
        [] => Vec::new(),
        paths => self::sources(paths, &[], problems),
    };
    let mut host_shapes = shapes.clone();
    if !settings.host_shape_sources.is_empty() {
        host_shapes.extend(self::sources(&settings.host_shape_sources, &[], problems));
    }
    let operators = |libtorch: &PathBuf| Operators { libtorch: libtorch.clone(), shapes: host_shapes };
    out_dir(&settings.out_dir, problems);
    let (includes, include_flags) = includes(&settings.includes, problems);
    let mut cflags = settings.cflags.clone();
    cflags.extend(include_flags);
    if let Some(Err(error)) = stack_size(&cflags).map(gpsimd_codegen::check_stack_size) {
        problems.push(Problem::new(error));
    }
    if settings.packer == Packer::Toolchain && !kit.toolchain.has_packer() {
        problems.push(Problem::new(RequestError::NoPacker));
    }
    Ok(Project {
        name,
        sources,
        shapes,
        out_dir: std::path::absolute(&settings.out_dir)
            .map_err(EngineError::io("cannot resolve", &settings.out_dir))?,
        directory: std::env::current_dir().ok(),
        includes,
        cflags,
        ldflags: settings.ldflags.clone(),
        launcher: settings.launcher.clone(),
        cores: settings.cores,
        is_linked_once: settings.cores == Cores::Eight
            && settings.packer == Packer::Native
            && match settings.linking {
                Linking::Auto => kit.toolchain.links_movably(),
                Linking::Once => true,
                Linking::Each => false,
            },
        packaged: match settings.packaging {
            _ if is_checked => false,
            Packaging::Always => true,
            Packaging::Never => false,
            Packaging::UnlessDebug => !settings.cflags.iter().any(|flag| flag == "-g"),
        },
        packer: settings.packer,
        images: settings.images,
        sanitizers: settings.sanitizers.clone(),
        native: settings.native.clone(),
        operators: settings.libtorch.as_ref().map(operators),
    })
}

/// The rows of a library's kernel table.
fn table(ops: &[Op], target: Target) -> Result<Vec<TableOp>, TableError> {
    let kernels: Vec<&str> = ops.iter().map(|op| op.kernel.as_str()).collect();
    let rows = kernel_table::number(&kernels, target.first_spec)?;
    kernel_table::check(&rows).map(|()| rows)
}

fn library_name(name: &str, problems: &mut Vec<Problem>) -> String {
    let stem = stem(name);
    let why = if stem.is_empty() {
        Some("it is empty")
    } else if stem.contains('/') {
        Some("it is a path, and -o takes the library's name alone")
    } else if stem.contains(char::is_control) {
        Some("it contains a character that a file name cannot hold here")
    } else if stem.starts_with(['.', '-']) {
        Some("it starts with a character that hides the file or looks like an option")
    } else if stem == "builtin" || stem.starts_with("libbuiltincustomop_cpu") {
        Some("the vendor reserves it for built-in ops (codegen.md §2)")
    } else {
        None
    };
    if let Some(why) = why {
        let help = match name.trim_end_matches('/').rsplit_once('/') {
            Some((directory, stem)) if !name.ends_with('/') => {
                format!("the directory is an option of its own: --out-dir {directory} -o {stem}")
            }
            _ if name.ends_with('/') => {
                format!("the directory is an option of its own: --out-dir {}", name.trim_end_matches('/'))
            }
            _ => "use a plain file stem such as vector_add".to_owned(),
        };
        problems.push(Problem::new(RequestError::Name { name: name.to_owned(), why, help }));
    }
    stem.to_owned()
}

/// Refuses what cannot be a directory before anything is written there.
fn out_dir(path: &Path, problems: &mut Vec<Problem>) {
    let found = match path.metadata() {
        Ok(found) if found.is_dir() => return,
        Ok(_) => "a file, not a directory",
        // what does not exist is made, unless a file is in the way
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => "below a file",
        Err(_) => return,
    };
    problems.push(Problem::new(RequestError::OutDir { path: path.to_owned(), found }));
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
        if let Some((found, help)) = other_kind(path) {
            problems.push(Problem::new(RequestError::SourceKind { path: path.clone(), found, help }));
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

/// What a file is by its name that is certainly no source, and where it belongs.
fn other_kind(path: &Path) -> Option<(&'static str, &'static str)> {
    let name = path.file_name()?.to_str()?;
    let ending = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match () {
        () if ending(&[".npy", ".npz"]) => Some((
            "a tensor",
            "compile takes kernels; give tensors to the library: gpsimd-build run build/NAME x.npy",
        )),
        () if ending(&[".manifest.json", ".so", ".ucpl"]) => {
            Some(("part of a library", "it is built already: gpsimd-build run, inspect or verify it"))
        }
        () if ending(&[".o", ".a"]) => {
            Some(("compiled", "name the sources; every build compiles and links them itself"))
        }
        () if ending(&[".h", ".hpp", ".hh", ".hxx"]) => {
            Some(("a header", "name the source that includes it; -I DIR says where headers are"))
        }
        () if ending(&[".py", ".txt", ".json", ".md"]) => {
            Some(("no file of C++", "name the kernel's source, such as vector_add.cpp"))
        }
        // `-o two words`
        () if !path.exists() && !name.contains('.') && similar(path).is_none() => Some((
            "no file here",
            "sources end in .cpp; -o takes one word, the library's name, and compiler flags stand after --",
        )),
        () => None,
    }
}

/// A source beside a path that is not there, of the same stem: `relu.cpp` for `relu` and `relu.cp`.
fn similar(path: &Path) -> Option<PathBuf> {
    ["cpp", "cc", "cxx", "c"]
        .map(|ending| path.with_extension(ending))
        .into_iter()
        .find(|other| other.is_file())
}

fn meant(path: &Path) -> String {
    similar(path).map_or_else(String::new, |other| format!("did you mean {}? ", other.display()))
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
    let mut named = Vec::new();
    for request in requested {
        match request.clone().named() {
            Some(op) => named.push(op),
            None => {
                let kernel = request.kernel.clone().unwrap_or_default();
                problems.push(Problem::new(RequestError::NoSchema { kernel }));
            }
        }
    }
    let ops = if named.is_empty() && !requested.is_empty() { Vec::new() } else { ops(&named, &mut problems) };
    if problems.is_empty() { Ok(ops) } else { Err(EngineError::Request { problems }) }
}

fn ops(requested: &[NamedOp], problems: &mut Vec<Problem>) -> Vec<Op> {
    let mut ops = Vec::new();
    for request in requested {
        match gpsimd_schema::signature(&request.schema) {
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

/// The ops of a stage's arguments, which the plan's check has passed.
///
/// # Errors
/// As [`check_ops`], for arguments that no plan of ours wrote.
pub(crate) fn named_ops(named: &[NamedOp]) -> Result<Vec<Op>, EngineError> {
    let mut problems = Vec::new();
    let ops = ops(named, &mut problems);
    if problems.is_empty() { Ok(ops) } else { Err(EngineError::Request { problems }) }
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
