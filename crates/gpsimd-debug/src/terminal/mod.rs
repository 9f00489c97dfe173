//! The session on a terminal: one command a line, with history and completion; from anything else line by line.
//!
//! Unaware of what a command does.

mod commands;
mod show;

use std::io::{BufRead, Write};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Context, Editor, Helper, Highlighter, Hinter, Validator};

use crate::engine::Debugger;
use commands::COMMANDS;

const PROMPT: &str = "(debug) ";

/// Reads commands from standard input until it ends or somebody has enough.
///
/// # Errors
/// The output cannot be written, or the terminal cannot be read.
pub fn run(debugger: &mut Debugger<'_>, is_terminal: bool, out: &mut dyn Write) -> std::io::Result<()> {
    write!(out, "{}", debugger.greeting())?;
    if is_terminal { interactive(debugger, out) } else { script(debugger, out) }
}

/// Commands from a pipe or a file, shown as if typed.
fn script(debugger: &mut Debugger<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        writeln!(out, "{PROMPT}{line}")?;
        if !answer(debugger, &line, out)? {
            break;
        }
    }
    Ok(())
}

fn interactive(debugger: &mut Debugger<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let mut editor = Editor::<Words, MemHistory>::with_history(Config::default(), MemHistory::new())
        .map_err(std::io::Error::other)?;
    editor.set_helper(Some(Words { names: debugger.names() }));
    let mut last = String::new();
    loop {
        let line = match editor.readline(PROMPT) {
            // an empty line repeats, as every debugger has it
            Ok(line) if line.trim().is_empty() => last.clone(),
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(std::io::Error::other(error)),
        };
        let _ = editor.add_history_entry(&line);
        if !answer(debugger, &line, out)? {
            return Ok(());
        }
        last = line;
    }
}

/// Does what a line says; whether the session goes on.
fn answer(debugger: &mut Debugger<'_>, line: &str, out: &mut dyn Write) -> std::io::Result<bool> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(true);
    }
    if matches!(line, "quit" | "q" | "exit") {
        return Ok(false);
    }
    debugger.pauser().forget();
    let answered = debugger.at_work(|debugger| debugger.command(line));
    for text in debugger.take_output() {
        write!(out, "{text}")?;
    }
    match answered {
        Ok(text) => write!(out, "{text}")?,
        Err(error) => {
            let help = miette::Diagnostic::help(&error).map_or_else(String::new, |help| format!("; {help}"));
            let code = miette::Diagnostic::code(&error).map_or_else(String::new, |code| format!("[{code}]"));
            writeln!(out, "error{code}: {error}{help}")?;
        }
    }
    out.flush()?;
    Ok(true)
}

/// Completes commands, and the names of what they are about.
#[derive(Helper, Hinter, Highlighter, Validator)]
struct Words {
    names: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        let start = typed.rfind(' ').map_or(0, |space| space + 1);
        let word = typed.get(start..).unwrap_or_default();
        let commands = COMMANDS.iter().map(|command| command.name.to_owned());
        let candidates: Vec<String> = if start == 0 { commands.collect() } else { self.names.clone() };
        Ok((start, candidates.into_iter().filter(|candidate| candidate.starts_with(word)).collect()))
    }
}
