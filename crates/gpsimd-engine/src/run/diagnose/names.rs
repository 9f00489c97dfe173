//! Names that are missing though C++ has them: a header was not included, the standard is too new, or the device cannot.
//!
//! Unaware of PyTorch. Facts: user-api.md §1 (C++14, no operating system).

use crate::run::diagnose::meaning::Meant;
use crate::run::diagnose::output::Message;
use crate::words::failed::Verdict;

/// Code of what needs a newer standard, or GNU's extensions.
pub(super) const STANDARD: &str = "compile::standard";
/// Code of a name whose header was not included.
pub(super) const INCLUDE: &str = "compile::include";
/// Code of what needs an operating system.
pub(super) const SYSTEM: &str = "compile::no_system";

/// Names of `std` and the standard that has them first.
const NEWER: &[(&str, &[&str])] = &[
    (
        "17",
        &[
            "clamp",
            "optional",
            "nullopt",
            "variant",
            "any",
            "string_view",
            "gcd",
            "lcm",
            "byte",
            "apply",
            "invoke",
            "size",
            "data",
            "empty",
            "as_const",
            "not_fn",
            "sample",
            "reduce",
            "transform_reduce",
            "inclusive_scan",
            "exclusive_scan",
            "filesystem",
            "void_t",
            "conjunction",
            "disjunction",
            "negation",
            "bool_constant",
            "is_invocable",
            "make_from_tuple",
            "from_chars",
            "to_chars",
            "uninitialized_move",
            "destroy_at",
            "is_same_v",
            "is_integral_v",
            "is_floating_point_v",
            "enable_if_v",
            "is_convertible_v",
            "is_base_of_v",
            "numeric_limits_v",
            "tuple_size_v",
            "is_signed_v",
            "is_unsigned_v",
            "variant_size_v",
            "scoped_lock",
            "shared_mutex",
            "launder",
            "hermite",
            "beta",
            "cyl_bessel_j",
            "riemann_zeta",
        ],
    ),
    (
        "20",
        &[
            "span",
            "bit_cast",
            "popcount",
            "countl_zero",
            "countr_zero",
            "bit_width",
            "bit_ceil",
            "bit_floor",
            "has_single_bit",
            "rotl",
            "rotr",
            "lerp",
            "midpoint",
            "ssize",
            "numbers",
            "format",
            "source_location",
            "remove_cvref_t",
            "ranges",
            "views",
            "endian",
            "type_identity_t",
            "jthread",
            "barrier",
            "latch",
            "counting_semaphore",
            "erase_if",
            "cmp_less",
            "to_array",
            "make_unique_for_overwrite",
            "floating_point",
            "integral",
            "same_as",
            "convertible_to",
        ],
    ),
    (
        "23",
        &[
            "expected",
            "print",
            "println",
            "mdspan",
            "byteswap",
            "to_underlying",
            "unreachable",
            "float16_t",
            "bfloat16_t",
        ],
    ),
];

/// Constants that `<cmath>` has with GNU's extensions only.
const GNU_CONSTANTS: &[&str] = &[
    "M_PI",
    "M_PI_2",
    "M_PI_4",
    "M_1_PI",
    "M_2_PI",
    "M_E",
    "M_LN2",
    "M_LN10",
    "M_LOG2E",
    "M_LOG10E",
    "M_SQRT2",
    "M_SQRT1_2",
    "M_2_SQRTPI",
    "M_TWOPI",
];

/// Names of `std` that need threads.
const THREADS: &[&str] = &[
    "thread",
    "mutex",
    "recursive_mutex",
    "timed_mutex",
    "condition_variable",
    "condition_variable_any",
    "async",
    "future",
    "promise",
    "packaged_task",
    "call_once",
    "shared_future",
    "this_thread",
    "shared_timed_mutex",
];

