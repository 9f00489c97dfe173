//! `explain`: what an error code means, how it comes about, and the way out.

use std::io::IsTerminal as _;

use miette::{Diagnostic, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::Status;
use crate::cli::Explain;
use crate::explanations::{self, Explanation};
use crate::render::{Render, output_width};

/// A code that does not exist.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("no error has the code {text:?}")]
#[diagnostic(code(cli::code), help("{help}"))]
struct NoSuchCode {
    text: String,
    help: String,
}

/// What there is to know, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// One, or all.
    errors: Vec<Explanation<'static>>,
}

/// Explains one code, or lists all.
pub fn run(arguments: &Explain, render: &Render) -> Result<Status> {
    let entries = explanations::all();
    let width = output_width();
    match &arguments.code {
        // on a terminal a line each; a pipe gets all of it
        None => {
            let document = Document { errors: entries };
            render.result(&document, || {
                let width = if std::io::stdout().is_terminal() { width } else { usize::MAX };
                document.errors.iter().map(|entry| line(entry, width)).collect()
            })?;
        }
        Some(text) => {
            let entry = find(text, &entries)?;
            render.result(&Document { errors: vec![*entry] }, || page(entry, width))?;
        }
    }
    Ok(Status::Good)
}

/// The entry of a code, given whole or without its scope if that is enough.
fn find<'a>(text: &str, entries: &'a [Explanation<'static>]) -> Result<&'a Explanation<'static>, NoSuchCode> {
    // as the tool prints it: error[image::window_overflow]
    let wanted = text.trim().trim_start_matches(|c: char| c.is_alphabetic()).trim_matches(['[', ']']);
    let wanted = if text.contains('[') { wanted } else { text.trim() };
    if let Some(entry) = entries.iter().find(|entry| entry.code == wanted) {
        return Ok(entry);
    }
    let name = |entry: &&Explanation<'_>| entry.code.split("::").nth(1) == Some(wanted);
    let named: Vec<&Explanation<'_>> = entries.iter().filter(name).collect();
    if let [entry] = named.as_slice() {
        return Ok(entry);
    }
    let near = |entry: &&Explanation<'_>| {
        let words = wanted.split(['_', ':']).filter(|word| word.len() > 2);
        words.into_iter().any(|word| entry.code.contains(word))
    };
    let close = if named.is_empty() { entries.iter().filter(near).collect() } else { named };
    let close: Vec<&str> = close.iter().take(8).map(|entry| entry.code).collect();
    Err(NoSuchCode {
        text: text.to_owned(),
        help: match close.as_slice() {
            [] => "`gpsimd-build explain` lists all codes".to_owned(),
            close => format!("did you mean {}?", close.join(", ")),
        },
    })
}

/// A code and as much of its cause as one line holds.
fn line(entry: &Explanation<'_>, width: usize) -> String {
    let text = format!("{:34} {}", entry.code, entry.cause);
    let short: String = text.chars().take(width).collect();
    match short.len() == text.len() {
        true => format!("{text}\n"),
        false => format!("{}…\n", short.chars().take(width - 1).collect::<String>().trim_end()),
    }
}

fn page(entry: &Explanation<'_>, width: usize) -> String {
    let paragraph = |text: &str| -> String {
        let options = textwrap::Options::new(width)
            .initial_indent("  ")
            .subsequent_indent("  ")
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::fill(text, options) + "\n"
    };
    // examples are shown as they come, for they are what is shown
    let example: String = entry.example.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "{}\n\n{}\nfor example\n\n{example}\nremedy\n\n{}",
        entry.code,
        paragraph(entry.cause),
        paragraph(entry.remedy)
    )
}
