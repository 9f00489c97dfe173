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
    /// Who wrote to what the buffer holds of the tensor, since it was filled.
    pub overwritten: Chain,
    offset: u32,
    /// Bytes of the tensor that the buffer holds, from its first byte on.
    held: (usize, usize),
}

impl Stream {
    fn is_open(&self) -> bool {
        self.closed == u64::MAX
    }

    /// The bytes among these of a tensor that the buffer holds.
    fn overlap(&self, tensor: Far, from: usize, to: usize) -> Option<(usize, usize)> {
        let (first, last) = (from.max(self.held.0), to.min(self.held.1));
        (self.is_open() && self.tensor == tensor && first < last).then_some((first, last))
    }
}

/// All of a run.
#[derive(Debug, Clone, Default)]
pub struct Streams(Vec<Stream>);

impl Streams {
    /// Most buffers kept.
    const LIMIT: usize = 200;

    /// Bytes are transferred between a block, from its byte `within` on, and a tensor.
    pub fn used(
        &mut self,
        block: &Block,
        within: usize,
        tensor: Far,
        (from, to): (usize, usize),
        writes: bool,
    ) {
        if block.len != BUFFER {
            return;
        }
        let has_room = self.0.len() < Self::LIMIT;
        let known = self.0.iter_mut().find(|stream| stream.is_open() && stream.offset == block.offset);
        match known {
            Some(stream) if writes || stream.tensor != tensor => stream.held = (0, 0),
            Some(stream) if within == 0 => (stream.held, stream.overwritten) = ((from, to), Chain::new()),
            Some(stream) if stream.held.1 == from => stream.held.1 = to,
            Some(_) => {}
            None if has_room => {
                let (site, opened, offset) = (block.site.clone(), block.born, block.offset);
                let held = if writes || within != 0 { (0, 0) } else { (from, to) };
                let (closed, overwritten) = (u64::MAX, Chain::new());
                self.0.push(Stream { site, tensor, writes, opened, closed, overwritten, offset, held });
            }
            None => {}
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a buffer holds any of these bytes of a tensor.
    #[inline]
    pub fn hold(&self, tensor: Far, from: usize, to: usize) -> bool {
        self.0.iter().any(|stream| stream.overlap(tensor, from, to).is_some())
    }

    /// These bytes of a tensor are written by `writer`; gives where the buffers hold them, as offset and length.
    pub fn overwrite(&mut self, tensor: Far, from: usize, to: usize, writer: &[u32]) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for stream in &mut self.0 {
            if let Some((first, last)) = stream.overlap(tensor, from, to) {
                stream.overwritten = writer.to_vec();
                places.push((stream.offset as usize + first - stream.held.0, last - first));
            }
        }
        places
    }

    /// The stream whose buffer an offset is in.
    pub fn at(&self, offset: usize) -> Option<&Stream> {
        let holds = |stream: &&Stream| offset.wrapping_sub(stream.offset as usize) < BUFFER as usize;
        self.0.iter().find(|stream| stream.is_open() && holds(stream))
    }

    /// The block at an offset is freed.
    pub fn freed(&mut self, offset: u32, now: u64) {
        let open = self.0.iter_mut().filter(|stream| stream.is_open() && stream.offset == offset);
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

    fn block(offset: u32, born: u64) -> Block {
        Block { offset, len: BUFFER, site: vec![born as u32], descriptor: 0, runtime: 0, born }
    }

    #[test]
    fn what_a_buffer_holds_can_be_overwritten() {
        let mut streams = Streams::default();
        let tensor = Far::Region(1);
        streams.used(&block(8192, 1), 0, tensor, (4096, 6144), false);
        streams.used(&block(8192, 1), 2048, tensor, (6144, 8192), false);
        assert!(!streams.hold(tensor, 0, 4096) && !streams.hold(Far::Region(0), 4096, 4100));
        assert_eq!(streams.overwrite(tensor, 8000, 9000, &[7]), [(8192 + 3904, 192)]);
        assert_eq!(streams.at(8200).map(|stream| stream.overwritten.clone()), Some(vec![7]));
        streams.used(&block(8192, 1), 0, tensor, (8192, 12288), false);
        assert!(!streams.hold(tensor, 4096, 8192), "filled again");
        streams.freed(8192, 9);
        assert!(!streams.hold(tensor, 8192, 12288) && streams.at(8200).is_none(), "closed");
    }

    #[test]
    fn streams_of_one_tensor_at_once() {
        let mut streams = Streams::default();
        streams.used(&block(0, 10), 0, Far::Region(0), (0, 64), false);
        streams.used(&block(8192, 20), 0, Far::Region(1), (0, 64), true);
        streams.used(&block(8192, 20), 0, Far::Region(1), (0, 64), true);
        streams.used(&block(16384, 30), 0, Far::Region(1), (0, 64), true);
        streams.freed(8192, 40);
        streams.used(&block(8192, 50), 0, Far::Region(0), (0, 64), false);
        let conflicts = streams.into_conflicts();
        let pairs: Vec<(u64, u64)> =
            conflicts.iter().map(|(later, first)| (later.opened, first.opened)).collect();
        assert_eq!(pairs, [(30, 20)], "readers of one tensor may be many");
    }
}
