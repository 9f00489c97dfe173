//! From incidents to findings: names, source lines, elements.
//!
//! Runs after all cores have ended, single-threaded, over data in core order; so its output is the same for every thread
//! schedule. Unaware of how cores execute.

mod notes;
mod tensors;

use std::collections::{BTreeMap, BTreeSet};

use crate::call::shared::{Region, Role};
use crate::checked::objects::Storage;
use crate::cores::core::Run;
use crate::cores::incident::{Folded, Near, Source, What};
use crate::cores::run::Ended;
use crate::cores::touches::Touch;
use crate::explain::coverage;
use crate::explain::describe::{self, Names};
use crate::explain::evidence::{Evidence, PlaceKey, Program};
use crate::explain::folder::{Folder, Raw};
use crate::explain::origin::Origin;
use crate::explain::symbols::Frame;
use crate::memory::heap::Kind;
use crate::report::checks::Code;
use crate::report::{Finding, Life, Site};

/// Largest extent of a tensor that the guides allow (spec `user-api.md` §10).
const EXTENT: u64 = 65_535;

/// All findings of a run, worst first, in a fixed order.
pub fn findings(evidence: &Evidence<'_, '_>) -> Vec<Finding> {
    let tensors = evidence.shared.regions().iter().map(describe::about).collect();
    let mut folder = Folder::new(tensors);
    for (run, program) in evidence.runs.iter().zip(evidence.programs) {
        let core = Core { evidence, run, program };
        core.verdicts(&mut folder);
        core.incidents(&mut folder);
        core.ending(&mut folder);
        core.leaks(&mut folder);
        core.returns(&mut folder);
        core.scalars(&mut folder);
        core.touches(&mut folder);
        core.types(&mut folder);
        core.streams(&mut folder);
        core.notes(&mut folder);
    }
    let returns_fresh = folder.has(Code::FreshTensor);
    if evidence.runs.iter().all(|run| matches!(run.ended, Ended::Returned(_))) {
        folder.insert(coverage::gaps(evidence));
    }
    if !returns_fresh {
        folder.insert(coverage::overlaps(evidence));
        races(evidence, &mut folder);
    }
    let wide =
        |info: &&Region| info.role != Role::Scalar && info.spec.shape.iter().any(|&size| size > EXTENT);
    if let Some(info) = evidence.shared.regions().iter().find(wide) {
        let largest = info.spec.shape.iter().max().copied().unwrap_or_default();
        let message = format!("`{}` has an extent of {largest}; the guides allow {EXTENT}", info.name);
        folder.insert(Some(Finding::about_all(Code::LargeExtent, message)));
    }
    folder.drop_consequences();
    let mut findings = folder.into_findings();
    on_core_zero(&mut findings);
    findings
}

/// Adds reads of what other cores write, and takes away what is said of the same bytes otherwise.
fn races(evidence: &Evidence<'_, '_>, folder: &mut Folder) {
    for (run, program) in evidence.runs.iter().zip(evidence.programs) {
        let core = Core { evidence, run, program };
        for race in coverage::races(evidence, run) {
            let mut raw = core.raw(Code::Race, &race.reader.chain, race.message);
            raw.region = Some(race.reader.region);
            raw.element = core.names().element(race.reader.region, race.at as i64);
            raw.neighbour = race.writer.and_then(|(program, chain)| program.site(chain).0);
            folder.add(raw);
        }
    }
    if folder.has(Code::Race) {
        // What such a read brought is uninitialised for the core alone, not for the kernel.
        folder.drop_all(&[Code::Uninitialised, Code::UninitialisedOutput]);
    }
}

/// Where the author's code first reads what a call before has left in static data.
pub fn kept(evidence: &Evidence<'_, '_>) -> Option<Site> {
    let mut reads = evidence.runs.iter().zip(evidence.programs).flat_map(|(run, program)| {
        let core = Core { evidence, run, program };
        let is_read = |folded: &&Folded| folded.first.what == What::Kept && !core.is_library(&folded.chain);
        let site = |folded: &Folded| core.site(&folded.chain).0;
        run.log.entries().iter().filter(is_read).filter_map(site).collect::<Vec<_>>()
    });
    reads.find(|site| site.line > 0)
}

/// Element and stream accessors that core 0 alone uses are defined, but not what the guides allow.
fn on_core_zero(findings: &mut [Finding]) {
    let is_accessor = |finding: &Finding| matches!(finding.code, Code::ElementOnCores | Code::StreamOnCores);
    if findings.iter().filter(|finding| is_accessor(finding)).any(|finding| finding.cores != [0]) {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| is_accessor(finding)) {
        let entry = Code::AccessorOnCoreZero.entry();
        finding.code = entry.code;
        finding.severity = entry.severity;
        finding.message = finding.message.replace("while several cores run", "on core 0 of several");
        finding.help = format!("{}; {}", entry.cause, entry.remedy);
    }
    findings.sort_by_key(|finding| finding.code);
}

