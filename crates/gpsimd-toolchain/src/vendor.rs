//! The licensed toolchain, `xtensa-tools`, as a person with the vendor's packages has it: where it is and whether all of
//! it is there.
//!
//! Unaware of what is asked of it ([`crate::vendor_words`]) and of the process's environment: the variables come in as a
//! value, so that nothing is read twice and nothing is written (spec `toolchain.md` §1, §14 Q7, Q8).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::IoContext as _;
use crate::{Command, Machine, ToolchainError, process, tree};

/// Where the vendor's packages install.
const ROOT: &str = "/opt/aws/neuron/gpsimd";

/// The only core that the vendor's registry knows (spec `toolchain.md` §1).
const CORE: &str = "ncore2gp";

/// The default licence file, whether it exists or not (spec `toolchain.md` §11).
const LICENCE: &str = "/opt/aws/neuron/gpsimd/tools/licenses/amzn_vq7_us_582883.out";

/// Text of a compiler that the host forbids an executable stack (spec `toolchain.md` §13).
pub const NO_EXECUTABLE_STACK: &str = "cannot enable executable stack as shared object requires";

/// What to do about that text, which itself does not say.
pub const EXECUTABLE_STACK_REMEDY: &str = "allow it (SELinux: setsebool -P selinuxuser_execstack 1; glibc 2.41 and later: GLIBC_TUNABLES=glibc.rtld.execstack=2), clear the mark (patchelf --clear-execstack .../libXtensaCodeGen.so), build in a container on another host, or use --toolchain open";

/// What FlexNet's client says when it gets no licence, in one form or another (spec `toolchain.md` §11).
pub const NO_LICENCE: [&str; 6] = [
    "FlexNet Licensing error",
    "FLEXnet Licensing error",
    "icense checkout failed",
    "Cannot find license file",
    "Cannot connect to license server",
    "No such feature exists",
];

/// What to do about that, and what it is not about.
pub const LICENCE_REMEDY: &str = "compiling, linking and packing ask for no licence; the instruction set simulator (libsimxtcore), the legacy compiler engine (extend.so) and the TIE compiler (tcgen) do. See which of them the command starts, name a server that has the feature in LM_LICENSE_FILE (port@host), or use --toolchain open, which needs none";

/// The variables that decide where the vendor's files are; an empty one counts as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// The names that are looked at.
    pub const NAMES: [&str; 8] = [
        "NEURON_CUSTOM_OP",
        "Q7_CORE",
        "Q7_TOOLS",
        "XTENSA_TOOLS",
        "XTENSA_CORE",
        "XTENSA_SYSTEM",
        "LM_LICENSE_FILE",
        "PATH",
    ];

    /// This process's variables.
    pub fn here() -> Environment {
        Environment::of(Self::NAMES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))))
    }

    /// These variables.
    pub fn of<K: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Environment {
        Environment(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// A variable's value.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }
}

/// Paths that follow from the environment, in the reference's order of precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Root of headers, archives and linker support packages.
    pub root: PathBuf,
    /// Core name, for `--xtensa-core`.
    pub core: OsString,
    /// Configuration directory, for `--xtensa-system`.
    pub system: PathBuf,
    /// Directory that is searched after `PATH`.
    pub bin: PathBuf,
}

impl Layout {
    /// What the variables and the defaults say.
    pub fn of(machine: &Machine, environment: &Environment) -> Layout {
        let install = machine.file(ROOT);
        let core = environment.get("Q7_CORE").unwrap_or(OsStr::new(CORE)).to_owned();
        Layout {
            root: environment.path("NEURON_CUSTOM_OP").unwrap_or_else(|| install.join("custom_op")),
            system: environment
                .path("Q7_TOOLS")
                .unwrap_or_else(|| install.join("tools").join(&core).join("config")),
            bin: match environment.path("XTENSA_TOOLS") {
                Some(tools) => tools.join("XtensaTools/bin"),
                None => install.join("bin"),
            },
            core,
        }
    }

    /// Where a tool is: in `PATH`, else in the tool directory, which the reference appends to `PATH`.
    fn program(&self, machine: &Machine, name: &str) -> Option<PathBuf> {
        machine.program(name).or_else(|| machine.program(self.bin.join(name).to_str()?))
    }

    /// The archives around the link, first two and last (spec `toolchain.md` §3).
    pub(crate) fn archives(&self) -> [PathBuf; 3] {
        ["neuron/libneuroncustomop.a", "c10/lib/libc10.a", "neuron/libcweak.a"]
            .map(|name| self.root.join(name))
    }

