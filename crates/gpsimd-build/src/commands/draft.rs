//! From the arguments of `compile` to the library that they describe.
//!
//! Unaware of what is done with it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gpsimd_engine::{
    Cores, Draft, Images, Linking, OpRequest, Packaging, Packer, Sanitizer, Settings, Target,
};
use gpsimd_toolchain::Machine;
use miette::Result;

use super::ArgumentError;
use crate::cli::{self, Compile, ImageKind, Ops};

/// The library that a command line describes.
pub(super) fn draft(arguments: &Compile) -> Result<Draft> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Draft {
        ops: op_requests(&arguments.ops)?,
        namespace: arguments.namespace.clone(),
        settings: Settings {
            // a stem of our own making has no extension to lose, so protect its dots
            name: match (&arguments.name, arguments.sources.first()) {
                (Some(name), _) => name.clone(),
                (None, first) => first.map(|source| stem(source)).unwrap_or_default(),
            },
            sources: arguments.sources.clone(),
            shape_sources: arguments.shape_sources.clone(),
            out_dir: arguments.out_dir.clone(),
            includes: arguments.includes.clone(),
            cflags: arguments.cflags.clone(),
            ldflags: arguments.ldflags.clone(),
            launcher: launcher(arguments.speed.launcher.as_deref())?,
            cores: if arguments.multicore { Cores::Eight } else { Cores::Single },
            linking: match arguments.speed.link {
                cli::Link::Auto => Linking::Auto,
                cli::Link::Once => Linking::Once,
                cli::Link::Each => Linking::Each,
            },
            packaging: match (arguments.strip, arguments.no_strip) {
                (true, _) => Packaging::Always,
                (_, true) => Packaging::Never,
                (false, false) => Packaging::UnlessDebug,
            },
            packer: match arguments.packer {
                cli::Packer::Native => Packer::Native,
                cli::Packer::Vendor => Packer::Toolchain,
            },
            images: images(arguments),
            sanitizers: arguments.sanitize.iter().map(sanitizer).collect(),
            native: arguments.native.then(host_compiler).transpose()?,
            libtorch: arguments.libtorch.clone(),
            host_shape_sources: Vec::new(),
        },
    })
}

fn sanitizer(sanitizer: &cli::Sanitizer) -> Sanitizer {
    match sanitizer {
        cli::Sanitizer::Address => Sanitizer::Address,
        cli::Sanitizer::Undefined => Sanitizer::Undefined,
        cli::Sanitizer::Pairs => Sanitizer::Pairs,
    }
}

fn images(arguments: &Compile) -> Images {
    let target = Target { generation: arguments.generation, first_spec: arguments.spec };
    match arguments.image {
        ImageKind::Fixed => Images::Fixed,
        ImageKind::Split => Images::Split(target),
        ImageKind::Both => Images::Both(target),
    }
}

/// The ops named on the command line, pairs first.
pub(super) fn op_requests(ops: &Ops) -> Result<Vec<OpRequest>, ArgumentError> {
    let named = ops.ops.iter().map(|text| op_request(text));
    let alone = ops.schemas.iter().map(|schema| Ok(OpRequest { kernel: None, schema: Some(schema.clone()) }));
    named.chain(alone).collect()
}

/// `KERNEL=SCHEMA` or `KERNEL`.
fn op_request(text: &str) -> Result<OpRequest, ArgumentError> {
    let (kernel, schema) = match text.split_once('=') {
        Some((kernel, schema)) => (kernel.trim(), Some(schema.trim().to_owned())),
        None => (text.trim(), None),
    };
    // a schema, its kernel's name forgotten
    if kernel.is_empty() || kernel.contains([':', '(']) {
        return Err(ArgumentError::Op { text: text.to_owned() });
    }
    Ok(OpRequest { kernel: Some(kernel.to_owned()), schema })
}

/// This machine's C++ compiler.
pub(super) fn host_compiler() -> Result<PathBuf, ArgumentError> {
    let name =
        std::env::var("CXX").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "c++".to_owned());
    Machine::here().program(name.trim()).ok_or(ArgumentError::HostCompiler { name })
}

/// The program that starts compilers.
fn launcher(name: Option<&OsStr>) -> Result<Option<PathBuf>, ArgumentError> {
    let Some(name) = name else { return Ok(None) };
    let name = name.to_string_lossy().into_owned();
    match Machine::here().program(&name) {
        Some(path) => Ok(Some(path)),
        None => Err(ArgumentError::Launcher { name }),
    }
}
