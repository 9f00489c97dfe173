//! What is left of a run to be judged, and the place in the source that a call chain means.
//!
//! Unaware of what is judged.

use crate::call::shared::SharedMemory;
use crate::cores::core::Run;
use crate::explain::symbols::{Frame, Symbols};
use crate::memory::view::Merged;
use crate::parts::map;
use crate::report::costs::Costs;
use crate::report::{Site, Step};

/// Everything known after a run.
pub struct Evidence<'a, 's> {
    /// The op that was called.
    pub op: &'a str,
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
    /// What the estimates charge.
    pub costs: &'a Costs,
}

/// What one core ran.
pub struct Program<'a> {
    /// Its names and lines.
    pub symbols: Symbols<'a>,
    /// Its lowest address.
    pub base: u32,
}

impl Program<'_> {
    /// The author's frame of a call chain, or the innermost if none of it is the author's.
    pub(super) fn site(&self, chain: &[u32]) -> (Option<Site>, PlaceKey) {
        // An abort stops in the firmware's stub; the program's own part of the chain follows.
        let own = chain.iter().position(|pc| !map::is_firmware(*pc)).unwrap_or(0);
        let chain = chain.get(own..).unwrap_or_default();
        let Some(&pc) = chain.first() else { return (None, PlaceKey::default()) };
        place(pc, self.base, &self.symbols.chain(chain))
    }
}

impl Program<'_> {
    /// Whether a call chain is of the runtime's return of the kernel's result: none of the author's functions is in it any more.
    pub(super) fn is_return(&self, chain: &[u32]) -> bool {
        let frames = self.symbols.chain(chain);
        frames.iter().any(|frame| frame.function == "customop_return_tensor")
            && frames.iter().all(Frame::is_runtime)
    }

    /// The last line of a kernel, for what is wrong with its result.
    pub(super) fn end_of(&self, kernel: &str) -> Option<Site> {
        /// Instructions have two bytes or more.
        const STEP: usize = 2;
        let (start, len) = self.symbols.place(kernel)?;
        let last = (start..start.checked_add(len)?)
            .step_by(STEP)
            .filter_map(|pc| Some((pc, self.symbols.frames(pc).pop()?)))
            .max_by_key(|(_, frame)| frame.line)?;
        let (pc, Frame { function, file, line, .. }) = last;
        let (via, stack) = (String::new(), Vec::new());
        (line > 0).then_some(Site { pc, function, file, line, column: 0, via, stack })
    }
}

/// What findings of one place are folded by.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Default)]
pub(super) struct PlaceKey {
    pub file: String,
    pub line: u32,
    pub function: String,
    /// Offset in the image where there is no line.
    pub offset: u32,
}

/// The place a finding is reported at, and its folding key.
fn place(pc: u32, base: u32, frames: &[Frame]) -> (Option<Site>, PlaceKey) {
    let author = frames.iter().position(|frame| !frame.is_runtime());
    // Without one, the call that the generated wrapper made says most.
    let outermost = frames.iter().position(Frame::is_wrapper).and_then(|at| at.checked_sub(1));
    let frame = frames.get(author.or(outermost).unwrap_or(0));
    let (function, file, line, column) = frame.map_or_else(Default::default, |frame| {
        (frame.function.clone(), frame.file.clone(), frame.line, frame.column)
    });
    let via = match author {
        Some(at) if at > 0 => frames.get(at - 1).map(|frame| frame.function.clone()).unwrap_or_default(),
        _ => String::new(),
    };
    let offset = if line == 0 { pc.wrapping_sub(base) } else { 0 };
    let key = PlaceKey { file: file.clone(), line, function: function.clone(), offset };
    (Some(Site { pc, function, file, line, column, via, stack: stack(frames) }), key)
}

/// A call chain as it is told: up to the kernel's function, whose callers are the same in every run.
fn stack(frames: &[Frame]) -> Vec<Step> {
    let kernel = frames.iter().rposition(|frame| !frame.is_runtime());
    let wrapper = frames.iter().position(Frame::is_wrapper);
    let told = kernel.map(|at| at + 1).or(wrapper).unwrap_or(frames.len());
    let step = |frame: &Frame| Step {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
        inlined: frame.inlined,
        library: frame.is_runtime(),
    };
    frames.iter().take(told).map(step).collect()
}
