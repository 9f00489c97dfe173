//! What is worth a word though nothing is wrong with the results: text that is lost, stacks, heaps, what elements cost.
//!
//! Unaware of findings about memory.

use std::collections::BTreeMap;

use super::Core;
use crate::cores::run::Ended;
use crate::explain::evidence::PlaceKey;
use crate::explain::folder::Folder;
use crate::explain::symbols::Frame;
use crate::report::checks::Code;

/// Bytes of printed text that the device keeps (spec `user-api.md` §11).
const TEXT_KEPT: u64 = 131_072;

impl Core<'_, '_> {
    /// What is worth a word though nothing is wrong with the results.
    pub(super) fn notes(&self, folder: &mut Folder) {
        let run = self.run;
        if let Some(stack) = run.hbm_stack {
            let used = stack.offset + stack.len - stack.low;
            let message =
                format!("a stack of {} bytes in device memory was taken, {used} bytes were used", stack.len);
            folder.add(self.raw(Code::HbmStack, &[], message));
        }
        if !run.heaps_followed && matches!(run.ended, Ended::Returned(_)) {
            folder.add(self.raw(
                Code::HeapsUnknown,
                &[],
                "no heap bookkeeping was found at the documented place".into(),
            ));
        }
        if run.crowded {
            let message =
                "the heaps are so full that blocks lie closer together than the model keeps them".into();
            folder.add(self.raw(Code::Crowded, &[], message));
        }
        let printed = run.text.bytes.len() as u64 + run.text.dropped;
        if printed > TEXT_KEPT {
            let message = format!("{printed} bytes are printed; the device keeps the last {TEXT_KEPT}");
            folder.add(self.raw(Code::TextLost, &[], message));
        }
        if run.core != 0 && !run.text.bytes.is_empty() {
            let message = format!("core {} prints; the device delivers core 0's text only", run.core);
            folder.add(self.raw(Code::PrintOnCores, &run.text.first, message));
        }
        self.element_cost(folder);
    }

    /// The hint about element accesses, where all that they cost is more than half of the estimate: the SDK's accessors
    /// execute many instructions for each.
    fn element_cost(&self, folder: &mut Folder) {
        /// Accesses that are not worth a word.
        const FEW: u64 = 1_000;
        let (run, costs) = (self.run, self.evidence.costs);
        if run.samples.is_empty() || run.hbm_stack.is_some() || run.counters.element_accesses < FEW {
            return;
        }
        let mut places: BTreeMap<PlaceKey, (u64, &[u32])> = BTreeMap::new();
        for (chain, count) in &run.samples {
            places.entry(self.site(chain).1).or_insert((0, chain)).0 += count;
        }
        let hottest = places.values().max_by_key(|(count, _)| *count);
        let chain = hottest.map_or(&[][..], |(_, chain)| *chain);
        let frames = self.program.symbols.chain(chain);
        let is_accessor =
            |frame: &Frame| ["Accessor", "ElementReference"].iter().any(|part| frame.function.contains(part));
        let accesses = run.counters.element_accesses;
        let spent = run.counters.parts(costs);
        let waiting = spent.window_loads + spent.window_stores + spent.window_moves;
        let executing = if frames.iter().any(is_accessor) {
            accesses
                .saturating_mul(costs.element_access.saturating_mul(costs.instruction))
                .min(spent.instructions)
        } else {
            0
        };
        let all = waiting.saturating_add(executing);
        if all > spent.sum() / 2 {
            let share = u128::from(all) * 100 / u128::from(spent.sum().max(1));
            let message = format!(
                "{accesses} element accesses by load and store take about {share}% of the estimated cycles; most happen here"
            );
            folder.add(self.raw(Code::ElementCost, chain, message));
        }
    }
}
