//! From incidents to findings: names, source lines, elements, folding.
//!
//! Runs after all cores have ended, single-threaded, over data in core order; so its output is the same for every thread
//! schedule. Unaware of how cores execute.

use std::collections::BTreeMap;

use crate::call::shared::{Role, SharedMemory};
use crate::cores::core::Run;
use crate::cores::incident::{Folded, Near, What};
use crate::cores::run::Ended;
use crate::explain::describe::{self, Names};
use crate::explain::symbols::{Frame, Symbols};
use crate::memory::view::Merged;
use crate::parts::map;
use crate::report::checks::Code;
use crate::report::counters::cost;
use crate::report::{Element, Finding, Site};

/// Everything known after a run.
pub struct Evidence<'a, 's> {
    /// The tensors.
    pub shared: &'a SharedMemory,
    /// Region of the output.
    pub output: usize,
    /// What the cores wrote to it.
    pub merged: &'a Merged,
    /// The runs, in core order.
    pub runs: &'a [Run],
    /// What each core ran.
    pub programs: &'a [Program<'s>],
}

/// What one core ran.
pub struct Program<'a> {
    /// Its names and lines.
    pub symbols: Symbols<'a>,
    /// Its lowest address.
    pub base: u32,
}

/// Findings under construction: folded by check, place and tensor.
#[derive(Default)]
struct Folder {
    findings: BTreeMap<(Code, PlaceKey, Option<usize>), Finding>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Default)]
struct PlaceKey {
    file: String,
    line: u32,
    function: String,
    /// Offset in the image where there is no line.
    offset: u32,
}

struct Raw {
    code: Code,
    core: u8,
    site: Option<Site>,
    key: PlaceKey,
    region: Option<usize>,
    element: Option<Element>,
    history: Option<Site>,
    message: String,
    count: u64,
}

impl Folder {
    fn add(&mut self, raw: Raw) {
        let key = (raw.code, raw.key, raw.region);
        let entry = raw.code.entry();
        let finding = self.findings.entry(key).or_insert_with(|| Finding {
            code: raw.code,
            severity: entry.severity,
            message: raw.message,
            cores: Vec::new(),
            site: raw.site,
            element: raw.element,
            history: raw.history,
            count: 0,
            help: format!("{}; {}", entry.cause, entry.remedy),
        });
        finding.count += raw.count;
        if finding.cores.last() != Some(&raw.core) && !finding.cores.contains(&raw.core) {
            finding.cores.push(raw.core);
        }
    }
}

/// All findings of a run, worst first, in a fixed order.
pub fn findings(evidence: &Evidence<'_, '_>) -> Vec<Finding> {
    let mut folder = Folder::default();
    for (run, program) in evidence.runs.iter().zip(evidence.programs) {
        let core = Core { evidence, run, program };
        core.incidents(&mut folder);
        core.ending(&mut folder);
        core.leaks(&mut folder);
        core.scalars(&mut folder);
        core.transfers(&mut folder);
        core.notes(&mut folder);
    }
    let returns_fresh = folder.findings.keys().any(|(code, ..)| *code == Code::FreshTensor);
    if evidence.runs.iter().all(|run| matches!(run.ended, Ended::Returned(_))) {
        coverage(evidence, &mut folder);
    }
    if !returns_fresh {
        overlaps(evidence, &mut folder);
    }
    folder.findings.into_values().collect()
}

/// One core's part of the evidence.
struct Core<'e, 's> {
    evidence: &'e Evidence<'e, 's>,
    run: &'e Run,
    program: &'e Program<'s>,
}