    /// Directory of the nine linker support packages.
    pub(crate) fn lsps(&self) -> PathBuf {
        self.root.join("lsp_fll_load_cpus")
    }

    /// Everything a build needs, whether a file or a directory, with what it is for.
    fn needs(&self) -> Vec<(String, PathBuf)> {
        let mut needs = vec![
            ("configuration directory".to_owned(), self.system.clone()),
            ("header".to_owned(), self.root.join("neuron/wrapper_api.h")),
            ("header".to_owned(), self.root.join("torch/include/torch/torch.h")),
            ("header directory".to_owned(), self.root.join("c10/include")),
        ];
        needs.extend(self.archives().map(|path| ("archive".to_owned(), path)));
        for name in LSPS {
            for file in ["specs", "ldscripts/elf32xtensa.x"] {
                needs.push(("linker support package".to_owned(), self.lsps().join(name).join(file)));
            }
        }
        needs
    }
}

impl Layout {
    /// Every part that is not there; a directory that lacks whole stands for what would be in it.
    fn missing(&self) -> Vec<MissingFile> {
        let mut missing: Vec<MissingFile> = Vec::new();
        for (what, path) in self.needs().into_iter().filter(|(_, path)| !path.exists()) {
            let lsps = self.lsps();
            let whole = path.ancestors().filter(|dir| dir.starts_with(&lsps) && !dir.exists()).last();
            let path = whole.unwrap_or(&path).to_owned();
            if missing.last().is_none_or(|last| last.path != path) {
                missing.push(MissingFile { what, path });
            }
        }
        missing
    }
}

const LSPS: [&str; 9] = [
    "lsp_fll_load_cpu0",
    "lsp_fll_load_cpu1",
    "lsp_fll_load_cpu2",
    "lsp_fll_load_cpu3",
    "lsp_fll_load_cpu4",
    "lsp_fll_load_cpu5",
    "lsp_fll_load_cpu6",
    "lsp_fll_load_cpu7",
    "lsp_fll_load_cpu_single",
];

/// Something the toolchain consists of that is not where it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    /// `archive`, `compiler`, …
    pub what: String,
    /// Where it was looked for.
    pub path: PathBuf,
}

/// Why there is no `xtensa-tools`.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum VendorError {
    /// Nothing of it is on this machine.
    #[error("xtensa-tools is not installed: neither {} nor {} exists", root.display(), bin.display())]
    #[diagnostic(
        code(toolchain::vendor_absent),
        help(
            "install aws-neuronx-gpsimd-tools and aws-neuronx-gpsimd-customop-lib, or say where they are with NEURON_CUSTOM_OP and XTENSA_TOOLS; the open toolchain needs neither"
        )
    )]
    Absent {
        /// Root of headers and archives.
        root: PathBuf,
        /// Directory of the tools.
        bin: PathBuf,
    },

    /// Some of it is missing; all that is.
    #[error(
        "xtensa-tools is incomplete, {} of its parts {} missing:\n{}",
        missing.len(),
        if missing.len() == 1 { "is" } else { "are" },
        list(missing)
    )]
    #[diagnostic(
        code(toolchain::vendor_incomplete),
        help(
            "headers, archives and linker support packages come with aws-neuronx-gpsimd-customop-lib (NEURON_CUSTOM_OP says where), programs and configuration with aws-neuronx-gpsimd-tools (XTENSA_TOOLS, Q7_TOOLS)"
        )
    )]
    Incomplete {
        /// Everything that was not found.
        missing: Vec<MissingFile>,
    },

    /// The compiler wants a licence.
    #[error("{} gets no licence:\n{output}", program.display())]
    #[diagnostic(code(toolchain::licence), help("{LICENCE_REMEDY}"))]
    Licence {
        /// The compiler.
        program: PathBuf,
        /// What it said.
        output: String,
    },

    /// The compiler does not start.
    #[error("{} does not work:\n{output}", program.display())]
    #[diagnostic(code(toolchain::vendor_broken), help("{help}"))]
    Broken {
        /// The compiler.
        program: PathBuf,
        /// What it said.
        output: String,
        /// What to do.
        help: String,
    },
}

fn list(missing: &[MissingFile]) -> String {
    missing.iter().map(|m| format!("  {}: {}", m.what, m.path.display())).collect::<Vec<_>>().join("\n")
}

/// A complete `xtensa-tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XtensaTools {
    pub(crate) layout: Layout,
    pub(crate) compiler: PathBuf,
    /// Not needed unless asked for: packing is done in this process by default.
    pub(crate) packager: Option<PathBuf>,
    /// For every child.
    pub(crate) env: Vec<(OsString, OsString)>,
    version: String,
    content: String,
    notes: Vec<String>,
}

