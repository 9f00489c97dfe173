//! `completions`: a script for a shell, and the words that bash, zsh and fish ask for while somebody types.
//!
//! Unaware of what the commands do.

use std::path::Path;

use clap::CommandFactory as _;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use miette::Result;

use crate::cli::{Cli, Completions, Words};
use crate::explanations;
use crate::render::Render;
use crate::status::Status;
use gpsimd_library::Library;

/// What bash needs beyond the generated script: codes have colons, at which it breaks words, and ops are a library's own.
const BASH: &str = include_str!("completions.bash");
/// What asks for a library's ops in the others.
const FISH: &str = include_str!("completions.fish");
const ZSH: &str = include_str!("completions.zsh");

/// Prints the script, or the words.
pub fn run(arguments: &Completions, render: &Render) -> Result<Status> {
    let text = match arguments.words {
        Some(Words::Codes) => lines(codes()),
        Some(Words::Ops) => arguments.library.as_deref().map_or_else(String::new, |path| lines(ops(path))),
        None => script(arguments.shell),
    };
    render.text(text)
}

fn script(shell: Shell) -> String {
    let mut command = Cli::command();
    if shell != Shell::Bash {
        command = command.mut_subcommand("explain", |explain| {
            explain.mut_arg("code", |code| code.value_parser(PossibleValuesParser::new(codes())))
        });
    }
    // into memory first: the generator panics where a pipe closes
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "gpsimd-build", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        // the generator names the states of a program with a dash in two ways, so none is ever found
        Shell::Bash => script.replace("gpsimd__subcmd__build", "gpsimd__build") + BASH,
        Shell::Fish => script + FISH,
        // functions before the end, which calls the whole; only an op's value ends so; and options may follow what comes
        // several times
        Shell::Zsh => script
            .replacen("#compdef gpsimd-build\n", ZSH, 1)
            .replace(":OP:_default'", ":OP:_gpsimd_build_ops'")
            .replace(":KERNEL[=SCHEMA]:_default'", ":KERNEL:_gpsimd_build_ops'")
            .replace("'*::", "'*:"),
        _ => script,
    }
}

fn codes() -> Vec<&'static str> {
    explanations::all().into_iter().map(|entry| entry.code).collect()
}

/// What a library's ops are called; nothing where there is no library, which is no time to complain.
fn ops(path: &Path) -> Vec<String> {
    let manifest = Library::find(path).ok().and_then(|library| library.manifest);
    manifest.into_iter().flat_map(|manifest| manifest.ops).map(|op| op.kernel).collect()
}

fn lines<T: AsRef<str>>(words: Vec<T>) -> String {
    words.iter().map(|word| format!("{}\n", word.as_ref())).collect()
}
