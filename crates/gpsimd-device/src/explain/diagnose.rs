//! From incidents to findings: names, source lines, elements, folding.
//!
//! Runs after all cores have ended, single-threaded, over data in core order; so its output is the same for every thread
//! schedule. Unaware of how cores execute.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::dtype::Dtype;
use crate::call::shared::{Region, Role};
use crate::checked::objects::Storage;
use crate::cores::core::Run;
use crate::cores::incident::{Actor, Folded, Near, Source, What};
use crate::cores::run::Ended;
use crate::cores::streams::{Far, Stream};
use crate::cores::touches::Touch;
use crate::explain::coverage;
use crate::explain::describe::{self, Names};
use crate::explain::evidence::{Evidence, PlaceKey, Program};
use crate::explain::symbols::Frame;
use crate::explain::types::{self, Used};
use crate::memory::heap::Kind;
use crate::report::checks::Code;
use crate::report::{About, Element, Finding, Life, Site};

/// Bytes of printed text that the device keeps (spec `user-api.md` §11).
const TEXT_KEPT: u64 = 131_072;

/// Largest extent of a tensor that the guides allow (spec `user-api.md` §10).
const EXTENT: u64 = 65_535;

/// Findings under construction: folded by check, place and tensor.
#[derive(Default)]
struct Folder {
    findings: BTreeMap<(Code, PlaceKey, Option<usize>), Finding>,
    /// The tensors of the call.
    tensors: Vec<About>,
}

struct Raw {
    code: Code,
    core: u8,
    site: Option<Site>,
    key: PlaceKey,
    region: Option<usize>,
    element: Option<Element>,
    history: Option<Site>,
    neighbour: Option<Site>,
    block: Option<Life>,
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
            neighbour: raw.neighbour,
            tensor: raw.region.and_then(|region| self.tensors.get(region)).cloned(),
            block: raw.block,
            count: 0,
            help: format!("{}; {}", entry.cause, entry.remedy),
        });
        finding.count += raw.count;
        if finding.cores.last() != Some(&raw.core) && !finding.cores.contains(&raw.core) {
            finding.cores.push(raw.core);
        }
    }
}

impl Folder {
    /// Adds a finding about the output as a whole.
    fn insert(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.findings.insert((finding.code, PlaceKey::default(), None), finding);
        }
    }

    /// Adds reads of what other cores write, and takes away what is said of the same bytes otherwise.
    fn races(&mut self, evidence: &Evidence<'_, '_>) {
        for (run, program) in evidence.runs.iter().zip(evidence.programs) {
            let core = Core { evidence, run, program };
            for race in coverage::races(evidence, run) {
                let mut raw = core.raw(Code::Race, &race.reader.chain, race.message);
                raw.region = Some(race.reader.region);
                raw.element = core.names().element(race.reader.region, race.at as i64);
                raw.neighbour = race.writer.and_then(|(program, chain)| program.site(chain).0);
                self.add(raw);
            }
        }
        if self.findings.keys().any(|(code, ..)| *code == Code::Race) {
            // What such a read brought is uninitialised for the core alone, not for the kernel.
            self.findings
                .retain(|(code, ..), _| !matches!(code, Code::Uninitialised | Code::UninitialisedOutput));
        }
    }

    /// Drops what a judged expression goes on to do at its own line: an index that is out of bounds is then used.
    fn drop_consequences(&mut self) {
        const CAUSES: &[Code] =
            &[Code::ArrayIndex, Code::ObjectSize, Code::PointerOverflow, Code::NullArgument];
        const ACCESSES: &[Code] = &[
            Code::StackOverrun,
            Code::GlobalOverrun,
            Code::ReadOutside,
            Code::WriteOutside,
            Code::Null,
            Code::Uninitialised,
        ];
        self.drop_where(ACCESSES, CAUSES);
        self.drop_where(&[Code::ObjectSize], &[Code::ArrayIndex]);
    }

    /// Drops findings of some checks in lines in which others have found something.
    fn drop_where(&mut self, consequences: &[Code], causes: &[Code]) {
        let is_cause =
            |(code, key, _): &&(Code, PlaceKey, Option<usize>)| causes.contains(code) && key.line != 0;
        let judged: Vec<PlaceKey> =
            self.findings.keys().filter(is_cause).map(|(_, key, _)| key.clone()).collect();
        self.findings.retain(|(code, key, _), _| {
            !consequences.contains(code)
                || !judged.iter().any(|cause| cause.line == key.line && cause.file == key.file)
        });
    }
}

