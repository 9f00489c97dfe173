//! The licensed toolchain's whole path on real files, by a double that records how it is called (`tests/vendor/xt.rs`).

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, bad, good, library_files, repository, result, tool, vector_add};

/// The double. `cargo test` builds it with the other examples; only where this test alone was asked for is it missing
/// or older than its source, and then built here. Never otherwise: with the whole workspace's features around, a build
/// of one package would replace the tool under the other tests' feet.
fn double() -> &'static Path {
    static DOUBLE: OnceLock<PathBuf> = OnceLock::new();
    DOUBLE.get_or_init(|| {
        let target = Path::new(env!("CARGO_BIN_EXE_gpsimd-build")).ancestors().nth(2).expect("target/debug");
        let double = target.join("debug/examples/xt");
        let age = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        if age(&double) < age(&repository().join("tests/vendor/xt.rs")) {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.current_dir(repository()).args(["build", "--quiet", "--package", "gpsimd-build"]);
            good(cargo.args(["--example", "xt", "--target-dir"]).arg(target));
        }
        double
    })
}

/// A machine with the vendor's packages, assembled from the open SDK once for all tests.
struct Install {
    _scratch: tempfile::TempDir,
    root: PathBuf,
}

fn install() -> &'static Install {
    static INSTALL: OnceLock<Install> = OnceLock::new();
    INSTALL.get_or_init(|| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let root = scratch.path().join("gpsimd");
        let custom_op = root.join("custom_op");
        let include = repository().join("sdk/include");
        for (from, to) in [
            ("neuron", "neuron"),
            ("torch", "torch/include/torch"),
            ("ATen", "torch/include/ATen"),
            ("c10", "c10/include/c10"),
            ("neuron_torch_extension", "torch/include/neuron_torch_extension"),
        ] {
            copy_tree(&include.join(from), &custom_op.join(to));
        }
        for header in ["custom_op.h", "limits"] {
            std::fs::copy(include.join(header), custom_op.join(header)).expect("copied");
        }
        good(tool(scratch.path()).args(["lsp", "--dir"]).arg(custom_op.join("lsp_fll_load_cpus")));
        archives(scratch.path(), &custom_op);
        std::fs::create_dir_all(root.join("tools/ncore2gp/config")).expect("a directory");
        std::fs::create_dir_all(root.join("bin")).expect("a directory");
        for name in ["xt-clang++", "xt-pkg-loadlib"] {
            symlink(double(), root.join("bin").join(name)).expect("linked");
        }
        Install { _scratch: scratch, root }
    })
}

/// The runtime archives that an open build made, under the vendor's names.
fn archives(scratch: &Path, custom_op: &Path) {
    std::fs::copy(vector_add(), scratch.join("vector_add.cpp")).expect("copied");
    let home = scratch.join("home");
    let real = gpsimd_toolchain::Home::from_env().expect("a data directory");
    std::fs::create_dir(&home).expect("a directory");
    symlink(real.toolchains(), home.join("toolchains")).expect("linked");
    let mut compile = tool(scratch);
    compile.env("GPSIMD_BUILD_HOME", &home);
    good(compile.args(["compile", "--toolchain", "open", "vector_add.cpp", "--schema", VECTOR_ADD]));
    for archive in ["libneuroncustomop.a", "libc10.a"] {
        let made = find(&home.join("sdk"), archive).expect("the build kept its archives");
        let to = if archive == "libc10.a" { "c10/lib/libc10.a" } else { "neuron/libneuroncustomop.a" };
        let to = custom_op.join(to);
        std::fs::create_dir_all(to.parent().expect("a parent")).expect("a directory");
        std::fs::copy(made, to).expect("copied");
    }
    std::fs::write(custom_op.join("neuron/libcweak.a"), "!<arch>\n").expect("an empty archive");
}

fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    std::fs::read_dir(dir).ok()?.flatten().find_map(|entry| match entry.path() {
        path if path.is_dir() => find(&path, name),
        path => (path.file_name()? == name).then_some(path),
    })
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("listed").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// `compile` on a machine with the vendor's packages; calls of the double go to `calls.jsonl`.
fn on_vendor_machine(bench: &Bench) -> Command {
    let root = &install().root;
    let mut command = bench.tool();
    for name in
        ["Q7_CORE", "Q7_TOOLS", "XTENSA_CORE", "XTENSA_SYSTEM", "LM_LICENSE_FILE", "GPSIMD_BUILD_TOOLCHAIN"]
    {
        command.env_remove(name);
    }
    command
        .env("NEURON_CUSTOM_OP", root.join("custom_op"))
        .env("Q7_TOOLS", root.join("tools/ncore2gp/config"))
        .env("PATH", format!("{}:{}", std::env::var("PATH").expect("a PATH"), root.join("bin").display()))
        .env("XT_DOUBLE_LOG", bench.path("calls.jsonl"))
        // nothing that an earlier test run compiled, or no compiler would be called
        .args(["compile", "--cache-dir", "cache"]);
    command
}

