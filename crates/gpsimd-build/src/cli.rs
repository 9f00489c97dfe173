//! Every argument, with its help, where it is defined.
//!
//! Unaware of what the commands do with them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// From a C++ kernel to checked GPSIMD custom-op images, with no licence and no accelerator.
#[derive(Debug, Parser)]
#[command(
    name = "gpsimd-build",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Exit codes:
  0    done, all checks passed
  1    the kernel, the request or an image is at fault
  2    the command line is wrong
  3    this machine lacks something (a toolchain, a package)
  130  interrupted

First steps:
  gpsimd-build toolchain install
  gpsimd-build compile vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor' --multicore"
)]
pub struct Cli {
    /// Options every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// This process's arguments. A mistake in them, or a question, ends the process.
    pub fn of_process() -> Cli {
        // Putting together what all commands take lasts half as long as a build where nothing changed.
        if std::env::args_os().nth(1).is_some_and(|word| word == "compile")
            && let Ok(CompileAlone { global, command: Alone::Compile(arguments) }) = CompileAlone::try_parse()
        {
            return Cli { global, command: Command::Compile(arguments) };
        }
        Cli::parse()
    }
}

/// The command line of `compile`, read without the other commands; mistakes are left to [`Cli`].
#[derive(Debug, Parser)]
struct CompileAlone {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Alone,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // as in `Command`
enum Alone {
    Compile(Compile),
}

/// Options every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON document on standard output instead of text.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Show each command as it runs; twice for the tool's own log.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub color: When,
}

/// When to do something that suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If the output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build a library from kernel sources: compile, link per core, strip, pack, verify.
    Compile(Compile),
    /// Write down what `compile` would do, for other programs.
    Plan(Plan),
    /// Write the wrapper that marshals a library's arguments.
    Codegen(Codegen),
    /// Write linker support packages (scripts and specs).
    Lsp(Lsp),
    /// Strip a linked image and pack it into a relocatable object.
    Pack(Pack),
    /// Take the image out of a packed object.
    Unpack(Unpack),
    /// Show what is in an image.
    Inspect(Inspect),
    /// Check images, alone and against each other.
    Verify(Verify),
    /// Turn a split-load library into the image that a device loads.
    Prelink(Prelink),
    /// Write the record that loads or unloads a library.
    Records(Records),
    /// Execute an op of a library on the simulated device.
    Run(Run),
    /// Install and list compilers.
    Toolchain(Toolchain),
    /// Say what this machine has, what it lacks, and how to get it.
    Doctor,
    /// Print the canonical form of schemas and whether the device can take them.
    Schema(Schema),
    /// Write what CMake and Make need to build libraries.
    Integrations(Integrations),
    /// Explain an error: cause, example, remedy.
    Explain(Explain),
    /// Write a completion script for a shell.
    Completions(Completions),
    /// Write manual pages.
    Man(Man),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Sdk(Sdk),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Adapt(Adapt),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Move(Move),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Publish(Publish),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Registrations(Registrations),
    /// Steps of an exported plan.
    #[command(hide = true)]
    Split(Split),
}

/// Ops of a library, given as pairs or as schemas alone.
#[derive(Debug, Args)]
pub struct Ops {
    /// An op: its kernel function and its schema, or the function alone to read the schema from it.
    #[arg(long = "op", value_name = "KERNEL[=SCHEMA]", help_heading = "Ops")]
    pub ops: Vec<String>,
    /// An op whose kernel function has the schema's own name.
    #[arg(long = "schema", value_name = "SCHEMA", help_heading = "Ops")]
    pub schemas: Vec<String>,
}

/// A toolchain by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// The vendor's if it is complete, else the open one.
    Auto,
    /// The one that `toolchain install` builds.
    Open,
    /// The licensed xtensa-tools with their own headers, archives and linker support packages.
    Vendor,
}

