//! Buffers in TCM that may belong to a stream accessor, with the tensor each serves and how long.
//!
//! Which of them really are streams, names tell; here a buffer is one by its size and by what is transferred from or to it.
//! Unaware of names. Facts: spec `device-runtime.md` §7.1.

use crate::memory::heap::{Block, Chain};

/// Bytes of a stream's buffer.
const BUFFER: u32 = 4096;

/// A tensor in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Far {
    /// One of the call's: its index.
    Region(usize),
    /// One of the core's own: the offset of its block.
    Block(u32),
}

/// A buffer and its tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Who allocated the buffer.
    pub site: Chain,
    /// The tensor.
    pub tensor: Far,
    /// Whether the tensor is written.
    pub writes: bool,
    /// Instructions executed when the buffer was allocated.
    pub opened: u64,
    /// The same for when it was freed.
    pub closed: u64,
    offset: u32,
}

/// All of a run.
#[derive(Debug, Default)]
pub struct Streams(Vec<Stream>);

impl Streams {
    /// Most buffers kept.
    const LIMIT: usize = 200;

    /// Bytes are transferred between a block and a tensor.
    pub fn used(&mut self, block: &Block, tensor: Far, writes: bool) {
        let is_open = |stream: &Stream| stream.closed == u64::MAX && stream.offset == block.offset;
        if block.len == BUFFER && self.0.len() < Self::LIMIT && !self.0.iter().any(is_open) {
            let (site, opened, offset) = (block.site.clone(), block.born, block.offset);
            self.0.push(Stream { site, tensor, writes, opened, closed: u64::MAX, offset });
        }
    }

    /// The block at an offset is freed.
    pub fn freed(&mut self, offset: u32, now: u64) {
        let open = self.0.iter_mut().filter(|stream| stream.closed == u64::MAX && stream.offset == offset);
        open.for_each(|stream| stream.closed = now);
    }

    /// Pairs that were open at once on one tensor, the one that writes or came later first.
    pub fn into_conflicts(self) -> Vec<(Stream, Stream)> {
        let streams = self.0;
        let at_once = |a: &Stream, b: &Stream| {
            a.tensor == b.tensor && (a.writes || b.writes) && a.opened < b.closed && b.opened < a.closed
        };
        let later = streams.iter().enumerate();
        let pairs = later.flat_map(|(at, b)| streams[..at].iter().map(move |a| (a, b)));
        let order = |(a, b): (&Stream, &Stream)| {
            if a.opened > b.opened { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) }
        };
        pairs.filter(|(a, b)| at_once(a, b)).map(order).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_tensor_at_once() {
        let block = |offset, born| Block {
            offset,
            len: BUFFER,
            site: vec![born as u32],
            descriptor: 0,
            runtime: 0,
            born,
        };
        let mut streams = Streams::default();
        streams.used(&block(0, 10), Far::Region(0), false);
        streams.used(&block(8192, 20), Far::Region(1), true);
        streams.used(&block(8192, 20), Far::Region(1), true);
        streams.used(&block(16384, 30), Far::Region(1), true);
        streams.freed(8192, 40);
        streams.used(&block(8192, 50), Far::Region(0), false);
        let conflicts = streams.into_conflicts();
        let pairs: Vec<(u64, u64)> =
            conflicts.iter().map(|(later, first)| (later.opened, first.opened)).collect();
        assert_eq!(pairs, [(30, 20)], "readers of one tensor may be many");
    }
}
