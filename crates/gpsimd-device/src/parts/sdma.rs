//! One core's DMA queue pair: ring registers, doorbells, descriptors and completions.
//!
//! Decides which copy comes next; unaware of memories, which [`crate::cores::bus`] copies between.
//! Facts: spec `device-runtime.md` §13.6-§13.9; the completion echoes the descriptor's ring id (C-13).

/// Bytes of one descriptor and of one completion entry.
pub const DESCRIPTOR_BYTES: u64 = 16;
/// Bytes of a queue's register block.
pub const QUEUE_LEN: u32 = 0x1000;
/// Ring length preset by the model.
pub const RING_LEN: u32 = 4;

const RING_BASE_LO: u32 = 0x28;
const RING_BASE_HI: u32 = 0x2C;
const RING_LENGTH: u32 = 0x30;
/// Offset of the tail-increment register, the doorbell.
pub const DOORBELL: u32 = 0x38;
const COMPLETION_BASE_LO: u32 = 0x44;
const COMPLETION_BASE_HI: u32 = 0x48;
const REGISTER_WORDS: usize = 0x100 / 4;

/// One direction of a queue pair.
#[derive(Debug, Clone)]
pub struct Queue {
    words: [u32; REGISTER_WORDS],
    waiting: u32,
    next: u32,
}

impl Queue {
    /// A queue with the rings the runtime's scratch map holds.
    pub fn new(ring: u64, completions: u64) -> Queue {
        let mut queue = Queue { words: [0; REGISTER_WORDS], waiting: 0, next: 0 };
        queue.set_pair(RING_BASE_LO, ring);
        queue.set_pair(COMPLETION_BASE_LO, completions);
        queue.set(RING_LENGTH, RING_LEN);
        queue
    }

    fn set_pair(&mut self, offset: u32, value: u64) {
        self.set(offset, value as u32);
        self.set(offset + 4, (value >> 32) as u32);
    }

    fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
        }
    }

    /// Value of a register.
    pub fn register(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn pair(&self, lo: u32, hi: u32) -> u64 {
        u64::from(self.register(lo)) | u64::from(self.register(hi)) << 32
    }

    /// Writes a register. Reprogramming the ring base starts the ring over.
    pub fn store(&mut self, offset: u32, value: u32) {
        match offset {
            DOORBELL => self.waiting = self.waiting.saturating_add(value & 0xFF_FFFF),
            RING_BASE_LO | RING_BASE_HI => {
                self.set(offset, value);
                self.next = 0;
                self.waiting = 0;
            }
            _ => self.set(offset, value),
        }
    }

    /// Its ring.
    pub fn ring(&self) -> Ring {
        let base = self.pair(RING_BASE_LO, RING_BASE_HI);
        Ring { base, len: self.ring_len(), next: self.next, waiting: self.waiting }
    }

    fn ring_len(&self) -> u32 {
        self.register(RING_LENGTH).max(1)
    }

    fn descriptor(&self) -> u64 {
        self.pair(RING_BASE_LO, RING_BASE_HI).wrapping_add(u64::from(self.next) * DESCRIPTOR_BYTES)
    }

    fn completion(&self) -> u64 {
        let base = self.pair(COMPLETION_BASE_LO, COMPLETION_BASE_HI);
        base.wrapping_add(u64::from(self.next) * DESCRIPTOR_BYTES)
    }

    fn advance(&mut self) {
        self.waiting -= 1;
        self.next = (self.next + 1) % self.ring_len();
    }
}

/// A queue's ring as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// SoC address of its first descriptor.
    pub base: u64,
    /// Descriptors that it has room for.
    pub len: u32,
    /// The one that is taken next.
    pub next: u32,
    /// Announced by doorbells and not taken yet.
    pub waiting: u32,
}

/// SoC addresses of the next transfer's descriptors and completion entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Descriptor of the source side.
    pub tx: u64,
    /// Descriptor of the destination side.
    pub rx: u64,
    /// Where the completion goes.
    pub completion: u64,
}

/// Why a queue pair stopped for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stopped {
    /// More descriptors were announced than the ring holds.
    Overrun {
        /// Descriptors announced.
        waiting: u32,
        /// Length of the ring.
        ring: u32,
    },
    /// A ring or completion address is not readable and writable memory of the core.
    BadRing {
        /// The SoC address.
        addr: u64,
    },
}

/// The queue pair of one core.
#[derive(Debug, Clone)]
pub struct Sdma {
    /// Memory to stream: the source side.
    pub m2s: Queue,
    /// Stream to memory: the destination side.
    pub s2m: Queue,
    stopped: Option<Stopped>,
}

impl Sdma {
    /// A pair whose rings lie at these SoC addresses.
    pub fn new(tx_ring: u64, rx_ring: u64, completions: u64) -> Sdma {
        Sdma { m2s: Queue::new(tx_ring, completions), s2m: Queue::new(rx_ring, completions), stopped: None }
    }

