//! What shape sources register: the half of a two-file project that tells shapes, compiled and asked.
//!
//! The image made of them and of the SDK's lister runs on a simulated core; it is published beside the images of the kernels,
//! for whoever needs an output's shape. Unaware of kernels. Facts: user-api.md §1, §9.

use std::path::Path;

use gpsimd_schema::Signature;
use gpsimd_shapes::{Failure, Shapes};
use miette::Diagnostic;
use serde::Deserialize;

use crate::words::error::{EngineError, Problem};
use crate::words::request::{NamedOp, OpRequest};

/// What can be wrong with shape sources.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum ShapeError {
    #[error("the shape sources register what cannot be built:\n{said}")]
    #[diagnostic(
        code(shape::registrations),
        help(
            "correct the NEURON_LIBRARY(ns, m) {{ m.def(\"op\", &shape_function, \"kernel\"); }} of the shape sources"
        )
    )]
    Registrations { said: String },

    #[error("the shape sources do not come to an end of their registrations: {failure}")]
    #[diagnostic(
        code(shape::stopped),
        help("constructors of shape sources run before their registrations are read; keep them short")
    )]
    Stopped { failure: Failure },

    #[error("the shape image's list of registrations cannot be read: {detail}")]
    #[diagnostic(
        code(shape::output),
        help("shape sources must not print before main() or replace the SDK's lister")
    )]
    Output { detail: String },

    #[error("op {kernel}: the shape sources register no such kernel; they register {}", .registered.join(", "))]
    #[diagnostic(
        code(shape::not_registered),
        help("register it with m.def, or drop --op and --schema to take all that is registered")
    )]
    NotRegistered { kernel: String, registered: Vec<String> },

    #[error(
        "op {kernel}: the schema is not the shape function's\n  schema:     {schema}\n  registered: {registered}"
    )]
    #[diagnostic(
        code(shape::differs),
        help("the types must be the same, in the same order; only names and defaults may differ")
    )]
    Differs { kernel: String, schema: String, registered: String },
}

/// One `m.def(...)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Registration {
    kernel: String,
    schema: String,
}

#[derive(Debug, Deserialize)]
struct Listing {
    registrations: Vec<Registration>,
}

/// Asks the shape image what it registers; gives its answer as it stands.
///
/// # Errors
/// Registrations that cannot be built, with the image's own words, and images that do not come to an end.
pub(crate) fn list(path: &Path, image: &[u8]) -> Result<String, EngineError> {
    let mut shapes = Shapes::parse(image).map_err(EngineError::stage(path))?;
    shapes.list().map_err(|failure| {
        EngineError::request(match failure {
            Failure::Refused { said } => ShapeError::Registrations { said },
            failure => ShapeError::Stopped { failure },
        })
    })
}

/// The ops that `listing` registers; those that the caller names, if any.
///
/// # Errors
/// [`EngineError::Request`] when a named op is not registered, or with other types.
pub(crate) fn ops(listing: &str, requested: &[OpRequest]) -> Result<Vec<NamedOp>, EngineError> {
    let registered = registrations(listing).map_err(EngineError::request)?;
    let op = |registration: &Registration| NamedOp {
        kernel: Some(registration.kernel.clone()),
        schema: registration.schema.clone(),
    };
    if requested.is_empty() {
        return Ok(registered.iter().map(op).collect());
    }
    let mut ops = Vec::new();
    let mut problems = Vec::new();
    for request in requested {
        let asked = request.schema.as_deref().and_then(|schema| gpsimd_schema::signature(schema).ok());
        let kernel = request.kernel.clone().or(asked.as_ref().map(|signature| signature.op.clone()));
        let kernel = kernel.unwrap_or_default();
        let Some(found) = registered.iter().find(|registration| registration.kernel == kernel) else {
            let registered = registered.iter().map(|registration| registration.kernel.clone()).collect();
            problems.push(Problem::new(ShapeError::NotRegistered { kernel, registered }));
            continue;
        };
        match asked {
            Some(signature) if !same_types(&signature, &found.schema) => {
                problems.push(Problem::new(ShapeError::Differs {
                    kernel,
                    schema: signature.to_string(),
                    registered: found.schema.clone(),
                }));
            }
            _ => ops.push(request.clone().named().unwrap_or_else(|| op(found))),
        }
    }
    if problems.is_empty() { Ok(ops) } else { Err(EngineError::Request { problems }) }
}

fn same_types(signature: &Signature, registered: &str) -> bool {
    let Ok(registered) = gpsimd_schema::signature(registered) else { return false };
    signature.params.iter().map(|param| param.ty).eq(registered.params.iter().map(|param| param.ty))
}

/// What a shape source printed before main comes first; the listing is the last document.
fn registrations(listing: &str) -> Result<Vec<Registration>, ShapeError> {
    let begin = listing
        .rfind("{\"format\":1,\"registrations\":")
        .ok_or_else(|| ShapeError::Output { detail: format!("{listing:.200?}") })?;
    let mut documents = serde_json::Deserializer::from_str(&listing[begin..]).into_iter::<Listing>();
    match documents.next() {
        Some(Ok(listing)) => Ok(listing.registrations),
        Some(Err(error)) => Err(ShapeError::Output { detail: error.to_string() }),
        None => Err(ShapeError::Output { detail: "it is empty".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = r#"{"format":1,"registrations":[
{"namespace":"my","op":"relu","kernel":"relu_k","schema":"my::relu(Tensor _0, int _1) -> (Tensor _0)","params":["Tensor","int"]}
]}
"#;

    fn request(kernel: &str, schema: Option<&str>) -> OpRequest {
        OpRequest { kernel: Some(kernel.to_owned()), schema: schema.map(str::to_owned) }
    }

    #[test]
    fn registrations_become_ops() {
        let registered = "my::relu(Tensor _0, int _1) -> (Tensor _0)";
        let named = "my::relu(Tensor x, int n=1) -> Tensor";
        let op = |schema: &str| NamedOp { kernel: Some("relu_k".to_owned()), schema: schema.to_owned() };
        type Row<'a> = (Vec<OpRequest>, Result<Vec<NamedOp>, &'a str>);
        let rows: Vec<Row> = vec![
            (vec![], Ok(vec![op(registered)])),
            (vec![request("relu_k", None)], Ok(vec![op(registered)])),
            (vec![request("relu_k", Some(named))], Ok(vec![op(named)])),
            (vec![request("gelu", None)], Err("shape::not_registered")),
            (vec![request("relu_k", Some("my::relu(Tensor x) -> Tensor"))], Err("shape::differs")),
        ];
        for (requested, want) in rows {
            let found = ops(LISTING, &requested).map_err(|error| match error {
                EngineError::Request { problems } => problems
                    .first()
                    .and_then(|problem| problem.code())
                    .map_or(String::new(), |c| c.to_string()),
                other => other.to_string(),
            });
            assert_eq!(found, want.map_err(str::to_owned), "{requested:?}");
        }
    }

    #[test]
    fn what_is_printed_before_the_listing_does_not_count() {
        assert_eq!(registrations(&format!("hello\n{LISTING}")).map(|found| found.len()).ok(), Some(1));
        for text in ["", "hello", "{\"format\":1,\"registrations\":[", "{\"format\":1,\"registrations\":7}"] {
            assert!(registrations(text).is_err(), "{text}");
        }
    }
}
