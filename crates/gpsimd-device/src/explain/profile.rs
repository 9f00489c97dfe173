//! From the addresses that answer for counts to functions and lines.
//!
//! Unaware of how counts came about and of how a profile is shown.

use super::evidence::Program;
use super::symbols::{Frame, Symbols};
use super::{lines, parts, spans};
use crate::cores::core::Run;
use crate::cores::profile;
use crate::memory::heap::{self, Kind};
use crate::parts::map;
use crate::report::costs::Costs;
use crate::report::profile::{Block, Call, Estimate, Profile, Spot};

/// The profiles of the runs that have one.
pub(super) fn profiles(runs: &[Run], programs: &[Program<'_>], costs: &Costs) -> Vec<Profile> {
    let both = runs.iter().zip(programs);
    both.filter_map(|(run, program)| Some(of_core(run, run.profile.as_deref()?, program, costs))).collect()
}

fn of_core(run: &Run, counted: &profile::Profile, program: &Program<'_>, costs: &Costs) -> Profile {
    let symbols = &program.symbols;
    let lines = lines::of(counted, symbols, costs);
    let (mut estimate, mut float_instructions) = (Estimate::by(costs), 0);
    let spots = counted.spots().into_iter().map(|profile::Spot { pc, counters }| {
        if symbols.function_or_label(pc).is_some_and(|name| parts::is_float(&name)) {
            float_instructions += counters.instructions;
        }
        let Frame { function, file, line, .. } = place(pc, symbols);
        Spot { pc, function, file, line, counters, cycles: estimate.next(counters) }
    });
    let spots = spots.collect();
    let mut estimate = Estimate::by(costs);
    let calls = counted.calls().iter().enumerate().map(|(at, call)| Call {
        parent: (at > 0).then_some(call.parent),
        function: if at == 0 { "device".to_owned() } else { name(call.entry, symbols) },
        calls: call.calls,
        counters: call.counters,
        cycles: estimate.next(call.counters),
    });
    let spans = spans::of(counted, run.counters.cycles(costs), costs);
    let (calls, is_cut) = (calls.collect(), counted.is_full());
    Profile {
        core: run.core,
        spots,
        calls,
        lines,
        float_instructions,
        spans,
        blocks: blocks(run, program),
        is_cut,
    }
}

/// The blocks that a core handed out, in that order.
fn blocks(run: &Run, program: &Program<'_>) -> Vec<Block> {
    let stack = run.hbm_stack.map(|stack| stack.offset);
    let life = |heap: Kind, block: &heap::Block, died: Option<u64>| Block {
        heap,
        offset: block.offset,
        len: block.len,
        born: block.born,
        died,
        site: program.site(&block.site).0,
    };
    let mut blocks = Vec::new();
    for (kind, (live, freed)) in Kind::ALL.into_iter().zip(run.blocks.iter().zip(&run.freed)) {
        blocks.extend(freed.iter().map(|freed| life(kind, &freed.block, Some(freed.died))));
        let live = live.iter().filter(|block| kind != Kind::Hbm || Some(block.offset) != stack);
        blocks.extend(live.map(|block| life(kind, block, None)));
    }
    blocks.sort_by_key(|block| block.born);
    blocks
}

/// The author's frame of an instruction, else its innermost.
fn place(pc: u32, symbols: &Symbols<'_>) -> Frame {
    let mut frames = symbols.frames(pc);
    if frames.is_empty() {
        let function = name(pc, symbols);
        return Frame { function, file: String::new(), line: 0, column: 0, inlined: false };
    }
    let author = frames.iter().position(|frame| !frame.is_runtime());
    frames.swap_remove(author.unwrap_or(0))
}

fn name(pc: u32, symbols: &Symbols<'_>) -> String {
    match symbols.function_or_label(pc) {
        Some(name) => name,
        None if map::is_firmware(pc) => "firmware".to_owned(),
        None => format!("{pc:#010x}"),
    }
}
