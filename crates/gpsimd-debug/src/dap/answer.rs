//! What requests carry, and what they come to.
//!
//! Unaware of sessions.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::wire::Request;
use crate::error::DebugError;

/// What a request comes to: its answer, or why there is none.
pub(super) type Answer = std::result::Result<Value, DebugError>;

/// The arguments of a request, as the protocol has them.
pub(super) fn arguments<T: DeserializeOwned>(request: &Request) -> std::result::Result<T, DebugError> {
    serde_json::from_value(request.arguments.clone()).map_err(|error| DebugError::Arguments {
        request: request.command.clone(),
        reason: error.to_string(),
    })
}

/// A typed body as an answer.
pub(super) fn body(body: impl serde::Serialize) -> Answer {
    serde_json::to_value(body)
        .map_err(|error| DebugError::Arguments { request: String::new(), reason: error.to_string() })
}
