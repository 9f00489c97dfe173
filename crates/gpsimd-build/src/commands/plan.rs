//! `plan`: what `compile` would do, in the forms of other programs.

use gpsimd_engine::{Kit, export};
use gpsimd_toolchain::Home;
use miette::{IntoDiagnostic as _, Result};

use super::draft::draft;
use super::{Status, toolchain};
use crate::cli::{Plan as Arguments, PlanFormat};
use crate::files::write;
use crate::output::print;
use crate::render::Render;

/// Writes the plan.
pub fn run(arguments: &Arguments, render: &Render) -> Result<Status> {
    let home = Home::from_env()?;
    let Ok(request) = draft(&arguments.compile)?.closed() else {
        miette::bail!(
            code = "cli::plan_open",
            help = "name each op by --op KERNEL=SCHEMA; `compile` prints the schemas it finds",
            "a plan needs every schema, and reading them from kernels or shape sources means compiling these"
        );
    };
    let kit = Kit::locate(toolchain(&arguments.compile.compiler, &home)?.toolchain, home.path())?;
    let plan = gpsimd_engine::plan(gpsimd_engine::check(&request, &kit)?, &kit);
    let text = match arguments.format {
        PlanFormat::Json => pretty(&export::json(&plan)?)?,
        PlanFormat::Ninja => export::ninja(&plan, &std::env::current_exe().into_diagnostic()?)?,
        PlanFormat::CompileCommands => pretty(&export::compile_commands(&plan)?)?,
        PlanFormat::Graph => export::graph(&plan),
    };
    match &arguments.output {
        Some(path) => {
            write(path, text.as_bytes())?;
            render.result(&serde_json::json!({ "file": path, "actions": plan.actions.len() }), || {
                format!("{}: {} actions\n", path.display(), plan.actions.len())
            })?;
        }
        None => print(&text)?,
    }
    Ok(Status::Good)
}

fn pretty(value: &serde_json::Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).into_diagnostic()? + "\n")
}
