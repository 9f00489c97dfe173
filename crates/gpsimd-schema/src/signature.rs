//! What a GPSIMD op takes and gives: the part of a schema that a device can run.
//!
//! Unaware of C++ spelling (`gpsimd-codegen`) and of the wire. Type map: spec codegen.md §3.4.

use crate::literal::Literal;
use serde::Serialize;
use std::fmt;

/// Records that one call can carry, the output's included (spec customop-abi.md §5.5).
pub const MAX_RECORDS: usize = 10;

/// Arguments that one op can take: every record but the output's.
pub const MAX_ARGUMENTS: usize = MAX_RECORDS - 1;

/// The checked signature of one op. It returns one tensor, always.
///
/// `Display` prints it as a schema: `ns::op(Tensor a, int k) -> (Tensor out)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Signature {
    /// The `ns` of `torch.ops.ns.op`.
    pub namespace: String,
    /// The op's name as Python calls it; the kernel's may differ (spec codegen.md §2).
    pub op: String,
    /// Which of several ops of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overload: Option<String>,
    /// The arguments, in the order in which they are on the wire.
    pub params: Vec<Param>,
    /// The result's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Param {
    /// Its name; none when the signature was read from a kernel without names.
    pub name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: ArgType,
    /// What the Python side passes when the caller leaves the argument out. The device never sees a difference:
    /// every call carries every argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Literal>,
}

/// The five kinds of argument that can cross to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgType {
    /// A tensor in device memory.
    Tensor,
    /// One number with its type: `Scalar` or `number`.
    Scalar,
    /// A 32-bit integer.
    Int,
    /// A 32-bit float.
    Float,
    /// A 64-bit integer.
    LongLong,
}

impl ArgType {
    /// Every argument type.
    pub const ALL: &[ArgType] =
        &[ArgType::Tensor, ArgType::Scalar, ArgType::Int, ArgType::Float, ArgType::LongLong];

    /// The name in a schema.
    pub fn schema_name(self) -> &'static str {
        match self {
            ArgType::Tensor => "Tensor",
            ArgType::Scalar => "Scalar",
            ArgType::Int => "int",
            ArgType::Float => "float",
            ArgType::LongLong => "long long",
        }
    }
}

impl fmt::Display for ArgType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.schema_name())
    }
}

impl Serialize for ArgType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.schema_name())
    }
}

impl schemars::JsonSchema for ArgType {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ArgType".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<String> = ArgType::ALL.iter().map(ToString::to_string).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

impl Param {
    /// An argument without a default.
    pub fn new(name: impl Into<String>, ty: ArgType) -> Param {
        Param { name: Some(name.into()), ty, default: None }
    }
}

impl Signature {
    /// A signature without an overload, its result unnamed.
    pub fn new(namespace: impl Into<String>, op: impl Into<String>, params: Vec<Param>) -> Signature {
        Signature { namespace: namespace.into(), op: op.into(), overload: None, params, result: None }
    }

    /// Records that a call carries: the output's and one an argument.
    pub fn records(&self) -> usize {
        self.params.len().saturating_add(1)
    }

    /// How Python calls it: `torch.ops.ns.op(Tensor a, int k=1) -> Tensor`.
    pub fn python_call(&self) -> String {
        let overload = self.overload.as_ref().map_or(String::new(), |name| format!(".{name}"));
        format!("torch.ops.{}.{}{overload}({}) -> Tensor", self.namespace, self.op, self.arguments())
    }

    fn arguments(&self) -> String {
        let argument = |(index, param): (usize, &Param)| {
            let name = param.name.clone().unwrap_or_else(|| format!("_{index}"));
            let default = param.default.as_ref().map_or(String::new(), |value| format!("={value}"));
            format!("{} {name}{default}", param.ty)
        };
        self.params.iter().enumerate().map(argument).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let overload = self.overload.as_ref().map_or(String::new(), |name| format!(".{name}"));
        let result = self.result.as_ref().map_or(String::new(), |name| format!(" {name}"));
        write!(f, "{}::{}{overload}({}) -> (Tensor{result})", self.namespace, self.op, self.arguments())
    }
}
