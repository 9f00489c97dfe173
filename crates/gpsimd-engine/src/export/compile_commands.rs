//! `compile_commands.json`, as clangd and other readers of C++ take it: one entry per compiled source of the caller's.

use serde_json::{Value, json};

use crate::plan::Plan;
use crate::words::error::EngineError;

/// The compilation database: entries with `directory`, `file`, `arguments` and `output`.
///
/// # Errors
/// [`EngineError::Io`] when the current directory is gone.
pub fn compile_commands(plan: &Plan) -> Result<Value, EngineError> {
    let directory = std::env::current_dir().map_err(EngineError::io("cannot find", "."))?;
    let entries = plan.actions.iter().filter_map(|action| {
        let command = action.work.process()?;
        let source = action.inputs.first()?;
        // nobody writes the wrapper
        let is_generated = source.starts_with(plan.job.project.library());
        if !action.is_compile() || is_generated || source.starts_with(plan.kit.sdk.root()) {
            return None;
        }
        let mut arguments: Vec<String> = Vec::new();
        // readers know compilers, not what starts them
        if plan.job.project.launcher.as_ref() != Some(&command.program) {
            arguments.push(command.program.to_string_lossy().into_owned());
        }
        // a reader that runs these words must not write our dependency files
        let mut words = command.args.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("-MD" | "-MP") => {}
                Some("-MF" | "-MT") => _ = words.next(),
                _ => arguments.push(word.to_string_lossy().into_owned()),
            }
        }
        Some(json!({
            "directory": directory,
            "file": source,
            "arguments": arguments,
            "output": action.outputs.first(),
        }))
    });
    Ok(Value::Array(entries.collect()))
}