impl Core<'_, '_> {
    fn names(&self) -> Names<'_> {
        Names { shared: self.evidence.shared }
    }

    /// The author's frame of a call chain, or the innermost if none of it is the author's.
    fn site(&self, chain: &[u32]) -> (Option<Site>, PlaceKey) {
        // An abort stops in the firmware's stub; the program's own part of the chain follows.
        let own = chain.iter().position(|pc| !map::is_firmware(*pc)).unwrap_or(0);
        let chain = chain.get(own..).unwrap_or_default();
        let Some(&pc) = chain.first() else { return (None, PlaceKey::default()) };
        place(pc, self.program.base, &self.program.symbols.chain(chain))
    }

    fn raw(&self, code: Code, chain: &[u32], message: String) -> Raw {
        let (site, key) = self.site(chain);
        Raw {
            code,
            core: self.run.core,
            site,
            key,
            region: None,
            element: None,
            history: None,
            message,
            count: 1,
        }
    }

    fn incidents(&self, folder: &mut Folder) {
        for Folded { first, chain, history, count } in self.run.log.entries() {
            let code = match first.what {
                What::Outside if first.write => Code::WriteOutside,
                What::Outside => Code::ReadOutside,
                What::Uninitialised => Code::Uninitialised,
                What::UninitialisedCopy => Code::UninitialisedOutput,
                What::Freed => Code::UseAfterFree,
                What::Null => Code::Null,
                What::Code => Code::CodeWritten,
                What::Input => Code::InputWritten,
                What::ScalarWidth => Code::ScalarWidth,
                What::WindowUnset => Code::WindowUnset,
                What::SharedElement => Code::ElementOnCores,
                What::DmaStopped(_) => Code::DmaStopped,
            };
            let mut raw = self.raw(code, chain, self.names().incident(first));
            if let Near::Tensor { region, offset } = first.near {
                raw.region = Some(region);
                raw.element = self.names().element(region, offset);
            }
            raw.history = self.site(history).0;
            raw.count = *count;
            folder.add(raw);
        }
    }

    fn ending(&self, folder: &mut Folder) {
        let Some((code, mut message)) = describe::ending(self.run) else { return };
        let frames = self.program.symbols.chain(&self.run.chain);
        if code == Code::Abort && frames.iter().any(Frame::is_operator_new) {
            message.push_str("; operator new found no memory: the C heap holds 10 KiB in at most 32 blocks");
        }
        folder.add(self.raw(code, &self.run.chain, message));
    }

    fn leaks(&self, folder: &mut Folder) {
        if !matches!(self.run.ended, Ended::Returned(_)) {
            return;
        }
        for block in &self.run.tcm_blocks {
            let message = format!("{} bytes of TCM are not freed", block.len);
            folder.add(self.raw(Code::TcmLeak, &block.site, message));
        }
    }

    fn scalars(&self, folder: &mut Folder) {
        for (region, info) in self.evidence.shared.regions().iter().enumerate() {
            let (len, reads) = (info.byte_len(), self.run.scalar_reads.get(region).copied().unwrap_or(0));
            let read = u64::from(reads.trailing_ones());
            if info.role == Role::Scalar && reads != 0 && read < len {
                let message = format!(
                    "scalar `{}` is passed with {len} bytes ({}), the kernel reads {read} of them",
                    info.name, info.spec.dtype
                );
                let mut raw = self.raw(Code::ScalarWidth, &[], message);
                raw.region = Some(region);
                folder.add(raw);
            }
        }
    }

    /// Which transfers of tensor data came from accessors that must not be used on several cores.
    fn transfers(&self, folder: &mut Folder) {
        for (chain, region, wrote) in &self.run.transfers {
            let frames = self.program.symbols.chain(chain);
            let through = |part: &str| frames.iter().any(|frame| frame.function.contains(part));
            let name = self.names().tensor(*region);
            let (code, message) = if through("customop_return_tensor") {
                if *region != self.evidence.output || !wrote {
                    continue;
                }
                (Code::FreshTensor, format!("every core copies the tensor it returns over {name}"))
            } else if through("StreamAccessor") || through("TensorStream") {
                let verb = if *wrote { "written" } else { "read" };
                (Code::StreamOnCores, format!("{name} is {verb} as a stream while several cores run"))
            } else {
                continue;
            };
            let mut raw = self.raw(code, chain, message);
            raw.region = Some(*region);
            folder.add(raw);
        }
    }

    fn notes(&self, folder: &mut Folder) {
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
        if run.core != 0 && !run.text.bytes.is_empty() {
            let message = format!("core {} prints; the device delivers core 0's text only", run.core);
            folder.add(self.raw(Code::PrintOnCores, &[], message));
        }
        let spent =
            run.counters.window_loads * cost::WINDOW_LOAD + run.counters.window_stores * cost::WINDOW_STORE;
        if !run.samples.is_empty() && run.hbm_stack.is_none() && spent > run.counters.cycles() / 2 {
            let mut places: BTreeMap<PlaceKey, (u64, &[u32])> = BTreeMap::new();
            for (chain, count) in &run.samples {
                places.entry(self.site(chain).1).or_insert((0, chain)).0 += count;
            }
            let hottest = places.values().max_by_key(|(count, _)| *count);
            let chain = hottest.map_or(&[][..], |(_, chain)| *chain);
            let message = format!(
                "{} element accesses by load and store take about {}% of the estimated cycles; most happen here",
                run.counters.element_accesses,
                spent * 100 / run.counters.cycles().max(1)
            );
            folder.add(self.raw(Code::ElementCost, chain, message));
        }
    }
}