impl XtensaTools {
    /// The one that `environment` names, if all of it is there.
    ///
    /// # Errors
    /// [`VendorError`] with everything that is missing.
    pub fn discover(machine: &Machine, environment: &Environment) -> Result<XtensaTools, ToolchainError> {
        let layout = Layout::of(machine, environment);
        let compiler = layout.program(machine, "xt-clang++");
        if compiler.is_none() && !layout.root.exists() && !layout.bin.exists() {
            return Err(VendorError::Absent { root: layout.root, bin: layout.bin }.into());
        }
        let mut missing = layout.missing();
        let compiler = match compiler {
            Some(compiler) if missing.is_empty() => compiler,
            found => {
                if found.is_none() {
                    let path = layout.bin.join("xt-clang++");
                    missing.insert(0, MissingFile { what: "compiler".to_owned(), path });
                }
                return Err(VendorError::Incomplete { missing }.into());
            }
        };
        let packager = layout.program(machine, "xt-pkg-loadlib");
        let env = child_environment(machine, environment, &layout);
        let mut tools = XtensaTools {
            notes: notes(environment, &layout),
            content: String::new(),
            version: String::new(),
            layout,
            compiler,
            packager,
            env,
        };
        tools.version = tools.ask_version()?;
        tools.content = tools.hash_content()?;
        Ok(tools)
    }

    /// Paths in force.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The compiler.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    /// The vendor's packager, if it is there.
    pub fn packager(&self) -> Option<&Path> {
        self.packager.as_deref()
    }

    /// First line of the compiler's `--version`.
    pub fn compiler_version(&self) -> &str {
        &self.version
    }

    /// Compiler version, core, and a hash over archives and link scripts: the same wherever it is installed.
    pub fn identity(&self) -> String {
        format!("vendor {} {} {}", self.version, self.layout.core.to_string_lossy(), self.content)
    }

    /// Variables that look as if they counted and do not.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The tools refuse to run without a core, `--version` included (spec `toolchain.md` §1).
    fn ask_version(&self) -> Result<String, ToolchainError> {
        let mut command = Command::new(&self.compiler).args(self.core_flags()).arg("--version");
        command.env.clone_from(&self.env);
        match process::captured(&command, Path::new("/")) {
            Ok(output) => Ok(output.lines().next().unwrap_or_default().trim().to_owned()),
            Err(ToolchainError::CommandFailed { output, .. })
                if NO_LICENCE.iter().any(|sign| output.contains(sign)) =>
            {
                Err(VendorError::Licence { program: self.compiler.clone(), output }.into())
            }
            Err(ToolchainError::CommandFailed { output, .. }) => Err(VendorError::Broken {
                help: match output.contains(NO_EXECUTABLE_STACK) {
                    true => EXECUTABLE_STACK_REMEDY.to_owned(),
                    false => {
                        "run it by hand; `gpsimd-build doctor` shows which files it was given".to_owned()
                    }
                },
                program: self.compiler.clone(),
                output,
            }
            .into()),
            Err(other) => Err(other),
        }
    }

    fn hash_content(&self) -> Result<String, ToolchainError> {
        let mut hasher = Sha256::new();
        for (_, path) in self.layout.needs().into_iter().filter(|(_, path)| path.is_file()) {
            let bytes = std::fs::read(&path).context("cannot read", &path)?;
            let name = path.strip_prefix(&self.layout.root).unwrap_or(&path);
            tree::absorb(&mut hasher, name.as_os_str().as_encoded_bytes(), &bytes);
        }
        Ok(tree::hex(hasher))
    }

    /// `--xtensa-core=… --xtensa-system=…`.
    pub(crate) fn core_flags(&self) -> [OsString; 2] {
        let word = |option: &str, value: &OsStr| {
            let mut word = OsString::from(option);
            word.push(value);
            word
        };
        [word("--xtensa-core=", &self.layout.core), word("--xtensa-system=", self.layout.system.as_os_str())]
    }
}

