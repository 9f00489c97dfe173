//! From what a kernel was found to declare, as debug information or a demangled symbol spells it, to [`ParamDecl`].
//!
//! Unaware of objects: text in. Spellings differ in where `const` stands, in the alias used for a class, and in how an
//! integer's width is written (spec user-api.md §3, §8.6; codegen.md §9 C5).

use crate::op::{Op, ParamDecl};
use gpsimd_schema::ArgType;

impl ParamDecl {
    /// The declaration that a C++ spelling means: `const torch::Tensor &`, `at::Tensor const&`, `int64_t`.
    ///
    /// `None` for types that no argument can be passed as.
    pub fn read(text: &str) -> Option<ParamDecl> {
        let spaced = text.replace('&', " & ");
        let (mut names, mut is_const, mut references) = (Vec::new(), false, 0);
        for word in spaced.split_whitespace() {
            match word {
                "&" => references += 1,
                "const" => is_const = true,
                name => names.push(name),
            }
        }
        let class = match names.as_slice() {
            ["at::Tensor" | "torch::Tensor"] => Some(ArgType::Tensor),
            ["at::Scalar" | "torch::Scalar" | "c10::Scalar"] => Some(ArgType::Scalar),
            _ => None,
        };
        Some(match (class, references, is_const) {
            (Some(ArgType::Tensor), 0, _) => ParamDecl::TensorValue,
            (Some(ArgType::Tensor), 1, true) => ParamDecl::TensorConstRef,
            (Some(ArgType::Tensor), 1, false) => ParamDecl::TensorRef,
            (Some(ArgType::Scalar), 0, _) => ParamDecl::ScalarValue,
            (Some(ArgType::Scalar), 1, true) => ParamDecl::ScalarConstRef,
            (None, 0, _) => match names.as_slice() {
                ["int" | "int32_t" | "signed"] | ["signed", "int"] => ParamDecl::Int,
                ["long"] | ["long", "int"] => ParamDecl::Long,
                ["int64_t"] | ["long", "long"] | ["long", "long", "int"] => ParamDecl::LongLong,
                ["float"] => ParamDecl::Float,
                ["double"] => ParamDecl::Double,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The argument type that an undeclared schema would have for this parameter.
    ///
    /// Every integer is `int`: that is what PyTorch prints for an `int64_t`, and so what a host that knows only
    /// PyTorch's types puts on the wire. `long long` has to be asked for (spec codegen.md §10 D4).
    pub fn inferred(self) -> ArgType {
        match self {
            ParamDecl::TensorConstRef | ParamDecl::TensorValue | ParamDecl::TensorRef => ArgType::Tensor,
            ParamDecl::ScalarConstRef | ParamDecl::ScalarValue => ArgType::Scalar,
            ParamDecl::Int | ParamDecl::Long | ParamDecl::LongLong => ArgType::Int,
            ParamDecl::Float | ParamDecl::Double => ArgType::Float,
        }
    }
}

impl Op {
    /// The same op, declared as a demangled symbol says: `scale_k(at::Tensor const&, double)`.
    ///
    /// `None` when the symbol is no function of the kernel's name, or takes what the arguments cannot be passed as.
    pub fn declared_as(&self, demangled: &str) -> Option<Op> {
        let list =
            demangled.strip_prefix(self.kernel.as_str())?.trim().strip_prefix('(')?.strip_suffix(')')?;
        let decls = match list.trim() {
            "" => Vec::new(),
            list => list.split(',').map(ParamDecl::read).collect::<Option<Vec<_>>>()?,
        };
        let params = &self.signature.params;
        let fits =
            decls.len() == params.len() && decls.iter().zip(params).all(|(decl, arg)| decl.takes(arg.ty));
        fits.then(|| self.clone().with_decls(decls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpsimd_schema::{Param, Signature};

    #[test]
    fn spellings() {
        use ParamDecl::*;
        for (text, want) in [
            ("const at::Tensor&", Some(TensorConstRef)),
            ("const torch::Tensor &", Some(TensorConstRef)),
            ("at::Tensor const&", Some(TensorConstRef)),
            ("torch::Tensor", Some(TensorValue)),
            ("const at::Tensor", Some(TensorValue)),
            ("at::Tensor &", Some(TensorRef)),
            ("c10::Scalar const&", Some(ScalarConstRef)),
            ("at::Scalar", Some(ScalarValue)),
            ("int", Some(Int)),
            ("const int", Some(Int)),
            ("int32_t", Some(Int)),
            ("long int", Some(Long)),
            ("int64_t", Some(LongLong)),
            ("long long int", Some(LongLong)),
            ("float", Some(Float)),
            ("double", Some(Double)),
            ("", None),
            ("bool", None),
            ("unsigned int", None),
            ("int&", None),
            ("at::Tensor&&", None),
            ("at::Scalar&", None),
            ("at::Tensor*", None),
            ("std::vector<int>", None),
            ("const", None),
        ] {
            assert_eq!(ParamDecl::read(text), want, "{text}");
        }
        for decl in ParamDecl::ALL {
            assert_eq!(ParamDecl::read(decl.cpp()), Some(*decl));
            assert!(decl.takes(decl.inferred()));
        }
    }

    #[test]
    fn symbols_fit_or_do_not() {
        let params = vec![Param::new("a", ArgType::Tensor), Param::new("n", ArgType::Int)];
        let op = Op::new("k", Signature::new("my", "k", params));
        let found = op.declared_as("k(at::Tensor, long long)").map(|op| op.declaration());
        assert_eq!(found.as_deref(), Some("at::Tensor k(at::Tensor, long long);"));
        for other in
            ["k(at::Tensor, double)", "k(at::Tensor)", "k()", "k", "kk(at::Tensor, int)", "k(at::Tensor, int"]
        {
            assert_eq!(op.declared_as(other), None, "{other}");
        }
    }
}
