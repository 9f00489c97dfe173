//! What is different in a checked build: compiler flags for the kernels, linker flags for the images.
//!
//! The compiler only lays out redzones and writes to their shadow; whether an access meets one is the simulator's to see,
//! so no check of an access is compiled in. Unaware of what the handlers do (`sdk/src/checked`).

use std::ffi::OsString;

use crate::words::request::Sanitizer;

/// Redzones around locals, globals and blocks of alloca, for any size of them; the shadow where the simulator has it.
const ADDRESS: &[&str] = &[
    "-fsanitize=kernel-address",
    "-fasan-shadow-offset=0x10000000",
    "-fsanitize-address-use-after-scope",
    "--param=asan-stack=1",
    "--param=asan-globals=1",
    "--param=asan-instrument-allocas=1",
    "--param=asan-instrument-reads=0",
    "--param=asan-instrument-writes=0",
    // what the C++ library's containers know of their bounds
    "-D_GLIBCXX_ASSERTIONS",
    "-D_GLIBCXX_SANITIZE_VECTOR=1",
    "-D_GLIBCXX_SANITIZE_STD_ALLOCATOR=1",
];

/// All that GCC counts as undefined, and conversions of floats, which it leaves out of that.
const UNDEFINED: &[&str] = &["-fsanitize=undefined", "-fsanitize=float-cast-overflow"];

const PAIRS: &[&str] = &[
    "-fsanitize=kernel-address",
    "-fasan-shadow-offset=0x10000000",
    "-fsanitize=pointer-compare",
    "-fsanitize=pointer-subtract",
];

/// Warnings that only the added code causes stop no build; the author's own are the plain build's to report, but for type
/// puns: no check at run time knows what type memory was written as, and the compiler's guess may be wrong.
const BOTH: &[&str] = &["-Wno-error", "-fstrict-aliasing", "-Wstrict-aliasing=2"];

/// Higher levels move a variable's accesses out of its scope's redzones, since no check holds them there.
const LEVEL: &str = "-Og";

/// The mark of checked images, and the functions that judge before they copy.
const LINK: &[&str] = &[
    "-Wl,-u,__gpsimd_checked",
    "-Wl,-u,__wrap_memcpy",
    "-Wl,--wrap=memcpy,--wrap=strcpy,--wrap=strncpy,--wrap=strcat,--wrap=strncat,--wrap=stpcpy",
];

/// Flags of the kernels' compiles: ours, the caller's, and the level of optimisation.
pub(crate) fn cflags(sanitizers: &[Sanitizer], own: &[OsString]) -> Vec<OsString> {
    let of = |sanitizer: &Sanitizer| match sanitizer {
        Sanitizer::Address => ADDRESS,
        Sanitizer::Undefined => UNDEFINED,
        Sanitizer::Pairs => PAIRS,
    };
    if sanitizers.is_empty() {
        return own.to_vec();
    }
    let level = own.iter().rev().find(|flag| flag.as_encoded_bytes().starts_with(b"-O"));
    let level = level.filter(|level| *level == "-O0").is_none().then_some(LEVEL);
    let ours = sanitizers.iter().flat_map(of).chain(BOTH).map(OsString::from);
    ours.chain(own.iter().cloned()).chain(level.map(OsString::from)).collect()
}

/// Flags of the link, before the caller's.
pub(crate) fn ldflags(sanitizers: &[Sanitizer]) -> Vec<OsString> {
    let flags = if sanitizers.is_empty() { &[] } else { LINK };
    flags.iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(own: &[&str], sanitizers: &[Sanitizer]) -> Vec<String> {
        let own: Vec<OsString> = own.iter().map(OsString::from).collect();
        cflags(sanitizers, &own).into_iter().filter_map(|word| word.into_string().ok()).collect()
    }

    #[test]
    fn the_level_is_ours_unless_it_is_none() {
        assert_eq!(words(&["-O3"], &[]), ["-O3"]);
        for (own, want) in
            [(&["-O3", "-DX"][..], Some("-Og")), (&["-O0"], None), (&["-O0", "-O2"], Some("-Og"))]
        {
            let words = words(own, &[Sanitizer::Undefined]);
            assert_eq!(words.last().filter(|word| *word == "-Og").map(String::as_str), want, "{own:?}");
            assert!(words.contains(&"-fsanitize=undefined".to_owned()) && words.contains(&own[0].to_owned()));
        }
    }
}
