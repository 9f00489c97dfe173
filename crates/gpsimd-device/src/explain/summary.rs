//! The report of a call: its merged output, what each core did, and the findings.
//!
//! Unaware of how libraries are loaded.

use super::diagnose;
use super::evidence::{Evidence, Program};
use super::profile;
use crate::call::placed::Placed;
use crate::call::tensor::Tensor;
use crate::cores::core::Run;
use crate::cores::run::Ended;
use crate::memory::view::{self, Writes};
use crate::report::costs::Costs;
use crate::report::{CoreReport, Ending, HbmStackUse, RunReport};

/// What the runs on the cores, in core order, come to.
pub fn report(
    op: &str,
    call: &Placed,
    mut runs: Vec<Run>,
    programs: &[Program<'_>],
    costs: &Costs,
) -> RunReport {
    let (shared, output) = (&call.shared, call.output);
    let writes: Vec<(u8, Writes)> =
        runs.iter_mut().map(|run| (run.core, std::mem::take(&mut run.writes))).collect();
    let merged = view::merge(shared, output, &writes);
    let evidence = Evidence { op, shared, output, merged: &merged, runs: &runs, programs, costs };
    let (findings, kept) = (diagnose::findings(&evidence), diagnose::kept(&evidence));
    let output = Tensor { spec: shared.regions()[output].spec.clone(), data: merged.data };
    let profiles = profile::profiles(&runs, programs, costs);
    let cores = runs.iter().map(|run| core_report(run, costs)).collect();
    RunReport { op: op.to_owned(), output, cores, findings, kept, profiles, costs: *costs }
}

fn core_report(run: &Run, costs: &Costs) -> CoreReport {
    let outcome = match run.ended {
        Ended::Returned(0) => Ending::Completed,
        Ended::Returned(_) => Ending::Failed,
        Ended::Aborted | Ended::Judged => Ending::Aborted,
        Ended::Fault(_) => Ending::Faulted,
        Ended::Budget | Ended::Idle(_) => Ending::BudgetExhausted,
        Ended::Cancelled => Ending::Cancelled,
    };
    CoreReport {
        core: run.core,
        outcome,
        counters: run.counters,
        cycles: run.counters.cycles(costs),
        spent: run.counters.parts(costs),
        tcm_high_water: run.tcm_high_water,
        hbm_high_water: run.hbm_high_water,
        stack_high_water: run.stack_high_water,
        hbm_stack: run
            .hbm_stack
            .map(|stack| HbmStackUse { size: stack.len, high_water: stack.offset + stack.len - stack.low }),
        text: String::from_utf8_lossy(&run.text.bytes).into_owned(),
        text_dropped: run.text.dropped,
        incidents_dropped: run.log.dropped,
    }
}
