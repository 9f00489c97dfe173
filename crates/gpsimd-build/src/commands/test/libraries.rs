//! The libraries of one test: one that is named, or all that its sources can be built to.
//!
//! Unaware of cases.

use std::path::{Path, PathBuf};

use gpsimd_device::{Config, LoadError, Trace};
use gpsimd_engine::{Cache, Cores, Draft, EngineError, Images, Kit, RunOptions, Sanitizer, Target};
use gpsimd_library::{Library, Loadable, Ops, Staging};
use gpsimd_schema::Signature;
use gpsimd_shapes::Shapes;
use gpsimd_test::{Way, WayKind};
use gpsimd_toolchain::Home;
use miette::Result;

use super::TestError;
use crate::cli::{Lane, Test};
use crate::commands::draft::{draft, host_compiler};
use crate::commands::{processors, toolchain};
use crate::files::read;
use crate::interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::render::Render;

/// A size that needs more instructions a core than this takes too long to be one of many.
const BUDGET: u64 = 400_000_000;

/// Warnings of a build for eight cores about what only one may do.
const ONE_CORE: [&str; 3] = ["run::fresh_tensor", "run::accessor_on_cores", "run::stream_on_cores"];

/// The ending of a native twin's file.
const TWIN: &str = ".native.so";

/// Endings of files that hold C++.
const SOURCES: [&str; 5] = ["cpp", "cc", "cxx", "C", "c++"];

/// The libraries of one test.
pub struct Libraries {
    /// What says which ops there are.
    first: Library,
    shapes: Option<Vec<u8>>,
    entries: Vec<Entry>,
    /// Where the native twin is, if there is one.
    pub twin: PathBuf,
    /// What could not be built, and why.
    pub notes: Vec<String>,
}

struct Entry {
    kind: WayKind,
    path: PathBuf,
    options: Vec<String>,
    loadable: Loadable,
}

