//! Header directories: newlib's C headers and libstdc++'s C++ headers, laid out as their own `make install` would.
//!
//! Unaware of the libraries. What `configure` would find out is written down in `sdk/sysroot` instead, because neither
//! project's `configure` knows this target.

use std::path::Path;

use super::Step;
use super::workshop::{Workshop, copy, files, read, write};
use crate::open::TARGET;
use crate::profile::SUPPORTED;
use crate::{ToolchainError, tree};

/// newlib's headers and, where it asks for a configured one, ours.
pub(super) fn c(workshop: &Workshop, archive: &Path) -> Result<(), ToolchainError> {
    workshop.progress(Step::CHeaders, 0, 1);
    let from = workshop.source("newlib/newlib/libc/include");
    let mut headers = Vec::new();
    tree::collect(&from, &mut headers)?;
    for header in &headers {
        copy(header, &workshop.include("").join(header.strip_prefix(&from).unwrap_or(header)))?;
    }
    copy(&workshop.ours("libc/include/newlib.h"), &workshop.include("newlib.h"))?;
    write(&workshop.include("_newlib_version.h"), version_header(archive, workshop.profile.newlib)?)?;

    if workshop.profile.newlib < 4 {
        add_jmp_buf(&workshop.include("machine/setjmp.h"))?;
    }
    copy(&workshop.source("newlib/COPYING.NEWLIB"), &workshop.root.join("target/licenses/COPYING.NEWLIB"))?;
    workshop.progress(Step::CHeaders, 1, 1);
    Ok(())
}

/// newlib 3 has no Xtensa `jmp_buf`; our setjmp uses 14 of these 16 words. newlib 4's own has 17.
fn add_jmp_buf(setjmp: &Path) -> Result<(), ToolchainError> {
    let text = read(setjmp)?;
    let patched = text.replacen(
        "#ifdef _JBLEN\n",
        "#ifdef __XTENSA__\n#define _JBLEN 16\n#endif\n\n#ifdef _JBLEN\n",
        1,
    );
    if patched == text {
        return Err(ToolchainError::UnexpectedSource {
            path: setjmp.to_owned(),
            problem: "no line `#ifdef _JBLEN`".into(),
        });
    }
    write(setjmp, patched)
}

/// By the archive's name, `newlib-3.3.0.tar.xz` or, of a snapshot, `newlib-4.5.0.20241231.tar.xz`.
fn version_header(archive: &Path, known: u32) -> Result<String, ToolchainError> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let unknown = || ToolchainError::UnsupportedVersion {
        what: "newlib-source",
        found: name.clone().into_owned(),
        supported: SUPPORTED,
    };
    let version = name.strip_prefix("newlib-").and_then(|n| n.strip_suffix(".tar.xz")).unwrap_or_default();
    let numbers: Vec<u32> = version.split('.').map_while(|n| n.parse().ok()).collect();
    let ([major, minor, patch] | [major, minor, patch, _]) = numbers[..] else { return Err(unknown()) };
    if major != known {
        return Err(unknown());
    }
    Ok(format!(
        "#ifndef _NEWLIB_VERSION_H__\n#define _NEWLIB_VERSION_H__ 1\n#define _NEWLIB_VERSION \"{major}.{minor}.{patch}\"\n\
         #define __NEWLIB__ {major}\n#define __NEWLIB_MINOR__ {minor}\n#define __NEWLIB_PATCHLEVEL__ {patch}\n#endif\n"
    ))
}

