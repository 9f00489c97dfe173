//! What the command line's parser has to say: the answer to a question, or what is wrong.
//!
//! Unaware of commands, for none is known yet.

use std::io::IsTerminal as _;

use clap::CommandFactory as _;
use miette::Diagnostic;

use crate::answer::{Answer, Diagnosis};
use crate::cli::Cli;
use crate::output::{OutputError, is_obeyed, json_escaped, print_raw, say, written};
use crate::render::Text;
use crate::status::Status;

/// A mistake in the command line.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(
    code(cli::usage),
    help("`gpsimd-build help COMMAND` shows the options and examples of a command")
)]
struct UsageError {
    message: String,
}

/// Shows it; where `--json` asks for one, as an answer.
pub fn show(answer: &clap::Error) -> Status {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .take_while(|word| word != "--")
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let is_json = words.iter().any(|word| word == "--json");
    let is_mistake = answer.use_stderr();
    let plain = answer.render().to_string();
    if is_json {
        let command = command(&words);
        let document = if is_mistake {
            let error = UsageError { message: message(&plain).to_owned() };
            Answer::new(command, None, Some(Diagnosis::of(&error)), Vec::new())
        } else {
            Answer::new(command, Some(Text { text: plain.clone() }), None, Vec::new())
        };
        let document = serde_json::to_string_pretty(&document).unwrap_or_default();
        let is_told = print_raw(format!("{}\n", json_escaped(&document)).as_bytes());
        match (is_mistake, is_told) {
            (true, Ok(())) => return Status::Usage,
            // who cannot be told by an answer may be told below
            (true, Err(_)) => {}
            (false, is_told) => return arrived(is_told),
        }
    }
    if !is_mistake {
        return arrived(written(answer.print()));
    }
    if std::io::stderr().is_terminal() && plain.contains(is_obeyed) {
        say(&plain);
    } else {
        // who cannot be told is told by the status
        let _ = answer.print();
    }
    Status::Usage
}

/// What became of the answer to a question.
fn arrived(written: Result<(), OutputError>) -> Status {
    match written {
        Ok(()) => Status::Good,
        Err(error) => {
            say(&format!("error[cli::output]: {error}\n"));
            Status::AtFault
        }
    }
}

/// The command that the words name: `toolchain show`.
fn command(words: &[String]) -> Option<String> {
    let mut command = Cli::command();
    let mut names = Vec::new();
    for word in words {
        if let Some(found) = command.find_subcommand(word) {
            names.push(word.clone());
            command = found.clone();
        }
    }
    (!names.is_empty()).then(|| names.join(" "))
}

/// What is wrong, without the lines that say how it would be right.
fn message(plain: &str) -> &str {
    let text = plain.trim().trim_start_matches("error: ");
    text.split("\n\nUsage:").next().unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn a_mistake_in_few_words() {
        let said = |words: &[&str]| match crate::cli::Cli::try_parse_from(words) {
            Ok(_) => String::new(),
            Err(answer) => message(&answer.render().to_string()).to_owned(),
        };
        assert_eq!(
            said(&["gpsimd-build", "unpack", "a.so"]),
            "the following required arguments were not provided:\n  --output <FILE>"
        );
        assert!(said(&["gpsimd-build", "lsp", "--variant", "cpu8"]).starts_with("invalid value 'cpu8'"));
        let named = |words: &[&str]| command(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(named(&["--json", "toolchain", "show", "--none"]).as_deref(), Some("toolchain show"));
        assert_eq!(named(&["--json", "no-such"]), None);
    }
}
