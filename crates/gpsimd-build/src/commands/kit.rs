//! `kit`: the helpers for kernels as one header, to copy into a project that another toolchain builds.

use include_dir::{Dir, include_dir};
use miette::Result;

use crate::render::Render;
use crate::status::Status;

static HEADERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/include/gpsimd");

/// Prints `gpsimd/kit.hpp` with what it includes of its own.
pub fn run(render: &Render) -> Result<Status> {
    render.text(as_one())
}

/// Every header once, where it is included first.
fn as_one() -> String {
    let mut text = String::from("#pragma once\n");
    add("kit.hpp", &mut text, &mut Vec::new());
    text
}

fn add(name: &str, text: &mut String, done: &mut Vec<String>) {
    if done.iter().any(|other| other == name) {
        return;
    }
    done.push(name.to_owned());
    let header = HEADERS.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default();
    for line in header.lines() {
        let own = line.strip_prefix("#include <gpsimd/").and_then(|rest| rest.strip_suffix('>'));
        match own {
            Some(other) => add(other, text, done),
            None if line == "#pragma once" => {}
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every header is there once, and after those it includes.
    #[test]
    fn one_header_of_all() {
        let text = as_one();
        assert!(!text.contains("#include <gpsimd/"));
        assert_eq!(text.matches("#pragma once").count(), 1);
        for definition in
            ["inline Span share(", "class Tcm {", "void map(", "inline float gelu(", "class Plane {"]
        {
            assert_eq!(text.matches(definition).count(), 1, "{definition}");
        }
        assert!(text.find("class Tcm {") < text.find("void map("));
    }
}