/// The place a finding is reported at, and its folding key.
fn place(pc: u32, base: u32, frames: &[Frame]) -> (Option<Site>, PlaceKey) {
    let author = frames.iter().position(|frame| !frame.is_runtime());
    // Without one, the call that the generated wrapper made says most.
    let outermost = frames.iter().position(Frame::is_wrapper).and_then(|at| at.checked_sub(1));
    let frame = frames.get(author.or(outermost).unwrap_or(0));
    let Frame { function, file, line } =
        frame.cloned().unwrap_or(Frame { function: String::new(), file: String::new(), line: 0 });
    let via = match author {
        Some(at) if at > 0 => frames.get(at - 1).map(|frame| frame.function.clone()).unwrap_or_default(),
        _ => String::new(),
    };
    let offset = if line == 0 { pc.wrapping_sub(base) } else { 0 };
    let key = PlaceKey { file: file.clone(), line, function: function.clone(), offset };
    (Some(Site { pc, function, file, line, via }), key)
}

fn element(evidence: &Evidence<'_, '_>, element: u64) -> Element {
    let info = &evidence.shared.regions()[evidence.output];
    Element { tensor: info.name.clone(), element: element as i64, index: info.spec.multi_index(element) }
}

fn result(
    code: Code,
    evidence: &Evidence<'_, '_>,
    cores: u8,
    at: u64,
    count: u64,
    message: String,
) -> Finding {
    let entry = code.entry();
    Finding {
        code,
        severity: entry.severity,
        message,
        cores: (0..8).filter(|core| cores >> core & 1 != 0).collect(),
        site: None,
        element: Some(element(evidence, at)),
        history: None,
        count,
        help: format!("{}; {}", entry.cause, entry.remedy),
    }
}

/// Elements of the output that no core wrote completely.
fn coverage(evidence: &Evidence<'_, '_>, folder: &mut Folder) {
    let info = &evidence.shared.regions()[evidence.output];
    let size = info.spec.dtype.size();
    let total = evidence.merged.writers.len() / size;
    let (mut first, mut last, mut missing) = (None, 0, 0);
    for (element, bytes) in (0..).zip(evidence.merged.writers.chunks_exact(size)) {
        if bytes.contains(&0) {
            first = first.or(Some(element));
            last = element;
            missing += 1;
        }
    }
    let Some(first) = first else { return };
    let mut message = format!(
        "{missing} of {total} elements of `{}` are never written: {}",
        info.name,
        describe::range(&info.spec, first, last, missing)
    );
    // A kernel that divides its work, built for one core, computes the first eighth.
    let written = total - missing as usize;
    if evidence.runs.len() == 1 && total >= 8 && (written == total / 8 || written == total.div_ceil(8)) {
        message
            .push_str("; get_cpu_count() is 8 in a single-core build too, and core 0 alone does one eighth");
    }
    let key = (Code::Unwritten, PlaceKey::default(), Some(evidence.output));
    folder.findings.insert(key, result(Code::Unwritten, evidence, 0, first, missing, message));
}

/// Elements of the output that more than one core wrote.
fn overlaps(evidence: &Evidence<'_, '_>, folder: &mut Folder) {
    let info = &evidence.shared.regions()[evidence.output];
    let size = info.spec.dtype.size();
    let (mut first, mut last, mut count, mut cores) = (None, 0, 0, 0u8);
    for (element, bytes) in (0..).zip(evidence.merged.writers.chunks_exact(size)) {
        if bytes.iter().any(|who| who.count_ones() > 1) {
            first = first.or(Some(element));
            last = element;
            count += 1;
            cores |= bytes.iter().filter(|who| who.count_ones() > 1).fold(0, |all, who| all | who);
        }
    }
    let Some(first) = first else { return };
    let total = evidence.merged.writers.len() / size;
    let message = format!(
        "{count} of {total} elements of `{}` are written by more than one core: {}",
        info.name,
        describe::range(&info.spec, first, last, count)
    );
    let key = (Code::Overlap, PlaceKey::default(), Some(evidence.output));
    folder.findings.insert(key, result(Code::Overlap, evidence, cores, first, count, message));
}
