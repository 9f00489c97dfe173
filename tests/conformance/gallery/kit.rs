//! The kit itself: the error bounds of its functions on a sample, its tables from their source, and that it needs nothing but
//! the documented API.

use std::process::Command;

use super::gallery;
use gpsimd_device::{Arg, Tensor, Value};
use gpsimd_toolchain::{CompileJob, Home, Machine, Toolchain};

use crate::bench::{Bench, good, repository};
use crate::workshop::{Cores, Recipe, call, files, host_compiler, sdk};

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

/// The bounds are proven with this machine's compiler; a core must give the same bits.
#[test]
fn a_core_gives_the_bits_that_the_bounds_are_proven_for() {
    let bench = Bench::new();
    let kit = repository().join("sdk/tests/kit");
    let program = bench.path("fast_bits");
    good(host_compiler().arg("-O2").arg("-o").arg(&program).arg(kit.join("fast_bits_host.cpp")));
    // spread over all encodings, and every boundary of the exponent with its neighbours
    let spread = (0..1u64 << 32).step_by(1_048_573 + 2).map(|k| k as u32);
    let edges = (0..=0x1ff_u32).flat_map(|e| [e << 23, (e << 23) + 1, (e << 23).wrapping_sub(1)]);
    let inputs: Vec<f32> = spread.chain(edges).map(f32::from_bits).collect();
    let bytes: Vec<u8> = inputs.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(bench.path("in"), &bytes).expect("written");
    let stdin = std::fs::File::open(bench.path("in")).expect("just written");
    let ran = Command::new(&program).stdin(stdin).output().expect("the program starts");
    assert!(ran.status.success());

    let library = Recipe {
        source: kit.join("fast_bits.cpp"),
        ops: vec!["fast_bits=test::fast_bits(Tensor x, int which) -> (Tensor y)".to_owned()],
        cores: Cores::Eight,
        cflags: Vec::new(),
        is_checked: false,
    };
    let mut machine = library.build().machine();
    let x = Tensor::from_f32(&inputs).expect("a shape");
    for (which, want) in ran.stdout.chunks(bytes.len()).enumerate() {
        let args = vec![Arg::tensor("x", x.clone()), Arg::new("which", Value::Int(which as i32))];
        let got = call(&mut machine, "fast_bits", args, x.spec.clone()).output.data;
        let differ = |(a, b): (&[u8], &[u8])| a != b && !(is_nan(a) && is_nan(b));
        let at = want.chunks(4).zip(got.chunks(4)).position(differ);
        assert_eq!(at.map(|at| inputs[at].to_bits()), None, "function {which}");
    }
    assert_eq!(ran.stdout.len(), 19 * bytes.len());
}

/// Which NaN comes out is nobody's promise.
fn is_nan(bytes: &[u8]) -> bool {
    bytes.try_into().is_ok_and(|bytes| f32::from_le_bytes(bytes).is_nan())
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