    /// The next transfer, once both sides have a descriptor. `Err` once, when the pair stops.
    pub fn next_slot(&mut self) -> Result<Option<Slot>, Stopped> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let overrun = [&self.m2s, &self.s2m].into_iter().find(|queue| queue.waiting > queue.ring_len());
        if let Some(why) =
            overrun.map(|queue| Stopped::Overrun { waiting: queue.waiting, ring: queue.ring_len() })
        {
            return Err(self.stop(why));
        }
        if self.m2s.waiting == 0 || self.s2m.waiting == 0 {
            return Ok(None);
        }
        let slot =
            Slot { tx: self.m2s.descriptor(), rx: self.s2m.descriptor(), completion: self.s2m.completion() };
        self.m2s.advance();
        self.s2m.advance();
        Ok(Some(slot))
    }

    /// Why it has stopped for good, if it has.
    pub fn why_stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Stops the pair: later doorbells do nothing.
    pub fn stop(&mut self, why: Stopped) -> Stopped {
        self.stopped = Some(why);
        why
    }
}

/// The fields of a descriptor that a plain copy uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Bytes: 1 to 65536.
    pub len: u32,
    /// Ring id of the pass, 2 bits.
    pub ring_id: u8,
    /// SoC address.
    pub addr: u64,
}

impl Descriptor {
    /// Reads the 16 bytes; length 0 means 65536.
    pub fn decode(bytes: [u8; 16]) -> Descriptor {
        let raw = u128::from_le_bytes(bytes);
        let word0 = raw as u32;
        let len = match word0 & 0xFFFF {
            0 => 0x1_0000,
            len => len,
        };
        Descriptor { len, ring_id: (word0 >> 24 & 3) as u8, addr: (raw >> 64) as u64 }
    }

    /// The completion entry: the descriptor's first word, which carries the ring id.
    pub fn completion(bytes: [u8; 16]) -> [u8; 4] {
        [bytes[0], bytes[1], bytes[2], bytes[3]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(word0: u32, addr: u64) -> Descriptor {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&word0.to_le_bytes());
        bytes[4] = 3;
        bytes[8..].copy_from_slice(&addr.to_le_bytes());
        Descriptor::decode(bytes)
    }

    #[test]
    fn descriptor_words() {
        // device-runtime.md §22 vectors 7 and 9: preset 0x0C000000, ring id 1, chunks of 100, 65536 and 1 bytes
        let rows =
            [(0x0D00_0064, 100, 1), (0x0D00_0000, 65536, 1), (0x0D00_0001, 1, 1), (0x0F00_FFFF, 65535, 3)];
        for (word0, len, ring_id) in rows {
            assert_eq!(descriptor(word0, 0x12_3456_789A), Descriptor { len, ring_id, addr: 0x12_3456_789A });
        }
    }

    #[test]
    fn a_transfer_needs_both_doorbells_and_the_ring_wraps() {
        // vector 10: four transfers, the fifth uses slot 0 again
        let mut pair = Sdma::new(0x100, 0x200, 0x300);
        for transfer in 0..5u64 {
            pair.m2s.store(DOORBELL, 1);
            assert_eq!(pair.next_slot(), Ok(None));
            pair.s2m.store(DOORBELL, 1);
            let at = transfer % 4 * 16;
            assert_eq!(
                pair.next_slot(),
                Ok(Some(Slot { tx: 0x100 + at, rx: 0x200 + at, completion: 0x300 + at }))
            );
            assert_eq!(pair.next_slot(), Ok(None));
        }
    }

    #[test]
    fn the_doorbell_adds_24_bits() {
        let mut pair = Sdma::new(0x100, 0x200, 0x300);
        pair.m2s.store(DOORBELL, 0xFF00_0002);
        pair.s2m.store(DOORBELL, 2);
        assert!(matches!(pair.next_slot(), Ok(Some(_))));
        assert!(matches!(pair.next_slot(), Ok(Some(_))));
        assert_eq!(pair.next_slot(), Ok(None));
    }

    #[test]
    fn announcing_more_than_the_ring_holds_stops_the_pair_once() {
        let mut pair = Sdma::new(0x100, 0x200, 0x300);
        pair.m2s.store(DOORBELL, 5);
        pair.s2m.store(DOORBELL, 5);
        assert_eq!(pair.next_slot(), Err(Stopped::Overrun { waiting: 5, ring: 4 }));
        assert_eq!(pair.next_slot(), Ok(None));
    }

    #[test]
    fn rings_can_be_moved() {
        let mut pair = Sdma::new(0x100, 0x200, 0x300);
        pair.m2s.store(RING_BASE_LO, 0x9000_0000);
        pair.m2s.store(RING_BASE_HI, 0x20);
        pair.s2m.store(COMPLETION_BASE_LO, 0x400);
        pair.m2s.store(DOORBELL, 1);
        pair.s2m.store(DOORBELL, 1);
        assert_eq!(pair.next_slot(), Ok(Some(Slot { tx: 0x20_9000_0000, rx: 0x200, completion: 0x400 })));
    }
}
