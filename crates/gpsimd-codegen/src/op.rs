//! One op of a library: its kernel, its signature, and how the kernel is declared in C++.
//!
//! Unaware of rendering, and of whether the names are usable (`check`). Type map: spec codegen.md §3.4.

use gpsimd_schema::{ArgType, Signature};
use serde::{Serialize, Serializer};
use std::fmt;

/// One op: what the wrapper is generated from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Op {
    /// The kernel's function name. It need not be the op's (spec codegen.md §2).
    pub kernel: String,
    /// What the op takes, in the order in which the arguments are on the wire.
    pub signature: Signature,
    /// How the kernel declares each parameter, one for one with the signature's.
    pub decls: Vec<ParamDecl>,
}

/// The C++ type of a kernel's parameter.
///
/// The schema says what is on the wire and so what is pulled; this says what the kernel was written to take. Kernels
/// written to the public guide take `int64_t` and `double` where the wire has 32 bits (spec codegen.md §9 C5,
/// user-api.md §8.6): their declaration must say so, or the link fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParamDecl {
    /// `const at::Tensor&`, what the vendor's generator declares.
    TensorConstRef,
    /// `at::Tensor`.
    TensorValue,
    /// `at::Tensor&`.
    TensorRef,
    /// `const at::Scalar&`, what the vendor's generator declares.
    ScalarConstRef,
    /// `at::Scalar`.
    ScalarValue,
    /// `int`.
    Int,
    /// `long`: 32 bits on the device, and what `int32_t` is with some GNU compilers.
    Long,
    /// `long long`, and what `int64_t` is on the device.
    LongLong,
    /// `float`.
    Float,
    /// `double`.
    Double,
}

impl ParamDecl {
    /// Every declaration.
    pub const ALL: &[ParamDecl] = &[
        ParamDecl::TensorConstRef,
        ParamDecl::TensorValue,
        ParamDecl::TensorRef,
        ParamDecl::ScalarConstRef,
        ParamDecl::ScalarValue,
        ParamDecl::Int,
        ParamDecl::Long,
        ParamDecl::LongLong,
        ParamDecl::Float,
        ParamDecl::Double,
    ];

    /// What the vendor's generator declares for an argument.
    pub fn of(ty: ArgType) -> ParamDecl {
        match ty {
            ArgType::Tensor => ParamDecl::TensorConstRef,
            ArgType::Scalar => ParamDecl::ScalarConstRef,
            ArgType::Int => ParamDecl::Int,
            ArgType::Float => ParamDecl::Float,
            ArgType::LongLong => ParamDecl::LongLong,
        }
    }

    /// Whether an argument of this type can be passed without losing a bit of it.
    pub fn takes(self, ty: ArgType) -> bool {
        match ty {
            ArgType::Tensor => {
                matches!(self, ParamDecl::TensorConstRef | ParamDecl::TensorValue | ParamDecl::TensorRef)
            }
            ArgType::Scalar => matches!(self, ParamDecl::ScalarConstRef | ParamDecl::ScalarValue),
            ArgType::Int => matches!(self, ParamDecl::Int | ParamDecl::Long | ParamDecl::LongLong),
            ArgType::Float => matches!(self, ParamDecl::Float | ParamDecl::Double),
            ArgType::LongLong => self == ParamDecl::LongLong,
        }
    }

    /// The declarations that can take an argument of this type, the usual one first.
    pub fn choices(ty: ArgType) -> impl Iterator<Item = ParamDecl> {
        ParamDecl::ALL.iter().copied().filter(move |decl| decl.takes(ty))
    }

    /// The type as written in C++.
    pub fn cpp(self) -> &'static str {
        match self {
            ParamDecl::TensorConstRef => "const at::Tensor&",
            ParamDecl::TensorValue => "at::Tensor",
            ParamDecl::TensorRef => "at::Tensor&",
            ParamDecl::ScalarConstRef => "const at::Scalar&",
            ParamDecl::ScalarValue => "at::Scalar",
            ParamDecl::Int => "int",
            ParamDecl::Long => "long",
            ParamDecl::LongLong => "long long",
            ParamDecl::Float => "float",
            ParamDecl::Double => "double",
        }
    }

    /// The type as kernels write it that have such a type on the device: `int64_t` is no `long long` on every machine.
    pub(crate) fn portable(self) -> &'static str {
        match self {
            ParamDecl::Long => "int32_t",
            ParamDecl::LongLong => "int64_t",
            other => other.cpp(),
        }
    }

    /// The type of the local that holds the argument: without reference and constness.
    pub(crate) fn local(self) -> &'static str {
        match self {
            ParamDecl::TensorConstRef | ParamDecl::TensorRef => "at::Tensor",
            ParamDecl::ScalarConstRef => "at::Scalar",
            other => other.cpp(),
        }
    }
}

impl fmt::Display for ParamDecl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.cpp())
    }
}

impl Serialize for ParamDecl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.cpp())
    }
}

impl Op {
    /// An op whose kernel is declared as the vendor's generator would.
    pub fn new(kernel: impl Into<String>, signature: Signature) -> Op {
        let decls = signature.params.iter().map(|param| ParamDecl::of(param.ty)).collect();
        Op { kernel: kernel.into(), signature, decls }
    }

    /// The same op with the kernel's parameters as its author declared them.
    pub fn with_decls(self, decls: Vec<ParamDecl>) -> Op {
        Op { decls, ..self }
    }

    /// The kernel's declaration: `at::Tensor scale_k(const at::Tensor&, float);`.
    pub fn declaration(&self) -> String {
        self.declared(ParamDecl::cpp)
    }

    /// The same for another machine than the device.
    pub(crate) fn native_declaration(&self) -> String {
        self.declared(ParamDecl::portable)
    }

    fn declared(&self, spelled: impl Fn(ParamDecl) -> &'static str) -> String {
        let types: Vec<&str> = self.decls.iter().map(|decl| spelled(*decl)).collect();
        format!("at::Tensor {}({});", self.kernel, types.join(", "))
    }
}
