//! The plan as it is: every action with all it reads and writes.

use std::ffi::OsString;

use serde_json::{Value, json};

use super::Whole;
use crate::plan::Plan;
use crate::words::action::Work;
use crate::words::error::EngineError;

/// `actions[]` with `label`, `kind`, `inputs`, `outputs`, `depfile`, `program`, `arguments`, `environment` and the same
/// as `shell` text; `publish` with `inputs`, `outputs` and `arguments`; `name`, `directory`.
///
/// # Errors
/// As for the manifest.
pub fn json(plan: &Plan) -> Result<Value, EngineError> {
    let whole = Whole::of(plan)?;
    let text = |words: &[OsString]| -> Vec<String> {
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let actions: Vec<Value> = whole
        .actions
        .iter()
        .map(|action| {
            let command = action.work.command();
            let environment: serde_json::Map<String, Value> = command
                .env
                .iter()
                .map(|(name, value)| (name.to_string_lossy().into_owned(), json!(value.to_string_lossy())))
                .collect();
            json!({
                "label": action.label,
                "kind": match &action.work {
                    Work::Process(_) => "device",
                    Work::Stage(_) => "stage",
                },
                "inputs": action.inputs,
                "outputs": action.outputs,
                "depfile": action.depfile,
                "program": command.program,
                "arguments": text(&command.args),
                "environment": environment,
                "shell": command.to_string(),
            })
        })
        .collect();
    Ok(json!({
        "name": plan.job.project.name,
        "directory": plan.job.project.out_dir,
        "actions": actions,
        "publish": { "inputs": whole.made, "outputs": whole.files, "arguments": text(&whole.publish) },
    }))
}
