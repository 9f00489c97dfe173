//! What a core did that memory should not allow, as the bus sees it: addresses and distances, no names and no source lines.
//!
//! Unaware of symbols and of wording; `explain::diagnose` turns incidents into findings.

use std::collections::BTreeMap;

use crate::checked::Verdict;
use crate::memory::heap::{Chain, Freed, Kind};
use crate::parts::sdma::Stopped;
use crate::report::checks::Code;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// Memory that belongs to nothing the kernel may use.
    Outside,
    /// Memory nobody wrote before.
    Uninitialised,
    /// A heap block that was given back.
    Freed,
    /// Near address zero: a null pointer with an index.
    Null,
    /// Code.
    Code,
    /// A tensor that is not the output.
    Input,
    /// Beyond a scalar argument, by less than another scalar.
    ScalarWidth,
    /// An address window whose register was never written.
    WindowUnset,
    /// Bytes that nobody wrote were put into the output, from here.
    UninitialisedCopy(Source),
    /// A redzone of checked code, or a variable whose scope has ended.
    Redzone {
        /// Not only the last bytes of a word, as the C library's word-wise string functions read them.
        is_whole: bool,
    },
    /// A stack frame that has ended: below the stack pointer.
    Below,
    /// A stream's buffer, whose tensor was written after the stream had read it.
    Stale,
    /// Static data that a call before has changed.
    Kept,
    /// The DMA queues stopped.
    DmaStopped(Stopped),
    /// A block that was given back before is given back.
    DoubleFree,
    /// What is given back to this heap is none of its blocks.
    WrongFree(Kind),
    /// A block is given back with another size than it has; the incident's length is that size.
    SizedDelete,
}

/// What kind of memory bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A tensor of the call.
    Tensor(usize),
    /// A block of one of the core's heaps.
    Block(Kind),
    /// The stack.
    Stack,
    /// Anything else.
    Other,
}

/// What the address is in, or next to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Near {
    /// A tensor of the call; the offset may be negative or past the end.
    Tensor {
        /// Index of the region.
        region: usize,
        /// Bytes from its start.
        offset: i64,
    },
    /// A block of one of the core's heaps.
    Block {
        /// Which heap.
        heap: Kind,
        /// Bytes of the block.
        len: u32,
        /// Bytes from its start.
        offset: i64,
        /// Bytes of the live block that lies there on the device, if one does.
        hit: Option<u32>,
    },
    /// A variable that checked code puts between redzones.
    Variable {
        /// Index among those that the core's incidents name.
        id: usize,
        /// Bytes from its start.
        offset: i64,
    },
    /// The stack, in data RAM or device memory.
    Stack {
        /// NX address.
        addr: u32,
    },
    /// The core's data RAM outside any block.
    Dataram {
        /// NX address.
        addr: u32,
    },
    /// Any other place of the core's own address space.
    Nx {
        /// NX address.
        addr: u32,
    },
    /// Any other place of the shared address space.
    Soc {
        /// SoC address.
        addr: u64,
    },
}

impl Near {
    /// What kind of memory it is.
    pub fn source(self) -> Source {
        match self {
            Near::Tensor { region, .. } => Source::Tensor(region),
            Near::Block { heap, .. } => Source::Block(heap),
            Near::Stack { .. } => Source::Stack,
            Near::Variable { .. } | Near::Dataram { .. } | Near::Nx { .. } | Near::Soc { .. } => {
                Source::Other
            }
        }
    }
}

/// Who accessed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// A load or store instruction.
    Cpu,
    /// The DMA engine, on behalf of the instruction that rang the doorbell.
    Dma,
}

/// What is known of the memory concerned from before; empty where there is no block and no frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Who allocated the block concerned, or freed it if that is the trouble; the frame, for memory of the stack.
    pub block: Chain,
    /// Who allocated the block concerned, if `block` says who freed it.
    pub born: Chain,
    /// Who allocated the block that is hit.
    pub hit: Chain,
    /// The stack at this NX address, as long as nobody has asked whose frame it is.
    pub frame: Option<u32>,
}

impl History {
    /// With the frame found among those that are live (pc and stack pointer, innermost first).
    pub fn among(mut self, frames: &[(u32, u32)]) -> History {
        if let Some(addr) = self.frame.take() {
            // A frame lies from its own stack pointer up to its caller's.
            self.block = match frames.iter().position(|(_, sp)| *sp > addr) {
                Some(0) | None => Chain::new(),
                Some(caller) => frames.iter().skip(caller - 1).map(|(pc, _)| *pc).collect(),
            };
        }
        self
    }
}

impl From<&Freed> for History {
    fn from(freed: &Freed) -> History {
        History { block: freed.site.clone(), born: freed.block.site.clone(), ..History::default() }
    }
}

impl From<Chain> for History {
    fn from(block: Chain) -> History {
        History { block, ..History::default() }
    }
}

/// One forbidden access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Incident {
    /// What is wrong.
    pub what: What,
    /// Whether it wrote.
    pub write: bool,
    /// Who did it.
    pub actor: Actor,
    /// Where.
    pub near: Near,
    /// Bytes concerned.
    pub len: u32,
}

/// Equal incidents from one place of the program, counted.
#[derive(Debug, Clone)]
pub struct Folded {
    /// The first of them.
    pub first: Incident,
    /// Call chain of the first.
    pub chain: Chain,
    /// What is known of the memory concerned.
    pub history: History,
    /// How many there were.
    pub count: u64,
}

/// The incidents of one core, folded by kind, tensor and place in the program, in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Log {
    entries: Vec<Folded>,
    index: std::collections::HashMap<(What, bool, Actor, Option<usize>, Chain), usize>,
    verdicts: BTreeMap<(Code, Chain), (String, u64)>,
    /// Incidents not kept because [`Log::LIMIT`] different ones are known.
    pub dropped: u64,
}

impl Log {
    /// Most different incidents kept per core.
    pub const LIMIT: usize = 1000;

    /// Adds one incident.
    pub fn add(&mut self, incident: Incident, chain: &[u32], history: History) {
        let region = match incident.near {
            Near::Tensor { region, .. } => Some(region),
            _ => None,
        };
        let key = (incident.what, incident.write, incident.actor, region, chain.to_vec());
        if let Some(&at) = self.index.get(&key) {
            self.entries[at].count += 1;
        } else if self.entries.len() < Self::LIMIT {
            self.index.insert(key, self.entries.len());
            self.entries.push(Folded { first: incident, chain: chain.to_vec(), history, count: 1 });
        } else {
            self.dropped += 1;
        }
    }

    /// Adds what a handler of a checked build found; of equal findings from one place the first message is kept.
    pub(crate) fn judge(&mut self, verdict: Verdict, chain: Chain) {
        if self.verdicts.len() < Self::LIMIT || self.verdicts.contains_key(&(verdict.code, chain.clone())) {
            self.verdicts.entry((verdict.code, chain)).or_insert((verdict.message, 0)).1 += 1;
        } else {
            self.dropped += 1;
        }
    }

    /// What handlers of a checked build found: check and call chain, first message, how often.
    pub(crate) fn verdicts(&self) -> &BTreeMap<(Code, Chain), (String, u64)> {
        &self.verdicts
    }

    /// How many different incidents there were.
    pub(crate) fn seen(&self) -> usize {
        self.entries.len() + self.verdicts.len()
    }

    /// Everything seen, in order of first appearance.
    pub fn entries(&self) -> &[Folded] {
        &self.entries
    }
}
