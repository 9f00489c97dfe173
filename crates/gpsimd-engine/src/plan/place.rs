//! Where a library is built, and what all compiles there have in common.
//!
//! Unaware of what is compiled.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::{Command, CompileJob, PrefixMap};

use crate::words::action::{Action, Work};
use crate::words::disk::file_name;
use crate::words::kit::Kit;
use crate::words::request::Project;

/// A project's work directory, and the kit it is built with.
pub(crate) struct Place<'a> {
    pub(crate) project: &'a Project,
    pub(crate) kit: &'a Kit,
    /// Scratch files.
    pub(crate) work: PathBuf,
}

impl<'a> Place<'a> {
    pub(crate) fn new(project: &'a Project, kit: &'a Kit) -> Self {
        Self { project, kit, work: project.library().join("work") }
    }

    /// Holds what is published.
    pub(crate) fn out(&self) -> PathBuf {
        self.work.join("out")
    }

    /// Compiles one source for the device.
    pub(crate) fn compile(
        &self,
        source: &Path,
        object: &Path,
        cflags: &[OsString],
        includes: &[PathBuf],
    ) -> Action {
        let mut inputs = vec![source.to_owned()];
        inputs.extend(self.unwritten_sdk().filter(|_| self.kit.compiles_sdk()));
        Action {
            label: format!("compile {}", file_name(source)),
            inputs,
            outputs: vec![object.to_owned()],
            depfile: Some(object.with_extension("d")),
            work: Work::Process(self.compile_command(source, object, cflags, includes)),
        }
    }

    /// The SDK's directory, for actions that wait for its being written.
    pub(crate) fn unwritten_sdk(&self) -> Option<PathBuf> {
        (!self.kit.sdk.is_written()).then(|| self.kit.sdk.root().to_owned())
    }

    pub(crate) fn compile_command(
        &self,
        source: &Path,
        object: &Path,
        cflags: &[OsString],
        includes: &[PathBuf],
    ) -> Command {
        let sdk = self.kit.compiles_sdk().then(|| self.kit.sdk.include_dir());
        self.kit.toolchain.compile(&CompileJob {
            depfile: Some(object.with_extension("d")),
            cflags: cflags.to_vec(),
            includes: sdk.into_iter().chain(includes.iter().cloned()).collect(),
            prefix_maps: self.prefix_maps(),
            launcher: self.project.launcher.clone(),
            ..CompileJob::new(source, object)
        })
    }

    /// Directories whose names must not show in objects, so that builds in different places agree. A compiler maps texts, not
    /// paths; so that `out` does not make `outside.cpp` another name, directories end in a slash. The working directory, which
    /// objects name by itself, cannot: what begins like it and is not in it is mapped to itself.
    pub(crate) fn prefix_maps(&self) -> Vec<PrefixMap> {
        let inside = |directory: &Path, name: &str| PrefixMap::new(directory.join(""), &format!("{name}/"));
        let mut maps = Vec::new();
        if let Some(directory) = &self.project.directory {
            maps.push(PrefixMap::new(directory, "."));
            maps.extend(self.alike(directory).into_iter().map(|other| {
                let name = other.to_string_lossy().into_owned();
                PrefixMap::new(other, &name)
            }));
        }
        maps.push(inside(&self.project.out_dir, "build"));
        maps.push(inside(&self.work, "build"));
        maps.push(inside(self.kit.sdk.root(), "gpsimd-sdk"));
        // its own flags say so too, but before the map of a directory that it may be in
        maps.extend(self.kit.toolchain.prefix_maps());
        maps
    }

    /// Files and directories of the request whose names begin like `directory` but do not lie in it.
    fn alike(&self, directory: &Path) -> Vec<PathBuf> {
        let Project { sources, shapes, includes, .. } = self.project;
        let named = sources.iter().chain(shapes).map(|source| &source.path).chain(includes);
        let is_alike = |path: &&PathBuf| {
            let begins =
                path.as_os_str().as_encoded_bytes().starts_with(directory.as_os_str().as_encoded_bytes());
            begins && !path.starts_with(directory)
        };
        named.filter(is_alike).cloned().collect()
    }
}

pub(crate) fn with_suffix(path: PathBuf, suffix: &str) -> PathBuf {
    let mut name = path.into_os_string();
    name.push(suffix);
    name.into()
}
