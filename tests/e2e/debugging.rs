//! `debug`: sessions by script, forward and backward, on one core and on eight.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::process::Stdio;

use gpsimd_debug::{Debugger, Images};
use gpsimd_device::{Arg, Config, Dtype, Sources, Tensor, TensorSpec, Trace};
use gpsimd_library::{Lane, Library, Staging};

use crate::bench::{Bench, good};

/// Doubles, but for elements that a second loop overwrites.
const KERNEL: &str = "\
#include <torch/torch.h>

static int twice(int value) {
    int result = value * 2;
    return result;
}

torch::Tensor doubled(const torch::Tensor& x) {
    torch::Tensor out = get_dst_tensor();
    auto from = x.accessor<int, 1>();
    auto to = out.accessor<int, 1>();
    const int n = static_cast<int>(x.numel());
    for (int i = 0; i < n; i++) {
        to[i] = twice(from[i]);
    }
    for (int i = n - 2; i < n; i++) {
        to[i] = from[i] + 100;
    }
    return out;
}
";

/// What a session prints when it is told these lines.
fn session(bench: &Bench, arguments: &[&str], lines: &str) -> String {
    let mut tool = bench.tool();
    tool.arg("debug").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = tool.spawn().expect("the tool starts");
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("told");
    let output = child.wait_with_output().expect("it ends");
    let [printed, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{}\n{printed}\n{said}", output.status);
    printed.into_owned()
}

/// Every line comes in this order.
fn in_order(text: &str, lines: &[&str]) {
    let mut rest = text.lines();
    for wanted in lines {
        assert!(rest.any(|line| line.contains(wanted)), "{wanted:?} is missing, or too early:\n{text}");
    }
}

#[test]
fn a_session_goes_forward_and_back() {
    let bench = Bench::new();
    bench.write("doubled.cpp", KERNEL);
    let arguments = ["doubled.cpp", "arange:8:int32", "--like", "0"];
    let text = session(
        &bench,
        &arguments,
        "break doubled.cpp:14 if i == 5\nrun\nprint i\nlocals\nstep\nbt\nprint value\nset value = 50\nfinish\n\
         continue\nx out[5]\nwhy out[7]\nwatch out[7]\nrcontinue\nprint i\nrcontinue\nprint i\nrnext\nprint i\nrfinish\n\
         delete 1\ndelete 2\ngoto 0\nbreak twice hits 3\ncontinue\nprint value\nrstepi\nstepi\njump\n",
    );
    in_order(
        &text,
        &[
            "breakpoint 1 on core 0",
            "doubled at doubled.cpp:14",
            "i = 5",
            "n = 8",
            // into the call, and out of it again
            "twice at doubled.cpp:4",
            "*0  twice at doubled.cpp:4",
            " 1  doubled at doubled.cpp:14",
            "value = 5",
            "doubled at doubled.cpp:14",
            "all cores have returned",
            // what was set went on from there
            "out[5]: 100",
            "out[7]: 14 -> 107, core 0",
            "doubled at doubled.cpp:17",
            "out[7]: nothing -> 14, core 0",
            "doubled at doubled.cpp:14",
            // backward through the writes
            "write to out[7]: 14 -> 107",
            "i = 7",
            "write to out[7]: nothing -> 14",
            "i = 7",
            // to where the line began, and to the call of the function
            "doubled at doubled.cpp:14",
            "i = 7",
            "doubled_wrapper at wrapper.cpp",
            "breakpoint 3 on core 0",
            "value = 2",
            "error[debug::command]: there is no command \"jump\"",
        ],
    );
}

#[test]
fn eight_cores_are_told_apart_and_messages_are_written() {
    let bench = Bench::new();
    bench.write(
        "shares.cpp",
        "#include <torch/torch.h>\n\
         torch::Tensor shares(const torch::Tensor& x) {\n\
         \ttorch::Tensor out = get_dst_tensor();\n\
         \tconst int core = get_cpu_id();\n\
         \tout.accessor<int, 1>()[core] = core * 10;\n\
         \treturn out;\n}\n",
    );
    let text = session(
        &bench,
        &["shares.cpp", "zeros:8:int32", "--like", "0", "--multicore"],
        "log shares.cpp:5 core {core} comes\nbreak shares.cpp:6 if core == 3\nrun\ncores\nprint core\n\
         core 0\nfindings off\ncontinue\ntensor out\nwhy out[6]\n",
    );
    in_order(
        &text,
        &[
            "P0: core 0 comes",
            "breakpoint 2 on core 3",
            "*core 3 after",
            "core = 3",
            "all cores have returned",
            "[0] 0, 10, 20, 30, 40, 50, 60, 70",
            "out[6]: nothing -> 60, core 6",
            "shares at shares.cpp:5",
        ],
    );
}

/// Prelinked and loaded by record, it is the same program; and the device around it is shown.
#[test]
fn the_split_lane_is_debugged_alike() {
    let bench = Bench::new();
    bench.write("doubled.cpp", KERNEL);
    let text = session(
        &bench,
        &[
            "doubled.cpp",
            "arange:8:int32",
            "--lane",
            "ucpl",
            "--op",
            "doubled=my::doubled(Tensor x) -> Tensor",
        ],
        "break doubled.cpp:14 if i == 3\nrun\nlocals\nbt\ndevice\nnext\nrnext\nprint i\nfindings off\ncontinue\nwhy out[3]\n",
    );
    in_order(
        &text,
        &[
            "breakpoint 1 on core 0",
            "i = 3",
            "*0  doubled at doubled.cpp:14",
            "windows: ",
            "DMA queues: ready",
            "  from memory: 4 entries at 0x",
            "TCM: ",
            "i = 3",
            "all cores have returned",
            "out[3]: nothing -> 6, core 0",
            "doubled at doubled.cpp:14",
        ],
    );
}

/// A thousand times of a call, reached forward in one go, then in any order, forward and back: every byte of memory and
/// every register is the same.
#[test]
#[ignore = "minutes; cargo xtask soak debugger"]
fn a_time_is_the_same_from_both_sides() {
    const POINTS: u64 = 1000;
    let bench = Bench::new();
    bench.write("doubled.cpp", KERNEL);
    good(bench.tool().args(["compile", "doubled.cpp"]));
    let library = Library::find(&bench.path("build/doubled")).expect("a library");
    let loadable = library.loadable(&Staging::by(Lane::Fixed)).expect("images");
    let config = Config { native: false, translate: false, ..Config::default() };
    let mut machine = loadable.machine(config, &mut Trace::default()).expect("a machine");
    machine.load().expect("loaded");
    let numbers: Vec<u8> = (0..20_000_i32).flat_map(i32::to_le_bytes).collect();
    let x = Tensor::new(Dtype::Int32, [20_000], numbers).expect("a tensor");
    let output = TensorSpec::new(Dtype::Int32, [20_000]);
    let session = machine.begin("doubled", vec![Arg::tensor("x", x)], output).expect("a call");
    let images = Images::of(&machine.programs());
    let mut debugger = Debugger::new(session, &images, Sources::default());
    debugger.travel(0, u64::MAX);
    let end = debugger.time(0);
    debugger.travel(0, 0);
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut throw = |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % sides
    };
    let mut times: Vec<u64> = (0..POINTS).map(|_| throw(end)).collect();
    times.sort_unstable();
    let look = |debugger: &mut Debugger<'_>, time: u64| {
        debugger.travel(0, time);
        assert_eq!(debugger.time(0), time);
        let mut hash = DefaultHasher::new();
        debugger.picture(0).hash(&mut hash);
        hash.finish()
    };
    let pictures: Vec<u64> = times.iter().map(|time| look(&mut debugger, *time)).collect();
    let mut back = 0;
    for _ in 0..POINTS {
        let at = throw(POINTS) as usize;
        back += u64::from(debugger.time(0) > times[at]);
        assert_eq!(look(&mut debugger, times[at]), pictures[at], "at instruction {}", times[at]);
    }
    println!("{POINTS} times among {end} instructions, {back} of them reached backward: the same");
}
