//! `schema`: canonical form and device verdict of schemas.

use std::io::Read as _;

use miette::Result;
use serde_json::json;

use super::Status;
use crate::cli::Schema;
use crate::files::FileError;
use crate::output::{print, say_raw};
use crate::render::{Render, diagnostic};

/// Judges each schema; a schema that does not parse, or that the device cannot run, is a finding.
pub fn run(arguments: &Schema, render: &Render) -> Result<Status> {
    let mut status = Status::Good;
    let mut documents = Vec::new();
    for text in texts(&arguments.texts)? {
        let canonical = gpsimd_schema::parse(&text).map(|schema| schema.to_string()).ok();
        let verdict = gpsimd_schema::signature(&text);
        if verdict.is_err() {
            status = Status::AtFault;
        }
        if render.is_json() {
            documents.push(match verdict {
                Ok(signature) => json!({ "schema": canonical, "signature": signature }),
                Err(refusal) => json!({ "schema": canonical, "refused": diagnostic(&refusal) }),
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
        render.result(&documents, String::new)?;
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