/// A recorded call: program and words, the machine's directories by short names.
fn calls(bench: &Bench) -> Vec<(String, Vec<String>)> {
    let root = install().root.display().to_string();
    let here = bench.dir().canonicalize().expect("exists").display().to_string();
    let text = std::fs::read_to_string(bench.path("calls.jsonl")).unwrap_or_default();
    let calls = text.lines().map(|line| {
        let call: Value = serde_json::from_str(line).expect("a JSON line");
        let words = call["args"].as_array().expect("words").iter();
        let words = words.map(|word| {
            let word = word.as_str().expect("text").replace(&root, "R");
            word.replace(&format!("{here}/build/.gpsimd-build/k/work"), "W").replace(&here, "H")
        });
        (call["program"].as_str().expect("a name").to_owned(), words.collect())
    });
    calls
        .filter(|(_, words): &(_, Vec<String>)| words.last().is_some_and(|word| word != "--version"))
        .collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// toolchain.md §2: `CC_OPT` with the core's two flags as given.
const CC_OPT: &str = "-g -std=c++14 -stdlib=libc++-e -fno-jump-tables -Os -Wall -Werror -Wno-c99-designator -mcoproc -MMD -MP -fpic -mlongcalls -c";
/// toolchain.md §2: those of it that the link gets too.
const LINK_OPT: &str =
    "-g -std=c++14 -stdlib=libc++-e -fno-jump-tables -Os -Wall -Werror -Wno-c99-designator -mcoproc";
/// toolchain.md §1.1.
const INC: &str = "-IR/custom_op -IR/custom_op/torch/include -IR/custom_op/c10/include";

/// One row of the table: how the tool is called, and what that means for the vendor's lines.
struct Row {
    name: &'static str,
    /// Of `compile`, besides the source, the name and the schema.
    arguments: &'static [&'static str],
    /// Variables on top of the machine's.
    env: &'static [(&'static str, &'static str)],
    core: &'static str,
    /// The caller's, as they must appear.
    cflags: &'static str,
    includes: &'static str,
    ldflags: &'static str,
    variants: &'static [&'static str],
    packed_by_vendor: bool,
}

const EIGHT: &[&str] = &["cpu0", "cpu1", "cpu2", "cpu3", "cpu4", "cpu5", "cpu6", "cpu7"];

