//! Entry points for fuzzing: one function per parser of outside bytes.

use crate::depfile;

/// Reads any bytes as a dependency file; what is accepted has no NUL and only inputs of a name.
pub fn fuzz_depfile(data: &[u8]) {
    if let Ok(depfile) = depfile::parse(data) {
        assert!(!depfile.target.as_os_str().is_empty());
        assert!(depfile.inputs.iter().all(|input| !input.as_os_str().is_empty()));
        assert!(depfile.inputs.len() <= data.len());
    }
}
