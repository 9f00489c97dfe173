//! The command line: arguments in, reports out.
//!
//! No logic that another caller would want lives here; see the crates for that.

mod cli;
mod commands;
mod compiler;
mod explanations;
mod files;
mod inputs;
mod library;
mod npy;
mod progress;
mod render;
mod shapes;
mod status;
mod timings;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Cli::of_process();
    render::logging(arguments.global.verbose);
    let render = render::Render::new(&arguments.global);
    match commands::dispatch(arguments, &render) {
        Ok(outcome) => outcome.into(),
        Err(report) => {
            render.failure(&report);
            status::Status::of(&report).into()
        }
    }
}
