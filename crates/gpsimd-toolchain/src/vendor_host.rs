//! What about a host gets in the vendor's way: hosts that forbid executable stacks, packages that do not belong together.
//!
//! Unaware of whether the vendor's toolchain is there. Reads a few small files of the machine, runs nothing.

use crate::Machine;

/// Why a compiler plug-in that asks for an executable stack would not load (spec `toolchain.md` §13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPolicy {
    /// Who forbids it, in words.
    pub reason: String,
    /// What allows it.
    pub remedy: String,
}

/// Whether this host is known to forbid executable stacks. `libc` is the C library's version, `(2, 36)`.
pub fn forbids_executable_stacks(machine: &Machine, libc: Option<(u32, u32)>) -> Option<StackPolicy> {
    let read = |path: &str| std::fs::read_to_string(machine.file(path)).ok();
    // a boolean of SELinux reads `current pending`
    let is_off =
        |name: &str| read(&format!("/sys/fs/selinux/booleans/{name}")).is_some_and(|v| v.starts_with('0'));
    if read("/sys/fs/selinux/enforce").is_some_and(|v| v.trim() == "1") && is_off("selinuxuser_execstack") {
        return Some(StackPolicy {
            reason: "SELinux enforces and selinuxuser_execstack is off".to_owned(),
            remedy: "setsebool -P selinuxuser_execstack 1".to_owned(),
        });
    }
    if let Some((major, minor)) = libc.filter(|version| *version >= (2, 41)) {
        return Some(StackPolicy {
            reason: format!(
                "the C library is glibc {major}.{minor}, which makes no stack executable for a plug-in"
            ),
            remedy: "GLIBC_TUNABLES=glibc.rtld.execstack=2 in the environment of the build".to_owned(),
        });
    }
    None
}

/// A package of the vendor's and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorPackage {
    /// `aws-neuronx-gpsimd-tools` or `aws-neuronx-gpsimd-customop-lib`.
    pub name: &'static str,
    /// As dpkg has it.
    pub version: String,
}

const TOOLS: &str = "aws-neuronx-gpsimd-tools";
const LIBRARY: &str = "aws-neuronx-gpsimd-customop-lib";

/// The vendor's packages that are installed, by dpkg's records.
pub fn vendor_packages(machine: &Machine) -> Vec<VendorPackage> {
    let Ok(status) = std::fs::read(machine.file("/var/lib/dpkg/status")) else { return Vec::new() };
    let status = String::from_utf8_lossy(&status);
    let field = |paragraph: &str, name: &str| {
        let line = paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().to_owned())
    };
    let package = |paragraph: &str| {
        let found = field(paragraph, "Package")?;
        let name = [TOOLS, LIBRARY].into_iter().find(|name| *name == found)?;
        field(paragraph, "Status").filter(|status| status == "install ok installed")?;
        Some(VendorPackage { name, version: field(paragraph, "Version")? })
    };
    status.split("\n\n").filter_map(package).collect()
}

/// What about the versions of installed packages does not fit, with what to do (spec `toolchain.md` §13: packages are
/// numbered 0.x, which is another axis than the release 14.09 of the tools in them).
pub fn version_clashes(packages: &[VendorPackage]) -> Vec<(String, String)> {
    let mut clashes: Vec<(String, String)> = packages
        .iter()
        .filter(|package| !package.version.starts_with("0."))
        .map(|VendorPackage { name, version }| {
            (
                format!("{name} is {version}, which the pin =0.* does not match"),
                format!(
                    "14.09 is the release of the tools inside, not a package's version: apt-get install --allow-downgrades '{name}=0.*'"
                ),
            )
        })
        .collect();
    let series = |name: &str| {
        let package = packages.iter().find(|package| package.name == name)?;
        Some(package.version.split('.').take(2).collect::<Vec<_>>().join("."))
    };
    if let (Some(tools), Some(library)) = (series(TOOLS), series(LIBRARY))
        && tools != library
        && clashes.is_empty()
    {
        clashes.push((
            format!("{TOOLS} is of series {tools}, {LIBRARY} of series {library}"),
            format!(
                "install both of one release: apt-get install '{TOOLS}={library}.*' '{LIBRARY}={library}.*'"
            ),
        ));
    }
    clashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::at(dir.path(), "", false);
        for (path, text) in files {
            let path = machine.file(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (dir, machine)
    }

    #[test]
    fn hosts_and_stacks() {
        const ENFORCE: &str = "/sys/fs/selinux/enforce";
        const BOOLEAN: &str = "/sys/fs/selinux/booleans/selinuxuser_execstack";
        type Row = (&'static [(&'static str, &'static str)], Option<(u32, u32)>, Option<&'static str>);
        let rows: &[Row] = &[
            (&[], None, None),
            (&[], Some((2, 36)), None),
            (&[], Some((2, 41)), Some("glibc 2.41")),
            (&[(ENFORCE, "1"), (BOOLEAN, "0 0")], Some((2, 36)), Some("SELinux")),
            (&[(ENFORCE, "1"), (BOOLEAN, "1 1")], Some((2, 36)), None),
            (&[(ENFORCE, "0"), (BOOLEAN, "0 0")], None, None),
        ];
        for (files, libc, want) in rows {
            let (_dir, machine) = machine(files);
            let found = forbids_executable_stacks(&machine, *libc).map(|policy| policy.reason);
            assert_eq!(found.is_some(), want.is_some(), "{files:?} {libc:?}");
            assert!(found.unwrap_or_default().contains(want.unwrap_or_default()));
        }
    }

    #[test]
    fn packages_that_do_not_belong_together() {
        // versions of tools and library, words of each clash
        let rows: &[(Option<&str>, Option<&str>, &[&str])] = &[
            (None, None, &[]),
            (Some("0.21.0.0-bc9b5fad5"), Some("0.21.2.0"), &[]),
            (Some("0.21.0.0"), None, &[]),
            (Some("14.09"), Some("0.21.2.0"), &["tools is 14.09, which the pin =0.* does not match"]),
            (Some("0.20.1.0"), Some("0.21.2.0"), &["of series 0.20"]),
        ];
        for (tools, library, want) in rows {
            let paragraph = |name: &str, version: &Option<&str>| {
                let version = (*version)?;
                Some(format!(
                    "Package: {name}\nStatus: install ok installed\nVersion: {version}\nDescription: x\n y\n\n"
                ))
            };
            let removed =
                "Package: aws-neuronx-gpsimd-tools\nStatus: deinstall ok config-files\nVersion: 9\n\n"
                    .to_owned();
            let status: String = [Some(removed), paragraph(TOOLS, tools), paragraph(LIBRARY, library)]
                .into_iter()
                .flatten()
                .collect();
            let (_dir, machine) = machine(&[("/var/lib/dpkg/status", &status)]);
            let packages = vendor_packages(&machine);
            assert_eq!(packages.len(), usize::from(tools.is_some()) + usize::from(library.is_some()));
            let clashes = version_clashes(&packages);
            assert_eq!(clashes.len(), want.len(), "{clashes:?}");
            for ((found, remedy), want) in clashes.iter().zip(*want) {
                assert!(found.contains(want) && remedy.contains("apt-get install"), "{found}\n{remedy}");
            }
        }
    }
}