impl Libraries {
    /// Finds the library that is named, or builds the sources every way; `first` gets the one that the author means before the
    /// others are built.
    pub fn of(
        arguments: &Test,
        render: &Render,
        first: impl FnOnce(&Libraries) -> Result<()>,
    ) -> Result<Libraries> {
        let is_source = |path: &Path| {
            path.extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|ending| SOURCES.contains(&ending))
        };
        match arguments.compile.sources.as_slice() {
            [library] if !is_source(library) => Self::named(library),
            _ => Self::built(arguments, render, first),
        }
    }

    fn named(path: &Path) -> Result<Libraries> {
        let first = Library::find(path)?;
        let Some(manifest) = &first.manifest else {
            return Err(TestError::NoManifest { path: path.display().to_string() }.into());
        };
        let stem = path.to_string_lossy();
        let stem = PathBuf::from(stem.strip_suffix(".manifest.json").unwrap_or(&stem));
        let is_eight = manifest.total_cpus == 8;
        let twin = with_ending(&stem, TWIN);
        let mut libraries = Libraries { shapes: None, entries: Vec::new(), twin, notes: Vec::new(), first };
        let kind = if is_eight { WayKind::Eight } else { WayKind::One };
        if libraries.first.has_fixed() {
            libraries.add(kind, &stem)?;
        }
        if libraries.first.has_split() {
            libraries.add(WayKind::Record, &stem)?;
        }
        let checked = with_ending(&stem, ".checked");
        match Path::new(&with_ending(&checked, ".manifest.json")).is_file() {
            true => libraries.add(WayKind::Checked, &checked)?,
            false => libraries
                .notes
                .push("not tried: a checked build (compile --sanitize address,undefined)".to_owned()),
        }
        if is_eight {
            libraries
                .notes
                .push("not compared with one core: give the sources instead of the library".to_owned());
        }
        libraries.read_shapes()?;
        Ok(libraries)
    }

    fn built(
        arguments: &Test,
        render: &Render,
        look: impl FnOnce(&Libraries) -> Result<()>,
    ) -> Result<Libraries> {
        let asked = draft(&arguments.compile)?;
        let home = Home::from_env()?;
        let kit = Kit::locate(toolchain(&arguments.compile.compiler, &home)?.toolchain, home.path())?;
        let build = |draft: Draft| build(draft, &kit, arguments, &home, render);
        let out = asked.settings.out_dir.join("tested");
        let of = |cores, images, sanitizers: &[Sanitizer], out_dir: PathBuf| {
            let mut draft = asked.clone();
            let settings = &mut draft.settings;
            (settings.cores, settings.images, settings.sanitizers) = (cores, images, sanitizers.to_vec());
            settings.out_dir = out_dir;
            draft
        };
        let mut notes = Vec::new();
        let target = Target { generation: arguments.compile.generation, first_spec: arguments.compile.spec };
        let native = arguments.is_by_twin().then(host_compiler).transpose()?;
        let whole = |cores, notes: &mut Vec<String>| {
            let of = |images| {
                let mut draft = of(cores, images, &[], out.clone());
                draft.settings.native = native.clone();
                draft
            };
            build(of(Images::Both(target))).or_else(|why| {
                // what is wrong with the kernel itself is said by the second try
                let fixed = build(of(Images::Fixed))?;
                let why = why.to_string();
                notes
                    .push(format!("not tried: the split image ({})", why.lines().next().unwrap_or_default()));
                Ok::<_, EngineError>(fixed)
            })
        };
        let (mut main, warnings) = whole(Cores::Eight, &mut notes)?;
        let mut cores = Cores::Eight;
        let is_alone = warnings.iter().any(|warning| ONE_CORE.iter().any(|code| warning.contains(code)));
        if is_alone && !arguments.compile.multicore {
            cores = Cores::Single;
            notes = vec![
                "tested on one core: the kernel is not written for eight (--multicore says why)".to_owned(),
            ];
            main = whole(cores, &mut notes)?.0;
        }
        let first = Library::find(&main)?;
        let has_split = first.has_split();
        let twin = with_ending(&main, TWIN);
        let mut libraries = Libraries { first, shapes: None, entries: Vec::new(), twin, notes };
        libraries.read_shapes()?;
        libraries.add(if cores == Cores::Eight { WayKind::Eight } else { WayKind::One }, &main)?;
        look(&libraries)?;
        if cores == Cores::Eight {
            let (one, _) = build(of(Cores::Single, Images::Fixed, &[], out.join("one_core")))?;
            libraries.add(WayKind::One, &one)?;
        }
        if has_split {
            libraries.add(WayKind::Record, &main)?;
        }
        let checked = [Sanitizer::Address, Sanitizer::Undefined];
        let (checked, _) = build(of(cores, Images::Fixed, &checked, out.clone()))?;
        libraries.add(WayKind::Checked, &checked)?;
        Ok(libraries)
    }

    fn add(&mut self, kind: WayKind, path: &Path) -> Result<()> {
        let (lane, options) = match kind {
            WayKind::Record => (Lane::Ucpl, vec!["--lane".to_owned(), "ucpl".to_owned()]),
            _ => (Lane::Fixed, Vec::new()),
        };
        let loadable = Library::find(path)?.loadable(&Staging::by(lane.into()))?;
        self.entries.push(Entry { kind, path: path.to_owned(), options, loadable });
        Ok(())
    }

    fn read_shapes(&mut self) -> Result<()> {
        self.shapes = self.first.shapes.as_deref().map(read).transpose()?;
        Ok(())
    }

    /// How many cores an op of the library is for.
    pub fn cores(&self) -> u32 {
        self.first.manifest.as_ref().map_or(1, |manifest| manifest.total_cpus.into())
    }

    /// The ops that are named, or all.
    pub fn ops(&self, named: &[String]) -> Result<Vec<(String, Signature)>> {
        let manifest = self.first.manifest.as_ref();
        let kernels: Vec<String> =
            manifest.iter().flat_map(|manifest| &manifest.ops).map(|op| op.kernel.clone()).collect();
        // KERNEL=SCHEMA, where it is also what was compiled
        let names =
            named.iter().map(|name| name.split_once('=').map_or(name.as_str(), |(kernel, _)| kernel).trim());
        let names: Vec<&str> =
            if named.is_empty() { kernels.iter().map(String::as_str).collect() } else { names.collect() };
        let ops = Ops::of(&self.first, kernels.iter().map(String::as_str));
        let find = |name: &str| {
            let found =
                ops.find(Some(name)).ok().and_then(|op| Some((op.kernel.clone(), op.signature.clone()?)));
            Ok(found.ok_or_else(|| TestError::Op { name: name.to_owned(), known: kernels.clone() })?)
        };
        names.into_iter().map(find).collect()
    }

    /// The library's ways to the device, freshly loaded, the one that the author means first.
    pub fn ways(&self) -> Result<Vec<Way<'_>>> {
        self.entries.iter().map(|entry| Ok(entry.way()?)).collect()
    }

    /// The shape functions.
    pub fn shapes(&self) -> Result<Option<Shapes>> {
        Ok(self.shapes.as_deref().map(Shapes::parse).transpose()?)
    }
}

impl Entry {
    fn way(&self) -> Result<Way<'_>, LoadError> {
        let config = Config { budget: BUDGET, ..Config::default() };
        let boot = move || {
            let mut machine = self.loadable.machine(config, &mut Trace::default())?;
            machine.load()?;
            Ok(machine)
        };
        Way::new(self.kind, (self.path.display().to_string(), self.options.clone()), Box::new(boot))
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Builds a library; its path without an ending, and what was warned of.
fn build(
    draft: Draft,
    kit: &Kit,
    arguments: &Test,
    home: &Home,
    render: &Render,
) -> Result<(PathBuf, Vec<String>), EngineError> {
    let speed = &arguments.compile.speed;
    let progress = Progress::new(render.verbose > 0, render.is_json(), speed.explain);
    let cache = (!speed.no_cache).then(|| {
        let directory = speed.cache_dir.clone().unwrap_or_else(|| home.path().join("cache"));
        Cache::new(directory, speed.cache_size.saturating_mul(1 << 20))
    });
    let options = RunOptions {
        jobs: arguments.compile.jobs.map_or_else(processors, usize::from),
        stop: interrupt::flag(),
        cache: cache.as_ref(),
        precompiles: !speed.no_precompile,
        jobserver: None,
    };
    let out_dir = draft.settings.out_dir.clone();
    let result = gpsimd_engine::build(draft, kit, &options, &|event| progress.event(&event));
    let (warnings, _) = progress.finish();
    let built = result?;
    if render.verbose > 0 {
        warnings.iter().for_each(|warning| say(&format!("{warning}\n")));
    }
    Ok((out_dir.join(&built.manifest.name), warnings))
}
