//! The kit itself: the error bounds of its functions on a sample, its tables from their source, and that it needs nothing but
//! the documented API.

use std::process::Command;

use super::gallery;
use gpsimd_toolchain::{CompileJob, Home, Machine, Toolchain};

use crate::bench::{Bench, good, repository};
use crate::workshop::{files, host_compiler, sdk};

/// Every 4,093rd float here; `cargo xtask soak` tries all.
#[test]
fn the_bounds_of_fast_functions_hold_on_a_sample() {
    let bench = Bench::new();
    let program = bench.path("fast_exhaustive");
    let source = repository().join("sdk/tests/kit/fast_exhaustive.cpp");
    good(host_compiler().arg("-O2").arg("-o").arg(&program).arg(source));
    let step = std::env::var("GPSIMD_FAST_STEP").unwrap_or_else(|_| "4093".to_owned());
    let report = good(Command::new(&program).arg(step));
    println!("{report}");
    assert!(report.lines().count() >= 15, "{report}");
}

#[test]
fn the_tables_are_what_their_script_prints() {
    let printed = good(Command::new("python3").arg(repository().join("sdk/tests/kit/tables.py")));
    let header = std::fs::read_to_string(sdk().join("include/gpsimd/fast_tables.hpp")).expect("readable");
    assert!(printed == header, "run sdk/tests/kit/tables.py > sdk/include/gpsimd/fast_tables.hpp");
}

/// The kit and the gallery compile against nothing but the documented declarations, as one file and as several. Two kernels
/// are for bfloat16, whose C++ type the reference does not name.
#[test]
fn nothing_but_the_documented_api_is_asked_for() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("as_one/gpsimd")).expect("created");
    let kit = good(bench.tool().arg("kit"));
    bench.write("as_one/gpsimd/kit.hpp", &kit);
    assert!(!kit.contains("#include <gpsimd/"), "one file");
    let several = bench.path("several");
    std::fs::create_dir(&several).expect("created");
    std::os::unix::fs::symlink(sdk().join("include/gpsimd"), several.join("gpsimd")).expect("linked");
    let kernels = files(&gallery(), "cpp");
    let all: String = kernels
        .iter()
        .filter(|path| !path.ends_with("rms_norm.cpp") && !path.ends_with("swiglu.cpp"))
        .map(|path| format!("#include \"{}\"\n", path.display()))
        .collect();
    bench.write("all.cpp", &all);
    let home = Home::from_env().expect("a data directory");
    let toolchain = Toolchain::discover(&Machine::here(), &home).expect("the open toolchain");
    for include in ["as_one", "several"] {
        let (source, object) = (bench.path("all.cpp"), bench.path("all.o"));
        let mut job = CompileJob::new(&source, &object);
        job.includes = vec![repository().join("sdk/tests/kit/documented"), bench.path(include)];
        good(&mut toolchain.compile(&job).to_std());
    }
}
