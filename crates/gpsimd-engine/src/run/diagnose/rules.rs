//! Mistakes that the words of a compiler or linker alone do not explain.
//!
//! Unaware of names that are missing; those have tables of their own. Facts: user-api.md §1, §3-§5, §8.5, §9;
//! codegen.md §10 D3.

use crate::run::diagnose::names;
use crate::run::diagnose::output::Message;
use crate::run::diagnose::undefined::undefined;
use crate::words::failed::{EXECUTABLE_STACK, LICENCE, Rule, Verdict};

/// Code of a command whose words speak for themselves.
pub(super) const FAILED: &str = "engine::command_failed";

/// Every code of a failed command, for the catalogue.
pub const RULES: &[Rule] = &[
    Rule {
        code: "compile::lacking",
        cause: "PyTorch has it and a device kernel has not: the documented part is small, and what is more would not compile with the vendor's headers",
        remedy: "the message names the documented way; for whatever is not there loop over the elements",
    },
    Rule {
        code: names::STANDARD,
        cause: "the source uses a newer C++ than C++14, or GNU's extensions",
        remedy: "compile with -- -std=c++17 (or gnu++14); the vendor's guide knows C++14 only",
    },
    Rule {
        code: names::INCLUDE,
        cause: "a name of the C or C++ library is used and its header is not included",
        remedy: "add the #include that the message names",
    },
    Rule {
        code: names::SYSTEM,
        cause: "the source needs an operating system: threads, files, time",
        remedy: names::NO_THREADS,
    },
    Rule {
        code: "compile::undocumented",
        cause: "a kernel uses an accessor's elements in a way that works here and that the documents do not settle",
        remedy: "write the documented form that the note names; or leave it, and know that it was not tried with the vendor's headers",
    },
    Rule {
        code: "compile::registration",
        cause: "operators are registered in a kernel source, which is compiled for the device",
        remedy: "move the registration and the shape functions to a file of their own and give it with --shape-src",
    },
    Rule {
        code: "compile::dtype",
        cause: "a tensor is made without saying of what: on the device the element type has no default",
        remedy: "pass the element type last, for instance torch::empty(x.sizes(), torch::kFloat)",
    },
    Rule {
        code: "compile::wide_elements",
        cause: "the device has no tensors of this element type",
        remedy: "use torch::kInt for kLong, torch::kFloat for kDouble, torch::kByte for kBool",
    },
    Rule {
        code: "compile::format",
        cause: "a printf format does not fit its argument; sizes and extents of tensors have 64 bits",
        remedy: "print them with %lld, or cast the argument: printf(\"%d\", (int)x.numel())",
    },
    Rule {
        code: "compile::element",
        cause: "an accessor's element, a[i], is a stand-in that loads when it is read and stores when it is assigned: it is no float, and has no address",
        remedy: "take the value first, float v = a[i]; or say the type, std::max<float>(a[i], 2.f); write it back with a[i] = v",
    },
    Rule {
        code: "compile::rank",
        cause: "an accessor is used with another number of subscripts than it has dimensions",
        remedy: "say the tensor's rank, x.accessor<float, 2>(), and write one subscript a dimension: a[i][j]",
    },
    Rule {
        code: "compile::temporary",
        cause: "an accessor is taken of a tensor that ends with the statement",
        remedy: "give the tensor a name first: torch::Tensor y = torch::zeros(...); auto a = y.accessor<float, 1>();",
    },
    Rule {
        code: "compile::const_tensor",
        cause: "a kernel writes to one of its inputs, which are const",
        remedy: "write to a tensor of the kernel's own: torch::empty(...) or get_dst_tensor()",
    },
    Rule {
        code: "compile::exceptions",
        cause: "the device has no exceptions",
        remedy: "check with TORCH_CHECK or assert, which print and end the program",
    },
    Rule {
        code: "compile::rtti",
        cause: "the device has no run-time type information: neither dynamic_cast nor typeid",
        remedy: "use a virtual function, or a member that says which class it is",
    },
    Rule {
        code: "compile::executable_stack",
        cause: "this host forbids executable stacks, which the vendor's code generator asks for",
        remedy: gpsimd_toolchain::EXECUTABLE_STACK_REMEDY,
    },
    Rule {
        code: "compile::licence",
        cause: "a tool of the vendor's asked for a FlexNet licence and did not get one",
        remedy: gpsimd_toolchain::LICENCE_REMEDY,
    },
    Rule {
        code: "compile::header",
        cause: "a header was not found",
        remedy: "name its directory with -I DIR; host libraries do not exist on the device",
    },
    Rule {
        code: "compile::unused_static",
        cause: "a static function is called by nothing; if it is a kernel, the wrapper, another file, cannot call it",
        remedy: "remove `static` from kernels, and functions that nothing uses",
    },
    Rule {
        code: "compile::warning",
        cause: "kernels are compiled with -Wall -Werror: a warning stops the build",
        remedy: "correct it, or let warnings of its kind pass: gpsimd-build compile ... -- -Wno-error=KIND",
    },
    Rule {
        code: "compile::main",
        cause: "a kernel is called main, and C++ has rules of its own for that name",
        remedy: "give it the name that Python shall call",
    },
    Rule {
        code: "link::undefined",
        cause: "a function is called that no source and no library defines",
        remedy: "name the source that defines it, too; the device's C library has no files, threads or time",
    },
    Rule {
        code: "link::no_system",
        cause: "something is used that the device's libraries have not, because there is no operating system and one thread a core",
        remedy: "do without: the message says what to write instead",
    },
    Rule {
        code: "link::window",
        cause: "code and data are larger than the window of one core",
        remedy: "shrink the largest arrays: big buffers belong into TCM or device memory, not into globals",
    },
    Rule {
        code: FAILED,
        cause: "a compiler, linker or archiver did not succeed, and its words say why",
        remedy: "correct the first error; later ones may follow from it",
    },
];

