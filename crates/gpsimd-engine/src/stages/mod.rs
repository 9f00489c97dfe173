//! What the tool does itself between processes: a stage's file has its arguments, which are one type, and what it does
//! with them.
//!
//! Unaware of order, of threads and of plans. Stages that people call are spelled as people type them; all others are
//! `gpsimd-build stage NAME ARGUMENTS`, which reads what the plan writes.

pub(crate) mod lsp;
pub(crate) mod moving;
pub(crate) mod native;
pub(crate) mod package;
pub(crate) mod publish;
pub(crate) mod registrations;
pub(crate) mod sdk;
pub(crate) mod split;
pub(crate) mod verify;
pub(crate) mod wrapper;

use std::ffi::OsString;
use std::fmt::Debug;
use std::sync::Arc;

use gpsimd_toolchain::Command;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::words::action::{Made, Stage, Tools};
use crate::words::error::EngineError;

/// A stage that has no command of its own.
pub(crate) trait Hidden: Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// What it is called in a plan.
    const NAME: &'static str;

    /// See [`Stage::run`].
    fn run(&self, tools: &Tools) -> Result<Made, EngineError>;

    /// See [`Stage::starts`].
    fn starts(&self) -> Option<&Command> {
        None
    }
}

impl<S: Hidden> Stage for S {
    fn words(&self) -> Vec<OsString> {
        // arguments are names and numbers: there is always text for them
        let arguments = serde_json::to_string(self).unwrap_or_else(|error| error.to_string());
        ["stage", S::NAME, &arguments].map(OsString::from).to_vec()
    }

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        Hidden::run(self, tools)
    }

    fn starts(&self) -> Option<&Command> {
        Hidden::starts(self)
    }
}

/// A row of the list of hidden stages.
struct Row {
    name: &'static str,
    read: fn(&str) -> serde_json::Result<Arc<dyn Stage>>,
}

const fn row<S: Hidden>() -> Row {
    Row { name: S::NAME, read: |text| Ok(Arc::new(serde_json::from_str::<S>(text)?)) }
}

/// All hidden stages.
const ROWS: [Row; 10] = [
    row::<sdk::WriteSdk>(),
    row::<sdk::KeepArchive>(),
    row::<wrapper::Adapt>(),
    row::<registrations::Registrations>(),
    row::<native::Table>(),
    row::<moving::Move>(),
    row::<split::WriteScript>(),
    row::<split::WriteTable>(),
    row::<split::Synthesize>(),
    row::<publish::Publish>(),
];

/// The stage of two words that [`Stage::words`] gave.
///
/// # Errors
/// [`EngineError::Step`].
pub(crate) fn read(name: &str, arguments: &str) -> Result<Arc<dyn Stage>, EngineError> {
    let row = ROWS.iter().find(|row| row.name == name);
    let row = row.ok_or_else(|| EngineError::Step { reason: format!("unknown stage {name:?}") })?;
    (row.read)(arguments).map_err(|error| EngineError::Step { reason: format!("{name}: {error}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::images::{CoreFiles, SplitFiles};
    use crate::words::request::{Cores, NamedOp};
    use gpsimd_loader::Generation;
    use gpsimd_loader::kernel_table::TableOp;
    use gpsimd_lsp::Variant;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    /// One of each.
    fn stages() -> Vec<Arc<dyn Stage>> {
        let odd = PathBuf::from(OsString::from_vec(b"a \xff\nb".to_vec()));
        let named = vec![NamedOp { kernel: Some("k".into()), schema: "my::k(Tensor a) -> Tensor".into() }];
        let command = Command::new("cc").arg(odd.clone()).env("K", "v");
        vec![
            Arc::new(sdk::WriteSdk { root: odd.clone(), runtime: vec!["hal/x.S".into()] }),
            Arc::new(sdk::KeepArchive { from: odd.clone(), to: "b".into() }),
            Arc::new(wrapper::Adapt {
                ops: named.clone(),
                objects: vec![odd.clone()],
                guess: "g".into(),
                source: "s".into(),
                wrapper: "w".into(),
                compile: command.clone(),
                cores: Cores::Eight,
            }),
            Arc::new(registrations::Registrations { image: odd.clone(), output: "o".into() }),
            Arc::new(native::Table { ops: named.clone(), objects: vec![odd.clone()], output: "o".into() }),
            Arc::new(moving::Move {
                kept: odd.clone(),
                image: CoreFiles::new(&odd, "k", Variant::Single, true),
                link: command,
                places: Arc::default(),
            }),
            Arc::new(split::WriteScript { output: odd.clone() }),
            Arc::new(split::WriteTable {
                rows: vec![TableOp { kernel: "k".into(), spec: 10 }],
                output: odd.clone(),
            }),
            Arc::new(split::Synthesize { image: SplitFiles::new(&odd, "k", Generation::MarianaPlus, true) }),
            Arc::new(publish::Publish { publication: crate::publish::publication::tests::example() }),
        ]
    }

    #[test]
    fn the_hidden_command_reads_what_the_plan_writes() {
        let stages = stages();
        assert_eq!(stages.len(), ROWS.len(), "a stage has no example here, or no row");
        for (stage, row) in stages.iter().zip(ROWS) {
            let words = stage.words();
            let [command, name, arguments] = words.as_slice() else { panic!("{words:?}") };
            assert_eq!((command.to_str(), name.to_str()), (Some("stage"), Some(row.name)));
            let read = read(row.name, arguments.to_str().expect("text")).expect("a stage");
            assert_eq!(read.words(), words);
        }
    }

    #[test]
    fn every_stage_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert!(names.len() == ROWS.len() && !names.contains(""), "{names:?}");
    }

    #[test]
    fn what_no_plan_wrote_is_refused() {
        for (name, arguments) in
            [("mover", "{}"), ("move", "{}"), ("move", ""), ("keep-archive", "{\"from\":1}")]
        {
            let error = read(name, arguments).expect_err(name);
            assert!(matches!(error, EngineError::Step { .. }), "{error}");
        }
    }
}