/// Who strips and packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Packer {
    /// This tool.
    Native,
    /// xt-pkg-loadlib.
    Vendor,
}

/// Which compiler.
#[derive(Debug, Args)]
pub struct Compiler {
    /// Which toolchain; auto takes the vendor's if all of it is there [default: $GPSIMD_BUILD_TOOLCHAIN, else auto].
    #[arg(long, value_name = "WHICH", conflicts_with = "gnu_prefix", help_heading = "Toolchain")]
    pub toolchain: Option<Which>,
    /// Use a windowed GNU cross compiler with this prefix, such as xtensa-esp32-elf-, instead of the open toolchain.
    #[arg(long, value_name = "PREFIX", help_heading = "Toolchain")]
    pub gnu_prefix: Option<String>,
}

/// Arguments of `compile`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build compile vector_add.cpp --multicore              one kernel, its schema read from it
  gpsimd-build compile relu.cpp --op relu_forward --op relu_backward --namespace my
  gpsimd-build compile relu.cpp --shape-src relu_shape.cpp --multicore
  gpsimd-build compile vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor' --multicore
  gpsimd-build compile relu.cpp --op 'relu_forward=my::relu_fwd(Tensor t) -> Tensor' \\
      --op 'relu_backward=my::relu_bwd(Tensor t, Tensor g) -> Tensor'
  gpsimd-build compile vector_add.cpp --image both
  gpsimd-build compile k.cpp --schema 'my::k(Tensor a) -> Tensor' -- -O2 -DSTACK_SIZE=20000")]
pub struct Compile {
    /// Kernel sources.
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    #[command(flatten)]
    pub ops: Ops,
    /// A source of shape functions and registrations: ops, kernels and schemas come from its NEURON_LIBRARY.
    #[arg(long = "shape-src", value_name = "SOURCE", help_heading = "Ops")]
    pub shape_sources: Vec<PathBuf>,
    /// Namespace of ops whose schema is read from the kernel [default: my_ops].
    #[arg(long, value_name = "NS", help_heading = "Ops")]
    pub namespace: Option<String>,
    /// Stem of the output files [default: the first source's].
    #[arg(short = 'o', long, value_name = "NAME")]
    pub name: Option<String>,
    /// Directory for the output files.
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub out_dir: PathBuf,
    /// Build for all eight cores instead of one.
    #[arg(long)]
    pub multicore: bool,
    /// Which images to make.
    #[arg(long, value_enum, default_value_t = ImageKind::Fixed, value_name = "KIND", help_heading = "Images")]
    pub image: ImageKind,
    /// Generation whose memory a split image must fit: cayman, mariana, mariana-plus or sunda.
    #[arg(long, value_name = "GENERATION", default_value = "cayman", help_heading = "Images")]
    pub generation: String,
    /// Spec of a split image's first op; the others follow. 0 to 9 are built-in kernels'.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Images")]
    pub spec: u8,
    /// Add an include directory (or a literal flag).
    #[arg(short = 'I', long = "include", value_name = "DIR", allow_hyphen_values = true)]
    pub includes: Vec<OsString>,
    /// Add a linker flag.
    #[arg(long = "ldflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub ldflags: Vec<OsString>,
    /// Strip and pack even if the compiler flags contain -g.
    #[arg(long, overrides_with = "no_strip")]
    pub strip: bool,
    /// Neither strip nor pack.
    #[arg(long, overrides_with = "strip")]
    pub no_strip: bool,
    /// Who strips and packs.
    #[arg(long, value_enum, default_value_t = Packer::Native, value_name = "WHO", help_heading = "Toolchain")]
    pub packer: Packer,
    /// Actions at the same time [default: the machine's processors].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print what would run, run nothing.
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// After a build, list its sources and headers here, as a rule for make or ninja.
    #[arg(long, value_name = "FILE")]
    pub depfile: Option<PathBuf>,
    /// What the rule says is made from them [default: the manifest].
    #[arg(long, value_name = "TARGET", requires = "depfile")]
    pub depfile_target: Option<PathBuf>,
    #[command(flatten)]
    pub speed: Speed,
    #[command(flatten)]
    pub compiler: Compiler,
    /// Compiler flags, after the built-in ones.
    #[arg(last = true, value_name = "CFLAG", allow_hyphen_values = true)]
    pub cflags: Vec<OsString>,
}

