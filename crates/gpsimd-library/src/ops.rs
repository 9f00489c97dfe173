//! The ops of a library by any of their names: kernel function, op, `ns::op` or `ns.op`.
//!
//! Unaware of inputs. What an op takes is known only where a manifest says it; a bare image has kernels alone.

use gpsimd_schema::Signature;
use miette::Diagnostic;

use crate::Library;

/// Why a name means no op.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum OpError {
    /// None was named, and there are several.
    #[error("the library has several ops: {}", .known.join(", "))]
    #[diagnostic(code(run::op), help("choose one with --op"))]
    Which {
        /// All there are.
        known: Vec<String>,
    },
    /// A name that none has.
    #[error("{name} is no op of the library; it has {}", .known.join(", "))]
    #[diagnostic(
        code(run::no_such_op),
        help("an op may be named as in the schema, with or without namespace, or by its kernel function")
    )]
    Unknown {
        /// As given.
        name: String,
        /// All there are.
        known: Vec<String>,
    },
    /// A name that several have.
    #[error("{name} may be {}", .known.join(" or "))]
    #[diagnostic(code(run::ambiguous_op), help("name its kernel function"))]
    Ambiguous {
        /// As given.
        name: String,
        /// Those that have it.
        known: Vec<String>,
    },
}

/// An op that can be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    /// Kernel function, the name it is registered under.
    pub kernel: String,
    /// `ns::op`, where a manifest says it.
    pub qualified: Option<String>,
    /// What it takes, where a manifest says it.
    pub signature: Option<Signature>,
}

/// The ops that a library registered.
#[derive(Debug, Clone)]
pub struct Ops(Vec<Op>);

impl Ops {
    /// The kernels that the library registered on the device, in that order, with what its manifest tells of them.
    pub fn of<'a>(library: &Library, kernels: impl IntoIterator<Item = &'a str>) -> Self {
        let entries = library.manifest.as_ref().map_or(&[][..], |manifest| &manifest.ops);
        let op = |kernel: &str| {
            let schema = entries.iter().find(|entry| entry.kernel == kernel).map(|entry| &entry.schema);
            let signature = schema.and_then(|schema| gpsimd_schema::signature(schema).ok());
            let qualified = signature.as_ref().map(|found| format!("{}::{}", found.namespace, found.op));
            Op { kernel: kernel.to_owned(), qualified, signature }
        };
        Self(kernels.into_iter().map(op).collect())
    }

    /// All of them, in registration order.
    pub fn all(&self) -> &[Op] {
        &self.0
    }

    /// The op of this name; the only one without.
    ///
    /// # Errors
    /// None or several.
    pub fn find(&self, name: Option<&str>) -> Result<&Op, OpError> {
        let names = |ops: &[&Op]| ops.iter().map(|op| op.shown()).collect();
        let all: Vec<&Op> = self.0.iter().collect();
        let Some(name) = name else {
            return match self.0.as_slice() {
                [only] => Ok(only),
                _ => Err(OpError::Which { known: names(&all) }),
            };
        };
        let name = name.strip_prefix("torch.ops.").unwrap_or(name);
        if let Some(op) = self.0.iter().find(|op| op.kernel == name) {
            return Ok(op);
        }
        let found: Vec<&Op> = self.0.iter().filter(|op| op.is_called(name)).collect();
        match found.as_slice() {
            [only] => Ok(only),
            [] => Err(OpError::Unknown { name: name.to_owned(), known: names(&all) }),
            several => Err(OpError::Ambiguous { name: name.to_owned(), known: names(several) }),
        }
    }
}

impl Op {
    /// Whether the schema gives it this name.
    fn is_called(&self, name: &str) -> bool {
        let Some(qualified) = &self.qualified else { return false };
        let short = qualified.rsplit("::").next().unwrap_or_default();
        short == name || *qualified == name || qualified.replace("::", ".") == name
    }

    /// `relu_forward`, or `my::relu (kernel relu_forward)` where the names differ.
    fn shown(&self) -> String {
        match &self.qualified {
            Some(qualified) if !qualified.ends_with(&format!("::{}", self.kernel)) => {
                format!("{qualified} (kernel {})", self.kernel)
            }
            _ => self.kernel.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let op = |kernel: &str, schema: &str| {
            let signature = gpsimd_schema::signature(schema).ok();
            let qualified = signature.as_ref().map(|found| format!("{}::{}", found.namespace, found.op));
            Op { kernel: kernel.to_owned(), qualified, signature }
        };
        let ops = Ops(vec![
            op("relu_fwd", "my::relu(Tensor x) -> Tensor"),
            op("relu", "your::other(Tensor x) -> Tensor"),
            op("twice", "your::same(Tensor x) -> Tensor"),
            op("again", "my::same(Tensor x) -> Tensor"),
            op("bare", ""),
        ]);
        let rows = [
            ("relu_fwd", "relu_fwd"),
            // a kernel's name is before an op's
            ("relu", "relu"),
            ("my::relu", "relu_fwd"),
            ("my.relu", "relu_fwd"),
            ("torch.ops.my.relu", "relu_fwd"),
            ("other", "relu"),
            ("your::same", "twice"),
            ("bare", "bare"),
            ("same", "same may be your::same (kernel twice) or my::same (kernel again)"),
            (
                "none",
                "none is no op of the library; it has my::relu (kernel relu_fwd), your::other (kernel relu), your::same \
                 (kernel twice), my::same (kernel again), bare",
            ),
        ];
        for (name, want) in rows {
            let found = ops.find(Some(name)).map_or_else(|error| error.to_string(), |op| op.kernel.clone());
            assert_eq!(found, want, "{name}");
        }
        assert!(matches!(ops.find(None), Err(OpError::Which { known }) if known.len() == 5));
        assert!(Ops(vec![op("bare", "")]).find(None).is_ok());
    }
}
