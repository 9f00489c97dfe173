//! Reads every error code of the workspace out of the code, so that the catalogue of errors cannot drift from it.
//!
//! Of each variant with a `#[diagnostic(code(…))]`: the code, the doc comment, the message and the help. What only a
//! person can say, causes and examples, is in each crate's `errors.md`. Unaware of how a catalogue looks.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Attribute, Expr, ExprLit, Item, Lit, LitStr, Meta};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut directories: Vec<PathBuf> =
        std::fs::read_dir(&crates).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    directories.sort();
    let mut out = String::new();
    let mut notes = String::new();
    for directory in directories.iter().filter(|directory| directory.join("Cargo.toml").is_file()) {
        println!("cargo:rerun-if-changed={}", directory.join("src").display());
        println!("cargo:rerun-if-changed={}", directory.join("errors.md").display());
        let mut files = Vec::new();
        sources(&directory.join("src"), &mut files);
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let name = file.strip_prefix(&crates).unwrap_or(file).display().to_string();
            // a source that does not parse fails where it is compiled
            if let Ok(parsed) = syn::parse_file(&text) {
                items(&parsed.items, &name, &mut out);
            }
            for code in inline_codes(&text) {
                let _ = writeln!(
                    out,
                    "Code {{ code: {code:?}, file: {name:?}, doc: \"\", message: \"\", help: \"\" }},"
                );
            }
        }
        let text = std::fs::read_to_string(directory.join("errors.md")).unwrap_or_default();
        let _ = writeln!(notes, "{text:?},");
    }
    let generated = format!("const CODES: &[Code] = &[\n{out}];\nconst NOTES: &[&str] = &[\n{notes}];\n");
    let path = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("codes.rs");
    if let Err(error) = std::fs::write(&path, generated) {
        println!("cargo::error=cannot write {}: {error}", path.display());
    }
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Codes of errors made on the spot: `miette::bail!(code = "cli::map", …)`.
fn inline_codes(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("code = \"").skip(1).filter_map(|rest| rest.split('"').next());
    after.filter(|code| code.contains("::"))
}

fn items(items: &[Item], file: &str, out: &mut String) {
    for item in items {
        match item {
            Item::Enum(item) => item.variants.iter().for_each(|variant| entry(&variant.attrs, file, out)),
            Item::Struct(item) => entry(&item.attrs, file, out),
            Item::Mod(item) => {
                if let Some((_, inner)) = &item.content {
                    self::items(inner, file, out);
                }
            }
            _ => {}
        }
    }
}

/// Writes the entry of a variant or struct that has a code.
fn entry(attributes: &[Attribute], file: &str, out: &mut String) {
    let (mut doc, mut code, mut message, mut help) = (Vec::new(), None, String::new(), String::new());
    for attribute in attributes {
        match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => {
                if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value {
                    doc.push(text.value().trim().to_owned());
                }
            }
            Meta::List(list) if list.path.is_ident("error") => message = literal(&list.tokens),
            Meta::List(list) if list.path.is_ident("diagnostic") => {
                code =
                    code.or(argument(&list.tokens, "code").map(|tokens| tokens.to_string().replace(' ', "")));
                if let Some(tokens) = argument(&list.tokens, "help") {
                    help = literal(&tokens);
                }
            }
            _ => {}
        }
    }
    if let Some(code) = code {
        let doc = doc.join(" ");
        let _ = writeln!(
            out,
            "Code {{ code: {code:?}, file: {file:?}, doc: {doc:?}, message: {message:?}, help: {help:?} }},"
        );
    }
}

/// The tokens in the parentheses after `name`.
fn argument(tokens: &TokenStream, name: &str) -> Option<TokenStream> {
    let mut tokens = tokens.clone().into_iter();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Ident(word) if word == name)
            && let Some(TokenTree::Group(group)) = tokens.next()
            && group.delimiter() == Delimiter::Parenthesis
        {
            return Some(group.stream());
        }
    }
    None
}

/// The first token, if it is a string.
fn literal(tokens: &TokenStream) -> String {
    let first = tokens.clone().into_iter().next().map(|token| token.to_string()).unwrap_or_default();
    syn::parse_str::<LitStr>(&first).map(|text| text.value()).unwrap_or_default()
}
