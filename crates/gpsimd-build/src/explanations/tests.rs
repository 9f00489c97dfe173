//! The page is whole, its examples are true, it is what the code says, and `explain` reads it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::collected::{self, Code, Entry, Piece, pieces, shown};

static NOTES: LazyLock<Vec<Entry>> = LazyLock::new(collected::all_notes);
static SOURCES: LazyLock<Vec<(std::path::PathBuf, String)>> = LazyLock::new(collected::sources);
static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| collected::codes(&SOURCES));

fn entries() -> Vec<Entry> {
    collected::entries(&CODES, &NOTES)
}

/// What the page tells is what `explain` tells.
#[test]
fn explain_knows_every_code() {
    let entries = entries();
    let page = markdown(&entries);
    let told = super::parse(&page);
    assert_eq!(told.len(), entries.len());
    for (told, Entry { code, cause, example, remedy }) in told.iter().zip(&entries) {
        assert_eq!([told.code, told.cause, told.example, told.remedy], [code, cause, example, remedy]);
    }
}

#[test]
fn every_code_has_cause_example_and_remedy() {
    let mut lacking = Vec::new();
    for entry in entries() {
        for (what, text) in [("cause", &entry.cause), ("example", &entry.example), ("remedy", &entry.remedy)]
        {
            if text.is_empty() {
                let file = CODES.iter().find(|code| code.code == entry.code).map_or("", |code| &code.file);
                lacking.push(format!("{} ({file}): no {what}", entry.code));
            }
        }
    }
    assert!(lacking.is_empty(), "write these into the crate's errors.md:\n{}", lacking.join("\n"));
}

/// Looks for codes as text, not as syntax: nothing that builds an error may escape the catalogue.
#[test]
fn no_code_in_the_sources_is_left_out() {
    let listed: BTreeSet<String> = entries().into_iter().map(|entry| entry.code).collect();
    assert!(SOURCES.len() > 100, "{} sources", SOURCES.len());
    let is_code = |code: &str| {
        code.split_once("::").is_some_and(|(scope, name)| {
            let plain = |text: &str| {
                !text.is_empty()
                    && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
            };
            plain(scope) && plain(name)
        })
    };
    for (file, text) in SOURCES.iter() {
        for code in text.split("code(").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(!is_code(code) || listed.contains(code), "{}: {code} is in no catalogue", file.display());
        }
    }
}

#[test]
fn notes_are_about_codes_that_exist() {
    let codes: BTreeSet<String> = CODES
        .iter()
        .map(|code| code.code.as_str())
        .chain(gpsimd_engine::RULES.iter().map(|rule| rule.code))
        .chain(gpsimd_image::verify::Code::ALL.iter().map(|code| code.as_str()))
        .chain(gpsimd_device::CHECKS.iter().map(|check| check.name))
        .chain(gpsimd_test::RULES.iter().map(|rule| rule.name))
        .map(str::to_owned)
        .collect();
    for note in NOTES.iter() {
        assert!(codes.contains(&note.code), "an errors.md has {}, which no code has", note.code);
    }
}

#[test]
fn examples_are_what_the_code_says() {
    let entries = entries();
    let mut untrue = Vec::new();
    for Code { code, message, .. } in CODES.iter().filter(|code| !code.message.is_empty()) {
        let entry = entries.iter().find(|entry| entry.code == *code).expect("listed");
        // a schema's example shows the schema first
        let said = match code.starts_with("schema::") {
            true => entry.example.split_once('\n').map_or(entry.example.as_str(), |(_, said)| said),
            false => &entry.example,
        };
        if !fits(message, said) {
            untrue.push(format!("{code}: the message is\n  {message}\nthe example is\n  {said}"));
        }
    }
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}

/// Whether the text could be the template with values put in.
fn fits(template: &str, text: &str) -> bool {
    let pieces = pieces(template);
    let mut rest = text;
    let mut is_open = false;
    for piece in &pieces {
        match piece {
            Piece::Value(_) => is_open = true,
            Piece::Text(literal) => {
                let Some(at) = rest.find(literal.as_str()) else { return false };
                if at > 0 && !is_open {
                    return false;
                }
                rest = &rest[at + literal.len()..];
                is_open = false;
            }
        }
    }
    rest.is_empty() || is_open
}

#[test]
fn templates() {
    assert!(fits("a {x} b", "a 1 b") && fits("{{}} {}", "{} ") && fits("{a:#x}{b}", "anything"));
    assert!(!fits("a {x} b", "a 1 c") && !fits("a", "ab") && !fits("a", "ba"));
    assert_eq!(shown("write `{plain} {name}`, {:#x} or {{}}"), "write `PLAIN NAME`, … or {}");
    assert_eq!(shown("{help}"), "");
}

/// `GPSIMD_UPDATE_DOCS=1 cargo test -p gpsimd-build` writes the page.
#[test]
fn the_page_is_current() {
    let page = collected::crates().join("../docs/errors.md");
    let text = markdown(&entries());
    if std::env::var_os("GPSIMD_UPDATE_DOCS").is_some() {
        std::fs::write(&page, &text).expect("written");
    }
    let found = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        found == text,
        "docs/errors.md is not current: GPSIMD_UPDATE_DOCS=1 cargo test -p gpsimd-build explanations"
    );
}

/// What the codes before `::` are about.
const SCOPES: &[(&str, &str)] = &[
    ("cli", "the command line"),
    ("codegen", "ops and the wrapper generated for them"),
    ("compile", "what a kernel's compiler says"),
    ("debug", "stepping through an op"),
    ("device", "loading and calling a library on the simulated device"),
    ("engine", "the build"),
    ("image", "device images"),
    ("infer", "schemas read from kernels"),
    ("kernel", "kernels and their schemas"),
    ("library", "finding a built library"),
    ("link", "what the linker says"),
    ("loader", "split images, prelinking, records"),
    ("lsp", "memory maps"),
    ("npy", "tensor files"),
    ("python", "calling ops from Python"),
    ("run", "running an op: its inputs, and what it does wrong"),
    ("schema", "schemas"),
    ("shape", "shape sources"),
    ("test", "what testing an op finds"),
    ("toolchain", "compilers and their installation"),
    ("variables", "what a debugger knows of a program's variables"),
    ("watch", "watching files"),
];

fn markdown(entries: &[Entry]) -> String {
    let mut text = String::from(
        "# Errors\n\nEvery error of `gpsimd-build` has a code. This page lists them all, with cause, example and remedy;\n`gpsimd-build explain CODE` shows the same. It is generated from the code: do not edit it.\n",
    );
    let mut last = "";
    for entry in entries {
        let scope = entry.code.split("::").next().unwrap_or_default();
        if scope != last {
            let about = SCOPES.iter().find(|(name, _)| *name == scope);
            let about = about.unwrap_or_else(|| panic!("say in SCOPES what {scope}:: is about")).1;
            text += &format!("\n## {scope}: {about}\n");
            last = scope;
        }
        let Entry { code, cause, example, remedy } = entry;
        text += &format!("\n### {code}\n\n{cause}\n\n```text\n{example}\n```\n\nRemedy: {remedy}\n");
    }
    text
}