/// Plain names by header, where the compiler does not tell.
const HEADERS: &[(&str, &[&str])] = &[
    (
        "math.h",
        &[
            "sqrtf",
            "expf",
            "logf",
            "log2f",
            "log10f",
            "powf",
            "fabsf",
            "fabs",
            "sinf",
            "cosf",
            "tanf",
            "tanhf",
            "sqrt",
            "exp",
            "pow",
            "fmaxf",
            "fminf",
            "fmax",
            "fmin",
            "floorf",
            "ceilf",
            "roundf",
            "rintf",
            "lrintf",
            "fmodf",
            "atan2f",
            "erff",
            "isnan",
            "isinf",
            "INFINITY",
            "NAN",
            "HUGE_VALF",
            "log1pf",
            "expm1f",
            "hypotf",
            "copysignf",
            "floor",
            "ceil",
            "round",
            "tanh",
            "erf",
            "fmod",
        ],
    ),
    ("string.h", &["memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "strcpy"]),
    ("stdio.h", &["puts", "putchar", "fprintf", "snprintf", "sprintf", "stdout", "stderr", "fflush"]),
    ("stdlib.h", &["calloc", "realloc", "exit", "atoi", "qsort", "abs", "rand", "srand"]),
    ("limits.h", &["INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "CHAR_BIT"]),
    ("float.h", &["FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX"]),
    (
        "algorithm",
        &["max", "min", "sort", "fill", "copy", "swap", "transform", "accumulate", "vector", "string"],
    ),
];

/// What a name that is not there means, where C++ has it.
pub(super) fn verdict(subject: Meant<'_>, error: &Message) -> Option<Verdict> {
    let said = |code, headline, remedy| Some(Verdict { code, headline, remedy, place: error.place.clone() });
    match subject {
        Meant::Qualified { scope: "std" | "::std", name } => {
            if let Some(standard) = standard_of(name, error) {
                let headline =
                    format!("`std::{name}` is new in C++{standard}; kernels are compiled as C++14");
                return said(STANDARD, headline, standard_remedy(standard));
            }
            if THREADS.contains(&name) {
                let headline = format!("`std::{name}` does not exist on the device: a core runs one thread");
                return said(SYSTEM, headline, NO_THREADS.to_owned());
            }
            let header = suggested(error).or_else(|| listed(name))?;
            said(
                INCLUDE,
                format!("`std::{name}` is not declared: <{header}> is not included"),
                include(header),
            )
        }
        Meant::Undeclared { name } if GNU_CONSTANTS.contains(&name) => {
            let headline =
                format!("`{name}` is not of the C++ standard, as which kernels are compiled (C++14)");
            let remedy = format!(
                "{}, or write the number: constexpr float {} = …",
                option("gnu++14"),
                name.replace("M_", "k")
            );
            said(STANDARD, headline, remedy)
        }
        Meant::Undeclared {
            name: "concept" | "requires" | "co_await" | "co_return" | "consteval" | "constinit" | "char8_t",
        } => said(
            STANDARD,
            "this is new in C++20; kernels are compiled as C++14".to_owned(),
            standard_remedy("20"),
        ),
        Meant::Undeclared { name } => {
            let header = suggested(error).or_else(|| listed(name))?;
            said(INCLUDE, format!("`{name}` is not declared: <{header}> is not included"), include(header))
        }
        _ => None,
    }
}

/// What to say of threads.
pub(super) const NO_THREADS: &str = "loop plainly; to use all eight cores compile with --multicore and let each take its part by get_cpu_id()";

fn include(header: &str) -> String {
    format!("add #include <{header}>")
}

/// The standard that a name is new in, by the compiler's note or the table.
fn standard_of(name: &str, error: &Message) -> Option<&'static str> {
    let noted = |standard: &str| {
        let words = format!("only available from C++{standard} onwards");
        error.notes.iter().any(|note| note.contains(&words))
    };
    let is_listed = |names: &[&str]| names.contains(&name);
    NEWER.iter().find(|(standard, names)| noted(standard) || is_listed(names)).map(|(standard, _)| *standard)
}

/// The header that the table has for a name.
fn listed(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(_, names)| names.contains(&name)).map(|(header, _)| *header)
}

/// The header that the compiler's note names.
fn suggested(error: &Message) -> Option<&str> {
    let note = error.notes.iter().find(|note| note.contains("did you forget to '#include <"))?;
    note.split_once("'#include <")?.1.split('>').next()
}

/// How a newer standard is asked for.
pub(super) fn standard_remedy(standard: &str) -> String {
    format!("{}; the vendor's guide knows C++14 only", option(&format!("c++{standard}")))
}

fn option(standard: &str) -> String {
    format!("compile with -- -std={standard}")
}
