//! What the command line's parser has to say: the answer to a question, or what is wrong.
//!
//! Unaware of commands, for none is known yet.

use std::io::IsTerminal as _;

use miette::Diagnostic;
use serde_json::json;

use crate::output::{is_obeyed, print_raw, say, written};
use crate::render::diagnostic;
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

/// Shows it; a mistake as a document where `--json` asks for one.
pub fn show(answer: &clap::Error) -> Status {
    if !answer.use_stderr() {
        return match written(answer.print()) {
            Ok(()) => Status::Good,
            Err(error) => {
                say(&format!("error[cli::output]: {error}\n"));
                Status::AtFault
            }
        };
    }
    let plain = answer.render().to_string();
    let wants_json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    if wants_json {
        let error = UsageError { message: message(&plain).to_owned() };
        let document = format!("{:#}\n", json!({ "error": diagnostic(&error) }));
        if print_raw(document.as_bytes()).is_ok() {
            return Status::Usage;
        }
    }
    if std::io::stderr().is_terminal() && plain.contains(is_obeyed) {
        say(&plain);
    } else {
        // who cannot be told is told by the status
        let _ = answer.print();
    }
    Status::Usage
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
    }
}
