//! Variables of random programs and of the examples against the values that they store themselves: at -O0 all are right,
//! with optimisation none is wrong. `GPSIMD_LOCALS` programs, 20 by default; `cargo xtask soak locals` starts it.

mod common;
#[path = "common/generate.rs"]
mod generate;

use common::{Machine, image, program};
use generate::{Kind, Seen};
use gpsimd_image::ElfFile;
use gpsimd_variables::{EvaluateError, Inspect};

fn word(machine: &Machine, address: u32) -> u64 {
    let mut bytes = [0; 8];
    assert!(machine.memory(address, &mut bytes), "{address:#x}");
    u64::from_le_bytes(bytes)
}

/// What a value of these bits is called.
fn text(seen: &Seen, bits: u64) -> String {
    match seen.kind {
        Kind::Signed => (bits as i64).to_string(),
        Kind::Unsigned => bits.to_string(),
        Kind::Bool => (bits != 0).to_string(),
        Kind::Float => format!("{:?}", f32::from_bits(bits as u32)),
    }
}

fn is_same(seen: &Seen, bits: u64, shown: &str) -> bool {
    match seen.kind {
        Kind::Float => {
            let truth = f32::from_bits(bits as u32);
            let read: f32 = shown.parse().unwrap_or(f32::NAN);
            read.to_bits() == truth.to_bits() || read.is_nan() && truth.is_nan()
        }
        _ => shown == text(seen, bits),
    }
}

