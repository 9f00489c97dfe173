//! `schema`: canonical form and device verdict of schemas.

use std::io::Read as _;

use gpsimd_schema::Signature;

use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::Status;
use crate::answer::Diagnosis;
use crate::cli::Schema;
use crate::files::FileError;
use crate::output::{print, say_raw};
use crate::render::Render;

/// What is to be said of schemas, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// Each, in order.
    schemas: Vec<Judged>,
}

/// A schema.
#[derive(Serialize, JsonSchema)]
pub struct Judged {
    /// Its canonical form; null if it does not parse.
    schema: Option<String>,
    /// What the device takes and gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Signature>,
    /// Why the device cannot run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Diagnosis>,
}

/// Judges each schema; a schema that does not parse, or that the device cannot run, is a finding.
pub fn run(arguments: &Schema, render: &Render) -> Result<Status> {
    let mut status = Status::Good;
    let mut schemas = Vec::new();
    for text in texts(&arguments.texts)? {
        let canonical = gpsimd_schema::parse(&text).map(|schema| schema.to_string()).ok();
        let verdict = gpsimd_schema::signature(&text);
        if verdict.is_err() {
            status = Status::AtFault;
        }
        if render.is_json() {
            schemas.push(match verdict {
                Ok(signature) => Judged { schema: canonical, signature: Some(signature), refused: None },
                Err(refusal) => {
                    Judged { schema: canonical, signature: None, refused: Some(Diagnosis::of(&refusal)) }
                }
            });
            continue;
        }
        if let Some(canonical) = canonical {
            print(&format!("{canonical}\n"))?;
        }
        if let Err(refusal) = verdict {
            say_raw(&render.diagnostic_text(&refusal));
        }
    }
    if render.is_json() {
        let fault = schemas.iter().find_map(|judged| judged.refused.clone());
        return render.verdict(fault, &Document { schemas }, String::new);
    }
    Ok(status)
}

fn texts(arguments: &[String]) -> Result<Vec<String>, FileError> {
    let mut texts = Vec::new();
    for argument in arguments {
        if argument != "-" {
            texts.push(argument.clone());
            continue;
        }
        let mut input = String::new();
        std::io::stdin().read_to_string(&mut input).map_err(FileError::of("read", "standard input"))?;
        texts.extend(input.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    }
    Ok(texts)
}
