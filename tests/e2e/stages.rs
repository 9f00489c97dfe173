//! The stages one by one: `compile` is exactly their composition.

use crate::bench::{Bench, VECTOR_ADD, bad, good, repository, result};

#[test]
fn pack_and_unpack_are_what_compile_does() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let built = bench.outputs();
    std::fs::copy(bench.path("build/vector_add_cpu5.so"), bench.path("again.so")).expect("copied");
    good(bench.tool().args(["pack", "again.so"]));
    assert_eq!(
        std::fs::read(bench.path("again.stripped.so")).expect("read"),
        built["vector_add_cpu5.stripped.so"]
    );
    assert_eq!(
        std::fs::read(bench.path("again.packed.so")).expect("read"),
        built["vector_add_cpu5.packed.so"]
    );
    good(bench.tool().args(["unpack", "again.packed.so", "-o", "back.so"]));
    assert_eq!(std::fs::read(bench.path("back.so")).expect("read"), built["vector_add_cpu5.stripped.so"]);
}

#[test]
fn codegen_prints_the_wrapper_that_compile_uses() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let printed = good(bench.tool().args(["codegen", "--schema", VECTOR_ADD]));
    let used =
        std::fs::read_to_string(bench.path("build/.gpsimd-build/vector_add/work/wrapper.cpp")).expect("read");
    assert_eq!(printed, used);
}

#[test]
fn lsp_writes_nine_packages() {
    let bench = Bench::new();
    let printed = good(bench.tool().args(["lsp", "--dir", "lsps"]));
    assert_eq!(printed.lines().count(), 9);
    for name in (0..8).map(|i| format!("cpu{i}")).chain(["cpu_single".to_owned()]) {
        for file in [
            "specs",
            "ldscripts/elf32xtensa.x",
            "ldscripts/elf32xtensa.xn",
            "ldscripts/elf32xtensa.xbn",
            "ldscripts/elf32xtensa.xr",
            "ldscripts/elf32xtensa.xu",
        ] {
            assert!(bench.path(format!("lsps/lsp_fll_load_{name}/{file}")).is_file(), "{name}/{file}");
        }
    }
    let text = bad(bench.tool().args(["lsp", "--variant", "cpu8"]), 2);
    assert!(text.contains("possible values: cpu0,"), "{text}");
}

#[test]
fn a_dry_run_prints_and_makes_nothing() {
    let bench = Bench::with_vector_add();
    let printed = |link| {
        let line =
            ["compile", "vector_add.cpp", "--multicore", "--dry-run", "--link", link, "--schema", VECTOR_ADD];
        good(bench.tool().args(line))
    };
    for (link, links) in [("once", 1), ("each", 8)] {
        let printed = printed(link);
        let linkers = printed.lines().filter(|line| !line.starts_with("gpsimd-build"));
        assert_eq!(
            linkers.filter(|line| line.contains("elf32xtensa.x")).count(),
            links,
            "--link {link}\n{printed}"
        );
        assert!(printed.contains("gpsimd-build verify"), "{printed}");
    }
    assert!(!bench.path("build").exists());
}

#[test]
fn the_strip_gate_is_the_reference_s() {
    let rows: &[(&[&str], bool)] = &[
        (&["--", "-g"], false),
        (&["--", "-g3"], true),
        (&["--strip", "--", "-g"], true),
        (&["--no-strip"], false),
        (&[], true),
    ];
    for (arguments, packaged) in rows {
        let bench = Bench::with_vector_add();
        good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]).args(*arguments));
        assert_eq!(bench.outputs().contains_key("vector_add.packed.so"), *packaged, "{arguments:?}");
    }
}

#[test]
fn a_library_can_shrink_from_eight_cores_to_one() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    let names: Vec<String> = bench.outputs().into_keys().collect();
    assert_eq!(names, crate::bench::library_files("vector_add", false));
}

#[test]
fn sources_of_one_name_do_not_overwrite_each_other() {
    let bench = Bench::with_vector_add();
    std::fs::create_dir(bench.path("more")).expect("a directory");
    bench.write("more/vector_add.cpp", "int helper() { return 7; }\n");
    bench.write("wrapper.cpp", "int helper();\nint other() { return helper(); }\n");
    good(bench.tool().args([
        "compile",
        "vector_add.cpp",
        "more/vector_add.cpp",
        "wrapper.cpp",
        "--schema",
        VECTOR_ADD,
    ]));
}

