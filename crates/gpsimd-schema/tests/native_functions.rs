//! Every function schema of a PyTorch release parses and prints back equal.
//!
//! Opt-in: the schemas are PyTorch's, so the tree holds no copy.
//!
//! - `GPSIMD_NATIVE_FUNCTIONS` names the `torchgen/packaged/ATen/native/native_functions.yaml` of any `torch` wheel:
//!   `pip download torch --no-deps && unzip -j torch-*.whl '*/native_functions.yaml'`
//! - `GPSIMD_SCHEMA_LINES` names a file with a schema a line, for instance every one that is registered:
//!   `python3 -c 'import torch; [print(s) for s in torch._C._jit_get_all_schemas()]'`
//!
//!     GPSIMD_NATIVE_FUNCTIONS=$PWD/native_functions.yaml cargo test -p gpsimd-schema --test native_functions -- --nocapture

use gpsimd_schema::{parse, signature};

#[test]
fn all_schemas_of_a_release_print_back_equal() {
    let Some(yaml) = named_file("GPSIMD_NATIVE_FUNCTIONS") else { return };
    let schemas: Vec<&str> =
        yaml.lines().filter_map(|line| line.strip_prefix("- func:")).map(str::trim).collect();
    assert!(schemas.len() > 1000, "{} `- func:` lines; a release has over 2000", schemas.len());
    print_back_equal(&schemas);
}

#[test]
fn all_schemas_of_a_list_print_back_equal() {
    let Some(list) = named_file("GPSIMD_SCHEMA_LINES") else { return };
    print_back_equal(&list.lines().collect::<Vec<_>>());
}

fn named_file(variable: &str) -> Option<String> {
    let Some(path) = std::env::var_os(variable) else {
        eprintln!("not run: {variable} names no file");
        return None;
    };
    Some(std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{variable}={path:?}: {e}")))
}

fn print_back_equal(schemas: &[&str]) {
    let (mut same_bytes, mut device_can) = (0, 0);
    let mut failures = Vec::new();
    for text in schemas {
        match parse(text) {
            Ok(schema) => {
                let printed = schema.to_string();
                if without_spaces(&printed) != without_spaces(text) {
                    failures.push(format!("{text}\n  printed {printed}"));
                }
                same_bytes += usize::from(printed == *text);
                // PyTorch's own file names no namespace: look past that.
                let named = if text.contains("::") { text.to_string() } else { format!("aten::{text}") };
                device_can += usize::from(signature(&named).is_ok());
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