/// Every command line of the vendor path, word for word against the specification (toolchain.md §2, §3, §6).
#[test]
fn every_command_line_is_the_reference_s() {
    let core = "--xtensa-core=ncore2gp --xtensa-system=R/tools/ncore2gp/config";
    let plain = Row {
        name: "single core",
        arguments: &[],
        env: &[],
        core,
        cflags: "",
        includes: "",
        ldflags: "",
        variants: &["cpu_single"],
        packed_by_vendor: false,
    };
    let rows = [
        Row { name: "eight cores", arguments: &["--multicore"], variants: EIGHT, ..plain },
        Row {
            name: "caller's flags and includes",
            arguments: &["-I", "inc", "-I", "-Iinc/more", "--", "-O2", "-DA=1"],
            cflags: "-O2 -DA=1",
            includes: "-Iinc -Iinc/more",
            ..plain
        },
        Row {
            name: "debug is not packed",
            arguments: &["--packer", "vendor", "--", "-g"],
            cflags: "-g",
            ..plain
        },
        Row {
            name: "link flags are the link's and compiler flags are not",
            arguments: &["--ldflag", "-Wl,--defsym=x=1", "--", "-DA=1"],
            cflags: "-DA=1",
            ldflags: "-Wl,--defsym=x=1",
            ..plain
        },
        Row {
            name: "the vendor's packer",
            arguments: &["--packer", "vendor", "--multicore"],
            variants: EIGHT,
            packed_by_vendor: true,
            ..plain
        },
        Row {
            name: "another core, whatever the tools' own variables say",
            arguments: &["--packer", "vendor"],
            env: &[("Q7_CORE", "other"), ("XTENSA_CORE", "third"), ("XTENSA_SYSTEM", "/nowhere")],
            core: "--xtensa-core=other --xtensa-system=R/tools/ncore2gp/config",
            packed_by_vendor: true,
            ..plain
        },
        plain,
    ];
    for row in rows {
        let bench = Bench::new();
        std::fs::copy(vector_add(), bench.path("k.cpp")).expect("copied");
        std::fs::create_dir_all(bench.path("inc/more")).expect("a directory");
        let mut compile = on_vendor_machine(&bench);
        compile.envs(row.env.iter().copied());
        compile.args(["k.cpp", "--name", "k", "--schema", VECTOR_ADD, "--toolchain", "vendor"]);
        good(compile.args(row.arguments));

        let Row { core, cflags, includes, ldflags, .. } = row;
        let kernel = format!("{CC_OPT} {core} {cflags} {INC} {includes} -o W/obj/k.o k.cpp");
        let wrapper = format!("{CC_OPT} {core} {cflags} {INC} -o W/obj/wrapper.guess.o W/wrapper.cpp");
        let mut want = vec![("xt-clang++", words(&kernel)), ("xt-clang++", words(&wrapper))];
        for variant in row.variants {
            let suffix = if *variant == "cpu_single" { String::new() } else { format!("_{variant}") };
            want.push((
                "xt-clang++",
                words(&format!(
                    "{LINK_OPT} {core} {INC} {ldflags} -o W/out/k{suffix}.so W/obj/k.o W/obj/wrapper.o \
                     R/custom_op/neuron/libneuroncustomop.a R/custom_op/c10/lib/libc10.a -lloader \
                     -mlsp=R/custom_op/lsp_fll_load_cpus/lsp_fll_load_{variant} \
                     -lxmem -lhal -lc++-e -lm -lgcc R/custom_op/neuron/libcweak.a"
                )),
            ));
            if row.packed_by_vendor {
                want.push((
                    "xt-pkg-loadlib",
                    words(&format!(
                        "-e lib_func {core} -o W/out/k{suffix}.packed.so -s W/out/k{suffix}.stripped.so W/out/k{suffix}.so"
                    )),
                ));
            }
        }
        let mut want: Vec<(String, Vec<String>)> =
            want.into_iter().map(|(program, words)| (program.to_owned(), words)).collect();
        let mut found = calls(&bench);
        // they run at the same time, so their order is nobody's
        want.sort();
        found.sort();
        assert_eq!(found, want, "{}", row.name);
    }
}

/// The images of the vendor path are real: they verify, they run, and both packers agree on every byte.
#[test]
fn both_packers_make_the_same_library() {
    let [native, vendor] = ["native", "vendor"].map(|packer| {
        let bench = Bench::with_vector_add();
        let mut compile = on_vendor_machine(&bench);
        compile.args(["vector_add.cpp", "--multicore", "--schema", VECTOR_ADD, "--packer", packer]);
        let document = result(&mut compile);
        assert_eq!(document["toolchain"]["name"], "vendor");
        assert_eq!(document["toolchain"]["why"], "xtensa-tools is here and complete");
        let identity = document["manifest"]["versions"]["toolchain"].as_str().expect("an identity");
        assert!(identity.starts_with("vendor XtensaTools-14.09 clang version 10.0.1 (double) ncore2gp "));
        good(bench.tool().args(["verify", "build/vector_add"]));
        bench
    });
    let names: Vec<String> = native.outputs().into_keys().collect();
    assert_eq!(names, library_files("vector_add", true));
    let images = |bench: &Bench| {
        let mut outputs = bench.outputs();
        outputs.retain(|name, _| name.contains("packed") || name.contains("stripped"));
        outputs
    };
    assert_eq!(images(&native), images(&vendor));
}

#[test]
fn a_library_of_the_vendor_path_runs() {
    let bench = Bench::with_vector_add();
    let mut compile = on_vendor_machine(&bench);
    good(compile.args(["vector_add.cpp", "--schema", VECTOR_ADD, "--toolchain", "vendor"]));
    let text = good(bench.tool().args(["run", "build/vector_add", "ones:5", "ones:5", "--like", "0"]));
    assert!(text.contains("= [2, 2, 2, 2, 2]"), "{text}");
}

