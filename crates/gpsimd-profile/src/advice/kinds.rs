//! Each kind of advice: what shows it, and what it promises.
//!
//! Unaware of order and of what is too little to be told.

use gpsimd_device::report::profile::{Line, Part};

use super::{Advice, Facts, Kind};

/// All kinds.
pub(super) const ALL: [fn(&Facts<'_>) -> Option<Advice>; 8] = [
    element_accesses,
    small_transfers,
    copied_by_core,
    one_core,
    uneven_cores,
    stack_in_device_memory,
    double,
    allocated_in_loop,
];

/// Bytes of a block that fits TCM well.
const BLOCK: u64 = 4096;
/// Instructions that the SDK takes to start a transfer.
const TRANSFER: u64 = 150;
/// Instructions a loop over a block takes for an element, the arithmetic left out.
const LOOP: u64 = 4;

fn sum(lines: &[&Line], of: impl Fn(&Line) -> u64) -> u64 {
    lines.iter().map(|line| of(line)).sum()
}

/// Cycles for `bytes` to be copied in blocks.
fn copied(facts: &Facts<'_>, bytes: u64) -> u64 {
    let costs = &facts.report.costs;
    bytes.div_ceil(BLOCK) * (costs.dma_start + TRANSFER * costs.instruction)
        + bytes / costs.dma_bytes_per_cycle.max(1)
}

fn element_accesses(facts: &Facts<'_>) -> Option<Advice> {
    let is_one = |line: &Line| {
        let is_own = matches!(line.part, Part::Own | Part::Library);
        line.part == Part::Accessor || is_own && line.counters.element_accesses > 0
    };
    let lines = facts.lines(is_one);
    let accesses = sum(&lines, |line| line.counters.element_accesses);
    let cycles = sum(&lines, |line| line.cycles);
    let bytes = accesses * facts.report.output.spec.dtype.size() as u64;
    let after = copied(facts, bytes) + accesses * LOOP * facts.report.costs.instruction;
    if accesses == 0 {
        return None;
    }
    let message = format!("{accesses} element accesses take {cycles} cycles, {} each", cycles / accesses);
    let instead = "copy a block with tcm_accessor().tensor_to_tcm(), work on it in TCM, copy it back with tcm_to_tensor(); \
                   gpsimd::map() and gpsimd::rows() of <gpsimd/kit.hpp> do just that";
    facts.advise(Kind::ElementAccesses, &lines, cycles.saturating_sub(after), message, instead)
}

fn small_transfers(facts: &Facts<'_>) -> Option<Advice> {
    /// Transfers that are too few to be a habit.
    const FEW: u64 = 8;
    /// Bytes that are worth a transfer.
    const SMALL: u64 = 1024;
    let lines = facts.lines(|line| line.part == Part::Transfer && line.counters.dma_transfers > 0);
    let transfers = sum(&lines, |line| line.counters.dma_transfers);
    let (bytes, cycles) = (sum(&lines, |line| line.counters.dma_bytes), sum(&lines, |line| line.cycles));
    if transfers < FEW || bytes / transfers >= SMALL {
        return None;
    }
    let fewer = bytes.div_ceil(BLOCK).max(1);
    let gain = cycles / transfers * transfers.saturating_sub(fewer);
    let message =
        format!("{transfers} transfers of {} bytes on average take {cycles} cycles", bytes / transfers);
    let instead = "a transfer costs the same for 4 bytes as for 4,096: copy many rows or elements at once, up to what TCM holds";
    facts.advise(Kind::SmallTransfers, &lines, gain, message, instead)
}

fn copied_by_core(facts: &Facts<'_>) -> Option<Advice> {
    /// Stores that ring a transfer's doorbells.
    const DOORBELLS: u64 = 2;
    /// Words that may be doorbells of transfers that other lines have a share in.
    const FEW: u64 = 64;
    let words = |line: &Line| {
        let counters = &line.counters;
        (counters.window_loads + counters.window_stores).saturating_sub(DOORBELLS * counters.dma_transfers)
    };
    let lines = facts.lines(|line| line.part == Part::Transfer && words(line) > 0);
    let (words, cycles) = (sum(&lines, words), sum(&lines, |line| line.cycles));
    if words < FEW {
        return None;
    }
    let after = copied(facts, 4 * words);
    let message = format!("{words} words are copied one by one, in {cycles} cycles: DMA reaches TCM only");
    let instead =
        "copy to and from memory of tcm_malloc() or gpsimd::Tcm, not a local array, a static or the heap";
    facts.advise(Kind::CopiedByCore, &lines, cycles.saturating_sub(after), message, instead)
}

/// Cycles of the slowest core beyond what every core has, and those of all cores.
fn work(facts: &Facts<'_>) -> (u64, u64) {
    let cycles = || facts.report.cores.iter().map(|core| core.cycles);
    let least = cycles().min().unwrap_or(0);
    (facts.slowest.cycles - least, cycles().map(|cycles| cycles - least).sum())
}

/// Lines that cost most, whatever for.
fn hottest<'a>(facts: &Facts<'a>) -> Vec<&'a Line> {
    facts.lines(|line| line.line > 0)
}

