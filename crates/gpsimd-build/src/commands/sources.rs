//! A kernel's source in place of a library: built with the compiler's checks, to be run at once.
//!
//! Unaware of what is called then. The library stays in the output directory, so that the next run builds only what changed.

use std::path::{Path, PathBuf};

use gpsimd_engine::{
    Cache, Cores, Draft, Images, Kit, Linking, Packaging, Packer, RunOptions, Sanitizer, Settings, Target,
};
use gpsimd_loader::Generation;
use gpsimd_toolchain::Home;
use miette::{Diagnostic, Result};

use super::draft::op_requests;
use super::{processors, toolchain};
use crate::cli::{Compiler, Lane, Ops, Run, Which};
use crate::interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::render::Render;

/// File name endings of kernel sources.
const SOURCES: [&str; 6] = ["cpp", "cc", "cxx", "c++", "C", "c"];
/// Most bytes of compiled results to keep, as `compile` has it.
const CACHE_SIZE: u64 = 2 << 30;
/// Spec of a split image's first op; 0 to 9 are built-in kernels'.
const FIRST_SPEC: u8 = 10;

/// Why a library is not built on the way.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum SourceError {
    #[error("{option} is about building, and {path} is built already", path = .path.display())]
    #[diagnostic(
        code(run::not_a_source),
        help(
            "name the kernel's source (x.cpp) to build and run it, or build the library anew with `compile`"
        )
    )]
    Built { option: &'static str, path: PathBuf },
    #[error("--lane ucpl runs split images, and a checked build has none")]
    #[diagnostic(code(run::checked_split), help("add --plain to run it as it ships"))]
    Split,
}

/// Whether a path names a kernel's source.
pub(super) fn is_source(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| SOURCES.contains(&ending))
}

/// The library to run: the one that is named, or the one just built from the source that is.
pub(super) fn library(arguments: &Run, render: &Render) -> Result<PathBuf> {
    if is_source(&arguments.library) {
        return build(arguments, render);
    }
    let building = [
        ("--source", !arguments.call.sources.is_empty()),
        ("--shape-src", !arguments.call.shape_sources.is_empty()),
        ("--plain", arguments.plain),
        ("a compiler flag behind --", !arguments.call.cflags.is_empty()),
    ];
    match building.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(SourceError::Built { option, path: arguments.library.clone() }.into()),
        None => Ok(arguments.library.clone()),
    }
}

/// Builds the library; gives its manifest.
fn build(arguments: &Run, render: &Render) -> Result<PathBuf> {
    let home = Home::from_env()?;
    // what the vendor's compiler makes of it, the simulator does not run
    let choice = toolchain(&Compiler { toolchain: Some(Which::Open), gnu_prefix: None }, &home)?;
    let kit = Kit::locate(choice.toolchain, home.path())?;
    let progress = Progress::new(render.verbose > 0, render.is_json(), false);
    let cache = Cache::new(home.path().join("cache"), CACHE_SIZE);
    interrupt::listen();
    let options = RunOptions {
        jobs: processors(),
        stop: interrupt::flag(),
        cache: Some(&cache),
        precompiles: true,
        jobserver: None,
    };
    let result = gpsimd_engine::build(draft(arguments)?, &kit, &options, &|event| progress.event(&event));
    let (warnings, _) = progress.finish();
    let built = result?;
    if !render.is_json() {
        warnings.iter().for_each(|warning| say(&format!("{warning}\n")));
    }
    Ok(built.out_dir.join(built.manifest.file_name()))
}

/// The library that the arguments describe.
fn draft(arguments: &Run) -> Result<Draft> {
    let generation = arguments.call.generation.unwrap_or(Generation::Cayman);
    let (images, sanitizers) = match (arguments.call.lane, arguments.plain) {
        (Lane::Fixed, false) => (Images::Fixed, vec![Sanitizer::Address, Sanitizer::Undefined]),
        (Lane::Fixed, true) => (Images::Fixed, Vec::new()),
        (Lane::Ucpl, true) => (Images::Split(Target { generation, first_spec: FIRST_SPEC }), Vec::new()),
        (Lane::Ucpl, false) => return Err(SourceError::Split.into()),
    };
    let ops = Ops { ops: arguments.call.op.iter().cloned().collect(), schemas: Vec::new() };
    let source = arguments.library.clone();
    Ok(Draft {
        ops: op_requests(&ops)?,
        namespace: None,
        settings: Settings {
            name: source.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            sources: std::iter::once(source).chain(arguments.call.sources.iter().cloned()).collect(),
            shape_sources: arguments.call.shape_sources.clone(),
            out_dir: arguments.out_dir.clone(),
            includes: Vec::new(),
            cflags: arguments.call.cflags.clone(),
            ldflags: Vec::new(),
            launcher: None,
            cores: if arguments.call.multicore { Cores::Eight } else { Cores::Single },
            linking: Linking::Auto,
            packaging: Packaging::UnlessDebug,
            packer: Packer::Native,
            images,
            sanitizers,
            native: None,
            libtorch: None,
            host_shape_sources: Vec::new(),
        },
    })
}
