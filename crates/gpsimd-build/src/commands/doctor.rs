//! `doctor`: one screen of what this machine has and lacks, every lack with its remedy.
//!
//! Unaware of builds; it asks the crates that would be asked by one.

use gpsimd_engine::Sdk;
use gpsimd_toolchain::{
    Environment, Home, Licence, Machine, Toolchain, ToolchainError, VendorError, XtensaTools,
    forbids_executable_stacks, packages, vendor_packages, version_clashes,
};
use miette::{Diagnostic, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::Status;
use crate::answer::{Diagnosis, Severity};
use crate::render::Render;

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// Worth knowing, nothing to do.
    Note,
    /// Builds work without it, or may.
    Warning,
    /// Builds need it.
    Lacking,
}

/// One thing looked at.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MachineFinding")]
pub struct Finding {
    /// What was looked at.
    about: &'static str,
    state: State,
    /// What was found; a line each.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// The error's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

/// What was found, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// Everything looked at, in order.
    findings: Vec<Finding>,
}

impl Finding {
    fn new(about: &'static str, state: State, found: impl Into<String>) -> Self {
        Self { about, state, found: found.into(), remedy: None, code: None }
    }

    fn good(about: &'static str, found: impl Into<String>) -> Self {
        Self::new(about, State::Good, found)
    }

    fn note(about: &'static str, found: impl Into<String>) -> Self {
        Self::new(about, State::Note, found)
    }

