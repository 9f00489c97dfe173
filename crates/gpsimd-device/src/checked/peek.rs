//! Reading a core's memory from outside, without checks.
//!
//! Unaware of whose memory it is and of what is read.

/// Reads bytes of the core's memory without checks.
pub trait Peek {
    /// Exactly `len` bytes at an NX address.
    fn peek(&self, addr: u32, len: usize) -> Option<Vec<u8>>;

    /// A word.
    fn word(&self, addr: u32) -> Option<u32> {
        Some(u32::from_le_bytes(self.peek(addr, 4)?.try_into().ok()?))
    }

    /// A string that ends in a zero byte, of at most `limit` bytes.
    fn text(&self, addr: u32, limit: u32) -> Option<String> {
        let mut bytes = Vec::new();
        for at in 0..limit {
            match self.peek(addr.checked_add(at)?, 1)?.first() {
                Some(0) => return Some(String::from_utf8_lossy(&bytes).into_owned()),
                Some(byte) => bytes.push(*byte),
                None => return None,
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