/// Children get the licence variable if nobody set it, and the tool directory at the end of `PATH`.
#[test]
fn only_children_get_variables_and_only_unset_ones() {
    let root = &install().root;
    for (chosen, want) in [
        (None, "/opt/aws/neuron/gpsimd/tools/licenses/amzn_vq7_us_582883.out"),
        (Some("27000@host"), "27000@host"),
    ] {
        let bench = Bench::with_vector_add();
        let mut compile = on_vendor_machine(&bench);
        // found through XTENSA_TOOLS this time, and so not in PATH
        let tools = bench.path("tools");
        std::fs::create_dir_all(tools.join("XtensaTools")).expect("a directory");
        symlink(root.join("bin"), tools.join("XtensaTools/bin")).expect("linked");
        let path = std::env::var("PATH").expect("a PATH");
        compile.env("PATH", &path).env("XTENSA_TOOLS", &tools);
        if let Some(chosen) = chosen {
            compile.env("LM_LICENSE_FILE", chosen);
        }
        good(compile.args(["vector_add.cpp", "--schema", VECTOR_ADD, "--toolchain", "vendor"]));
        let text = std::fs::read_to_string(bench.path("calls.jsonl")).expect("calls");
        assert!(text.lines().count() >= 4, "{text}");
        for line in text.lines() {
            let call: Value = serde_json::from_str(line).expect("a JSON line");
            assert_eq!(call["env"]["LM_LICENSE_FILE"], want);
            assert_eq!(call["env"]["PATH"], format!("{path}:{}", tools.join("XtensaTools/bin").display()));
        }
    }
}

/// `auto` says what it took and why; what is missing is listed whole.
#[test]
fn an_incomplete_install_is_named_and_passed_over() {
    let bench = Bench::with_vector_add();
    let root = bench.path("gpsimd");
    copy_tree(&install().root.join("custom_op/lsp_fll_load_cpus"), &root.join("lsp_fll_load_cpus"));
    std::fs::remove_dir_all(root.join("lsp_fll_load_cpus/lsp_fll_load_cpu4")).expect("removed");
    let line = ["vector_add.cpp", "--schema", VECTOR_ADD];
    let mut compile = on_vendor_machine(&bench);
    let text = bad(compile.env("NEURON_CUSTOM_OP", &root).args(line).args(["--toolchain", "vendor"]), 3);
    for part in [
        "toolchain::vendor_incomplete",
        "neuron/wrapper_api.h",
        "torch/include/torch/torch.h",
        "c10/include",
        "neuron/libneuroncustomop.a",
        "c10/lib/libc10.a",
        "neuron/libcweak.a",
        "linker support package",
        "lsp_fll_load_cpus/lsp_fll_load_cpu4\n",
        "7 of its parts are missing",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let mut compile = on_vendor_machine(&bench);
    let document = result(compile.env("NEURON_CUSTOM_OP", &root).args(line));
    assert_eq!(document["toolchain"]["name"], "open");
    let why = document["toolchain"]["why"].as_str().expect("a reason");
    assert!(why.contains("incomplete") && why.contains("6 more"), "{why}");
    assert!(calls(&bench).is_empty(), "a compiler of an incomplete install was started");
}

#[test]
fn a_host_that_forbids_executable_stacks_is_explained() {
    let bench = Bench::with_vector_add();
    let mut compile = on_vendor_machine(&bench);
    compile.env(
        "XT_DOUBLE_FAIL",
        "libXtensaCodeGen.so: cannot enable executable stack as shared object requires",
    );
    compile.args(["vector_add.cpp", "--schema", VECTOR_ADD, "--toolchain", "vendor"]);
    let text = bad(&mut compile, 3);
    assert!(
        text.contains("cannot enable executable stack") && text.contains("selinuxuser_execstack"),
        "{text}"
    );
}

#[test]
fn a_refused_licence_is_the_machine_s_fault() {
    let bench = Bench::with_vector_add();
    let mut compile = on_vendor_machine(&bench);
    let said = "License checkout failed: FlexNet Licensing error:-15,570. System Error: 111";
    compile.env("XT_DOUBLE_FAIL", said);
    compile.args(["vector_add.cpp", "--schema", VECTOR_ADD, "--toolchain", "vendor"]);
    let text = bad(&mut compile, 3);
    for words in ["toolchain::licence", said, "libsimxtcore", "LM_LICENSE_FILE", "--toolchain open"] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
}

#[test]
fn the_vendor_s_packer_needs_the_vendor_s_tools() {
    let bench = Bench::with_vector_add();
    let line = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--packer", "vendor"];
    let text = bad(bench.tool().args(line).args(["--toolchain", "open"]), 1);
    assert!(text.contains("engine::no_packer"), "{text}");
    let text = bad(bench.tool().args(line).env("GPSIMD_BUILD_TOOLCHAIN", "gcc"), 1);
    assert!(text.contains("cli::toolchain"), "{text}");
}
