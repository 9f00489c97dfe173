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

#[cfg(test)]
mod tests {
    /// Every seed is worth its place: some are accepted, some refused, none panics.
    #[test]
    fn seeds_run() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/depfile");
        let mut accepted = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let bytes = std::fs::read(entry.path()).unwrap();
            super::fuzz_depfile(&bytes);
            if crate::depfile::parse(&bytes).is_ok() {
                accepted.push(entry.file_name().into_string().unwrap());
            }
        }
        accepted.sort();
        assert_eq!(accepted, ["crlf", "cut-short", "quoting"]);
    }
}