#[test]
fn inspect_shows_and_draws_an_image() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let text = good(bench.tool().args(["inspect", "build/vector_add_cpu3.so", "--map", "map.svg"]));
    for words in ["EXEC", "0x84600000", ".text", ".bss"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    let picture = std::fs::read_to_string(bench.path("map.svg")).expect("read");
    assert!(picture.starts_with("<svg") && picture.contains(".text"), "{picture}");
    let document = result(bench.tool().args(["inspect", "build/vector_add_cpu3.packed.so"]));
    assert_eq!(document["files"][0]["image"]["window"]["base"], 0x8460_0000_u32);
}

/// Another GNU cross compiler by prefix; the open toolchain's own wrappers stand in for one.
#[test]
fn a_compiler_by_prefix_builds_the_same_program() {
    let bench = Bench::with_vector_add();
    let shown = result(bench.tool().args(["toolchain", "show"]));
    let prefix = format!("{}/bin/q7-", shown["directory"].as_str().expect("a directory"));
    good(bench.tool().args(["compile", "vector_add.cpp", "--gnu-prefix", &prefix, "--schema", VECTOR_ADD]));
    good(bench.tool().args(["run", "build/vector_add", "rand:9", "rand:9", "--like", "0"]));
    let text = bad(
        bench.tool().args(["compile", "vector_add.cpp", "--gnu-prefix", "no-such-", "--schema", VECTOR_ADD]),
        3,
    );
    assert!(text.contains("no-such-gcc"), "{text}");
}

/// The object that ships a fixed image's packed form, who made what is in it, and for which core.
#[test]
fn an_image_tells_who_made_it() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let packed = "build/vector_add_cpu3.packed.so";
    let text = good(bench.tool().args(["inspect", packed]));
    for words in [
        "packed REL (1), .rodata ",
        "lib_func GLOBAL at .rodata+0x0",
        "made by GCC: ",
        "hardware release RI-2020.4",
    ] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
    assert!(!text.contains("not simulatable"), "scalar code has no bundles\n{text}");
    let document: serde_json::Value =
        serde_json::from_str(&good(bench.tool().args(["inspect", "--json", packed]))).expect("JSON");
    let document = document.to_string();
    for words in ["\"symbol\":\"lib_func\"", "\"offset\":0", "\"producers\"", "\"bundles\":{\"total\":0"] {
        assert!(document.contains(words), "no {words} in\n{document}");
    }
}

/// Names of the vendor's getters, with what a directory supplies of the libraries behind them.
#[test]
fn the_catalogue_of_built_in_libraries_is_shown() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("extisa")).expect("a directory");
    let small = repository().join("crates/gpsimd-loader/corpus/prelink/small.elf");
    std::fs::copy(small, bench.path("extisa/CAYMAN_Q7_POOL_PERF_EXTISA_0.so")).expect("copied");
    bench.write("extisa/CAYMAN_Q7_POOL_PERF_EXTISA_0.json", "{}");
    bench.write("extisa/MARIANA_Q7_POOL_PERF_EXTISA_3.so", "no library");
    let text = good(bench.tool().args(["inspect", "--extisa", "extisa"]));
    let line = |getter: &str| text.lines().find(|line| line.contains(getter)).unwrap_or_default();
    assert!(line("CAYMAN_Q7_POOL_PERF_EXTISA_0_SO_get").contains("prelinks to"), "{text}");
    assert!(line("MARIANA_Q7_POOL_PERF_EXTISA_3_SO_get").contains("status 1, NOT_ELF"), "{text}");
    assert!(line("SUNDA_Q7_POOL_RELEASE_EXTISA_0_SO_get").contains("weak in the runtime"), "{text}");
    assert!(line("MARIANA_PLUS_Q7_POOL_PERF_EXTISA_1_SO_get").contains("would give 3"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("_SO_get")).count(), 17, "{text}");
}

/// `-v` shows commands, `-vv` what the tool thinks; both beside the result.
#[test]
fn verbose_shows_commands_and_twice_the_log() {
    let bench = Bench::with_vector_add();
    let said = |arguments: &[&str]| {
        let output = bench.tool().args(arguments).output().expect("the tool starts");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let compile = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split"];
    assert!(said(&[&compile[..], &["-v"]].concat()).contains("gpsimd-build stage synthesize"));
    let prelink = ["prelink", "build/vector_add.split.so", "-o", "x.ucpl"];
    assert!(said(&[&prelink[..], &["-vv"]].concat()).contains("relocated"));
    assert!(!said(&prelink).contains("relocated"));
    let run = ["run", "build/vector_add", "ones:3", "ones:3", "--like", "0", "--lane", "ucpl"];
    assert!(said(&[&run[..], &["-vv"]].concat()).contains("stage="));
}
