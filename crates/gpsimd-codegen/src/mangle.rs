//! The symbol that a kernel's object must define: Itanium C++ mangling of the few types a kernel can take.
//!
//! Unaware of objects; whoever reads one compares. A function's return type is no part of its symbol.

use crate::op::{Op, ParamDecl};

impl Op {
    /// The kernel's symbol: `_Z7scale_kRKN2at6TensorEf`.
    pub fn kernel_symbol(&self) -> String {
        let mut seen = Substitutions::default();
        let mut symbol = format!("_Z{}{}", self.kernel.len(), self.kernel);
        for decl in &self.decls {
            seen.push(&mut symbol, *decl);
        }
        if self.decls.is_empty() {
            symbol.push('v');
        }
        symbol
    }

    /// The symbol of the launcher that the wrapper defines and registers.
    pub fn launcher_symbol(&self) -> String {
        let name = format!("{}_stack_switch", self.kernel);
        format!("_Z{}{name}v", name.len())
    }
}

/// Components already spelled out, in order; a later mention of one is `S_`, `S0_`, `S1_`, …
#[derive(Default)]
struct Substitutions {
    seen: Vec<&'static str>,
}

impl Substitutions {
    fn push(&mut self, symbol: &mut String, decl: ParamDecl) {
        match decl {
            ParamDecl::TensorConstRef => {
                self.push_ref(symbol, "RK", "RKN2at6TensorE", "KN2at6TensorE", TENSOR)
            }
            ParamDecl::TensorRef => self.push_ref(symbol, "R", "RN2at6TensorE", "", TENSOR),
            ParamDecl::TensorValue => self.push_class(symbol, TENSOR),
            ParamDecl::ScalarConstRef => {
                self.push_ref(symbol, "RK", "RKN3c106ScalarE", "KN3c106ScalarE", SCALAR);
            }
            ParamDecl::ScalarValue => self.push_class(symbol, SCALAR),
            ParamDecl::Int => symbol.push('i'),
            ParamDecl::Long => symbol.push('l'),
            ParamDecl::LongLong => symbol.push('x'),
            ParamDecl::Float => symbol.push('f'),
            ParamDecl::Double => symbol.push('d'),
        }
    }

    /// A reference: `R` or `RK`, then the class; each step becomes a component of its own, innermost first.
    fn push_ref(
        &mut self,
        symbol: &mut String,
        prefix: &str,
        whole: &'static str,
        constant: &'static str,
        class: Class,
    ) {
        if self.push_seen(symbol, whole) {
            return;
        }
        if constant.is_empty() {
            symbol.push_str(prefix);
            self.push_class(symbol, class);
        } else {
            symbol.push('R');
            if !self.push_seen(symbol, constant) {
                symbol.push('K');
                self.push_class(symbol, class);
                self.seen.push(constant);
            }
        }
        self.seen.push(whole);
    }

    fn push_class(&mut self, symbol: &mut String, class: Class) {
        if self.push_seen(symbol, class.whole) {
            return;
        }
        symbol.push('N');
        if !self.push_seen(symbol, class.namespace) {
            symbol.push_str(class.namespace);
            self.seen.push(class.namespace);
        }
        symbol.push_str(class.name);
        symbol.push('E');
        self.seen.push(class.whole);
    }

    fn push_seen(&self, symbol: &mut String, component: &str) -> bool {
        let Some(index) = self.seen.iter().position(|seen| *seen == component) else { return false };
        // At most 10 components exist here, so one digit is enough.
        match index.checked_sub(1) {
            None => symbol.push_str("S_"),
            Some(digit) => symbol.push_str(&format!("S{digit}_")),
        }
        true
    }
}

/// A class in a namespace, in mangled pieces.
#[derive(Clone, Copy)]
struct Class {
    namespace: &'static str,
    name: &'static str,
    whole: &'static str,
}

const TENSOR: Class = Class { namespace: "2at", name: "6Tensor", whole: "N2at6TensorE" };
/// `at::Scalar` is an alias of `c10::Scalar`, and a symbol names the class itself (spec customop-abi.md §2.1).
const SCALAR: Class = Class { namespace: "3c10", name: "6Scalar", whole: "N3c106ScalarE" };

#[cfg(test)]
mod tests {
    use super::ParamDecl::*;
    use super::*;
    use gpsimd_schema::Signature;

    fn symbol(kernel: &str, decls: &[ParamDecl]) -> String {
        Op::new(kernel, Signature::new("my", "op", Vec::new())).with_decls(decls.to_vec()).kernel_symbol()
    }

    #[test]
    fn symbols_are_those_of_the_compiler() {
        // Right column: what a GNU C++ compiler for the device defines for these declarations.
        for (decls, want) in [
            (&[TensorConstRef][..], "_Z1kRKN2at6TensorE"),
            (&[TensorConstRef, TensorConstRef], "_Z1kRKN2at6TensorES2_"),
            (&[TensorConstRef, Float], "_Z1kRKN2at6TensorEf"),
            (&[TensorConstRef, ScalarConstRef, Int], "_Z1kRKN2at6TensorERKN3c106ScalarEi"),
            (
                &[TensorConstRef, ScalarConstRef, ScalarConstRef, TensorConstRef],
                "_Z1kRKN2at6TensorERKN3c106ScalarES6_S2_",
            ),
            (&[TensorValue, TensorConstRef, TensorRef], "_Z1kN2at6TensorERKS0_RS0_"),
            (&[TensorRef, TensorConstRef, TensorValue], "_Z1kRN2at6TensorERKS0_S0_"),
            (&[TensorConstRef, TensorRef, TensorRef], "_Z1kRKN2at6TensorERS0_S3_"),
            (&[ScalarValue, ScalarConstRef, LongLong, Long, Double], "_Z1kN3c106ScalarERKS0_xld"),
            (
                &[ScalarConstRef, TensorConstRef, ScalarValue, TensorValue, ScalarConstRef, TensorConstRef],
                "_Z1kRKN3c106ScalarERKN2at6TensorES0_S4_S2_S6_",
            ),
            (
                &[TensorRef, TensorValue, ScalarConstRef, ScalarValue],
                "_Z1kRN2at6TensorES0_RKN3c106ScalarES3_",
            ),
        ] {
            assert_eq!(symbol("k", decls), want);
        }
    }

    #[test]
    fn launcher_symbol() {
        let op = Op::new("scale_k", Signature::new("my", "scale", Vec::new()));
        assert_eq!(op.launcher_symbol(), "_Z20scale_k_stack_switchv");
    }
}
