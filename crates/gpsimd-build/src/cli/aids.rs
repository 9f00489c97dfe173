//! Arguments of what helps around builds: compilers, schemas, explanations, other build systems, shells.
//!
//! Unaware of builds.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Compiler;

/// Arguments of `toolchain`.
#[derive(Debug, Args)]
pub struct Toolchain {
    #[command(subcommand)]
    pub command: ToolchainCommand,
}

/// What to do with toolchains.
#[derive(Debug, Subcommand)]
pub enum ToolchainCommand {
    /// Build the open toolchain from distribution packages into the tool's data directory, or take one from an archive.
    #[command(after_help = "\
The data directory is $GPSIMD_BUILD_HOME, else $XDG_DATA_HOME/gpsimd-build, else ~/.local/share/gpsimd-build.

Examples:
  gpsimd-build toolchain install               # says which packages are missing, if any
  gpsimd-build toolchain install --yes         # installs them; not as root, fetches them
  gpsimd-build toolchain install --private     # fetches them, and leaves the system alone
  gpsimd-build toolchain install --from toolchain.tar.xz    # needs no packages, no root, no network")]
    Install {
        /// Get missing distribution packages without asking: as root install them, else as --private does.
        #[arg(short, long)]
        yes: bool,
        /// Fetch the newest of the packages, unpack them in the data directory and build from there, whatever is
        /// installed; what is left needs none of them. For Debian and Ubuntu, without root.
        #[arg(long)]
        private: bool,
        /// Compilers at the same time [default: the machine's processors].
        #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        jobs: Option<u16>,
        /// Install this archive, which `toolchain export` made: a path, or a file:// URL.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["yes", "jobs", "private"])]
        from: Option<OsString>,
        /// What the archive must hash to [default: what FILE.sha256 says, if it is there].
        #[arg(long, value_name = "HEX", requires = "from", value_parser = sha256)]
        sha256: Option<String>,
    },
    /// Write the open toolchain to one archive that runs on any x86-64 Linux, and its hash beside it.
    #[command(after_help = "\
The archive holds programs under the GNU GPL: whoever passes it on must pass on, or offer, the sources that
licenses/SOURCES in it names. Equal packages give equal archives, bit by bit.

Example:
  gpsimd-build toolchain export toolchain.tar.xz")]
    Export {
        /// The archive to write; FILE.sha256 appears beside it.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write the same as a package for pip: beside a gpsimd-build that pip installed, it is found without a further command.
    #[command(after_help = "\
The package is for an index of one's own: it holds programs under the GNU GPL, as an export does. Its name is
gpsimd-build-toolchain, its version says for which gpsimd-build it is and by what compiler it differs from others.

Example:
  gpsimd-build toolchain wheel dist/ && pip install dist/gpsimd_build_toolchain-*.whl")]
    Wheel {
        /// Directory to write it to.
        #[arg(value_name = "DIR", default_value = ".")]
        directory: PathBuf,
    },
    /// Print the compiler in force and what it is.
    Show {
        #[command(flatten)]
        compiler: Compiler,
    },
}

/// Sixty-four hexadecimal digits.
fn sha256(text: &str) -> Result<String, String> {
    let is_one = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| text.to_owned()).ok_or_else(|| "a SHA-256 has 64 hexadecimal digits".to_owned())
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build schema 'my::scale(Tensor x, float by=2.0) -> Tensor'
  gpsimd-build schema --json - < schemas.txt")]
pub struct Schema {
    /// Schemas; - reads one per line from standard input.
    #[arg(required = true, value_name = "TEXT")]
    pub texts: Vec<String>,
}

/// Arguments of `integrations`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build integrations --dir share/gpsimd-build

Then CMake finds it by -DGpsimdBuild_DIR=share/gpsimd-build/cmake, and a makefile says
include share/gpsimd-build/make/gpsimd.mk")]
pub struct Integrations {
    /// Directory that gets cmake/ and make/.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build man --dir man1")]
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
  gpsimd-build explain    # lists every code")]
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
    /// Print words instead, one a line: what the script asks for.
    #[arg(long, value_enum, value_name = "WHICH", hide = true)]
    pub words: Option<Words>,
    /// The library whose ops are asked for.
    #[arg(long, value_name = "LIBRARY", hide = true)]
    pub library: Option<PathBuf>,
}

/// Words that a completion script asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Words {
    /// Codes of errors.
    Codes,
    /// Ops of a library.
    Ops,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build new my_norm --template rows
  gpsimd-build new my_op --build cmake")]
pub struct New {
    /// The op's name, and the directory's.
    #[arg(value_name = "NAME", value_parser = crate::commands::new::name)]
    pub name: String,
    /// Which kernel to start from.
    #[arg(long, value_enum, default_value_t = Template::Elementwise, value_name = "TEMPLATE")]
    pub template: Template,
    /// What builds it.
    #[arg(long, value_enum, default_value_t = BuildSystem::Make, value_name = "SYSTEM")]
    pub build: BuildSystem,
}

/// Kernels to start from; each is one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Every element by itself.
    Elementwise,
    /// A row at a time, in place.
    Rows,
    /// One number a row.
    Reduce,
    /// Rows by index.
    Gather,
    /// Images of any size, in tiles.
    Tiles,
}

/// What builds a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BuildSystem {
    /// A Makefile.
    Make,
    /// A CMakeLists.txt.
    Cmake,
    /// The tool by itself.
    None,
}
