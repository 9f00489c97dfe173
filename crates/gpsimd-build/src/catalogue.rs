//! Every error code with cause, example and remedy: what `explain` shows and `docs/errors.md` holds.
//!
//! The code itself is the source: messages and helps are read out of it when this crate is built, schemas and ops that
//! provoke an error are run here, checks have tables of their own. Causes and examples that code cannot tell are in
//! each crate's `errors.md`; the tests hold all of it complete, and the examples to the messages.

use std::collections::BTreeMap;

use miette::Diagnostic;
use serde::Serialize;

/// What the code says of an error.
struct Code {
    code: &'static str,
    #[cfg_attr(not(test), allow(dead_code))]
    file: &'static str,
    doc: &'static str,
    #[cfg_attr(not(test), allow(dead_code))]
    message: &'static str,
    help: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// One error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Stable.
    pub code: String,
    /// Why it happens.
    pub cause: String,
    /// A message, as it is shown.
    pub example: String,
    /// What to do.
    pub remedy: String,
}

/// All errors, sorted by code.
pub fn entries() -> Vec<Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut add = |code: &str, cause: &str, example: &str, remedy: &str| {
        let entry = entries.entry(code.to_owned()).or_default();
        entry.code = code.to_owned();
        for (field, text) in
            [(&mut entry.cause, cause), (&mut entry.example, example), (&mut entry.remedy, remedy)]
        {
            // the first to speak is the most particular
            if field.is_empty() {
                *field = text.to_owned();
            }
        }
    };
    for note in NOTES.iter().flat_map(|text| notes(text)) {
        add(&note.code, &note.cause, &note.example, &note.remedy);
    }
    for (code, example, remedy) in provoked() {
        add(&code, "", &example, &remedy);
    }
    for code in CODES {
        add(code.code, code.doc, "", &shown(code.help));
    }
    for rule in gpsimd_engine::RULES {
        add(rule.code, &sentence(rule.cause), "", rule.remedy);
    }
    for code in gpsimd_image::verify::Code::ALL {
        add(code.as_str(), &format!("The check does not hold: {}", code.about()), "", code.help());
    }
    for check in gpsimd_device::CHECKS {
        add(check.name, &sentence(&format!("{}: {}", check.title, check.cause)), "", check.remedy);
    }
    entries.into_values().collect()
}

/// `a cause` as `A cause.`
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

/// Code, message and help of every error that a schema or an op alone provokes.
fn provoked() -> Vec<(String, String, String)> {
    let text =
        |text: Option<Box<dyn std::fmt::Display + '_>>| text.map(|text| text.to_string()).unwrap_or_default();
    let mut found = Vec::new();
    for example in gpsimd_schema::EXAMPLES {
        let mut say = |error: &dyn Diagnostic| {
            let message = format!("{}\n{error}", example.schema);
            found.push((text(error.code()), message, text(error.help())));
        };
        match gpsimd_schema::signature(example.schema) {
            Err(refusal) => refusal.causes.iter().for_each(|cause| say(cause)),
            Ok(_) => {
                let parsed = gpsimd_schema::parse(example.schema);
                parsed.iter().flat_map(gpsimd_schema::notes).for_each(|note| say(&note));
            }
        }
    }
    for error in gpsimd_codegen::examples() {
        found.push((text(error.code()), error.to_string(), text(error.help())));
    }
    found
}

/// The entries of an `errors.md`: a heading with the code, the cause, an indented example, `Remedy:`.
fn notes(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(code) = line.strip_prefix("## ") {
            entries.push(Entry { code: code.trim().to_owned(), ..Entry::default() });
            continue;
        }
        let Some(entry) = entries.last_mut() else { continue };
        if let Some(remedy) = line.strip_prefix("Remedy: ") {
            entry.remedy = remedy.trim().to_owned();
        } else if let Some(example) = line.strip_prefix("    ") {
            entry.example += &format!("{example}\n");
        } else if line.trim().is_empty() && !entry.example.is_empty() {
            // a blank line inside an example, or after it
            entry.example.push('\n');
        } else {
            entry.cause += &format!(" {}", line.trim());
        }
    }
    for entry in &mut entries {
        entry.cause = entry.cause.trim().to_owned();
        entry.example = entry.example.trim_end().to_owned();
    }
    entries
}

/// A help as people can read it without its values: `{kernel}` as `KERNEL`; nothing if it is all value.
fn shown(template: &str) -> String {
    let pieces = pieces(template);
    if pieces.iter().all(|piece| matches!(piece, Piece::Value(_))) {
        return String::new();
    }
    let show = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value(name) if name.is_empty() => "…".to_owned(),
        Piece::Value(name) => name.to_uppercase(),
    };
    pieces.iter().map(show).collect()
}

/// A piece of a format string.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(String),
}

fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut letters = template.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                text.push(letter);
            }
            '{' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                let inside: String = letters.by_ref().take_while(|letter| *letter != '}').collect();
                let name = inside.split(':').next().unwrap_or_default();
                pieces.push(Piece::Value(name.to_owned()));
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
