//! What a stopped frame lets one see and change.
//!
//! Unaware of who stopped it: a simulator, a memory dump, a test.

/// One frame of a stopped program.
pub trait Inspect {
    /// Reads memory as the core sees it; false if a byte of it cannot be read.
    fn memory(&self, address: u32, into: &mut [u8]) -> bool;

    /// Whether the program has given all of these bytes a value; true where that is not known.
    fn is_set(&self, address: u32, len: u32) -> bool {
        let _ = (address, len);
        true
    }

    /// Register `a0`…`a15` of the frame. None where it is not known, as the registers of a caller that its callee had.
    fn register(&self, number: u8) -> Option<u32>;

    /// Reads device memory, which tensors lie in; false if a byte of it cannot be read.
    fn device_memory(&self, address: u64, into: &mut [u8]) -> bool {
        let _ = (address, into);
        false
    }

    /// Writes memory as the core sees it; false if it cannot be written.
    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> bool {
        let _ = (address, bytes);
        false
    }

    /// Writes register `a0`…`a15` of the frame; false if it cannot be written.
    fn write_register(&mut self, number: u8, value: u32) -> bool {
        let _ = (number, value);
        false
    }

    /// Writes device memory; false if it cannot be written.
    fn write_device_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        let _ = (address, bytes);
        false
    }
}