    fn error(about: &'static str, state: State, error: &dyn Diagnostic) -> Self {
        Self {
            remedy: error.help().map(|help| help.to_string()),
            code: error.code().map(|code| code.to_string()),
            ..Self::new(about, state, error.to_string())
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        let (headline, detail) = self.found.split_once('\n').unwrap_or((&self.found, ""));
        Diagnosis {
            code: self.code.clone(),
            severity: Severity::Error,
            headline: headline.to_owned(),
            detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
            place: None,
            remedy: self.remedy.clone(),
            labels: Vec::new(),
            related: Vec::new(),
        }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Looks at everything a build may need; what is lacking decides the exit status.
pub fn run(render: &Render) -> Result<Status> {
    let findings = examine(&Machine::here(), &Environment::here(), Home::from_env(), libc_version());
    let lacking = findings.iter().find(|finding| finding.state == State::Lacking).map(Finding::diagnosis);
    let document = Document { findings };
    render.verdict(lacking, &document, || document.findings.iter().map(text).collect())
}

fn examine(
    machine: &Machine,
    environment: &Environment,
    home: Result<Home, ToolchainError>,
    libc: Option<(u32, u32)>,
) -> Vec<Finding> {
    let vendor = XtensaTools::discover(machine, environment);
    // one compiler is enough: without the open one, the vendor's must do, and the other way round
    let state = if vendor.is_ok() { State::Warning } else { State::Lacking };
    let mut findings = vec![match packages::check(machine) {
        Ok(()) => Finding::good("packages", "every distribution package of the open toolchain is here"),
        Err(error) => Finding::error("packages", State::Warning, &error),
    }];
    match home {
        Ok(home) => {
            findings.push(Finding::good("data directory", home.path().display().to_string()));
            let open = open(machine, &home, state);
            if open.state == State::Good {
                // what it is made from is needed no more
                findings.retain(|finding| finding.about != "packages" || finding.state == State::Good);
            }
            findings.push(open);
            findings.push(match Sdk::locate(home.path()) {
                Ok(sdk) => Finding::good("device SDK", format!("content {}", &sdk.hash()[..16])),
                Err(error) => Finding::error("device SDK", State::Lacking, &error),
            });
        }
        Err(error) => findings.push(Finding::error("data directory", State::Lacking, &error)),
    }
    findings.extend(self::vendor(machine, environment, &vendor, libc));
    findings.push(host_compiler(machine));
    findings.extend(chips(machine));
    findings
}

fn open(machine: &Machine, home: &Home, state: State) -> Finding {
    match Toolchain::discover(machine, home) {
        // files can be as they were, and not run: so it also compiles one
        Ok(Toolchain::Open(open)) => match open.verify().and_then(|()| open.try_out(machine)) {
            Ok(()) => {
                let needs = if open.travels() { ", and needs no package" } else { "" };
                let (version, dir) = (open.compiler_version(), open.dir().display());
                Finding::good("open tools", format!("{version}\nin {dir}; compiles and links{needs}"))
            }
            Err(error) => Finding::error("open tools", state, &error),
        },
        Ok(other) => Finding::good("open tools", other.compiler_version()),
        Err(error) => Finding::error("open tools", state, &error),
    }
}

/// The licensed toolchain and what may get in its way; where it is not installed, one line.
fn vendor(
    machine: &Machine,
    environment: &Environment,
    found: &Result<XtensaTools, ToolchainError>,
    libc: Option<(u32, u32)>,
) -> Vec<Finding> {
    let about = "vendor's tools";
    let mut findings = Vec::new();
    match found {
        Ok(tools) => {
            let layout = tools.layout();
            findings.push(Finding::good(
                about,
                format!(
                    "{}\nheaders, archives and link packages in {}",
                    tools.compiler_version(),
                    layout.root.display()
                ),
            ));
            if tools.packager().is_none() {
                findings.push(
                    Finding::note("packager", "xt-pkg-loadlib is not here; this tool packs itself")
                        .remedy("only --packer vendor needs it: install aws-neuronx-gpsimd-tools"),
                );
            }
            findings.extend(tools.notes().iter().map(|note| {
                Finding::new("variables", State::Warning, note.clone())
                    .remedy("unset it, or set the one that decides")
            }));
        }
        Err(ToolchainError::Vendor(VendorError::Absent { .. })) => {
            return vec![Finding::note(
                about,
                "not installed, and not needed: the open toolchain does without",
            )];
        }
        Err(error) => findings.push(Finding::error(about, State::Warning, error)),
    }
    for (clash, remedy) in version_clashes(&vendor_packages(machine)) {
        findings.push(Finding::new("versions", State::Warning, clash).remedy(remedy));
    }
    findings.push(match forbids_executable_stacks(machine, libc) {
        Some(policy) => Finding::new(
            "executable stack",
            State::Warning,
            format!("{}; the vendor's compiler may say \"cannot enable executable stack\"", policy.reason),
        )
        .remedy(format!("{}, or --toolchain open", policy.remedy)),
        None => Finding::good("executable stack", "nothing known here forbids the vendor's compiler its own"),
    });
    findings.push(licence(&Licence::of(machine, environment)));
    findings
}

fn licence(licence: &Licence) -> Finding {
    let gated: Vec<String> =
        Licence::GATED.iter().map(|(part, feature)| format!("{part}: {feature}")).collect();
    let file = match (licence.is_chosen, licence.exists) {
        (true, true) => format!("LM_LICENSE_FILE names {}", licence.file.display()),
        (true, false) => format!("LM_LICENSE_FILE names {}, which is no file here", licence.file.display()),
        (false, true) => format!("{} (the default; told to children only)", licence.file.display()),
        (false, false) => format!("none; children are told of {}", licence.file.display()),
    };
    Finding::note(
        "licence",
        format!("{file}\ncompiling, linking and packing ask for none; asked for by {}", gated.join(", ")),
    )
}

/// Only the native twin is of the machine's own code.
fn host_compiler(machine: &Machine) -> Finding {
    match ["c++", "g++", "clang++"].iter().find_map(|name| machine.program(name)) {
        Some(program) => Finding::good("host compiler", program.display().to_string()),
        None => Finding::note("host compiler", "none; only compile --native needs one"),
    }
}

/// What the output is for (spec `device-runtime.md` §2, `toolchain.md` §13).
fn chips(machine: &Machine) -> Vec<Finding> {
    let device = (0..16).map(|index| format!("/dev/neuron{index}")).find(|path| machine.file(path).exists());
    vec![
        Finding::note(
            "chips",
            "NeuronCore-v2 (Trn1, Inf2): the vendor's runtime loads the .stripped.so files\nother generations have other windows and dispatch; their runtime takes no custom ops",
        ),
        match device {
            Some(path) => Finding::note(
                "this machine",
                format!("has an accelerator ({path}), and the simulated device"),
            ),
            None => Finding::note(
                "this machine",
                "has no accelerator: `run` and `verify` work on the simulated device, which models NeuronCore-v2",
            ),
        },
    ]
}

/// Of the GNU C library; `None` where it is another one.
fn libc_version() -> Option<(u32, u32)> {
    let output = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

fn text(finding: &Finding) -> String {
    let mark = match finding.state {
        State::Good => "ok",
        State::Note => "note",
        State::Warning => "warning",
        State::Lacking => "LACKING",
    };
    let mut lines = finding.found.lines();
    let mut text = format!("{mark:8}{:17}{}\n", finding.about, lines.next().unwrap_or_default());
    for line in lines {
        text += &format!("{:25}{line}\n", "");
    }
    if let Some(remedy) = &finding.remedy {
        text += &format!("{:8}{:17}{remedy}\n", "", "→ do this");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(files: &[(&str, &str)], libc: Option<(u32, u32)>) -> (tempfile::TempDir, Vec<Finding>) {
        let root = tempfile::tempdir().expect("a scratch directory");
        let machine = Machine::at(root.path(), root.path().join("bin").display().to_string(), false);
        for (path, text) in files {
            let path = machine.file(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("written");
        }
        let home = Home::at(root.path().join("home"));
        let findings = examine(&machine, &Environment::default(), home, libc);
        (root, findings)
    }

    /// What a person sees, the scratch directory called `R`.
    fn screen(root: &tempfile::TempDir, findings: &[Finding]) -> String {
        let shown = findings.iter().map(text).collect::<String>();
        let shown = shown.replace(&root.path().display().to_string(), "R");
        // the SDK's content changes with every edit of it
        let is_stable = |line: &&str| !line.contains("device SDK");
        shown.lines().filter(is_stable).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn a_bare_machine() {
        let (root, findings) = on(&[], Some((2, 36)));
        insta::assert_snapshot!(screen(&root, &findings));
    }

    #[test]
    fn half_an_install_on_a_hardened_host() {
        let status = "Package: aws-neuronx-gpsimd-tools\nStatus: install ok installed\nVersion: 14.09\n";
        let (root, findings) = on(
            &[
                ("/opt/aws/neuron/gpsimd/custom_op/neuron/wrapper_api.h", ""),
                ("/opt/aws/neuron/gpsimd/bin/readme", ""),
                ("/sys/fs/selinux/enforce", "1"),
                ("/sys/fs/selinux/booleans/selinuxuser_execstack", "0 0"),
                ("/var/lib/dpkg/status", status),
                ("/dev/neuron0", ""),
            ],
            Some((2, 36)),
        );
        insta::assert_snapshot!(screen(&root, &findings));
        let document = serde_json::to_value(&findings).expect("JSON");
        let state = |about: &str| {
            let findings = document.as_array().expect("a list");
            findings.iter().find(|finding| finding["about"] == about).map(|finding| finding["state"].clone())
        };
        assert_eq!(state("open tools"), Some("lacking".into()));
        assert_eq!(state("licence"), Some("note".into()), "a licence is never a reason to stop");
    }
}
