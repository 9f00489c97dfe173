//! Programs made up for tests.

use std::path::Path;

/// Writes an executable shell script. Another process does: a file that a fork of this one has open for writing cannot
/// be executed, and tests fork all the time.
pub(crate) fn script(path: &Path, text: &str) {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).unwrap();
    }
    let write = ["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"];
    let status = std::process::Command::new("sh").args(write).arg(path).arg(text).status().unwrap();
    assert!(status.success());
}
