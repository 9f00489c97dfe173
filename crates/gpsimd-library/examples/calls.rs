//! Prints what loading a library costs, and a call of its only op, which takes one float tensor and returns another like
//! it: medians in milliseconds, and the instructions of a call on all cores. What the call costs beyond its instructions
//! is known by one of sixty times as many elements, at most 65,535, whose instructions take nearly all of its time.
//! `cargo run --release -p gpsimd-library --example calls -- LIBRARY ELEMENTS ROUNDS`

use std::path::Path;
use std::time::Instant;

use gpsimd_device::{Arg, Config, Control, Tensor, Trace};
use gpsimd_library::{Lane, Library, Ops, Staging};
use miette::{IntoDiagnostic, miette};

fn main() -> miette::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [library, elements, rounds] = words.as_slice() else {
        return Err(miette!("calls LIBRARY ELEMENTS ROUNDS"));
    };
    let (elements, rounds): (u16, usize) =
        (elements.parse().into_diagnostic()?, rounds.parse().into_diagnostic()?);
    let library = Library::find(Path::new(library))?;
    let loadable = library.loadable(&Staging::by(Lane::Fixed))?;
    let load = median(rounds.min(11), || {
        let mut machine = loadable.machine(Config::default(), &mut Trace::default())?;
        machine.load()?;
        Ok(())
    })?;
    let mut machine = loadable.machine(Config::default(), &mut Trace::default())?;
    machine.load()?;
    let kernels = machine.functions().iter().map(|function| function.name.as_str());
    let op = Ops::of(&library, kernels).find(None)?.kernel.clone();
    let mut time = |elements: u16, rounds| -> miette::Result<(f64, f64)> {
        let values: Vec<f32> = (0..elements).map(|n| f32::from(n) - 3.0).collect();
        let tensor = Tensor::from_f32(&values).into_diagnostic()?;
        let mut instructions = 0u64;
        let call = median(rounds, || {
            let args = vec![Arg::tensor("x", tensor.clone())];
            let report = machine.call(&op, args, tensor.spec.clone(), &Control::default(), |_| {});
            let report = report?;
            instructions = report.cores.iter().map(|core| core.counters.instructions).sum();
            if report.is_clean() { Ok(()) } else { Err(miette!("{:?}", report.findings)) }
        })?;
        Ok((call, instructions as f64))
    };
    let (call, instructions) = time(elements, rounds)?;
    let (long, many) = time(elements.saturating_mul(60), rounds.min(11))?;
    let each = (long - call) / (many - instructions).max(1.0);
    let beyond = call - each * instructions;
    println!(
        "load {load:.3} ms, call {call:.3} ms of {instructions} instructions, {beyond:.3} ms beyond them"
    );
    Ok(())
}

/// Milliseconds of the median round.
fn median(rounds: usize, mut once: impl FnMut() -> miette::Result<()>) -> miette::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        once()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}
