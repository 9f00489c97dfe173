//! Job to actions: the whole build, written down before any of it runs.
//!
//! Looks up what exists in the tool's data directory and touches nothing else. Unaware of threads and of time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_lsp::Variant;
use gpsimd_toolchain::{ArchiveJob, CompileJob, LinkJob, PackJob, PrefixMap, Relocations, Toolchain};

use crate::ask::registrations;
use crate::publish::generation::HIDDEN;
use crate::stages::split::{self, PlannedSplit, SplitImage, Step, Target};
use crate::words::action::{Action, Adapt, Builtin, Image, Move, Work};
use crate::words::digest::Digest;
use crate::words::request::{Job, Packer, Source};
use crate::words::sdk::Sdk;

/// All actions of one build and what they make.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In an order in which they could run one after the other.
    pub actions: Vec<Action>,
    /// One image per core, in core order; their files are what gets published.
    pub images: Vec<Image>,
    /// The split image, published with the others.
    pub split: Option<PlannedSplit>,
    /// The shape program, published with the images.
    pub shapes: Option<PathBuf>,
    /// Scratch files: objects, wrapper, scripts. Kept between builds, never published.
    pub work_dir: PathBuf,
    /// The SDK the plan compiles against.
    pub sdk: Sdk,
    /// What the plan is for.
    pub job: Job,
}

/// Plans the build of `job`.
pub fn plan(job: Job, sdk: Sdk) -> Plan {
    let sdk = sdk.completed_for(&job.toolchain);
    let work_dir = job.out_dir.join(HIDDEN).join(&job.name).join("work");
    let planner = Planner { job: &job, sdk: &sdk, work: &work_dir };
    let mut actions = Vec::new();
    let fixed = job.images.has_fixed().then(|| planner.runtime(&mut actions, &FIXED));
    let movable = job.images.target().map(|target| (target, planner.runtime(&mut actions, &SPLIT)));
    let objects = planner.objects(&mut actions);
    let mut images = Vec::new();
    if let Some(archives) = fixed {
        images = planner.images(&mut actions, &objects, &archives);
        actions.push(planner.verify(&images));
    }
    let split = movable.map(|(target, archives)| planner.split(&mut actions, &objects, archives, target));
    let shapes = planner.shapes(&mut actions);
    Plan { actions, images, split, shapes, work_dir, sdk, job }
}

/// The part of a build that finds out what its ops are.
pub(crate) struct Discovery {
    /// Hidden directory of the library.
    pub(crate) library: PathBuf,
    /// Some of the whole plan's actions.
    pub(crate) actions: Vec<Action>,
    /// The kernel objects; empty when there are shape sources.
    pub(crate) objects: Vec<PathBuf>,
    /// What the shape sources register, if there are any.
    pub(crate) listing: Option<PathBuf>,
}

/// Plans what must run before the ops of `job` are known.
pub(crate) fn discovery(job: &Job, sdk: &Sdk) -> Discovery {
    let library = job.out_dir.join(HIDDEN).join(&job.name);
    let work = library.join("work");
    let planner = Planner { job, sdk, work: &work };
    let mut actions = Vec::new();
    planner.write_sdk(&mut actions);
    let Some(program) = planner.shapes(&mut actions) else {
        let objects = planner.kernels(&mut actions);
        return Discovery { library, actions, objects, listing: None };
    };
    let listing = work.join("shapes/registrations.json");
    actions.push(Action {
        label: "read the registrations".to_owned(),
        inputs: vec![program.clone()],
        outputs: vec![listing.clone()],
        depfile: None,
        work: Work::Builtin(Builtin::Registrations { program, output: listing.clone() }),
    });
    Discovery { library, actions, objects: Vec::new(), listing: Some(listing) }
}

/// Directories that processes write into; builtins make their own.
pub(crate) fn directories(actions: &[Action]) -> BTreeSet<&Path> {
    let processes = actions.iter().filter(|action| !matches!(action.work, Work::Builtin(_)));
    processes.flat_map(|action| &action.outputs).filter_map(|output| output.parent()).collect()
}

/// A way to compile the runtime.
struct Flavour {
    /// Of the directories of its archives.
    suffix: &'static str,
    defines: &'static [&'static str],
}

/// For images at fixed addresses.
const FIXED: Flavour = Flavour { suffix: "", defines: &[] };
/// For split images.
const SPLIT: Flavour = Flavour { suffix: "-split", defines: &split::DEFINES };

