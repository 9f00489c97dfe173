//! Every function schema of a PyTorch release parses and prints back equal.
//!
//! Opt-in: the schemas are PyTorch's, so the tree holds no copy. Point `GPSIMD_NATIVE_FUNCTIONS` at the
//! `torchgen/packaged/ATen/native/native_functions.yaml` inside any `torch` wheel:
//!
//!     pip download torch --no-deps && unzip -j torch-*.whl '*/native_functions.yaml'
//!     GPSIMD_NATIVE_FUNCTIONS=$PWD/native_functions.yaml cargo test -p gpsimd-schema --test native_functions -- --nocapture

use gpsimd_schema::{parse, signature};

const VARIABLE: &str = "GPSIMD_NATIVE_FUNCTIONS";

#[test]
fn all_schemas_of_a_release_print_back_equal() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        eprintln!("not run: {VARIABLE} names no native_functions.yaml");
        return;
    };
    let yaml = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{VARIABLE}={path:?}: {e}"));
    let schemas: Vec<&str> =
        yaml.lines().filter_map(|line| line.strip_prefix("- func:")).map(str::trim).collect();
    assert!(schemas.len() > 1000, "{path:?} has {} `- func:` lines; a release has over 2000", schemas.len());

    let (mut same_bytes, mut device_can) = (0, 0);
    let mut failures = Vec::new();
    for text in &schemas {
        match parse(text) {
            Ok(schema) => {
                let printed = schema.to_string();
                if without_spaces(&printed) != without_spaces(text) {
                    failures.push(format!("{text}\n  printed {printed}"));
                }
                same_bytes += usize::from(printed == *text);
                // They name no namespace: look past that.
                device_can += usize::from(signature(&format!("aten::{text}")).is_ok());
            }
            Err(error) => failures.push(format!("{text}\n  {error}")),
        }
    }
    eprintln!(
        "{} schemas parse; {same_bytes} print back byte for byte, the rest up to spacing; {device_can} could run on the device",
        schemas.len() - failures.len()
    );
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), schemas.len(), failures.join("\n"));
}

/// The text without the spaces outside strings.
fn without_spaces(text: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    let keep = |c: char| match quote {
        Some(open) => {
            if !escaped && c == open {
                quote = None;
            }
            escaped = !escaped && c == '\\';
            Some(c)
        }
        None => {
            if c == '\'' || c == '"' {
                quote = Some(c);
            }
            (c != ' ').then_some(c)
        }
    };
    text.chars().filter_map(keep).collect()
}
