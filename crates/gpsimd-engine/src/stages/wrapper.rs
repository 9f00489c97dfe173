//! The wrapper: rendered on the guess that kernels are declared as their schemas say, and fitted to how they are.
//!
//! Unaware of how it is compiled.

use std::ffi::OsString;
use std::path::PathBuf;

use gpsimd_toolchain::{Command, text};
use serde::{Deserialize, Serialize};

use crate::ask::check::named_ops;
use crate::ask::{kernels, multicore, undocumented};
use crate::stages::Hidden;
use crate::words::action::{Made, Stage, Tools};
use crate::words::disk;
use crate::words::error::EngineError;
use crate::words::request::{Cores, NamedOp};

/// Renders `wrapper.cpp`: `codegen`.
#[derive(Debug)]
pub(crate) struct Codegen {
    /// In registration order.
    pub(crate) ops: Vec<NamedOp>,
    /// The file.
    pub(crate) output: PathBuf,
}

impl Stage for Codegen {
    fn words(&self) -> Vec<OsString> {
        let mut words = vec!["codegen".into(), "--output".into(), self.output.clone().into_os_string()];
        for NamedOp { kernel, schema } in &self.ops {
            words.push("--op".into());
            words.push(format!("{}={schema}", kernel.as_deref().unwrap_or_default()).into());
        }
        words
    }

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let ops = named_ops(&self.ops)?;
        let text = gpsimd_codegen::wrapper(&ops).map_err(EngineError::stage(&self.output))?;
        tools.files.write(&self.output, text.into_bytes())?;
        Ok(Made::default())
    }
}

/// Sees that each op's kernel can be called, and makes the wrapper's object from the guess, or anew where kernels are
/// declared differently.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Adapt {
    /// As guessed, in registration order.
    pub(crate) ops: Vec<NamedOp>,
    /// The kernel objects, which say what is defined.
    #[serde(with = "text")]
    pub(crate) objects: Vec<PathBuf>,
    /// The object of the guess; it is the result if the guess was right.
    #[serde(with = "text")]
    pub(crate) guess: PathBuf,
    /// Where the source goes if it was not.
    #[serde(with = "text")]
    pub(crate) source: PathBuf,
    /// The object to link.
    #[serde(with = "text")]
    pub(crate) wrapper: PathBuf,
    /// Compiles `source` to `wrapper`.
    pub(crate) compile: Command,
    /// How many cores the library is for; for eight there are more mistakes to make.
    pub(crate) cores: Cores,
}

impl Hidden for Adapt {
    const NAME: &'static str = "adapt";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let guessed = named_ops(&self.ops)?;
        let ops = kernels::match_kernels(&guessed, &self.objects)?;
        let mut said = match self.cores {
            Cores::Single => String::new(),
            Cores::Eight => multicore::warnings(&ops, &self.objects)?,
        };
        said += &undocumented::notes(&self.objects)?;
        if ops == guessed {
            let depfile = self.guess.with_extension("d");
            if depfile.is_file() {
                disk::copy(&depfile, &self.wrapper.with_extension("d"))?;
            }
            disk::copy(&self.guess, &self.wrapper)?;
        } else {
            let text = gpsimd_codegen::wrapper(&ops).map_err(EngineError::stage(&self.source))?;
            disk::write(&self.source, text.as_bytes())?;
            said += &(tools.start)("compile the wrapper as the kernels are declared", &self.compile)?;
        }
        Ok(Made { report: None, said })
    }

    fn starts(&self) -> Option<&Command> {
        Some(&self.compile)
    }
}
