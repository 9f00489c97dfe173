//! Every kind of advice, on the pair of `examples/tuning` that shows it: named at its line, and worth at least half of what it
//! promises.

use gpsimd_device::{Arg, Config, Control, Dtype, Machine, RunReport, Tensor, TensorSpec};
use gpsimd_profile::{Advice, Kind, advice};

use crate::bench::repository;
use crate::workshop::{Cores, Recipe};

/// File, what it shows, cores, extents of input and output, a flag for `before`.
type Row = (&'static str, Kind, Cores, &'static [u64], Option<&'static str>);

const ROWS: &[Row] = &[
    ("elements", Kind::ElementAccesses, Cores::One, &[16, 32], None),
    ("transfers", Kind::SmallTransfers, Cores::One, &[256], None),
    ("local_array", Kind::CopiedByCore, Cores::One, &[1024], None),
    ("one_core", Kind::OneCore, Cores::Eight, &[1024], None),
    ("uneven", Kind::UnevenCores, Cores::Eight, &[64, 64], None),
    ("stack", Kind::StackInDeviceMemory, Cores::One, &[1], Some("-DSTACK_SIZE=20000")),
    ("doubles", Kind::Double, Cores::One, &[512], None),
    ("allocation", Kind::AllocatedInLoop, Cores::One, &[64, 16], None),
];

fn run(row: &Row, kernel: &str) -> RunReport {
    let &(file, _, cores, shape, flag) = row;
    let op = |kernel: &str| format!("{kernel}=t::{kernel}(Tensor x) -> (Tensor y)");
    let recipe = Recipe {
        source: repository().join(format!("examples/tuning/{file}.cpp")),
        ops: vec![op("before"), op("after")],
        cores,
        cflags: flag.filter(|_| kernel == "before").into_iter().map(str::to_owned).collect(),
        is_checked: false,
    };
    let config = Config { profile: true, ..Config::default() };
    let mut machine = Machine::boot(recipe.build().images.clone(), config).expect(file);
    let count: u64 = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|k| (k % 64) as f32).collect();
    let spec = TensorSpec::new(Dtype::Float32, shape);
    let bytes = values.into_iter().flat_map(f32::to_le_bytes).collect();
    let x = Tensor::new(spec.dtype, spec.shape.clone(), bytes).expect(file);
    machine.call(kernel, vec![Arg::tensor("x", x)], spec, &Control::default(), |_| {}).expect(file)
}

fn time(report: &RunReport) -> u64 {
    report.cores.iter().map(|core| core.cycles).max().expect("a core")
}

/// Whether the line that an advice names is one of those that the file marks.
fn is_marked(file: &str, said: &Advice) -> bool {
    let source =
        std::fs::read_to_string(repository().join(format!("examples/tuning/{file}.cpp"))).expect(file);
    source.lines().nth((said.line as usize).wrapping_sub(1)).is_some_and(|line| line.ends_with("// SLOW"))
}

#[test]
fn every_advice_keeps_half_of_its_promise() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let (file, kind, ..) = *row;
        let [before, after] = ["before", "after"].map(|kernel| run(row, kernel));
        assert!(before.is_clean() || kind == Kind::ElementAccesses, "{file}: {:?}", before.findings);
        assert_eq!(before.output, after.output, "{file}: both compute the same");
        let (slow, fast) = (time(&before), time(&after));
        let all = advice(&before);
        let gained = slow.saturating_sub(fast);
        match all.iter().find(|said| said.kind == kind) {
            Some(said) => {
                println!("| `{file}` | {} | {} % | {} % |", said.message, said.percent, gained * 100 / slow);
                let is_kept = gained * 2 >= said.gain;
                if !is_kept || !is_marked(file, said) {
                    wrong.push(format!("{file}: gained {gained} of {slow}, promised {said:?}"));
                }
            }
            None => wrong.push(format!("{file}: only {all:?}")),
        }
        if let Some(again) = advice(&after).into_iter().find(|said| said.kind == kind) {
            wrong.push(format!("{file}: still said of the better one: {again:?}"));
        }
        for report in [&before, &after] {
            for (core, profile) in report.cores.iter().zip(&report.profiles) {
                let sum: u64 = profile.lines.iter().map(|line| line.cycles).sum();
                assert_eq!(sum, core.cycles, "{file}: the lines of core {} add up", core.core);
                assert_eq!(core.spent.sum(), core.cycles);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