struct Planner<'a> {
    job: &'a Job,
    sdk: &'a Sdk,
    work: &'a Path,
}

impl Planner<'_> {
    /// The runtime archives, compiled unless an earlier build with this SDK and toolchain left them.
    fn runtime(&self, actions: &mut Vec<Action>, flavour: &Flavour) -> Vec<PathBuf> {
        if let Some(own) = self.job.toolchain.device_sdk() {
            return own.archives;
        }
        self.write_sdk(actions);
        let kept = self.sdk.root().join("lib").join(key(&self.job.toolchain.identity()) + flavour.suffix);
        let defines: Vec<OsString> = flavour.defines.iter().map(OsString::from).collect();
        self.sdk
            .archives()
            .into_iter()
            .map(|runtime| {
                let to = kept.join(runtime.archive);
                if to.exists() {
                    return to;
                }
                let made = self.work.join(format!("sdk{}", flavour.suffix)).join(runtime.archive);
                let folder = made.with_extension("objects");
                let mut objects = Vec::new();
                for source in runtime.sources {
                    let object = folder.join(member_name(&source));
                    objects.push(object.clone());
                    actions.push(self.compile(&source, &object, defines.clone(), Vec::new()));
                }
                actions.push(command(
                    format!("archive {}", file_name(&made)),
                    objects.clone(),
                    made.clone(),
                    self.job.toolchain.archive(&ArchiveJob { archive: made.clone(), objects }),
                ));
                actions.push(Action {
                    label: format!("keep {}", file_name(&to)),
                    inputs: vec![made.clone()],
                    outputs: vec![to.clone()],
                    depfile: None,
                    work: Work::Builtin(Builtin::KeepArchive { from: made, to: to.clone() }),
                });
                to
            })
            .collect()
    }

    /// The SDK's files, unless they are there.
    fn write_sdk(&self, actions: &mut Vec<Action>) {
        let is_planned = |action: &Action| matches!(action.work, Work::Builtin(Builtin::WriteSdk(_)));
        if !self.sdk.is_written() && !actions.iter().any(is_planned) {
            let mut outputs = vec![self.sdk.root().to_owned()];
            outputs.extend(self.sdk.archives().into_iter().flat_map(|runtime| runtime.sources));
            outputs.push(self.sdk.host_dir().join("list_registrations.cpp"));
            actions.push(Action {
                label: "write the device SDK".to_owned(),
                inputs: Vec::new(),
                outputs,
                depfile: None,
                work: Work::Builtin(Builtin::WriteSdk(self.sdk.clone())),
            });
        }
    }

    /// Kernel objects in source order.
    fn kernels(&self, actions: &mut Vec<Action>) -> Vec<PathBuf> {
        let mut kernels = Vec::new();
        for source in &self.job.sources {
            let object = with_suffix(self.work.join("obj").join(&source.object_stem), ".o");
            kernels.push(object.clone());
            actions.push(self.compile(
                &source.path,
                &object,
                self.job.cflags.clone(),
                self.job.includes.clone(),
            ));
        }
        kernels
    }

    /// The shape program, if there are shape sources: compiled and linked for this machine.
    fn shapes(&self, actions: &mut Vec<Action>) -> Option<PathBuf> {
        let shapes = self.job.shapes.as_ref()?;
        let folder = self.work.join("shapes");
        let host = self.sdk.host_dir();
        let mut includes = vec![host.clone(), self.sdk.include_dir()];
        includes.extend(self.job.includes.iter().cloned());
        let maps: Vec<(PathBuf, String)> =
            self.prefix_maps().into_iter().map(|map| (map.from, map.to)).collect();
        let mut sources = shapes.sources.clone();
        sources.push(Source { path: host.join("list_registrations.cpp"), object_stem: "lister".into() });
        let mut objects = Vec::new();
        for Source { path, object_stem } in &sources {
            let object = with_suffix(folder.join(object_stem), ".o");
            let defines = registrations::portable(&self.job.cflags);
            let command = registrations::compile(&shapes.compiler, path, &object, &includes, &defines, &maps);
            let mut inputs = vec![path.clone()];
            if !self.sdk.is_written() {
                inputs.push(self.sdk.root().to_owned());
            }
            actions.push(Action {
                label: format!("compile {} for this machine", file_name(path)),
                inputs,
                outputs: vec![object.clone()],
                depfile: Some(object.with_extension("d")),
                work: Work::Host(command),
            });
            objects.push(object);
        }
        let program = self.work.join("out").join(format!("{}{}", self.job.name, registrations::SUFFIX));
        actions.push(Action {
            label: format!("link {}", file_name(&program)),
            inputs: objects.clone(),
            outputs: vec![program.clone()],
            depfile: None,
            work: Work::Host(registrations::link(&shapes.compiler, &objects, &program)),
        });
        Some(program)
    }

    /// Kernel objects in source order, then the wrapper's: the link order (toolchain.md §2, §3).
    fn objects(&self, actions: &mut Vec<Action>) -> Vec<PathBuf> {
        let folder = self.work.join("obj");
        let mut kernels = self.kernels(actions);
        let source = self.work.join("wrapper.cpp");
        actions.push(Action {
            label: "generate wrapper.cpp".to_owned(),
            inputs: Vec::new(),
            outputs: vec![source.clone()],
            depfile: None,
            work: Work::Builtin(Builtin::Codegen {
                ops: self.job.ops.clone(),
                schemas: self.job.schemas.clone(),
                output: source.clone(),
            }),
        });
        // the schema alone tells how most kernels are declared, so the wrapper need not wait for them
        let guess = folder.join("wrapper.guess.o");
        actions.push(self.compile(&source, &guess, self.job.cflags.clone(), Vec::new()));
        let (adapt, wrapper) = self.adapt(&kernels, guess);
        actions.push(adapt);
        kernels.push(wrapper);
        kernels
    }

    /// The wrapper's object that is linked, made when the kernels' own declarations are known.
    fn adapt(&self, kernels: &[PathBuf], guess: PathBuf) -> (Action, PathBuf) {
        let wrapper = self.work.join("obj/wrapper.o");
        let source = self.work.join("adapted/wrapper.cpp");
        // the reference hands the wrapper's compile no include directories of the caller (toolchain.md §2)
        let compile = self.compile_command(&source, &wrapper, self.job.cflags.clone(), Vec::new());
        let mut inputs = kernels.to_vec();
        inputs.push(guess.clone());
        let action = Action {
            label: "check kernel signatures".to_owned(),
            inputs,
            outputs: vec![wrapper.clone()],
            depfile: Some(wrapper.with_extension("d")),
            work: Work::Builtin(Builtin::Adapt(Adapt {
                ops: self.job.ops.clone(),
                schemas: self.job.schemas.clone(),
                objects: kernels.to_vec(),
                guess,
                source,
                wrapper: wrapper.clone(),
                compile,
                cores: self.job.cores,
            })),
        };
        (action, wrapper)
    }

    fn compile(
        &self,
        source: &Path,
        object: &Path,
        cflags: Vec<std::ffi::OsString>,
        includes: Vec<PathBuf>,
    ) -> Action {
        let mut inputs = vec![source.to_owned()];
        if !self.sdk.is_written() && self.job.toolchain.device_sdk().is_none() {
            inputs.push(self.sdk.root().to_owned());
        }
        Action {
            label: format!("compile {}", file_name(source)),
            inputs,
            outputs: vec![object.to_owned()],
            depfile: Some(object.with_extension("d")),
            work: Work::Command(self.compile_command(source, object, cflags, includes)),
        }
    }

    fn compile_command(
        &self,
        source: &Path,
        object: &Path,
        cflags: Vec<std::ffi::OsString>,
        mut includes: Vec<PathBuf>,
    ) -> gpsimd_toolchain::Command {
        if self.job.toolchain.device_sdk().is_none() {
            includes.insert(0, self.sdk.include_dir());
        }
        let command = self.job.toolchain.compile(&CompileJob {
            depfile: Some(object.with_extension("d")),
            cflags,
            includes,
            prefix_maps: self.prefix_maps(),
            ..CompileJob::new(source, object)
        });
        match &self.job.launcher {
            Some(launcher) => self.launched(launcher, command),
            None => command,
        }
    }

    /// The command, started by a program such as `ccache`.
    fn launched(&self, launcher: &Path, command: gpsimd_toolchain::Command) -> gpsimd_toolchain::Command {
        let mut launched = gpsimd_toolchain::Command::new(launcher).arg(command.program).args(command.args);
        // ccache knows the compiler's file, but not the configuration that makes it ours
        for (name, value) in &command.env {
            if name == "XTENSA_GNU_CONFIG" {
                launched = launched.env("CCACHE_EXTRAFILES", value);
            }
        }
        launched.env.extend(command.env);
        launched
    }

    /// Directories whose names must not show in objects, so that builds in different places agree.
    fn prefix_maps(&self) -> Vec<PrefixMap> {
        let mut maps = Vec::new();
        if let Ok(directory) = std::env::current_dir() {
            maps.push(PrefixMap::new(directory, "."));
        }
        maps.push(PrefixMap::new(self.job.out_dir.clone(), "build"));
        maps.push(PrefixMap::new(self.work, "build"));
        maps.push(PrefixMap::new(self.sdk.root(), "gpsimd-sdk"));
        if let Toolchain::Open(open) = &self.job.toolchain {
            // its own flags say so too, but before the map of a directory that it may be in
            maps.push(PrefixMap::new(open.dir(), "/toolchain"));
        }
        maps
    }

    fn images(&self, actions: &mut Vec<Action>, objects: &[PathBuf], archives: &[PathBuf]) -> Vec<Image> {
        let variants = self.job.cores.variants();
        let links: Vec<(Variant, Image, LinkJob)> = variants
            .into_iter()
            .map(|variant| {
                let lsp = self.lsp(actions, variant);
                let image = self.image(variant);
                let link = LinkJob {
                    objects: objects.to_vec(),
                    archives: archives.to_vec(),
                    ldflags: self.job.ldflags.clone(),
                    ..LinkJob::new(&image.linked, &lsp)
                };
                (variant, image, link)
            })
            .collect();
        match links.first() {
            Some((_, _, first)) if self.job.is_linked_once => self.link_once(actions, first, &links),
            _ => self.link_each(actions, &links),
        }
        links.into_iter().map(|(_, image, _)| image).collect()
    }

    /// One link, whose relocations tell how each core's image differs (`docs/fast.md`).
    fn link_once(&self, actions: &mut Vec<Action>, first: &LinkJob, links: &[(Variant, Image, LinkJob)]) {
        let kept = self.work.join("link").join(format!("{}.so", self.job.name));
        let link = LinkJob { output: kept.clone(), relocations: Relocations::Keep, ..first.clone() };
        actions.push(self.link(format!("link {}", self.job.name), link));
        for (variant, image, link) in links {
            let fallback = self.link(String::new(), link.clone());
            let mut inputs = vec![kept.clone()];
            inputs.extend(fallback.inputs);
            actions.push(Action {
                label: format!("make the image for {variant}"),
                inputs,
                outputs: image.files().cloned().collect(),
                depfile: None,
                work: Work::Builtin(Builtin::Move(Move {
                    kept: kept.clone(),
                    image: image.clone(),
                    link: self.job.toolchain.link(link),
                })),
            });
        }
    }

    fn link_each(&self, actions: &mut Vec<Action>, links: &[(Variant, Image, LinkJob)]) {
        for (_, image, link) in links {
            actions.push(self.link(format!("link {}", file_name(&image.linked)), link.clone()));
            if image.stripped.is_some() {
                actions.push(Action {
                    label: format!("strip and pack {}", file_name(&image.linked)),
                    inputs: vec![image.linked.clone()],
                    outputs: image.stripped.iter().chain(&image.packed).cloned().collect(),
                    depfile: None,
                    work: self.package(image),
                });
            }
        }
    }

    fn link(&self, label: String, mut link: LinkJob) -> Action {
        let mut inputs = [link.objects.clone(), link.archives.clone()].concat();
        inputs.push(link.script());
        // binutils 2.35 and later list what they opened; ours is one, another's is not known
        let depfile =
            matches!(self.job.toolchain, Toolchain::Open(_)).then(|| with_suffix(link.output.clone(), ".d"));
        if let Some(depfile) = &depfile {
            let mut word = std::ffi::OsString::from("--dependency-file=");
            word.push(depfile);
            link.ldflags.extend(["-Xlinker".into(), word]);
        }
        Action {
            label,
            inputs,
            outputs: vec![link.output.clone()],
            depfile,
            work: Work::Command(self.job.toolchain.link(&link)),
        }
    }

    fn package(&self, image: &Image) -> Work {
        let by_toolchain = match (self.job.packer, &image.stripped, &image.packed) {
            (Packer::Toolchain, Some(stripped), Some(packed)) => self.job.toolchain.pack(&PackJob {
                linked: image.linked.clone(),
                stripped: stripped.clone(),
                packed: packed.clone(),
            }),
            _ => None,
        };
        by_toolchain.map_or_else(|| Work::Builtin(Builtin::Package(image.clone())), Work::Command)
    }

    /// The split image: the same objects, a kernel table, a link of its own, and what makes it loadable.
    fn split(
        &self,
        actions: &mut Vec<Action>,
        objects: &[PathBuf],
        archives: Vec<PathBuf>,
        target: Target,
    ) -> PlannedSplit {
        let folder = self.work.join("split");
        let image =
            SplitImage::new(&self.work.join("out"), &self.job.name, self.job.packaged, target.generation);
        // the request's check has numbered them before
        let rows = split::table(&self.job.ops, target).unwrap_or_default();
        let table = folder.join("kernel_table.cpp");
        actions.push(builtin(
            "generate kernel_table.cpp".to_owned(),
            Vec::new(),
            vec![table.clone()],
            Builtin::Split(Step::Table { ops: rows.clone(), output: table.clone() }),
        ));
        let object = table.with_extension("o");
        actions.push(self.compile(&table, &object, self.job.cflags.clone(), Vec::new()));
        let mut objects = objects.to_vec();
        objects.push(object);

        let link = LinkJob {
            objects: objects.clone(),
            archives: archives.clone(),
            ldflags: self.job.ldflags.clone(),
            relocations: Relocations::Keep,
            ..LinkJob::new(&image.linked, &folder)
        };
        let script = link.script();
        actions.push(builtin(
            "write the split linker script".to_owned(),
            Vec::new(),
            vec![script.clone()],
            Builtin::Split(Step::Script { output: script.clone() }),
        ));
        let inputs = objects.into_iter().chain(archives).chain([script]).collect();
        let label = format!("link {}", file_name(&image.linked));
        actions.push(command(label, inputs, image.linked.clone(), self.job.toolchain.link(&link)));
        actions.push(builtin(
            format!("synthesize and prelink {}", file_name(&image.library)),
            vec![image.linked.clone()],
            image.files().cloned().collect(),
            Builtin::Split(Step::Image(image.clone())),
        ));
        PlannedSplit { image, rows }
    }

    fn lsp(&self, actions: &mut Vec<Action>, variant: Variant) -> PathBuf {
        if let Some(own) = self.job.toolchain.device_sdk() {
            return own.lsps.join(variant.lsp_name());
        }
        let directory = self.work.join("lsp");
        let lsp = directory.join(variant.lsp_name());
        actions.push(Action {
            label: format!("render {}", variant.lsp_name()),
            inputs: Vec::new(),
            outputs: vec![LinkJob::new("", &lsp).script()],
            depfile: None,
            work: Work::Builtin(Builtin::Lsp { variant, directory }),
        });
        lsp
    }

    fn image(&self, variant: Variant) -> Image {
        let file = |kind: &str| {
            self.work.join("out").join(format!("{}{}{kind}.so", self.job.name, variant.file_suffix()))
        };
        Image {
            variant,
            linked: file(""),
            stripped: self.job.packaged.then(|| file(".stripped")),
            packed: self.job.packaged.then(|| file(".packed")),
        }
    }

    fn verify(&self, images: &[Image]) -> Action {
        let report = self.work.join("verify.json");
        Action {
            label: "verify".to_owned(),
            inputs: images.iter().flat_map(Image::files).cloned().collect(),
            outputs: vec![report.clone()],
            depfile: None,
            work: Work::Builtin(Builtin::Verify { images: images.to_vec(), report }),
        }
    }
}

/// A directory name for a toolchain's identity, which is a line of text.
fn key(identity: &str) -> String {
    Digest::of(identity.as_bytes()).to_string()[..16].to_owned()
}

/// `start_exit.cpp` gives the member `start_exit.o` (customop-abi.md §1.1).
fn member_name(source: &Path) -> PathBuf {
    Path::new(source.file_name().unwrap_or_default()).with_extension("o")
}

fn command(
    label: String,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    command: gpsimd_toolchain::Command,
) -> Action {
    Action { label, inputs, outputs: vec![output], depfile: None, work: Work::Command(command) }
}

fn builtin(label: String, inputs: Vec<PathBuf>, outputs: Vec<PathBuf>, stage: Builtin) -> Action {
    Action { label, inputs, outputs, depfile: None, work: Work::Builtin(stage) }
}

fn with_suffix(path: PathBuf, suffix: &str) -> PathBuf {
    let mut name = path.into_os_string();
    name.push(suffix);
    name.into()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