/// libstdc++'s headers, with a `c++config.h` for one thread, one string ABI and newlib.
pub(super) fn cxx(workshop: &Workshop) -> Result<(), ToolchainError> {
    workshop.progress(Step::CxxHeaders, 0, 1);
    let to = workshop.include("c++").join(workshop.profile.gcc);
    let upstream = |path: &str| workshop.source("gcc/libstdc++-v3").join(path);
    for dir in ["std", "c_global"] {
        copy_all(&upstream(&format!("include/{dir}")), &to)?;
    }
    for dir in PLAIN_DIRS {
        copy_all(&upstream(&format!("include/{dir}")), &to.join(dir))?;
    }
    std::fs::remove_file(to.join("bits/c++config")).ok();
    for (dir, names) in [(".", SUPPORT), ("bits", SUPPORT_BITS)] {
        for name in names {
            copy(&upstream("libsupc++").join(name), &to.join(dir).join(name))?;
        }
    }

    let target = to.join(TARGET);
    copy_all(&upstream("include/precompiled"), &target.join("bits"))?;
    for (from, name) in CONFIGURED {
        copy(&upstream("config").join(from), &target.join(name))?;
    }
    for name in ["gthr", "gthr-single", "gthr-posix"] {
        let text = thread_header(&read(&workshop.source(&format!("gcc/libgcc/{name}.h")))?);
        if name == "gthr-single" {
            write(&target.join("bits/gthr-default.h"), &text)?;
        }
        write(&target.join("bits").join(format!("{name}.h")), text)?;
    }
    let date = read(&workshop.source("gcc/gcc/DATESTAMP"))?;
    let values = [("_GLIBCXX_RELEASE", workshop.profile.gcc), ("__GLIBCXX__", date.trim())];
    let config = read(&upstream("include/bits/c++config"))?;
    let tail = read(&workshop.ours("libstdcxx/config_tail.h"))?;
    write(&target.join("bits/c++config.h"), configured(&config, &values) + &tail)?;
    for name in ["COPYING.RUNTIME", "COPYING3"] {
        copy(&workshop.source("gcc").join(name), &workshop.root.join("target/licenses").join(name))?;
    }
    workshop.progress(Step::CxxHeaders, 1, 1);
    Ok(())
}

/// Copied as they are, without sub-directories.
const PLAIN_DIRS: &[&str] = &[
    "bits",
    "ext",
    "debug",
    "backward",
    "tr1",
    "tr2",
    "decimal",
    "experimental",
    "experimental/bits",
    "parallel",
    "pstl",
];

const SUPPORT: &[&str] = &["cxxabi.h", "exception", "initializer_list", "new", "typeinfo", "compare"];
const SUPPORT_BITS: &[&str] = &[
    "atomic_lockfree_defines.h",
    "cxxabi_forced.h",
    "exception_defines.h",
    "exception_ptr.h",
    "hash_bytes.h",
    "nested_exception.h",
    "exception.h",
    "cxxabi_init_exception.h",
];

/// What `configure` chooses for a generic processor under newlib: file below `config`, name below the target's directory.
const CONFIGURED: &[(&str, &str)] = &[
    ("os/newlib/ctype_base.h", "bits/ctype_base.h"),
    ("os/newlib/ctype_inline.h", "bits/ctype_inline.h"),
    ("os/newlib/os_defines.h", "bits/os_defines.h"),
    ("cpu/generic/atomic_word.h", "bits/atomic_word.h"),
    ("cpu/generic/cpu_defines.h", "bits/cpu_defines.h"),
    ("cpu/generic/cxxabi_tweaks.h", "bits/cxxabi_tweaks.h"),
    ("cpu/generic/opt/bits/opt_random.h", "bits/opt_random.h"),
    ("cpu/generic/opt/ext/opt_random.h", "ext/opt_random.h"),
    ("os/generic/error_constants.h", "bits/error_constants.h"),
    ("locale/generic/messages_members.h", "bits/messages_members.h"),
    ("locale/generic/time_members.h", "bits/time_members.h"),
    ("locale/generic/c_locale.h", "bits/c++locale.h"),
    ("io/basic_file_stdio.h", "bits/basic_file.h"),
    ("io/c_io_stdio.h", "bits/c++io.h"),
    ("allocator/new_allocator_base.h", "bits/c++allocator.h"),
];

/// What `configure` would add to the lines of `c++config`: macro and value.
const CONFIG_VALUES: &[(&str, &str)] = &[
    ("_GLIBCXX_INLINE_VERSION", "0"),
    ("_GLIBCXX_HAVE_ATTRIBUTE_VISIBILITY", "1"),
    ("_GLIBCXX_EXTERN_TEMPLATE", "1"),
    ("_GLIBCXX_USE_DUAL_ABI", "0"),
    ("_GLIBCXX_USE_CXX11_ABI", "1"),
    ("_GLIBCXX_USE_ALLOCATOR_NEW", "1"),
];

/// `of_version` are values that differ from compiler to compiler.
fn configured(template: &str, of_version: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 256);
    for line in template.split_inclusive('\n') {
        let text = line.trim_end();
        let name = text.rsplit_once("define ").map(|(_, name)| name);
        let value = match name {
            Some("_GLIBCXX_USE_FLOAT128") => {
                out.push_str(&line.replacen("define ", "undef ", 1));
                continue;
            }
            Some(name) => {
                of_version.iter().chain(CONFIG_VALUES).find(|(n, _)| *n == name).map(|(_, value)| *value)
            }
            None => None,
        };
        match value {
            Some(value) => out.push_str(&format!("{text} {value}\n")),
            None => out.push_str(line),
        }
    }
    out
}