/// Kinds of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImageKind {
    /// One for each core, linked for its window.
    Fixed,
    /// One for all cores, in two small segments that a loader moves into place.
    Split,
    /// Both.
    Both,
}

/// What makes a build fast, and shows how fast it was.
#[derive(Debug, Args)]
pub struct Speed {
    /// Directory of compiled results, shared by all builds [default: cache/ in the data directory].
    #[arg(long, value_name = "DIR", help_heading = "Speed")]
    pub cache_dir: Option<PathBuf>,
    /// Most MiB of compiled results to keep.
    #[arg(long, value_name = "MIB", default_value_t = 2048, help_heading = "Speed")]
    pub cache_size: u64,
    /// Take no results from other builds and leave none.
    #[arg(long, conflicts_with = "cache_dir", help_heading = "Speed")]
    pub no_cache: bool,
    /// Start compilers through this program: ccache, sccache, distcc or a path.
    #[arg(long, value_name = "PROGRAM", help_heading = "Speed")]
    pub launcher: Option<OsString>,
    /// Link eight cores' images once and move them, or each by itself.
    #[arg(long, value_enum, default_value_t = Link::Auto, value_name = "HOW", help_heading = "Speed")]
    pub link: Link,
    /// Say of each step why it runs.
    #[arg(long, help_heading = "Speed")]
    pub explain: bool,
    /// Say where the time went.
    #[arg(long, help_heading = "Speed")]
    pub timings: bool,
    /// Write where the time went, as Chrome trace events.
    #[arg(long, value_name = "FILE", help_heading = "Speed")]
    pub trace: Option<PathBuf>,
}

/// How eight images are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Link {
    /// Once with the open toolchain.
    Auto,
    /// Once, then moved to each core; each by itself where that cannot be proven right.
    Once,
    /// Each by itself.
    Each,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build plan --format ninja --output build.ninja k.cpp --schema 'my::k(Tensor a) -> Tensor' && ninja
  gpsimd-build plan --format compile-commands --output compile_commands.json k.cpp --schema 'my::k(Tensor a) -> Tensor'
  gpsimd-build plan --format graph k.cpp --schema 'my::k(Tensor a) -> Tensor' | dot -Tsvg > plan.svg")]
pub struct Plan {
    /// What to write.
    #[arg(long, value_enum, default_value_t = PlanFormat::Json, value_name = "FORMAT")]
    pub format: PlanFormat,
    /// File to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub compile: Compile,
}

/// A form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Every action with inputs, outputs and command.
    Json,
    /// For ninja, remote-execution ninjas included.
    Ninja,
    /// A compilation database, for clangd and other readers of C++.
    CompileCommands,
    /// For Graphviz.
    Graph,
}

