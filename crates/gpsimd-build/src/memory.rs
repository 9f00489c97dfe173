//! How much memory this process may still take, so that what does not fit is said and not died of.
//!
//! The machine's, the process's limit and the control group's: the least of them. Unaware of what the memory is for.

use std::fs::read_to_string;
use std::path::Path;

use indicatif::HumanBytes;
use miette::Diagnostic;

/// More than there is.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what} of this run need {needed} of this machine's memory, which has {available} to give")]
#[diagnostic(code(run::memory), help("use smaller tensors, or a machine or a limit with more memory"))]
pub struct MemoryError {
    /// `the tensors`.
    pub what: &'static str,
    /// Bytes.
    pub needed: HumanBytes,
    /// Bytes.
    pub available: HumanBytes,
}

/// Whether so many bytes can be had now.
///
/// # Errors
/// They cannot.
pub fn check(what: &'static str, needed: u64) -> Result<(), MemoryError> {
    match available() {
        Some(available) if needed > available => {
            Err(MemoryError { what, needed: HumanBytes(needed), available: HumanBytes(available) })
        }
        // where nobody says how much there is, the attempt will
        _ => Ok(()),
    }
}

/// Bytes that can still be had, as far as anybody says.
fn available() -> Option<u64> {
    let text = |path: &str| read_to_string(path).unwrap_or_default();
    [
        of_machine(&text("/proc/meminfo")),
        of_limit(&text("/proc/self/limits"), &text("/proc/self/status")),
        of_group(&text("/proc/self/cgroup"), Path::new("/sys/fs/cgroup")),
    ]
    .into_iter()
    .flatten()
    .min()
}

/// What the kernel could give without taking it from others, and what it could move to disk.
fn of_machine(meminfo: &str) -> Option<u64> {
    let free = kibibytes(meminfo, "MemAvailable:")?;
    Some(free + kibibytes(meminfo, "SwapFree:").unwrap_or(0))
}

/// What `ulimit -v` leaves.
fn of_limit(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kibibytes(status, "VmSize:")?))
}

/// What the control group leaves (version 2).
fn of_group(groups: &str, root: &Path) -> Option<u64> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let number =
        |name: &str| -> Option<u64> { read_to_string(root.join(path).join(name)).ok()?.trim().parse().ok() };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// A line such as `MemAvailable:   123 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_how_much() {
        let meminfo = "MemTotal: 100 kB\nMemAvailable:      70 kB\nSwapFree:  30 kB\n";
        assert_eq!(of_machine(meminfo), Some(100 << 10));
        assert_eq!(of_machine(""), None);
        let limits = |limit: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space  {limit}  unlimited  bytes\n")
        };
        let status = "Name:\tx\nVmSize:\t     10 kB\n";
        assert_eq!(of_limit(&limits("20480"), status), Some(10 << 10));
        assert_eq!(of_limit(&limits("unlimited"), status), None);
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let group = scratch.path().join("a/b");
        std::fs::create_dir_all(&group).expect("created");
        std::fs::write(group.join("memory.current"), "30\n").expect("written");
        std::fs::write(group.join("memory.max"), "max\n").expect("written");
        assert_eq!(of_group("0::/a/b\n", scratch.path()), None);
        std::fs::write(group.join("memory.max"), "100\n").expect("written");
        assert_eq!(of_group("0::/a/b\n", scratch.path()), Some(70));
        assert!(check("the tensors", u64::MAX).is_err() && check("the tensors", 1).is_ok());
    }
}
