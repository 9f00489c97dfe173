//! `plan`: what `compile` would do, in the forms of other programs.

use std::path::PathBuf;

use gpsimd_engine::{Kit, export};
use gpsimd_toolchain::Home;
use miette::{IntoDiagnostic as _, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::draft::draft;
use super::{Status, toolchain};
use crate::cli::{Plan as Arguments, PlanFormat};
use crate::files::write;
use crate::render::Render;

/// A plan, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The file it was written to, if one was named; then the rest says no more.
    file: Option<PathBuf>,
    /// How many actions it has.
    actions: usize,
    /// With `--format json`: what is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Value>,
    /// With another format: the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

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
    kit.write_sdk()?;
    let plan = gpsimd_engine::plan(gpsimd_engine::check(&request, &kit)?, &kit);
    let actions = plan.actions.len();
    let text = match arguments.format {
        PlanFormat::Json if render.is_json() && arguments.output.is_none() => {
            let plan = Some(export::json(&plan)?);
            render.result(&Document { file: None, actions, plan, text: None }, String::new)?;
            return Ok(Status::Good);
        }
        PlanFormat::Json => pretty(&export::json(&plan)?)?,
        PlanFormat::Ninja => export::ninja(&plan, &std::env::current_exe().into_diagnostic()?)?,
        PlanFormat::CompileCommands => pretty(&export::compile_commands(&plan)?)?,
        PlanFormat::Graph => export::graph(&plan),
    };
    match &arguments.output {
        Some(path) => {
            write(path, text.as_bytes())?;
            let document = Document { file: Some(path.clone()), actions, plan: None, text: None };
            render.result(&document, || format!("{}: {actions} actions\n", path.display()))?;
        }
        None => {
            let document = Document { file: None, actions, plan: None, text: Some(text.clone()) };
            render.result(&document, || text)?;
        }
    }
    Ok(Status::Good)
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).into_diagnostic()? + "\n")
}
