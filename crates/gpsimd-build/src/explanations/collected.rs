//! What the code of all crates says about its errors: the source of `docs/errors.md`.
//!
//! Messages and helps are read out of the sources, schemas and ops that provoke an error are run, checks have tables of
//! their own. Causes and examples that code cannot tell are in each crate's `errors.md`. Unaware of the page's form.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What the sources say of an error.
#[derive(Debug, Clone, Default)]
pub struct Code {
    pub code: String,
    /// Path of the source, from `crates/`.
    pub file: String,
    pub doc: String,
    /// Format string of the message; empty where the code is given on the spot.
    pub message: String,
    pub help: String,
}

/// One error, as the page tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    pub code: String,
    pub cause: String,
    pub example: String,
    pub remedy: String,
}

/// The directory of all crates.
pub fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All errors, sorted by code.
pub fn entries(codes: &[Code], notes: &[Entry]) -> Vec<Entry> {
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
    for note in notes {
        add(&note.code, &note.cause, &note.example, &note.remedy);
    }
    for (code, example, remedy) in provoked() {
        add(&code, "", &example, &remedy);
    }
    for code in codes {
        add(&code.code, &code.doc, "", &shown(&code.help));
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
    for rule in gpsimd_test::RULES {
        add(rule.name, &sentence(&format!("{}: {}", rule.title, rule.cause)), "", rule.remedy);
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

/// Every crate's directory, sorted.
fn directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> =
        std::fs::read_dir(crates()).expect("the crates").flatten().map(|entry| entry.path()).collect();
    directories.sort();
    directories.retain(|directory| directory.join("Cargo.toml").is_file());
    directories
}

/// Every Rust source of the crates with its text.
pub fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> =
        directories().iter().rev().map(|directory| directory.join("src")).collect();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory of sources");
            let mut inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            inner.sort_by(|a, b| b.cmp(a));
            waiting.extend(inner);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            found.push((path, text));
        }
    }
    found
}

/// The code of each item with a `#[diagnostic(code(…))]`, and of each error made on the spot.
pub fn codes(sources: &[(PathBuf, String)]) -> Vec<Code> {
    let mut codes = Vec::new();
    for (path, text) in sources {
        let file = path.strip_prefix(crates()).unwrap_or(path).display().to_string();
        let tokens = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        attributed(tokens, &file, &mut codes);
        for code in inline_codes(text) {
            codes.push(Code { code: code.to_owned(), file: file.clone(), ..Code::default() });
        }
    }
    codes
}

/// Codes of errors made on the spot: `miette::bail!(code = "cli::map", …)`.
fn inline_codes(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("code = \"").skip(1).filter_map(|rest| rest.split('"').next());
    after.filter(|code| code.contains("::"))
}

/// Walks through all tokens; attributes in a row belong to what follows them.
fn attributed(tokens: TokenStream, file: &str, codes: &mut Vec<Code>) {
    let mut attributes = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#')
            && let Some(attribute) = tokens.next_if(|next| is_group(next, Delimiter::Bracket))
        {
            attributes.extend(inside(attribute));
            continue;
        }
        codes.extend(code(&attributes, file));
        attributes.clear();
        inside(token).into_iter().for_each(|tokens| attributed(tokens, file, codes));
    }
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

fn inside(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    }
}

/// What the attributes of an item say, if they have a code.
fn code(attributes: &[TokenStream], file: &str) -> Option<Code> {
    let mut found = Code { file: file.to_owned(), ..Code::default() };
    let mut doc = Vec::new();
    for attribute in attributes {
        let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
        let Some(TokenTree::Ident(name)) = tokens.first() else { continue };
        let rest = || tokens.get(1).cloned().and_then(inside).unwrap_or_default();
        if name == "doc" {
            doc.push(tokens.get(2).map(literal).unwrap_or_default().trim().to_owned());
        } else if name == "error" {
            found.message = first_literal(rest());
        } else if name == "diagnostic" {
            let code = argument(rest(), "code").map(|tokens| tokens.to_string().replace(' ', ""));
            found.code = code.unwrap_or_default();
            found.help = argument(rest(), "help").map(first_literal).unwrap_or_default();
        }
    }
    found.doc = doc.join(" ");
    (!found.code.is_empty()).then_some(found)
}

/// The tokens in the parentheses after `name`.
fn argument(tokens: TokenStream, name: &str) -> Option<TokenStream> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Ident(word) if word == name)
            && let Some(arguments) = tokens.next_if(|next| is_group(next, Delimiter::Parenthesis))
        {
            return inside(arguments);
        }
    }
    None
}

/// The first token, if it is a string.
fn first_literal(tokens: TokenStream) -> String {
    tokens.into_iter().next().map(|token| literal(&token)).unwrap_or_default()
}

/// What a string literal stands for; empty for other tokens.
fn literal(token: &TokenTree) -> String {
    let text = token.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let inner = raw.trim_matches('#');
        return inner
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or_default()
            .to_owned();
    }
    let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return String::new();
    };
    let mut value = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (letter, false) => value.push(letter),
            (_, true) => match letters.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                // the rest of the literal begins at the next line's first letter
                Some('\n') => letters = letters.as_str().trim_start().chars(),
                Some(other) => value.push(other),
                None => {}
            },
        }
    }
    value
}

/// The entries of every crate's `errors.md`.
pub fn all_notes() -> Vec<Entry> {
    let texts = directories().into_iter().filter_map(|directory| {
        // a crate whose code says everything has none
        std::fs::read_to_string(directory.join("errors.md")).ok()
    });
    texts.flat_map(|text| notes(&text)).collect()
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
pub fn shown(template: &str) -> String {
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
pub enum Piece {
    Text(String),
    Value(String),
}

pub fn pieces(template: &str) -> Vec<Piece> {
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
