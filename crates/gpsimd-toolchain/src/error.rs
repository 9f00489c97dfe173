//! Everything that can go wrong with a compiler before it sees a source: not there, wrong kind, install failed.
//!
//! Unaware of the build; what a compiler says about a source is the engine's to report.

use std::path::PathBuf;

use crate::Command;
use crate::packages::Missing;

/// Why there is no toolchain.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum ToolchainError {
    /// None of the variables that say where data lives is set.
    #[error("no directory for toolchains: none of GPSIMD_BUILD_HOME, XDG_DATA_HOME and HOME is set")]
    #[diagnostic(
        code(toolchain::no_home),
        help("set GPSIMD_BUILD_HOME to a directory that may hold about 20 MB")
    )]
    NoHome,

    /// The open toolchain has not been installed in this home.
    #[error("the open toolchain (recipe {recipe}) is not installed in {}", home.display())]
    #[diagnostic(
        code(toolchain::not_installed),
        help(
            "run `gpsimd-build toolchain install`; with --from FILE it takes an archive that was exported on another machine"
        )
    )]
    NotInstalled {
        /// Directory that was searched.
        home: PathBuf,
        /// Recipe version of this program.
        recipe: u32,
    },

    /// Installed, but for other programs or another version of this program.
    #[error("the open toolchain in {} does not fit: {what} is {found:?} now, it was built for {built:?}", dir.display())]
    #[diagnostic(
        code(toolchain::stale),
        help("run `gpsimd-build toolchain install`; it puts a fitting one beside the old")
    )]
    Stale {
        /// Installed directory.
        dir: PathBuf,
        /// What changed.
        what: &'static str,
        /// Identity now.
        found: String,
        /// Identity at installation.
        built: String,
    },

    /// The installed directory was changed after installation.
    #[error("{}: the installed files hash to {found}, at installation they hashed to {recorded}", dir.display())]
    #[diagnostic(
        code(toolchain::damaged),
        help("run `gpsimd-build toolchain install`; it replaces a damaged installation")
    )]
    Damaged {
        /// Installed directory.
        dir: PathBuf,
        /// Hash of the files now, or why there is none.
        found: String,
        /// Hash in the manifest.
        recorded: String,
    },

    /// A program is not in `PATH`.
    #[error("`{program}` is not in PATH")]
    #[diagnostic(code(toolchain::program_missing), help("{help}"))]
    ProgramMissing {
        /// Program name.
        program: String,
        /// What to do.
        help: String,
    },

    /// Distribution packages are missing.
    #[error("missing distribution packages: {missing}")]
    #[diagnostic(code(toolchain::packages_missing), help("{}", missing.help()))]
    PackagesMissing {
        /// Which, and what each is for.
        missing: Missing,
    },

    /// `apt-get` cannot fetch the packages.
    #[error("the packages cannot be fetched:\n{problem}")]
    #[diagnostic(
        code(toolchain::fetch),
        help(
            "see whether the mirrors that /etc/apt names can be reached, and that there is 1 GB of room in the data directory; an archive of `gpsimd-build toolchain export` needs neither. Nothing was installed"
        )
    )]
    Fetch {
        /// What `apt-get` says.
        problem: String,
    },

    /// A package that was fetched is not as packages are.
    #[error("{}: {problem}", package.display())]
    #[diagnostic(
        code(toolchain::bad_package),
        help(
            "run it again; if that does not help, see where /etc/apt takes packages from. Nothing was installed"
        )
    )]
    BadPackage {
        /// The package's file.
        package: PathBuf,
        /// What is wrong.
        problem: String,
    },

    /// The packages are there in versions the recipe does not know.
    #[error("{what} {found} is not supported; the recipe knows {supported}")]
    #[diagnostic(
        code(toolchain::unsupported_version),
        help(
            "use a machine or container of Debian 12 or 13 or Ubuntu 24.04, or another windowed GNU cross compiler by its prefix"
        )
    )]
    UnsupportedVersion {
        /// Which part.
        what: &'static str,
        /// Version found.
        found: String,
        /// Versions that work.
        supported: &'static str,
    },

    /// A cross compiler is not one whose code the cores can run.
    #[error("`{}` is not a windowed little-endian Xtensa compiler: it does not define {macro_name}", program.display())]
    #[diagnostic(
        code(toolchain::wrong_target),
        help(
            "the GPSIMD cores run little-endian Xtensa code of the windowed ABI; give the prefix of a compiler that makes it by default, such as `xtensa-esp32-elf-`"
        )
    )]
    WrongTarget {
        /// Compiler that was asked.
        program: PathBuf,
        /// Predefined macro that is missing.
        macro_name: &'static str,
    },

    /// A cross compiler lacks a file that every image is linked with.
    #[error("`{}` does not know where {file} is", program.display())]
    #[diagnostic(
        code(toolchain::runtime_missing),
        help("the compiler needs a C library (newlib) and its start files; use a complete toolchain")
    )]
    RuntimeMissing {
        /// Compiler that was asked.
        program: PathBuf,
        /// File it did not find.
        file: &'static str,
    },

    /// The licensed toolchain is not there, or not all of it.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Vendor(#[from] crate::VendorError),

    /// A process could not be started.
    #[error("cannot start: {command}")]
    #[diagnostic(code(toolchain::spawn), help("see whether the program exists and may be executed"))]
    Spawn {
        /// What was to run.
        command: Box<Command>,
        /// Why not.
        source: std::io::Error,
    },

    /// A process failed; its whole output is in the message.
    #[error("{status} from: {command}\n{output}")]
    #[diagnostic(
        code(toolchain::command_failed),
        help("the command can be pasted into a shell to run it again")
    )]
    CommandFailed {
        /// What ran.
        command: Box<Command>,
        /// Exit code or signal, in words.
        status: String,
        /// Standard output and error, in the order written.
        output: String,
    },

    /// A file operation failed.
    #[error("{action} {}", path.display())]
    #[diagnostic(
        code(toolchain::io),
        help("see the permissions of, and the space left on, that file system")
    )]
    Io {
        /// Verb phrase.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },

    /// A source archive holds something that must not be unpacked, or lacks what it should have.
    #[error("{}: {problem}", archive.display())]
    #[diagnostic(code(toolchain::bad_archive), help("reinstall the package that owns the archive: `dpkg -S {}`", archive.display()))]
    BadArchive {
        /// Archive file.
        archive: PathBuf,
        /// What is wrong, with the member's name.
        problem: String,
    },

    /// A source text does not have the lines that the recipe changes.
    #[error("{}: {problem}", path.display())]
    #[diagnostic(
        code(toolchain::unexpected_source),
        help(
            "the installed source package is not one the recipe knows; see `gpsimd-build toolchain install --help` for the versions that work"
        )
    )]
    UnexpectedSource {
        /// File inside the unpacked sources.
        path: PathBuf,
        /// What was looked for.
        problem: String,
    },

    /// A toolchain cannot be packed whole.
    #[error("the toolchain cannot be exported: {problem}")]
    #[diagnostic(
        code(toolchain::not_exportable),
        help(
            "export where the compiler and its libraries are files of the distribution's packages, documentation included"
        )
    )]
    NotExportable {
        /// What is missing or elsewhere.
        problem: String,
    },

    /// A toolchain's archive is not one, or not all of one.
    #[error("{} is no toolchain archive, or not a whole one: {problem}", archive.display())]
    #[diagnostic(
        code(toolchain::archive_unreadable),
        help(
            "fetch it again, or have it made again with `gpsimd-build toolchain export`; nothing was installed"
        )
    )]
    ArchiveUnreadable {
        /// Archive file.
        archive: PathBuf,
        /// What its reader says.
        problem: String,
    },

    /// A toolchain's archive holds what none made by this program does.
    #[error("{}: member {member:?} is refused: {problem}", archive.display())]
    #[diagnostic(
        code(toolchain::archive_refused),
        help(
            "`gpsimd-build toolchain export` writes no such archive: do not trust where this one is from; nothing was installed"
        )
    )]
    ArchiveRefused {
        /// Archive file.
        archive: PathBuf,
        /// Name in it.
        member: String,
        /// Why.
        problem: String,
    },

    /// A toolchain's archive is not the one that was meant.
    #[error("{} hashes to {found}, {by} says {expected}", archive.display())]
    #[diagnostic(
        code(toolchain::archive_changed),
        help("fetch the archive again, and its .sha256 with it; nothing was installed")
    )]
    ArchiveChanged {
        /// Archive file.
        archive: PathBuf,
        /// Hash now.
        found: String,
        /// Hash expected.
        expected: String,
        /// Who says so.
        by: String,
    },

    /// A toolchain's archive is for another version of this program, or another machine.
    #[error("{} does not fit: its {what} is {found}, this program needs {wanted}", archive.display())]
    #[diagnostic(
        code(toolchain::archive_unfit),
        help("have it exported by the same version of gpsimd-build; nothing was installed")
    )]
    ArchiveUnfit {
        /// Archive file.
        archive: PathBuf,
        /// What differs.
        what: &'static str,
        /// As the archive has it.
        found: String,
        /// As this program needs it.
        wanted: String,
    },

    /// A toolchain's archive is on another machine.
    #[error("{url} is on another machine, and this program opens no connection")]
    #[diagnostic(
        code(toolchain::archive_remote),
        help("fetch it first: curl -fLO '{url}', and '{url}.sha256'; then give the file")
    )]
    ArchiveRemote {
        /// As given.
        url: String,
    },

    /// The finished toolchain does not do what it should.
    #[error("self-check of the new toolchain failed: {problem}")]
    #[diagnostic(
        code(toolchain::self_check),
        help("nothing was installed; please report this with the output of `gpsimd-build doctor`")
    )]
    SelfCheck {
        /// What is wrong.
        problem: String,
    },
}

/// Attaches the verb and the path to an I/O error.
pub(crate) trait IoContext<T> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, ToolchainError>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, ToolchainError> {
        self.map_err(|source| ToolchainError::Io { action, path: path.into(), source })
    }
}