/// One core's part of the evidence.
struct Core<'e, 's> {
    evidence: &'e Evidence<'e, 's>,
    run: &'e Run,
    program: &'e Program<'s>,
}

impl Core<'_, '_> {
    fn names(&self) -> Names<'_> {
        Names { shared: self.evidence.shared, variables: &self.run.variables }
    }

    fn site(&self, chain: &[u32]) -> (Option<Site>, PlaceKey) {
        if self.program.is_return(chain)
            && let Some(end) = self.program.end_of(self.evidence.op)
        {
            let (file, function) = (end.file.clone(), end.function.clone());
            let key = PlaceKey { file, line: end.line, function, offset: 0 };
            return (Some(end), key);
        }
        self.program.site(chain)
    }

    /// Who wrote next to bytes that nobody wrote, from `at` on, in a tensor that `owner` allocated: before them, or else behind.
    fn writer_beside(&self, owner: &[u32], at: usize) -> Option<&Touch> {
        let is_own = |touch: &&Touch| self.run.owners.get(&touch.region).is_some_and(|site| site == owner);
        let before = self.run.own.iter().filter(is_own).filter(|touch| touch.span.1 <= at);
        let behind = self.run.own.iter().filter(is_own).filter(|touch| touch.span.0 > at);
        before.max_by_key(|touch| touch.span.1).or(behind.min_by_key(|touch| touch.span.0))
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
            neighbour: None,
            block: None,
            message,
            count: 1,
        }
    }

    /// A block's life by who allocated it and who freed it.
    fn life(&self, heap: Kind, len: u32, allocated: &[u32], freed: &[u32]) -> Life {
        Life { heap, len, allocated: self.site(allocated).0, freed: self.site(freed).0 }
    }

    fn incidents(&self, folder: &mut Folder) {
        for Folded { first, chain, history, count } in self.run.log.entries() {
            let code = match first.what {
                // the C library reads strings a word at a time, to the end of the last one
                What::Redzone { is_whole: false } if self.is_library(chain) => continue,
                // told with the numbers that differ
                What::Kept => continue,
                What::Stale if !self.is_stream(&history.block) => continue,
                What::Stale => Code::Coherency,
                What::Below => Code::UseAfterScope,
                What::Redzone { .. } => match first.near {
                    near if self.names().is_out_of_scope(near) => Code::UseAfterScope,
                    Near::Variable { id, .. } => {
                        match self.run.variables.get(id).map(|variable| variable.storage) {
                            Some(Storage::Global) => Code::GlobalOverrun,
                            _ => Code::StackOverrun,
                        }
                    }
                    Near::Stack { .. } => Code::StackOverrun,
                    _ if first.write => Code::WriteOutside,
                    _ => Code::ReadOutside,
                },
                What::Outside if first.write => Code::WriteOutside,
                What::Outside => Code::ReadOutside,
                What::Uninitialised => Code::Uninitialised,
                What::UninitialisedCopy(_) => Code::UninitialisedOutput,
                What::Freed => Code::UseAfterFree,
                What::Null => Code::Null,
                What::Code => Code::CodeWritten,
                What::Input => Code::InputWritten,
                What::ScalarWidth => Code::ScalarWidth,
                What::WindowUnset => Code::WindowUnset,
                What::DmaStopped(_) => Code::DmaStopped,
                What::DoubleFree => Code::DoubleFree,
                What::WrongFree(_) | What::SizedDelete => Code::WrongFree,
            };
            let before = self.site(&history.block).0;
            let owner = before.as_ref().map(|site| site.function.as_str()).unwrap_or_default();
            let mut message = self.names().incident(first, owner);
            if let (What::Code, Near::Nx { addr }) = (first.what, first.near)
                && self.program.symbols.has_lines()
                && self.program.symbols.function(addr).is_none()
            {
                message = format!("writes {} bytes to a constant at {addr:#x}", first.len);
            }
            let mut blamed = chain.as_slice();
            if let (What::UninitialisedCopy(Source::Block(Kind::Hbm)), Near::Tensor { offset, .. }) =
                (first.what, first.near)
                && self.program.is_return(chain)
                && let Some(writer) = self.writer_beside(&history.block, offset.max(0) as usize)
            {
                message.push_str("; this line wrote next to them");
                blamed = &writer.chain;
            }
            let mut raw = self.raw(code, blamed, message);
            if let Near::Tensor { region, offset } = first.near {
                raw.region = Some(region);
                raw.element = self.names().element(region, offset);
            }
            // A frame has an owner, but no line where it was allocated.
            let is_frame = matches!(
                (first.near, first.what),
                (Near::Stack { .. }, _) | (_, What::UninitialisedCopy(Source::Stack))
            );
            raw.history = before.filter(|_| !is_frame);
            raw.block = match first.near {
                Near::Block { heap, len, .. } if matches!(first.what, What::Freed | What::DoubleFree) => {
                    Some(self.life(heap, len, &history.born, &history.block))
                }
                Near::Block { heap, len, .. } => Some(self.life(heap, len, &history.block, &[])),
                _ => None,
            };
            raw.neighbour = self.site(&history.hit).0;
            raw.count = *count;
            folder.add(raw);
        }
    }

    /// Whether an instruction is the library's own, not the author's, nor inlined into the author's.
    fn is_library(&self, chain: &[u32]) -> bool {
        chain.first().is_none_or(|pc| self.program.symbols.frames(*pc).iter().all(Frame::is_runtime))
    }

    /// What the handlers of a checked build found.
    fn verdicts(&self, folder: &mut Folder) {
        for ((code, chain), (message, count)) in self.run.log.verdicts() {
            let mut raw = self.raw(*code, chain, message.clone());
            raw.count = *count;
            folder.add(raw);
        }
    }

    fn ending(&self, folder: &mut Folder) {
        let Some((code, mut message)) = describe::ending(self.run) else { return };
        let frames = self.program.symbols.chain(&self.run.chain);
        if code == Code::Abort
            && self.run.is_checked
            && let Some((code, message)) = describe::library_check(&frames)
        {
            return folder.add(self.raw(code, &self.run.chain, message));
        }
        if code == Code::Abort && frames.iter().any(Frame::is_operator_new) {
            message.push_str("; operator new found no memory: the C heap holds 10 KiB in at most 32 blocks");
        } else if code == Code::Abort {
            let functions: Vec<String> = frames.iter().map(|frame| frame.function.clone()).collect();
            if let Some(meaning) = describe::silent_end(&functions) {
                message = meaning.to_owned();
            }
        }
        if let Some(lines) = looped_lines(self.program, &self.run.looped) {
            message += &format!(", in {lines}");
        }
        folder.add(self.raw(code, &self.run.chain, message));
    }

    fn leaks(&self, folder: &mut Folder) {
        if !matches!(self.run.ended, Ended::Returned(_)) {
            return;
        }
        let stack = self.run.hbm_stack.map(|stack| stack.offset);
        for (kind, blocks) in Kind::ALL.into_iter().zip(&self.run.blocks) {
            let (code, memory) = match kind {
                Kind::Tcm => (Code::TcmLeak, "TCM"),
                Kind::Hbm => (Code::Leak, "the device memory heap"),
                Kind::Libc => (Code::Leak, "the C heap"),
            };
            for block in blocks.iter().filter(|block| kind != Kind::Hbm || Some(block.offset) != stack) {
                let message = format!("{} bytes of {memory} are not freed", block.len);
                let mut raw = self.raw(code, &block.site, message);
                raw.block = Some(self.life(kind, block.len, &block.site, &[]));
                folder.add(raw);
            }
        }
    }

    /// The way to the C heap that a call chain took. Functions of the library that do it are never inlined.
    fn origin(&self, chain: &[u32]) -> Origin {
        let names: Vec<String> =
            chain.iter().take(6).filter_map(|pc| self.program.symbols.function(pc.wrapping_sub(1))).collect();
        Origin::of(&names)
    }

    /// Blocks of the C heap that went back another way than they came.
    fn returns(&self, folder: &mut Folder) {
        for (chains @ (from, back), len) in &self.run.returns {
            if self.program.symbols.agree(chains, || self.origin(from) == self.origin(back)) {
                continue;
            }
            let (got, given) = (self.origin(from), self.origin(back));
            let message =
                format!("a block of {len} bytes from {} is given to {}", got.allocates(), given.frees());
            let mut raw = self.raw(Code::WrongFree, back, message);
            raw.history = self.site(from).0;
            raw.block = Some(self.life(Kind::Libc, *len, from, back));
            folder.add(raw);
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
}

/// The author's lines that a loop's instructions come from: `lines 3 to 5 of k.cpp`.
fn looped_lines(program: &Program<'_>, looped: &[u32]) -> Option<String> {
    let mut files: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for pc in looped {
        let frames = program.symbols.frames(*pc);
        if let Some(frame) = frames.into_iter().find(|frame| !frame.is_runtime() && frame.line > 0) {
            files.entry(frame.file).or_default().insert(frame.line);
        }
    }
    let (file, lines) = files.into_iter().max_by_key(|(_, lines)| lines.len())?;
    let (first, last) = (lines.first()?, lines.last()?);
    let file = file.trim_start_matches("./");
    Some(if first == last {
        format!("line {first} of {file}")
    } else {
        format!("lines {first} to {last} of {file}")
    })
}
