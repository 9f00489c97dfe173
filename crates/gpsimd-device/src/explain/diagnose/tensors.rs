//! How tensors were used: by elements and streams on several cores, as another element type than theirs.
//!
//! Unaware of blocks of memory and of how a core ended.

use std::collections::BTreeSet;

use super::Core;
use crate::call::dtype::Dtype;
use crate::call::shared::Role;
use crate::cores::incident::{Actor, Near};
use crate::cores::streams::{Far, Stream};
use crate::cores::touches::Touch;
use crate::explain::folder::Folder;
use crate::explain::symbols::Frame;
use crate::explain::types::{self, Used};
use crate::report::checks::Code;

impl Core<'_, '_> {
    /// Which tensors are touched in ways that must not be used on several cores.
    pub(super) fn touches(&self, folder: &mut Folder) {
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
    pub(super) fn is_stream(&self, site: &[u32]) -> bool {
        let frames = self.program.symbols.chain(site);
        frames.iter().any(|frame| frame.function.contains("StreamAccessor<"))
    }

    /// Streams of one tensor that were open at once through different handles; through one, the runtime itself objects.
    pub(super) fn streams(&self, folder: &mut Folder) {
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
    pub(super) fn types(&self, folder: &mut Folder) {
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
}
