//! `libstdc++-lite.a`: what C++14 code without streams and without unwinding needs of libstdc++, and our stand-ins for
//! the rest (a throw stops the program).
//!
//! Unaware of the headers' layout.

use super::Step;
use super::workshop::{Unit, Workshop};
use crate::ToolchainError;
use crate::job::joined;

/// Type information and language support.
const SUPPORT: &[&str] = &[
    "hash_bytes",
    "bad_alloc",
    "eh_exception",
    "bad_array_new",
    "tinfo",
    "tinfo2",
    "class_type_info",
    "si_class_type_info",
    "vmi_class_type_info",
    "dyncast",
    "fundamental_type_info",
    "pointer_type_info",
    "pbase_type_info",
    "enum_type_info",
    "array_type_info",
    "function_type_info",
    "pmem_type_info",
    "bad_cast",
    "bad_typeid",
];

/// Out-of-line parts of containers, smart pointers and strings.
const LIBRARY: &[&str] = &[
    "c++11/hashtable_c++0x",
    "c++11/shared_ptr",
    "c++11/functional",
    "c++11/limits",
    "c++11/placeholders",
    "c++11/hash_c++0x",
    "c++98/tree",
    "c++98/list",
    "c++98/list_associated",
    "c++98/allocator-inst",
    "c++98/stdexcept",
];

/// Sources in `sdk/sysroot/libstdcxx`; no name is one of the above.
const OURS: &[&str] = &["exceptions", "guard", "new_delete", "throw", "unwind"];

pub(super) fn build(workshop: &Workshop) -> Result<(), ToolchainError> {
    let upstream = workshop.source("gcc/libstdc++-v3");
    let compiler = workshop
        .cxx()
        .arg("-fno-exceptions")
        .arg(joined("-I", &upstream.join("libsupc++")))
        .arg("-std=gnu++14");
    let unit = |source, name: &str| Unit {
        compiler: compiler.clone(),
        source,
        object: workshop.object(&format!("cxx/{name}.o")),
    };
    let mut units = Vec::new();
    for name in OURS {
        // C++17 has aligned operator new, which C++14 code does not miss.
        let mut unit = unit(workshop.ours(&format!("libstdcxx/{name}.cc")), name);
        unit.compiler = unit.compiler.arg("-std=gnu++17");
        units.push(unit);
    }
    for name in SUPPORT {
        units.push(unit(upstream.join(format!("libsupc++/{name}.cc")), name));
    }
    for path in LIBRARY {
        let source = upstream.join(format!("src/{path}.cc"));
        if source.exists() {
            units.push(unit(source, path.rsplit('/').next().unwrap_or(path)));
        }
    }
    units.push(Unit {
        compiler: compiler.clone().arg("-fno-implicit-templates"),
        source: upstream.join("src/c++11/string-inst.cc"),
        object: workshop.object("cxx/string-inst.o"),
    });
    workshop.library(Step::CxxLibrary, "libstdc++-lite.a", &units)
}
