//! What a compiler's or linker's words mean for a kernel author: mistakes that the words alone do not explain.
//!
//! The words are always shown whole; a rule only puts a line above them and a remedy below. Unaware of who ran what.
//! Facts: user-api.md §1, §3-§5, §8.5, §9; codegen.md §10 D3.

use crate::words::error::EngineError;
use crate::words::explained::{Explained, Rule};

/// All rules; where several fit, the one whose sign comes first in the output counts.
pub const RULES: &[Rule] = &[
    Rule {
        code: "compile::registration",
        signs: &[
            "torchneuron/register.h: No such file",
            "'torchneuron/register.h' file not found",
            "NEURON_LIBRARY(",
            "TORCH_LIBRARY(",
            "PYBIND11_MODULE(",
        ],
        cause: "operators are registered in a kernel source, which is compiled for the device",
        remedy: "move the registration and the shape functions to a file of their own and give it with --shape-src",
    },
    Rule {
        code: "compile::dtype",
        signs: &[
            "too few arguments to function 'at::Tensor at::empty(",
            "too few arguments to function 'at::Tensor at::full(",
            "too few arguments to function 'at::Tensor at::zeros(",
            "too few arguments to function 'at::Tensor at::ones(",
            "too few arguments to function 'at::Tensor at::eye(",
            "no matching function for call to 'empty'",
            "no matching function for call to 'full'",
            "no matching function for call to 'zeros'",
            "no matching function for call to 'ones'",
            "no matching function for call to 'eye'",
        ],
        cause: "a tensor is made without saying of what: on the device the element type has no default",
        remedy: "pass the element type last, for instance torch::empty(x.sizes(), torch::kFloat)",
    },
    Rule {
        code: "compile::wide_elements",
        signs: &["elements are not supported on GPSIMD"],
        cause: "the device has no tensors of this element type",
        remedy: "use torch::kInt for kLong, torch::kFloat for kDouble, torch::kByte for kBool",
    },
    Rule {
        code: "compile::format",
        signs: &["[-Werror=format", "[-Werror,-Wformat"],
        cause: "a printf format does not fit its argument; sizes and extents of tensors have 64 bits",
        remedy: "print them with %lld, or cast the argument: printf(\"%d\", (int)x.numel())",
    },
    Rule {
        code: "compile::const_tensor",
        signs: &["Can only write to non-const Tensors", "discards qualifiers"],
        cause: "a kernel writes to one of its inputs, which are const",
        remedy: "write to a tensor of the kernel's own: torch::empty(...) or get_dst_tensor()",
    },
    Rule {
        code: "compile::exceptions",
        signs: &["exception handling disabled", "with exceptions disabled"],
        cause: "the device has no exceptions",
        remedy: "check with TORCH_CHECK or assert, which print and end the program",
    },
    Rule {
        code: "compile::executable_stack",
        signs: &[gpsimd_toolchain::NO_EXECUTABLE_STACK],
        cause: "this host forbids executable stacks, which the vendor's code generator asks for",
        remedy: gpsimd_toolchain::EXECUTABLE_STACK_REMEDY,
    },
    Rule {
        code: "compile::header",
        signs: &[": No such file or directory\n", "' file not found"],
        cause: "a header was not found",
        remedy: "name its directory with -I DIR; host libraries do not exist on the device",
    },
    Rule {
        code: "compile::unused_static",
        signs: &["[-Werror=unused-function]", "[-Werror,-Wunused-function]"],
        cause: "a static function is called by nothing; if it is a kernel, the wrapper, another file, cannot call it",
        remedy: "remove `static` from kernels, and functions that nothing uses",
    },
    Rule {
        code: "compile::warning",
        signs: &["[-Werror=", "[-Werror,-W"],
        cause: "kernels are compiled with -Wall -Werror: a warning stops the build",
        remedy: "correct it, or let warnings of its kind pass: gpsimd-build compile ... -- -Wno-error=KIND",
    },
    Rule {
        code: "link::undefined",
        signs: &["undefined reference to"],
        cause: "a function is called that no source and no library defines",
        remedy: "name the source that defines it, too; the device's C library has no files, threads or time",
    },
    Rule {
        code: "link::window",
        signs: &["will not fit in region", "' overflowed by "],
        cause: "code and data are larger than the window of one core",
        remedy: "shrink the largest arrays: big buffers belong into TCM or device memory, not into globals",
    },
];

/// The same error; explained if it is a command of the device's toolchain whose words fit a rule.
pub(crate) fn explained(error: EngineError) -> EngineError {
    match error {
        EngineError::CommandFailed { label, status, output, command } => match rule(&output) {
            Some(rule) => {
                EngineError::Explained(Box::new(Explained { rule, label, status, output, command }))
            }
            None => EngineError::CommandFailed { label, status, output, command },
        },
        other => other,
    }
}

/// The rule for an output, if one fits.
fn rule(output: &str) -> Option<&'static Rule> {
    let first = |rule: &Rule| rule.signs.iter().filter_map(|sign| output.find(sign)).min();
    let fitting = RULES.iter().filter_map(|rule| Some((first(rule)?, rule)));
    // a header of the registration's own is both: the earlier rule is the more particular
    fitting.min_by_key(|(at, _)| *at).map(|(_, rule)| rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_rules() {
        let rows = [
            (
                "k.cpp:2:10: fatal error: torchneuron/register.h: No such file or directory\n",
                Some("compile::registration"),
            ),
            ("k.cpp:2:10: fatal error: Eigen/Dense: No such file or directory\n", Some("compile::header")),
            (
                "k.cpp:2:5: error: unused variable 'u' [-Werror=unused-variable]\nk.cpp:3:1: error: exception handling disabled",
                Some("compile::warning"),
            ),
            ("k.cpp:4:52: error: format '%d' expects ... [-Werror=format=]", Some("compile::format")),
            (
                "libXtensaCodeGen.so: cannot enable executable stack as shared object requires: Permission denied",
                Some("compile::executable_stack"),
            ),
            (
                "k.cpp:2:10: fatal error: 'torchneuron/register.h' file not found",
                Some("compile::registration"),
            ),
            ("k.cpp:5:14: error: format specifies type 'int' [-Werror,-Wformat]", Some("compile::format")),
            ("k.cpp:3:1: error: no matching function for call to 'empty'", Some("compile::dtype")),
            ("k.cpp:1:1: error: expected ';' before '}' token", None),
            ("ld: k.o: undefined reference to `fopen'", Some("link::undefined")),
            ("", None),
        ];
        for (output, want) in rows {
            assert_eq!(rule(output).map(|rule| rule.code), want, "{output}");
        }
    }
}