/// libgcc's thread headers as libstdc++ installs them: macros in its own name space, includes below `bits/`.
fn thread_header(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 512);
    for line in text.split_inclusive('\n') {
        if line.starts_with("#pragma") {
            out.push_str(line);
            continue;
        }
        let line = prefix_guards(&line.replace("UNUSED", "_GLIBCXX_UNUSED"))
            .replace("SUPPORTS_WEAK", "__GXX_WEAK__");
        let line = prefix_use_weak(&line);
        match line.strip_prefix("#include \"").and_then(|rest| rest.rsplit_once('"')) {
            Some((name, rest)) => out.push_str(&format!("#include <bits/{name}>{rest}")),
            None => out.push_str(&line),
        }
    }
    out
}

/// `GCC_…_H` becomes `_GLIBCXX_GCC_…_H`.
fn prefix_guards(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, from)) = rest.find("GCC").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let len = from.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(from.len());
        let word = from.get(..len).unwrap_or(from);
        let end = word.rfind("_H").map_or("GCC".len(), |at| {
            out.push_str("_GLIBCXX_");
            at + "_H".len()
        });
        let (taken, after) = from.split_at(end);
        out.push_str(taken);
        rest = after;
    }
    out + rest
}

/// `USE_WEAK`, where it is a whole name, becomes `_GLIBCXX_USE_WEAK`.
fn prefix_use_weak(line: &str) -> String {
    let mut out = String::new();
    for (i, part) in line.split("USE_WEAK").enumerate() {
        if i > 0 {
            let is_name = !out.is_empty() && !out.ends_with('_');
            out.push_str(if is_name { "_GLIBCXX_USE_WEAK" } else { "USE_WEAK" });
        }
        out.push_str(part);
    }
    out
}

fn copy_all(from: &Path, to: &Path) -> Result<(), ToolchainError> {
    for file in files(from)? {
        copy(&file, &to.join(file.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_headers_get_their_own_names() {
        let rows = [
            ("#ifndef GCC_GTHR_SINGLE_H\n", "#ifndef _GLIBCXX_GCC_GTHR_SINGLE_H\n"),
            ("#pragma GCC visibility push(default)\n", "#pragma GCC visibility push(default)\n"),
            ("This file is part of GCC.\n", "This file is part of GCC.\n"),
            ("#include \"gthr-default.h\"\n", "#include <bits/gthr-default.h>\n"),
            ("#if SUPPORTS_WEAK && USE_WEAK\n", "#if __GXX_WEAK__ && _GLIBCXX_USE_WEAK\n"),
            ("# define GTHREAD_USE_WEAK 1\n", "# define GTHREAD_USE_WEAK 1\n"),
            ("f (int *x UNUSED)\n", "f (int *x _GLIBCXX_UNUSED)\n"),
        ];
        for (line, want) in rows {
            assert_eq!(thread_header(line), want);
        }
    }

    #[test]
    fn config_lines_get_values() {
        let template = "#define _GLIBCXX_RELEASE\n# define _GLIBCXX_USE_DUAL_ABI\n#define _GLIBCXX_USE_FLOAT128\n#if _GLIBCXX_USE_CXX11_ABI\n";
        assert_eq!(
            configured(template, &[("_GLIBCXX_RELEASE", "12")]),
            "#define _GLIBCXX_RELEASE 12\n# define _GLIBCXX_USE_DUAL_ABI 0\n#undef _GLIBCXX_USE_FLOAT128\n#if _GLIBCXX_USE_CXX11_ABI\n"
        );
    }

    #[test]
    fn newlib_is_the_one_beside_the_compiler() {
        let header = |name: &str, known| version_header(Path::new(name), known);
        assert!(header("/usr/src/newlib/newlib-3.3.0.tar.xz", 3).is_ok_and(|h| h.contains("\"3.3.0\"")));
        assert!(header("newlib-4.5.0.20241231.tar.xz", 4).is_ok_and(|h| h.contains("\"4.5.0\"")));
        for (name, known) in [
            ("newlib-4.4.0.20231231.tar.xz", 3),
            ("newlib-3.3.0.tar.xz", 4),
            ("newlib-3.tar.xz", 3),
            ("x", 3),
        ] {
            assert!(matches!(header(name, known), Err(ToolchainError::UnsupportedVersion { .. })), "{name}");
        }
    }
}