/// Where a sign is looked for.
enum Sign {
    /// In the error's own words.
    Text(&'static str),
    /// In the source that the compiler shows for it.
    Source(&'static str),
    /// In the words of another error at the same line, which is of the same mistake.
    Beside(&'static str),
}

use Sign::{Beside, Source, Text};

/// A code, its signs, and cause and remedy where the catalogue's are too general.
type Known = (&'static str, &'static [Sign], Option<(&'static str, &'static str)>);

/// The more particular first.
const SIGNS: &[Known] = &[
    (
        "compile::registration",
        &[
            Text("torchneuron/register.h"),
            Source("NEURON_LIBRARY("),
            Source("TORCH_LIBRARY("),
            Source("TORCH_LIBRARY_IMPL("),
            Source("PYBIND11_MODULE("),
        ],
        None,
    ),
    (
        "compile::dtype",
        &[
            Text("too few arguments to function 'at::Tensor at::empty("),
            Text("too few arguments to function 'at::Tensor at::full("),
            Text("too few arguments to function 'at::Tensor at::zeros("),
            Text("too few arguments to function 'at::Tensor at::ones("),
            Text("too few arguments to function 'at::Tensor at::eye("),
            Text("no matching function for call to 'empty'"),
            Text("no matching function for call to 'full'"),
            Text("no matching function for call to 'zeros'"),
            Text("no matching function for call to 'ones'"),
            Text("no matching function for call to 'eye'"),
        ],
        None,
    ),
    (
        "compile::wide_elements",
        &[Text("elements are not supported on GPSIMD"), Text("this dtype is not supported on GPSIMD")],
        None,
    ),
    (
        "compile::lacking",
        &[Text("data_ptr"), Source(".data_ptr<")],
        Some((
            "tensors have no member `data_ptr` on the device",
            "tensors lie in device memory, which no pointer reaches: read and write elements by `auto a = x.accessor<float, 1>();`, or copy blocks by x.tcm_accessor()",
        )),
    ),
    (
        "compile::lacking",
        &[Source("<<<")],
        Some((
            "`<<<…>>>` starts nothing on the device: this is no GPU",
            "call the function plainly; with --multicore eight cores run the kernel, each told its number by get_cpu_id()",
        )),
    ),
    (
        "compile::format",
        &[Text("has type 'at::TensorElementReference<")],
        Some((
            "printf is given an accessor's element, a[i], which is a stand-in for the number, not the number",
            "cast it to the number that the format means: printf(\"%f\", (float)a[i]), printf(\"%d\", (int)a[i])",
        )),
    ),
    (
        "compile::format",
        &[
            Text("has type 'c10::IntArrayRef'"),
            Text("has type 'c10::ArrayRef<"),
            Text("has type 'at::Tensor'"),
            Text("has type 'const at::Tensor'"),
        ],
        Some((
            "printf is given a whole shape or tensor, for which there is no format",
            "print its numbers one by one: printf(\"%d\", (int)x.size(0)), printf(\"%f\", (float)a[i])",
        )),
    ),
    ("compile::format", &[Text("[-Werror=format"), Text("[-Werror,-Wformat")], None),
    (
        "compile::rank",
        &[
            Text("cannot convert 'at::TensorAccessor<"),
            Text("no match for call to '(at::TensorAccessor<"),
            Text("no match for 'operator=' (operand types are 'at::TensorAccessor<"),
            Text("no match for 'operator[]' (operand types are 'at::TensorElementReference<"),
            Text("invalid types 'float[int]' for array subscript"),
            Text("no matching function for call to 'at::Tensor::accessor<"),
            Text("accessor is used for indexing tensor"),
        ],
        None,
    ),
    (
        "compile::const_tensor",
        &[
            Text("Can only write to non-const Tensors"),
            Text("call to 'at::Tensor::write_stream_accessor<"),
            Text("discards qualifiers"),
        ],
        None,
    ),
    ("compile::element", &[Text("TensorElementReference<"), Beside("TensorElementReference<")], None),
    (
        "compile::temporary",
        &[
            Text("use of deleted function 'void at::Tensor::accessor() &&"),
            Text("use of deleted function 'void at::Tensor::read_stream_accessor() &&"),
            Text("use of deleted function 'void at::Tensor::write_stream_accessor() &&"),
            Text("use of deleted function 'void at::Tensor::tcm_accessor() &&"),
        ],
        None,
    ),
    (
        names::INCLUDE,
        &[
            Text("'torch' does not name a type"),
            Text("'torch' has not been declared"),
            Text("'at' has not been declared"),
            Text("'at' does not name a type"),
        ],
        Some((
            "tensors are used, and their header is not included",
            "add #include <torch/torch.h>; <gpsimd/kit.hpp> and custom_op.h bring it along",
        )),
    ),
    ("compile::main", &[Text("'::main' must return 'int'"), Text("'main' must return 'int'")], None),
    ("compile::exceptions", &[Text("exception handling disabled"), Text("with exceptions disabled")], None),
    ("compile::rtti", &[Text("with '-fno-rtti'"), Text("with -fno-rtti")], None),
    (
        "compile::no_system",
        &[Text("call to 'std::thread::thread("), Text("thread-local storage is not supported")],
        Some(("there are no threads on the device: a core runs one", names::NO_THREADS)),
    ),
    (
        "compile::standard",
        &[Text("exponent has no digits")],
        Some((
            "a hexadecimal floating-point number, such as 0x1p-3, is new in C++17; kernels are compiled as C++14",
            "compile with -- -std=c++17, or write it in decimal; the vendor's guide knows C++14 only",
        )),
    ),
    (
        "compile::standard",
        &[Text("missing template arguments before"), Text("use of class template 'std::")],
        Some((
            "a class template's arguments are left out, which C++17 allows; kernels are compiled as C++14",
            "write them, std::vector<int> v{1, 2}, or compile with -- -std=c++17; the vendor's guide knows C++14 only",
        )),
    ),
    ("compile::header", &[Text(": No such file or directory"), Text("' file not found")], None),
    (
        "compile::unused_static",
        &[Text("[-Werror=unused-function]"), Text("[-Werror,-Wunused-function]")],
        None,
    ),
    ("link::window", &[Text("will not fit in region"), Text("' overflowed by ")], None),
];

/// What the first of these errors means, if a rule fits.
pub(super) fn verdict(errors: &[Message]) -> Option<Verdict> {
    let first = errors.first()?;
    if first.text.starts_with("undefined reference to ") {
        return Some(undefined(errors));
    }
    let line = |error: &Message| error.place.as_ref().map(|place| (place.file.clone(), place.line));
    let has = |sign: &Sign| match sign {
        Text(sign) => first.text.contains(sign),
        Source(sign) => first.quoted.contains(sign),
        Beside(sign) => errors.iter().any(|error| line(error) == line(first) && error.text.contains(sign)),
    };
    if let Some((code, _, own)) = SIGNS.iter().find(|(_, signs, _)| signs.iter().any(has)) {
        let rule = RULES.iter().find(|rule| rule.code == *code)?;
        let (headline, remedy) = own.unwrap_or((rule.cause, rule.remedy));
        return Some(Verdict {
            code: rule.code,
            headline: headline.to_owned(),
            remedy: remedy.to_owned(),
            place: first.place.clone(),
        });
    }
    warning(first)
}

/// A warning that stops the build: what it says, and how its kind is let pass.
fn warning(error: &Message) -> Option<Verdict> {
    let (text, kind) = error
        .text
        .rsplit_once(" [-Werror=")
        .or_else(|| error.text.rsplit_once(" [-Werror,-W"))
        .map(|(text, kind)| (text, kind.trim_end_matches([']', '='])))?;
    if let Some(standard) = kind.strip_prefix("c++").and_then(|kind| kind.strip_suffix("-extensions")) {
        let what = text.split(" only available with").next().unwrap_or(text);
        let what = what.trim_end_matches(" are").trim_end_matches(" is");
        return Some(Verdict {
            code: names::STANDARD,
            headline: format!("{what}: new in C++{standard}; kernels are compiled as C++14"),
            remedy: names::standard_remedy(standard),
            place: error.place.clone(),
        });
    }
    Some(Verdict {
        code: "compile::warning",
        headline: format!("{text}; with -Wall -Werror a warning stops the build"),
        remedy: format!("correct it, or let warnings of its kind pass: compile ... -- -Wno-error={kind}"),
        place: error.place.clone(),
    })
}

/// What a command means that this machine does not let do its work, whatever else it says.
pub(super) fn of_the_machine(output: &str) -> Option<Verdict> {
    let code = match () {
        () if output.contains(gpsimd_toolchain::NO_EXECUTABLE_STACK) => EXECUTABLE_STACK,
        () if gpsimd_toolchain::NO_LICENCE.iter().any(|sign| output.contains(sign)) => LICENCE,
        () => return None,
    };
    let Rule { code, cause, remedy } = RULES.iter().find(|rule| rule.code == code)?;
    Some(Verdict { code, headline: (*cause).to_owned(), remedy: (*remedy).to_owned(), place: None })
}

/// What a command that failed without an error line means.
pub(super) fn without_errors(output: &str, status: &str) -> Verdict {
    let remedy = match status.contains("signal") {
        true => "it was killed; memory may have been short: -j 1 needs least",
        false => "its words above say why, if it left any",
    };
    let last = output.lines().rev().find(|line| !line.trim().is_empty());
    let headline = last.unwrap_or(status).trim().to_owned();
    Verdict { code: FAILED, headline, remedy: remedy.to_owned(), place: None }
}

/// What to do about an error that no rule explains.
pub(super) fn plain_remedy(error: &Message) -> String {
    match error.text.split_once("did you mean ") {
        Some((_, rest)) => format!("did you mean {}", rest.split(" (").next().unwrap_or(rest)),
        None => "correct the first error; later ones may follow from it".to_owned(),
    }
}