/// All findings of a run, worst first, in a fixed order.
pub fn findings(evidence: &Evidence<'_, '_>) -> Vec<Finding> {
    let tensors = evidence.shared.regions().iter().map(describe::about).collect();
    let mut folder = Folder { tensors, ..Folder::default() };
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
    let returns_fresh = folder.findings.keys().any(|(code, ..)| *code == Code::FreshTensor);
    if evidence.runs.iter().all(|run| matches!(run.ended, Ended::Returned(_))) {
        folder.insert(coverage::gaps(evidence));
    }
    if !returns_fresh {
        folder.insert(coverage::overlaps(evidence));
        folder.races(evidence);
    }
    let wide =
        |info: &&Region| info.role != Role::Scalar && info.spec.shape.iter().any(|&size| size > EXTENT);
    if let Some(info) = evidence.shared.regions().iter().find(wide) {
        let largest = info.spec.shape.iter().max().copied().unwrap_or_default();
        let message = format!("`{}` has an extent of {largest}; the guides allow {EXTENT}", info.name);
        folder.insert(Some(Finding::about_all(Code::LargeExtent, message)));
    }
    folder.drop_consequences();
    let mut findings: Vec<Finding> = folder.findings.into_values().collect();
    on_core_zero(&mut findings);
    findings
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

    /// Which tensors are touched in ways that must not be used on several cores.
    fn touches(&self, folder: &mut Folder) {
        let mut seen = BTreeSet::new();
        for touch in self.run.touches.iter().filter(|_| self.evidence.runs.len() > 1) {
            let Touch { chain, region, wrote, first, .. } = touch;
            let frames = self.program.symbols.chain(chain);
            let through = |part: &str| frames.iter().any(|frame| frame.function.contains(part));
            let name = self.names().tensor(*region);
            let verb = if *wrote { "written" } else { "read" };
            let (code, message) = match touch.actor {
                _ if through("customop_return_tensor") => {
                    if *region != self.evidence.output || !wrote {
                        continue;
                    }
                    (Code::FreshTensor, format!("every core copies the tensor it returns over {name}"))
                }
                _ if through("StreamAccessor") || through("TensorStream") => {
                    (Code::StreamOnCores, format!("{name} is {verb} as a stream while several cores run"))
                }
                // A copy by the core, where DMA cannot reach the other end, is still a copy.
                Actor::Cpu if !through("memcpy") && seen.insert(*region) => {
                    let what = if *wrote { "writes" } else { "reads" };
                    let len = first.1 - first.0;
                    let plural = if len == 1 { "" } else { "s" };
                    let place = self.names().place(Near::Tensor { region: *region, offset: first.0 as i64 });
                    let doing = "with an element access while several cores run";
                    (Code::ElementOnCores, format!("{what} {len} byte{plural} {place} {doing}"))
                }
                _ => continue,
            };
            let mut raw = self.raw(code, chain, message);
            raw.region = Some(*region);
            if touch.actor == Actor::Cpu {
                raw.element = self.names().element(*region, first.0 as i64);
            }
            folder.add(raw);
        }
    }

    /// The scalar type that an access is for. An element's load or store may count as the author's own code, right behind
    /// the accessor's that made its address; so the code before it on the same line is asked, too.
    fn element_type(&self, chain: &[u32]) -> Option<Used> {
        /// Bytes of code that are looked at.
        const REACH: u32 = 40;
        let (pc, callers) = chain.split_first()?;
        let line = |frames: &[Frame]| frames.iter().find(|frame| !frame.is_runtime()).map(|frame| frame.line);
        let frames = self.program.symbols.chain(chain);
        let before = |back: u32| {
            let at =
                std::iter::once(pc.wrapping_sub(back)).chain(callers.iter().copied()).collect::<Vec<u32>>();
            Some(self.program.symbols.chain(&at)).filter(|other| line(other) == line(&frames))
        };
        types::used(&frames).or_else(|| (1..=REACH).filter_map(before).find_map(|other| types::used(&other)))
    }

    /// Whether a block of TCM is a stream's buffer, by who allocated it.
    fn is_stream(&self, site: &[u32]) -> bool {
        let frames = self.program.symbols.chain(site);
        frames.iter().any(|frame| frame.function.contains("StreamAccessor<"))
    }

    /// Streams of one tensor that were open at once through different handles; through one, the runtime itself objects.
    fn streams(&self, folder: &mut Folder) {
        for (later, first) in &self.run.streams {
            if !self.is_stream(&later.site) || !self.is_stream(&first.site) {
                continue;
            }
            let verb = |stream: &Stream| if stream.writes { "write" } else { "read" };
            let name = match later.tensor {
                Far::Region(region) => self.names().tensor(region),
                Far::Block(_) => "a tensor".to_owned(),
            };
            let (one, other) = (verb(later), verb(first));
            let message = format!("a {one} stream of {name} is opened while a {other} stream of it is open");
            let mut raw = self.raw(Code::Coherency, &later.site, message);
            raw.neighbour = self.site(&first.site).0;
            folder.add(raw);
        }
    }

    /// Which tensors are read or written as another element type than they have, in PyTorch's words.
    fn types(&self, folder: &mut Folder) {
        // All cores run the same code; reading names is what costs.
        let tensors = self.evidence.shared.regions().iter().filter(|info| info.role != Role::Scalar);
        let dtypes: BTreeSet<Dtype> = tensors.map(|info| info.spec.dtype).collect();
        let alike = (dtypes.len() == 1).then(|| dtypes.first().copied()).flatten();
        let names_another = |dtype| self.program.symbols.names_another(dtype);
        if self.run.core != 0 || !alike.is_none_or(names_another) {
            return;
        }
        for touch in &self.run.touches {
            let Some(info) = self.evidence.shared.regions().get(touch.region) else { continue };
            let dtype = info.spec.dtype;
            let Some(Used { scalar: used, how, .. }) =
                self.element_type(&touch.chain).filter(|used| used.differs(dtype, self.run.is_checked))
            else {
                continue;
            };
            let message = format!(
                "expected scalar type {used} but found {}: `{}` is {}, {how} is for {used}",
                types::scalar_type(dtype),
                info.name,
                dtype,
            );
            let mut raw = self.raw(Code::ScalarType, &touch.chain, message);
            raw.region = Some(touch.region);
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

/// The three ways to the C heap, which must not be mixed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Malloc,
    New,
    NewArray,
}

impl Origin {
    /// The way that goes through these functions.
    fn of(functions: &[String]) -> Origin {
        let has = |names: [&str; 2]| functions.iter().any(|name| names.contains(&name.as_str()));
        match () {
            () if has(["operator new[]", "operator delete[]"]) => Origin::NewArray,
            () if has(["operator new", "operator delete"]) => Origin::New,
            () => Origin::Malloc,
        }
    }

    fn allocates(self) -> &'static str {
        match self {
            Origin::Malloc => "malloc()",
            Origin::New => "new",
            Origin::NewArray => "new[]",
        }
    }

    fn frees(self) -> &'static str {
        match self {
            Origin::Malloc => "free()",
            Origin::New => "delete",
            Origin::NewArray => "delete[]",
        }
    }
}