/// Arguments of `codegen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build codegen --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor'")]
pub struct Codegen {
    #[command(flatten)]
    pub ops: Ops,
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `lsp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build lsp --dir lsps                 all nine packages
  gpsimd-build lsp --variant cpu3 --dir lsps  one of them")]
pub struct Lsp {
    /// Which packages: cpu0 to cpu7 or single [default: all nine].
    #[arg(long = "variant", value_name = "VARIANT")]
    pub variants: Vec<String>,
    /// Directory that gets one directory per package.
    #[arg(long, value_name = "DIR", default_value = "lsp_fll_load_cpus")]
    pub dir: PathBuf,
}

/// Arguments of `pack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build pack build/vector_add_cpu0.so   writes vector_add_cpu0.stripped.so and .packed.so beside it")]
pub struct Pack {
    /// A linked image.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Packed object to write [default: <IMAGE's stem>.packed.so].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stripped image to write [default: <IMAGE's stem>.stripped.so].
    #[arg(short, long, value_name = "FILE")]
    pub stripped: Option<PathBuf>,
}

/// Arguments of `unpack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build unpack build/vector_add_cpu0.packed.so -o vector_add_cpu0.stripped.so")]
pub struct Unpack {
    /// A packed object.
    #[arg(value_name = "PACKED")]
    pub packed: PathBuf,
    /// Image to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build inspect build/vector_add_cpu3.so
  gpsimd-build inspect build/vector_add_cpu3.so --map map.svg
  gpsimd-build inspect build/vector_add.ucpl load.bin")]
pub struct Inspect {
    /// Linked, stripped, packed, split or prelinked images, or files of load records.
    #[arg(required = true, value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Generation whose memory a split or prelinked image is for [default: what fits the image, else cayman].
    #[arg(long, value_name = "GENERATION")]
    pub generation: Option<String>,
    /// Draw the window of the (one) image.
    #[arg(long, value_name = "SVG")]
    pub map: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build verify build/vector_add                  every file of a library, by its manifest
  gpsimd-build verify build/vector_add_cpu*.so          these files
  gpsimd-build verify --json build/vector_add")]
pub struct Verify {
    /// Image files, or a library: the path of its manifest or without .manifest.json.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Also write the report here, as JSON.
    #[arg(long, value_name = "FILE", hide = true)]
    pub report: Option<PathBuf>,
}

/// Arguments of `prelink`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build prelink build/vector_add.split.so -o vector_add.ucpl
  gpsimd-build prelink build/vector_add.split.packed.so -o vector_add.ucpl --generation mariana-plus")]
pub struct Prelink {
    /// A split-load library, as it is or packed.
    #[arg(value_name = "LIBRARY")]
    pub library: PathBuf,
    /// Image to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// cayman, mariana, mariana-plus or sunda.
    #[arg(long, value_name = "GENERATION", default_value = "cayman")]
    pub generation: String,
    /// Refuse whatever would have an undefined effect on the device (this is the default).
    #[arg(long, overrides_with = "compat")]
    pub strict: bool,
    /// Give the vendor's verdicts and bytes, quirks included.
    #[arg(long, overrides_with = "strict")]
    pub compat: bool,
}

/// Arguments of `records`.
#[derive(Debug, Args)]
pub struct Records {
    #[command(subcommand)]
    pub command: RecordsCommand,
}

/// Which record.
#[derive(Debug, Subcommand)]
pub enum RecordsCommand {
    /// A record that loads a library.
    #[command(after_help = "\
Example:
  gpsimd-build records load --addr 0x1000000000 --image vector_add.ucpl -o load.bin")]
    Load {
        /// SoC address of the image, a multiple of 16 MiB as the runtime allocates it.
        #[arg(long, value_name = "ADDRESS", value_parser = number)]
        addr: u64,
        /// Bytes of the image.
        #[arg(long, value_name = "BYTES", conflicts_with = "image")]
        size: Option<u32>,
        /// The image itself, for its size.
        #[arg(long, value_name = "UCPL", required_unless_present = "size")]
        image: Option<PathBuf>,
        /// Which library it will be.
        #[arg(long, value_name = "N", default_value_t = 0)]
        index: u32,
        /// Load on core 0 alone instead of all eight.
        #[arg(long)]
        single: bool,
        /// File to write.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// A record that unloads a library.
    #[command(after_help = "\
Example:
  gpsimd-build records unload --index 0 -o unload.bin")]
    Unload {
        /// Which library.
        #[arg(long, value_name = "N", default_value_t = 0)]
        index: u32,
        /// Unload from core 0 alone instead of all eight.
        #[arg(long)]
        single: bool,
        /// File to write.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

/// A number, decimal or hexadecimal.
fn number(text: &str) -> Result<u64, std::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
}

/// How a library gets to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lane {
    /// Images linked for a fixed address.
    Fixed,
    /// Prelinked split images, loaded by record, dispatched through 0xF0 instructions.
    Ucpl,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Inputs are .npy files, numbers, or tensors made up on the spot: rand:SHAPE[:DTYPE], arange:…, zeros:…, ones:….

Examples:
  gpsimd-build run build/vector_add a.npy b.npy --like 0 -o sum.npy
  gpsimd-build run build/vector_add rand:1000 rand:1000 --like 0
  gpsimd-build run build/relu rand:1000x4 --op relu_forward     a library built with --shape-src knows its outputs' shapes
  gpsimd-build run build/scale_clip x.npy 0.5 3 1.5 --shape 2x3 --dtype float32
  gpsimd-build run build/vector_add rand:100 rand:100 --like 0 --lane ucpl --trace")]
pub struct Run {
    /// A library (build/NAME) or one of its images.
    #[arg(value_name = "LIBRARY")]
    pub library: PathBuf,
    /// The op's inputs, in order.
    #[arg(value_name = "INPUT", allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// Kernel function of the op [default: the library's only one].
    #[arg(long, value_name = "KERNEL")]
    pub op: Option<String>,
    /// File for the output.
    #[arg(short, long, value_name = "NPY")]
    pub output: Option<PathBuf>,
    /// The output has the shape and type of this input, counted from 0.
    #[arg(long, value_name = "N", conflicts_with_all = ["shape", "dtype"])]
    pub like: Option<usize>,
    /// The output's shape, such as 2x3.
    #[arg(long, value_name = "SHAPE")]
    pub shape: Option<String>,
    /// The output's element type [default: float32].
    #[arg(long, value_name = "DTYPE", requires = "shape")]
    pub dtype: Option<String>,
    /// Do not report this check's findings.
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// How the library gets to the device: fixed for its fixed images, ucpl for its split image.
    #[arg(long, value_enum, default_value_t = Lane::Fixed, value_name = "LANE")]
    pub lane: Lane,
    /// With --lane ucpl, show every stage from the packed library to the last byte given back.
    #[arg(long)]
    pub trace: bool,
    /// With --lane ucpl, the generation to prelink for [default: the one the library was built for].
    #[arg(long, value_name = "GENERATION")]
    pub generation: Option<String>,
    /// With --lane ucpl and a bare split image, load it on all eight cores.
    #[arg(long)]
    pub multicore: bool,
    /// Most instructions per core before a run counts as endless.
    #[arg(long, value_name = "N")]
    pub budget: Option<u64>,
}

/// Arguments of `toolchain`.
#[derive(Debug, Args)]
pub struct Toolchain {
    #[command(subcommand)]
    pub command: ToolchainCommand,
}

/// What to do with toolchains.
#[derive(Debug, Subcommand)]
pub enum ToolchainCommand {
    /// Build the open toolchain from distribution packages into the tool's data directory.
    #[command(after_help = "\
The data directory is $GPSIMD_BUILD_HOME, else $XDG_DATA_HOME/gpsimd-build, else ~/.local/share/gpsimd-build.

Examples:
  gpsimd-build toolchain install          says which packages are missing, if any
  sudo gpsimd-build toolchain install --yes   installs them first")]
    Install {
        /// As root, install missing distribution packages without asking.
        #[arg(short, long)]
        yes: bool,
        /// Compilers at the same time [default: the machine's processors].
        #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        jobs: Option<u16>,
    },
    /// Print the compiler in force and what it is.
    Show {
        #[command(flatten)]
        compiler: Compiler,
    },
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build schema 'aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor'
  gpsimd-build schema --json - < schemas.txt")]
pub struct Schema {
    /// Schemas; - reads one per line from standard input.
    #[arg(required = true, value_name = "TEXT")]
    pub texts: Vec<String>,
}

/// Arguments of `integrations`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build integrations --dir share/gpsimd-build
  cmake -B build -DGpsimdBuild_DIR=share/gpsimd-build/cmake
  make -I share/gpsimd-build/make")]
pub struct Integrations {
    /// Directory that gets cmake/ and make/.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Directory for the pages, one per command.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build explain kernel::signature
  gpsimd-build explain                      lists every code")]
pub struct Explain {
    /// The code, as errors show it; without its scope if that is enough [default: list all].
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Which shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of the hidden `sdk`.
#[derive(Debug, Args)]
pub struct Sdk {
    /// Write the SDK's files to where this tool expects them, which must be this directory.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Copy a finished archive ...
    #[arg(long, value_name = "ARCHIVE", requires = "keep_as")]
    pub keep: Option<PathBuf>,
    /// ... to this place.
    #[arg(long = "as", id = "keep_as", value_name = "ARCHIVE", requires = "keep")]
    pub keep_as: Option<PathBuf>,
}

/// Arguments of the hidden `registrations`.
#[derive(Debug, Args)]
pub struct Registrations {
    /// A shape program.
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// File to write, as JSON.
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of the hidden `split`: one of three steps.
#[derive(Debug, Args)]
pub struct Split {
    /// Write the linker script here.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Write the kernel table here.
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// A row of the table.
    #[arg(long = "row", value_name = "KERNEL=SPEC", requires = "table")]
    pub rows: Vec<String>,
    /// Make the files of the split image from this static link.
    #[arg(long, value_name = "FILE", requires_all = ["library", "prelinked"])]
    pub linked: Option<PathBuf>,
    /// Generation whose memory the image must fit.
    #[arg(long, value_name = "GENERATION", default_value = "cayman")]
    pub generation: String,
    /// The library.
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// The packed library.
    #[arg(long, value_name = "FILE")]
    pub packed: Option<PathBuf>,
    /// The prelinked image.
    #[arg(long, value_name = "FILE")]
    pub prelinked: Option<PathBuf>,
}

/// Arguments of the hidden `adapt`.
#[derive(Debug, Args)]
pub struct Adapt {
    /// Ops, registration order.
    #[arg(long = "op", value_name = "KERNEL=SCHEMA")]
    pub ops: Vec<String>,
    /// The wrapper's object, compiled on the guess that kernels are declared as the schemas say.
    #[arg(long, value_name = "OBJECT")]
    pub guess: PathBuf,
    /// Where the wrapper's source goes if the guess was wrong.
    #[arg(long, value_name = "FILE")]
    pub source: PathBuf,
    /// The wrapper's object to link.
    #[arg(long, value_name = "OBJECT")]
    pub output: PathBuf,
    /// Kernel objects.
    #[arg(long = "object", required = true, value_name = "OBJECT")]
    pub objects: Vec<PathBuf>,
    /// A variable for the compiler.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Compiles the source to the output.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub compile: Vec<OsString>,
}

/// Arguments of the hidden `move`.
#[derive(Debug, Args)]
pub struct Move {
    /// The link for cpu0, relocations kept.
    #[arg(value_name = "IMAGE")]
    pub kept: PathBuf,
    /// The core to move it to.
    #[arg(long, value_name = "VARIANT")]
    pub variant: String,
    /// Image with symbols to write.
    #[arg(long, value_name = "FILE")]
    pub linked: PathBuf,
    /// Stripped image to write.
    #[arg(long, value_name = "FILE")]
    pub stripped: Option<PathBuf>,
    /// Packed object to write.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A variable for the linker.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Links for that core, where the move cannot be proven right.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub link: Vec<OsString>,
}

/// Arguments of the hidden `publish`.
#[derive(Debug, Args)]
pub struct Publish {
    /// What the library is, as `plan` wrote it.
    #[arg(long, value_name = "JSON")]
    pub publication: String,
}