const SHARE: &str = "build with --multicore and give every core its part: `const auto part = gpsimd::share(n)` of \
                     <gpsimd/kit.hpp>, or gpsimd::map() and gpsimd::rows(), which do it";

fn one_core(facts: &Facts<'_>) -> Option<Advice> {
    /// Cores of the device.
    const CORES: u64 = 8;
    let lines = hottest(facts);
    if facts.report.cores.len() == 1 {
        let fixed: u64 =
            facts.profile.lines.iter().filter(|line| line.line == 0).map(|line| line.cycles).sum();
        let work = facts.slowest.cycles.saturating_sub(fixed);
        let message = format!(
            "it is built for one core, which does all the work, {work} cycles, while seven have none"
        );
        return facts.advise(Kind::OneCore, &lines, work / CORES * (CORES - 1), message, SHARE);
    }
    let (slowest, all) = work(facts);
    if slowest * 5 < all * 4 {
        return None;
    }
    let message =
        format!("core {} does all the work, {slowest} cycles more than any other", facts.slowest.core);
    facts.advise(Kind::OneCore, &lines, slowest - all / CORES, message, SHARE)
}

fn uneven_cores(facts: &Facts<'_>) -> Option<Advice> {
    let cores = facts.report.cores.len() as u64;
    let (slowest, all) = work(facts);
    if cores < 2 || slowest * 5 >= all * 4 {
        return None;
    }
    let gain = slowest - all / cores;
    let core = facts.slowest.core;
    let message = format!("core {core} takes {gain} cycles more than the average of all {cores}");
    let instead = "divide what the work costs, not what is easy to count: gpsimd::share(n) over rows of equal length, rows in turn \
                   where their lengths differ";
    facts.advise(Kind::UnevenCores, &hottest(facts), gain, message, instead)
}

fn stack_in_device_memory(facts: &Facts<'_>) -> Option<Advice> {
    let stack = facts.slowest.hbm_stack?;
    let costs = &facts.report.costs;
    let own = |line: &Line| {
        let counters = &line.counters;
        let accesses = counters.window_loads + counters.window_stores;
        let elements = counters.element_accesses.min(accesses);
        let windows = counters.parts(costs);
        let cycles = windows.window_loads + windows.window_stores + windows.window_moves;
        cycles / accesses.max(1) * (accesses - elements)
    };
    let mut lines = facts.lines(|line| own(line) > 0);
    lines.sort_by_key(|line| std::cmp::Reverse((line.line > 0, own(line))));
    let cycles = sum(&lines, own);
    let message =
        format!("a stack of {} bytes in device memory costs {cycles} cycles of loads and stores", stack.size);
    let instead = "leave STACK_SIZE at its default of 8 KiB, which is local, and put arrays into TCM: gpsimd::Tcm<float> block(n)";
    facts.advise(Kind::StackInDeviceMemory, &lines, cycles / 10 * 9, message, instead)
}

fn double(facts: &Facts<'_>) -> Option<Advice> {
    let lines = facts.of(Part::Double);
    let cycles = sum(&lines, |line| line.cycles);
    let message = format!("arithmetic of `double`, in software, takes {cycles} cycles");
    let instead =
        "`float` takes half of it: write 0.5f for 0.5, sqrtf for sqrt, and float for double parameters";
    facts.advise(Kind::Double, &lines, cycles / 10 * 4, message, instead)
}

fn allocated_in_loop(facts: &Facts<'_>) -> Option<Advice> {
    /// Calls that are no habit.
    const FEW: u64 = 8;
    let lines = facts.lines(|line| line.part == Part::Memory && line.calls >= FEW && line.line > 0);
    let (calls, cycles) = (sum(&lines, |line| line.calls), sum(&lines, |line| line.cycles));
    let gain = sum(&lines, |line| line.cycles / line.calls.max(1) * (line.calls - 1));
    let message = format!("{calls} calls that allocate or free memory take {cycles} cycles");
    let instead = "allocate once before the loop and use the same block every time";
    facts.advise(Kind::AllocatedInLoop, &lines, gain, message, instead)
}
