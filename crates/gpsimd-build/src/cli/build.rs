//! Arguments of `compile`, `plan` and `codegen`.
//!
//! Unaware of requests and plans, which are made from them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gpsimd_loader::Generation;

use super::values::generation;

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

/// Checks that the compiler puts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    /// Overruns of locals, globals and alloca; variables used after their scope.
    Address,
    /// Undefined behaviour: arithmetic, shifts, indices, conversions, pointers.
    Undefined,
    /// With address: comparisons and differences of pointers into different variables.
    Pairs,
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
  gpsimd-build compile relu_multicore.cpp --multicore   # one kernel, its schema read from it
  gpsimd-build compile relu.cpp --op relu_forward --op relu_backward --namespace my
  gpsimd-build compile relu.cpp --shape-src relu_shape.cpp --multicore
  gpsimd-build compile vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor'
  gpsimd-build compile relu.cpp --op 'relu_forward=my::relu_fwd(Tensor t) -> Tensor' \\
      --op 'relu_backward=my::relu_bwd(Tensor t, Tensor g) -> Tensor'
  gpsimd-build compile vector_add.cpp --image both
  gpsimd-build compile relu.cpp --shape-src relu_shape.cpp --multicore --native
  gpsimd-build compile scale_clip.cpp -- -O2 -DSTACK_SIZE=20000")]
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
    /// Put the compiler's checks in, for the simulator to answer: a library NAME.checked, which cannot ship.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECKS")]
    pub sanitize: Vec<Sanitizer>,
    /// Make a native twin, too: NAME.native.so, the same kernels for this machine, which PyTorch can call and which cannot
    /// ship. Compiled by $CXX or c++.
    #[arg(long)]
    pub native: bool,
    /// Make the twin's ops operators of the PyTorch whose libtorch is in DIR, too: NAME.torch.so, for torch.ops.load_library. Shape
    /// sources are compiled against it; with an --op KERNEL=SCHEMA for each op for it alone, and may then use all of PyTorch.
    #[arg(long, value_name = "DIR", requires_all = ["native", "shape_sources"])]
    pub libtorch: Option<PathBuf>,
    /// Which images to make.
    #[arg(long, value_enum, default_value_t = ImageKind::Fixed, value_name = "KIND", help_heading = "Images")]
    pub image: ImageKind,
    /// Generation whose memory a split image must fit.
    #[arg(long, value_name = "GENERATION", value_parser = generation(), default_value = "cayman", help_heading = "Images")]
    pub generation: Generation,
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
    /// Parse the SDK's headers for every source, not once for all; objects are the same.
    #[arg(long, help_heading = "Speed")]
    pub no_precompile: bool,
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
  gpsimd-build plan vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor' \\
      --format ninja --output build.ninja && ninja
  gpsimd-build plan vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor' \\
      --format compile-commands --output compile_commands.json
  gpsimd-build plan vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor' \\
      --format graph --output plan.dot   # then dot -Tsvg plan.dot > plan.svg

A plan needs every schema: it is made before any compiler starts, so none can be read from kernels.")]
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
    /// The vendor's generator's text, token by token, to compare with; builds use the other, which every compiler takes.
    #[arg(long)]
    pub reference: bool,
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