/// The reference writes the licence variable into its own environment if it is unset and appends the tool directory to
/// `PATH`; here only children get either (spec `toolchain.md` §1, §11).
fn child_environment(
    machine: &Machine,
    environment: &Environment,
    layout: &Layout,
) -> Vec<(OsString, OsString)> {
    let mut env = Vec::new();
    if environment.get("LM_LICENSE_FILE").is_none() {
        env.push(("LM_LICENSE_FILE".into(), machine.file(LICENCE).into_os_string()));
    }
    let path = environment.get("PATH").unwrap_or_default();
    if !std::env::split_paths(path).any(|dir| dir == layout.bin) {
        let mut longer = path.to_owned();
        if !longer.is_empty() {
            longer.push(":");
        }
        longer.push(&layout.bin);
        env.push(("PATH".into(), longer));
    }
    env
}

fn notes(environment: &Environment, layout: &Layout) -> Vec<String> {
    let rows: [(&str, &str, &OsStr); 2] =
        [("XTENSA_CORE", "Q7_CORE", &layout.core), ("XTENSA_SYSTEM", "Q7_TOOLS", layout.system.as_os_str())];
    let differs = |(name, decides, used): (&str, &str, &OsStr)| {
        let value = environment.get(name).filter(|value| *value != used)?;
        Some(format!(
            "{name} is {}, but every command names {}: {decides} decides, as in the vendor's driver",
            value.to_string_lossy(),
            used.to_string_lossy()
        ))
    };
    rows.into_iter().filter_map(differs).collect()
}

/// What is known about licences (spec `toolchain.md` §11): nothing of a build asks for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Licence {
    /// The file that children are told of.
    pub file: PathBuf,
    /// Whether the person chose it.
    pub is_chosen: bool,
    /// Whether it exists.
    pub exists: bool,
}

impl Licence {
    /// Parts of the vendor's tools that do ask for one: component and feature.
    pub const GATED: [(&str, &str); 2] = [
        ("the instruction set simulator (libsimxtcore)", "XTENSA_ISS_BASE"),
        ("the TIE compiler (tcgen, extend.so)", "XTENSA_XCC_TIE"),
    ];

    /// What children will see. A value may also be `port@host`, which is no file.
    pub fn of(machine: &Machine, environment: &Environment) -> Licence {
        let chosen = environment.path("LM_LICENSE_FILE");
        let is_chosen = chosen.is_some();
        let file = chosen.unwrap_or_else(|| machine.file(LICENCE));
        Licence { exists: file.exists(), is_chosen, file }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::Diagnostic as _;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::of(variables.iter().copied())
    }

