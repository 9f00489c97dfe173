//! The command line: arguments in, reports out.
//!
//! No logic that another caller would want lives here; see the crates for that.

// a stream that takes no more is an error or nothing, never a panic: see `output`
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod cli;
mod commands;
mod compiler;
mod compiler_words;
mod explanations;
mod files;
mod history;
mod inputs;
mod interrupt;
mod loadable;
mod memory;
mod npy;
mod output;
mod progress;
mod render;
#[cfg(test)]
mod schemas;
mod status;
mod timings;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match cli::Cli::of_process() {
        Ok(arguments) => arguments,
        Err(answer) => return usage::show(&answer).into(),
    };
    render::logging(arguments.global.verbose);
    let render = render::Render::new(&arguments.global, arguments.command.name());
    match commands::dispatch(arguments, &render) {
        Ok(status) => status.into(),
        Err(report) => {
            render.failure(&report);
            status::Status::of(&report).into()
        }
    }
}