/// An example: its file, how it is called, and where it records what: the text after which, or the text that is replaced, with
/// `@` for the record.
type Example = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static [&'static str])]);

const EXAMPLES: &[Example] = &[
    (
        "vector_add.cpp",
        "vector_add(t(3), t(4))",
        &[("[](float x, float y) {", "[](float x, float y) { @", &["x", "y"])],
    ),
    (
        "relu.cpp",
        "relu_forward(t(-9)); relu_backward(t(5), t(-20))",
        &[
            ("float relu(float x) {", "float relu(float x) { @", &["x"]),
            (
                "float relu_slope(float grad, float x) {",
                "float relu_slope(float grad, float x) { @",
                &["grad", "x"],
            ),
        ],
    ),
    (
        "scale_clip.cpp",
        "scale_clip(t(-7), 0.5f, 3, torch::Scalar(0.25))",
        &[
            (
                "shift = offset.to<float>();",
                "shift = offset.to<float>(); @",
                &["high", "low", "shift", "scale", "limit"],
            ),
            ("v = scale * v + shift;", "v = scale * v + shift; @", &["v", "scale", "shift", "low", "high"]),
        ],
    ),
    (
        "relu_multicore.cpp",
        "relu_multicore(t(-30))",
        &[
            ("end - first);", "end - first); @", &["n", "first", "begin", "end", "share", "total", "kBlock"]),
            (
                "block[i] = block[i] < 0.0f ? 0.0f : block[i];",
                "{ block[i] = block[i] < 0.0f ? 0.0f : block[i]; @ }",
                &["i", "n", "first", "block[i]", "total"],
            ),
        ],
    ),
    (
        "time_mix.cpp",
        "time_mix(made(place(t(1)), at::kFloat, {1, 4, 2, 4}, {32, 8, 4, 1}), t(2))",
        &[
            ("width = x.size(2) * x.size(3);", "width = x.size(2) * x.size(3); @", &["steps", "width"]),
            (
                "now[i] = weight[i] * now[i] + (1.0f - weight[i]) * before[i];",
                "{ now[i] = weight[i] * now[i] + (1.0f - weight[i]) * before[i]; @ }",
                &["row", "i", "now[i]", "weight[i]", "before[i]"],
            ),
        ],
    ),
];

const HEAD: &str = r#"
#include "runtime.hpp"
#undef stop
extern "C" { volatile uint64_t truth[64]; volatile unsigned stopped; }
static inline __attribute__((always_inline)) uint64_t bits(float f) { unsigned u; __builtin_memcpy(&u, &f, 4); return u; }
template <typename T> static inline __attribute__((always_inline)) uint64_t bits(T v) { return uint64_t(v); }
#define stop(n) do { stopped = n; __asm__ volatile("break 0, 0" ::: "memory"); } while (0)
at::Tensor get_dst_tensor() { static float out[64]; return made(unsigned(out), at::kFloat, {64}, {1}); }
static uint64_t place(const at::Tensor& tensor) { return tensor.q7_data_ptr().hbm_addr; }
static at::Tensor t(int first) {
  float* values = static_cast<float*>(take(256));
  for (int i = 0; i < 64; ++i) values[i] = first + i;
  return made(unsigned(values), at::kFloat, {64}, {1});
}
"#;

/// An example that records its variables, and which they are at each stop.
fn recording((file, call, records): &Example) -> (String, Vec<Vec<Seen>>) {
    let path = format!("{}/examples/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut source = std::fs::read_to_string(path).expect("an example");
    let mut stops = Vec::new();
    for (index, (find, replaced, names)) in records.iter().enumerate() {
        let stored = names.iter().enumerate().map(|(at, name)| format!("truth[{at}] = bits({name}); "));
        let record = stored.collect::<String>() + &format!("stop({index});");
        assert!(source.contains(find), "{file} has no {find}");
        source = source.replacen(find, &replaced.replace('@', &record), 1);
        let is_count = |name: &&str| {
            ["n", "first", "begin", "end", "share", "total", "kBlock", "i", "row", "steps", "width", "limit"]
                .contains(name)
        };
        let kind = |name| if is_count(&name) { Kind::Unsigned } else { Kind::Float };
        stops.push(names.iter().map(|name| Seen { path: (*name).to_owned(), kind: kind(name) }).collect());
    }
    (format!("{HEAD}{source}\nextern \"C\" int entry() {{ {call}; return 0; }}\n"), stops)
}

#[test]
#[ignore = "compiles fifteen programs: cargo xtask soak locals"]
fn the_examples_show_what_they_stored() {
    let mut wrong = Vec::new();
    let [sdk, here] = common::includes();
    for level in ["-O0", "-Os", "-O2"] {
        let mut counts = Counts::default();
        for example in EXAMPLES {
            let (source, stops) = recording(example);
            let image = image(example.0, &source, &[level, "-w", "-DGPSIMD_SINGLE_CORE", &sdk, &here]);
            compare(
                &format!("{level}, {}", example.0),
                &image,
                &stops,
                level == "-O0",
                &mut counts,
                &mut wrong,
            );
        }
        println!("{level}: {counts:?}");
        assert!(counts.stops >= 200, "{level}: too little was looked at");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// How much was looked at.
#[derive(Debug, Default)]
struct Counts {
    stops: u64,
    right: u64,
    absent: u64,
}

/// Runs a program over its stops, and compares what is shown with what it stored.
fn compare(
    what: &str,
    image: &[u8],
    stops: &[Vec<Seen>],
    is_all_there: bool,
    counts: &mut Counts,
    wrong: &mut Vec<String>,
) {
    let file = ElfFile::parse(image).expect("an image");
    let address = |name: &str| file.symbol(name).expect(name).value;
    let (truth, stopped) = (address("truth"), address("stopped"));
    let (program, machine) = (program(image), Machine::new(image));
    // programs call each other in loops: some hundred stops are enough of one
    for _ in 0..200 {
        let Some(pc) = machine.next() else { break };
        counts.stops += 1;
        let here = &stops[word(&machine, stopped) as u32 as usize];
        for (index, seen) in here.iter().enumerate() {
            let bits = word(&machine, truth + 8 * index as u32);
            match program.evaluate(&seen.path, pc, &machine) {
                Ok(value) if is_same(seen, bits, &value.summary) => counts.right += 1,
                Ok(value) => wrong.push(format!(
                    "{what}, {pc:#x}: {} is {}, shown as {}",
                    seen.path,
                    text(seen, bits),
                    value.summary
                )),
                // the compiler may have left the variable out of the block that it kept
                Err(EvaluateError::Absent { .. } | EvaluateError::Unknown { .. }) if !is_all_there => {
                    counts.absent += 1;
                }
                Err(error) => wrong.push(format!("{what}, {pc:#x}: {}: {error}", seen.path)),
            }
        }
    }
}

#[test]
#[ignore = "compiles some sixty programs: cargo xtask soak locals"]
fn what_is_shown_is_what_the_program_stored() {
    let programs: u64 =
        std::env::var("GPSIMD_LOCALS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    let mut wrong = Vec::new();
    for level in ["-O0", "-Os", "-O2"] {
        let mut counts = Counts::default();
        for seed in 0..programs {
            let made = generate::program(seed);
            let image = image("random.cpp", &made.source, &[level, "-fwrapv", "-w"]);
            let what = format!("{level}, program {seed}");
            compare(&what, &image, &made.stops, level == "-O0", &mut counts, &mut wrong);
        }
        println!("{level}: {counts:?}");
        assert!(
            counts.stops > 10 * programs && counts.right > counts.stops,
            "{level}: too little was looked at"
        );
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
