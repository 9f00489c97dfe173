//! The runtime archives define the reference's link names, in its members, and leave only the wrapper's three undefined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gpsimd_toolchain::{Home, Machine, OpenToolchain};

use crate::bench::{Bench, VECTOR_ADD, cross, good};
use crate::kernels::{cases, recipe, sdk_tests};
use crate::workshop::Cores;

/// A symbol of an archive: its member, nm's letter, its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    name: String,
    letter: char,
    member: String,
}

/// All symbols of an archive or object, by nm.
fn symbols(archive: &Path) -> Vec<Symbol> {
    let listing = good(cross("nm").args(["--print-file-name", "--no-sort"]).arg(archive));
    let symbol = |line: &str| {
        let (place, rest) = line.rsplit_once(':')?;
        let member = place.rsplit([':', '/']).next()?;
        let mut words = rest.split_whitespace().rev();
        let (name, letter) = (words.next()?.to_owned(), words.next()?.chars().next()?);
        Some(Symbol { name, letter, member: member.to_owned() })
    };
    listing.lines().filter_map(symbol).collect()
}

/// The archives that a build links: those of its link command.
fn runtime() -> [Vec<Symbol>; 2] {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let plan = good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--dry-run"]));
    ["libneuroncustomop.a", "libc10.a"].map(|name| {
        let found = plan.split_whitespace().map(|word| PathBuf::from(word.trim_matches('\'')));
        let archive = found.filter(|path| path.is_file()).find(|path| path.ends_with(name));
        symbols(&archive.unwrap_or_else(|| panic!("no {name} in\n{plan}")))
    })
}

/// Rows of `symbols.txt`.
fn table() -> Vec<Symbol> {
    let text = std::fs::read_to_string(sdk_tests().join("symbols.txt")).expect("symbols.txt");
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, letter, member] = words[..] else { panic!("symbols.txt: {line}") };
        Symbol { name: name.into(), letter: letter.chars().next().expect("a letter"), member: member.into() }
    });
    rows.collect()
}

#[test]
fn the_runtime_archive_has_the_reference_s_names() {
    let [runtime, c10] = runtime();
    let wanted = table();
    let missing: Vec<&Symbol> = wanted.iter().filter(|symbol| !runtime.contains(symbol)).collect();
    assert!(missing.is_empty(), "not in the archive, or of another member or type: {missing:#?}");
    let members = |symbols: &[Symbol]| -> BTreeSet<String> {
        symbols.iter().map(|symbol| symbol.member.clone()).collect()
    };
    assert_eq!(members(&runtime), members(&wanted));

    let home = Home::from_env().expect("a data directory");
    let toolchain = OpenToolchain::discover(&Machine::here(), &home).expect("found above");
    let linked_too = [
        "libstdc++-lite.a",
        "libm.a",
        "libc.a",
        "libhal.a",
        "libgcc.a",
        "libnosys.a",
        "crti.o",
        "crtbegin.o",
    ]
    .map(|name| symbols(&toolchain.dir().join("target/lib").join(name)));
    let ours: Vec<&Symbol> = runtime.iter().chain(&c10).collect();
    let defined: BTreeSet<&str> = ours
        .iter()
        .copied()
        .chain(linked_too.iter().flatten())
        .filter(|symbol| symbol.letter.is_ascii_uppercase() && symbol.letter != 'U')
        .map(|symbol| symbol.name.as_str())
        .collect();
    let mut undefined: BTreeMap<&str, &str> = BTreeMap::new();
    for symbol in ours.iter().filter(|symbol| symbol.letter == 'U' && !defined.contains(symbol.name.as_str()))
    {
        undefined.insert(&symbol.name, &symbol.member);
    }
    let trio = ["_Z12get_func_cntv", "_Z12get_func_ptri", "_Z13get_func_namei"];
    assert_eq!(undefined.into_keys().collect::<Vec<_>>(), trio);
}

/// Names of the functions that a linked image holds.
fn functions(image: &[u8]) -> BTreeSet<String> {
    let bench = Bench::new();
    std::fs::write(bench.path("image.so"), image).expect("written");
    symbols(&bench.path("image.so")).into_iter().filter(|s| s.letter == 'T').map(|s| s.name).collect()
}

/// Every operator and factory of the archive, in every overload, is linked into some conformance kernel: unused ones would
/// not be there.
#[test]
fn every_operator_is_in_a_conformance_kernel() {
    let [_, c10] = runtime();
    let operators: BTreeSet<String> = c10
        .into_iter()
        .filter(|s| s.letter == 'T' && s.member.starts_with("ops_") && s.name.starts_with("_ZN2at"))
        .filter(|s| !s.name.starts_with("_ZN2at3ops"))
        .map(|s| s.name)
        .collect();
    assert!(operators.len() >= 58, "only {} operators in the archive", operators.len());
    let linked: BTreeSet<String> = cases()
        .iter()
        .flat_map(|library| recipe(library, Cores::One).build().images.clone())
        .flat_map(|image| functions(&image.debug.expect("built with its linked form")))
        .collect();
    let missing: Vec<&String> = operators.difference(&linked).collect();
    assert!(missing.is_empty(), "no kernel calls {missing:#?}");
}