    #[test]
    fn paths_follow_the_variables() {
        // spec toolchain.md §1: variables, root, core, configuration, tool directory
        type Row = (&'static [(&'static str, &'static str)], [&'static str; 4]);
        let default = "/opt/aws/neuron/gpsimd";
        let rows: &[Row] = &[
            (&[], ["custom_op", "ncore2gp", "tools/ncore2gp/config", "bin"]),
            (&[("Q7_CORE", "next")], ["custom_op", "next", "tools/next/config", "bin"]),
            (
                &[("Q7_CORE", ""), ("NEURON_CUSTOM_OP", "")],
                ["custom_op", "ncore2gp", "tools/ncore2gp/config", "bin"],
            ),
            (&[("Q7_TOOLS", "/c"), ("Q7_CORE", "next")], ["custom_op", "next", "/c", "bin"]),
            (&[("NEURON_CUSTOM_OP", "/n")], ["/n", "ncore2gp", "tools/ncore2gp/config", "bin"]),
            (
                &[("XTENSA_TOOLS", "/x")],
                ["custom_op", "ncore2gp", "tools/ncore2gp/config", "/x/XtensaTools/bin"],
            ),
            (
                &[("XTENSA_CORE", "a"), ("XTENSA_SYSTEM", "/b")],
                ["custom_op", "ncore2gp", "tools/ncore2gp/config", "bin"],
            ),
        ];
        for (variables, [root, core, system, bin]) in rows {
            let layout = Layout::of(&Machine::at("/", "", false), &environment(variables));
            let at = |path: &str| Path::new(default).join(path);
            assert_eq!(
                layout,
                Layout { root: at(root), core: core.into(), system: at(system), bin: at(bin) },
                "{variables:?}"
            );
        }
    }

    /// A machine with an install at the default place; `programs` are in its tool directory.
    fn installed(programs: &[&str]) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::at(dir.path(), "/usr/bin:/bin", false);
        for (_, path) in Layout::of(&machine, &Environment::default()).needs() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match path.extension() {
                Some(_) => std::fs::write(path, "").unwrap(),
                None if path.ends_with("specs") => std::fs::write(path, "").unwrap(),
                None => std::fs::create_dir(path).unwrap(),
            }
        }
        for name in programs {
            crate::testing::script(&machine.file(ROOT).join("bin").join(name), "echo \"$@\"");
        }
        (dir, machine)
    }

    #[test]
    fn a_complete_install_is_taken_with_or_without_a_packager() {
        for (programs, has_packager) in
            [(&["xt-clang++"][..], false), (&["xt-clang++", "xt-pkg-loadlib"], true)]
        {
            let (_dir, machine) = installed(programs);
            let tools = XtensaTools::discover(&machine, &environment(&[("PATH", "/usr/bin:/bin")])).unwrap();
            assert_eq!(tools.packager().is_some(), has_packager);
            let system = machine.file(ROOT).join("tools/ncore2gp/config");
            let core = format!("--xtensa-core=ncore2gp --xtensa-system={} --version", system.display());
            assert_eq!(tools.compiler_version(), core, "the compiler is asked with its core");
            assert!(tools.notes().is_empty());
        }
    }

    /// The identity is of contents: the same elsewhere, another after an update.
    #[test]
    fn the_identity_is_of_what_is_linked() {
        let [(_a, here), (_b, there)] = [(); 2].map(|()| installed(&["xt-clang++"]));
        let content =
            |machine: &Machine| XtensaTools::discover(machine, &Environment::default()).unwrap().content;
        assert_eq!(content(&here), content(&there));
        std::fs::write(there.file(ROOT).join("custom_op/c10/lib/libc10.a"), "newer").unwrap();
        assert_ne!(content(&here), content(&there));
    }

    #[test]
    fn each_part_is_missed_and_named() {
        let (_dir, machine) = installed(&["xt-clang++"]);
        for (what, path) in Layout::of(&machine, &Environment::default()).needs() {
            let away = machine.file("/away");
            std::fs::rename(&path, &away).unwrap();
            let error = XtensaTools::discover(&machine, &Environment::default()).unwrap_err();
            let ToolchainError::Vendor(VendorError::Incomplete { missing }) = error else {
                panic!("{error}")
            };
            assert_eq!(missing, [MissingFile { what, path: path.clone() }]);
            std::fs::rename(away, path).unwrap();
        }
    }

    #[test]
    fn a_missing_directory_is_one_part() {
        let (_dir, machine) = installed(&["xt-clang++"]);
        let layout = Layout::of(&machine, &Environment::default());
        std::fs::remove_dir_all(layout.lsps().join("lsp_fll_load_cpu4/ldscripts")).unwrap();
        std::fs::remove_dir_all(layout.lsps().join("lsp_fll_load_cpu5")).unwrap();
        let paths =
            |layout: &Layout| -> Vec<PathBuf> { layout.missing().into_iter().map(|m| m.path).collect() };
        let want = ["lsp_fll_load_cpu4/ldscripts", "lsp_fll_load_cpu5"].map(|name| layout.lsps().join(name));
        assert_eq!(paths(&layout), want);
        std::fs::remove_dir_all(layout.lsps()).unwrap();
        assert_eq!(paths(&layout), [layout.lsps()]);
    }

    #[test]
    fn nothing_at_all_is_not_incomplete() {
        let dir = tempfile::tempdir().unwrap();
        let error =
            XtensaTools::discover(&Machine::at(dir.path(), "", false), &Environment::default()).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), "toolchain::vendor_absent");
        let (_dir, machine) = installed(&[]);
        let error = XtensaTools::discover(&machine, &Environment::default()).unwrap_err();
        assert!(error.to_string().contains("1 of its parts is missing:\n  compiler: "), "{error}");
    }

    #[test]
    fn variables_of_the_tools_that_do_not_count_are_said() {
        let (_dir, machine) = installed(&["xt-clang++"]);
        let variables =
            environment(&[("XTENSA_CORE", "a"), ("XTENSA_SYSTEM", "/b"), ("Q7_CORE", "ncore2gp")]);
        let tools = XtensaTools::discover(&machine, &variables).unwrap();
        let [core, system] = tools.notes() else { panic!("{:?}", tools.notes()) };
        assert!(core.starts_with("XTENSA_CORE is a, but") && system.starts_with("XTENSA_SYSTEM is /b, but"));
    }

    #[test]
    fn licences() {
        let machine = Machine::at("/", "", false);
        let default = Licence::of(&machine, &Environment::default());
        assert_eq!((default.file.as_path(), default.is_chosen), (Path::new(LICENCE), false));
        let chosen = Licence::of(&machine, &environment(&[("LM_LICENSE_FILE", "27000@host")]));
        assert_eq!(
            (chosen.file.as_path(), chosen.is_chosen, chosen.exists),
            (Path::new("27000@host"), true, false)
        );
    }
}
