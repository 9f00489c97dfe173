//! Which names a kernel function can have.
//!
//! Unaware of ops. The vendor's generator checks the length only (spec codegen.md §2, D7).

/// Longest kernel name, in characters; the device keeps 32 bytes with the final NUL (spec codegen.md §2).
pub const MAX_KERNEL_NAME: usize = 31;

/// Whether the text is one plain C++ identifier.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether C++14 gives the word a meaning of its own.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

/// Why the name is taken, if it is.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(names, _)| names.contains(&name)).map(|(_, why)| *why)
}

/// Sorted, for the search. Alternative spellings of operators (`and`, `xor`, …) are keywords too.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Names at global scope that a kernel would clash with (spec codegen.md §2, §4.4; customop-abi.md §2).
const RESERVED: &[(&[&str], &str)] = &[
    (&["error"], "the device reads it as the end of the op table"),
    (&["get_func_cnt", "get_func_name", "get_func_ptr"], "the wrapper defines the op table under it"),
    (
        &[
            "customop_setup",
            "customop_next_tensor",
            "customop_next_scalar",
            "customop_next_int",
            "customop_next_longlong",
            "customop_next_float",
            "customop_return_tensor",
            "customop_cleanup",
            "get_dst_tensor",
            "get_cpu_id",
            "get_cpu_count",
            "switch_stack_or_call_wrapper",
            "allocate_hbm_stack",
            "deallocate_hbm_stack",
            "switched_stack",
            "switchBack",
            "switchStack",
            "saveContext",
            "old_stack",
            "new_stack",
            "new_stack_base",
            "entry_func",
            "register_funcs",
            "_start",
            "main",
        ],
        "the device runtime defines it",
    ),
    (
        &[
            "at",
            "c10",
            "torch",
            "std",
            "wrapper_fn",
            "size_t",
            "ssize_t",
            "ptrdiff_t",
            "intptr_t",
            "uintptr_t",
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
        ],
        "the device headers define a type or a namespace of that name",
    ),
    (
        &["assert", "errno", "stdin", "stdout", "stderr", "NULL", "STACK_SIZE", "MAX_STACK_SIZE"],
        "the device headers define a macro of that name",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn identifiers() {
        for name in ["k", "_k", "relu_forward", "K9", "__k"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "9k", "ns::k", "k-1", "k k", "é", "k\n", "k()"] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
