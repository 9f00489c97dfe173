//! Device memory as the host sees it: allocate, write, read, ask for the address, free.
//!
//! Unaware of what is stored. [`HostMemory`] keeps the bytes in this process; [`Unattached`] is the vendor's default,
//! which refuses. Facts: spec `prelink.md` §11.1, `load-and-dispatch.md` §3.3.

use std::collections::BTreeMap;

use crate::result::ResultCode;

/// An allocation; opaque, passed by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u64);

/// The five slots of the vendor's memory-handle table. Every error is the code that the caller hands on.
pub trait DeviceMemory {
    /// Allocates `size` bytes at a multiple of `align`, a power of two.
    ///
    /// # Errors
    /// The code of the failure.
    fn malloc(&mut self, size: u64, align: u64) -> Result<Handle, ResultCode>;

    /// Frees an allocation.
    fn free(&mut self, handle: Handle);

    /// Copies from an allocation, `offset` bytes into it.
    ///
    /// # Errors
    /// The code of the failure.
    fn read(&self, handle: Handle, offset: u64, into: &mut [u8]) -> Result<(), ResultCode>;

    /// Copies into an allocation, `offset` bytes into it.
    ///
    /// # Errors
    /// The code of the failure.
    fn write(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Result<(), ResultCode>;

    /// The SoC address of an allocation.
    fn device_addr(&self, handle: Handle) -> u64;

    /// What to log when an allocation failed, if the implementation has words of its own.
    fn complaint(&self) -> Option<&'static str> {
        None
    }
}

/// No platform attached: the vendor's table before an embedder sets one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattached;

impl DeviceMemory for Unattached {
    fn malloc(&mut self, _size: u64, _align: u64) -> Result<Handle, ResultCode> {
        Err(ResultCode::Invalid)
    }

    fn free(&mut self, _handle: Handle) {}

    fn read(&self, _handle: Handle, _offset: u64, _into: &mut [u8]) -> Result<(), ResultCode> {
        Err(ResultCode::Invalid)
    }

    fn write(&mut self, _handle: Handle, _offset: u64, _bytes: &[u8]) -> Result<(), ResultCode> {
        Err(ResultCode::Invalid)
    }

    fn device_addr(&self, _handle: Handle) -> u64 {
        0
    }

    fn complaint(&self) -> Option<&'static str> {
        Some("memhandle platform implementation is required but is not attached")
    }
}

/// A stretch of SoC address space whose allocations live in this process. First fit, so that freed addresses return.
#[derive(Debug, Clone)]
pub struct HostMemory {
    base: u64,
    size: u64,
    /// By address; neither empty nor overlapping.
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl HostMemory {
    /// `size` bytes of address space from `base` on.
    pub fn new(base: u64, size: u64) -> HostMemory {
        HostMemory { base, size, blocks: BTreeMap::new() }
    }

    /// Live allocations.
    pub fn allocations(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes at a SoC address, if they lie in one allocation.
    pub fn at(&self, addr: u64, len: usize) -> Option<&[u8]> {
        let (start, block) = self.blocks.range(..=addr).next_back()?;
        let offset = usize::try_from(addr - start).ok()?;
        block.get(offset..offset.checked_add(len)?)
    }

    fn range(&self, handle: Handle, offset: u64, len: usize) -> Result<std::ops::Range<usize>, ResultCode> {
        let block = self.blocks.get(&handle.0).ok_or(ResultCode::Io)?;
        let start = usize::try_from(offset).map_err(|_| ResultCode::Io)?;
        let end = start.checked_add(len).filter(|&end| end <= block.len()).ok_or(ResultCode::Io)?;
        Ok(start..end)
    }
}

impl DeviceMemory for HostMemory {
    fn malloc(&mut self, size: u64, align: u64) -> Result<Handle, ResultCode> {
        let limit = self.base.saturating_add(self.size);
        let size = size.max(1);
        let mut addr = self.base.checked_next_multiple_of(align.max(1)).ok_or(ResultCode::Allocation)?;
        for (&start, block) in &self.blocks {
            if addr.saturating_add(size) <= start {
                break;
            }
            let behind = addr.max(start + block.len() as u64);
            addr = behind.checked_next_multiple_of(align.max(1)).ok_or(ResultCode::Allocation)?;
        }
        if addr.checked_add(size).is_none_or(|end| end > limit) {
            return Err(ResultCode::Allocation);
        }
        let len = usize::try_from(size).map_err(|_| ResultCode::Allocation)?;
        self.blocks.insert(addr, vec![0; len]);
        Ok(Handle(addr))
    }

    fn free(&mut self, handle: Handle) {
        self.blocks.remove(&handle.0);
    }

    fn read(&self, handle: Handle, offset: u64, into: &mut [u8]) -> Result<(), ResultCode> {
        let range = self.range(handle, offset, into.len())?;
        let block = self.blocks.get(&handle.0).and_then(|block| block.get(range)).ok_or(ResultCode::Io)?;
        into.copy_from_slice(block);
        Ok(())
    }

    fn write(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Result<(), ResultCode> {
        let range = self.range(handle, offset, bytes.len())?;
        let block =
            self.blocks.get_mut(&handle.0).and_then(|block| block.get_mut(range)).ok_or(ResultCode::Io)?;
        block.copy_from_slice(bytes);
        Ok(())
    }

    fn device_addr(&self, handle: Handle) -> u64 {
        handle.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn freed_addresses_return() {
        let mut memory = HostMemory::new(0x1000, 64 * MIB);
        let a = memory.malloc(0x6a20, 16 * MIB).unwrap();
        let b = memory.malloc(0x6a20, 16 * MIB).unwrap();
        let c = memory.malloc(32, 32).unwrap();
        assert_eq!([a, b, c].map(|handle| memory.device_addr(handle)), [16 * MIB, 32 * MIB, 0x1000]);
        assert!(memory.malloc(16 * MIB + 0x1001, 16 * MIB).is_err(), "the space ends at 64 MiB + 0x1000");
        memory.free(a);
        assert_eq!(memory.malloc(16 * MIB, 16 * MIB), Ok(a));
        assert_eq!(memory.allocations(), 3);
    }

    #[test]
    fn accesses_stay_inside_an_allocation() {
        let mut memory = HostMemory::new(0, MIB);
        let handle = memory.malloc(8, 8).unwrap();
        assert_eq!(memory.write(handle, 4, &[1, 2, 3, 4]), Ok(()));
        assert_eq!(memory.at(4, 4), Some(&[1, 2, 3, 4][..]));
        assert_eq!(memory.write(handle, 5, &[0; 4]), Err(ResultCode::Io));
        assert_eq!(memory.write(handle, u64::MAX, &[0; 4]), Err(ResultCode::Io));
        let mut into = [0; 2];
        assert_eq!(memory.read(handle, 6, &mut into), Ok(()));
        assert_eq!(into, [3, 4]);
        memory.free(handle);
        assert_eq!(memory.read(handle, 0, &mut into), Err(ResultCode::Io));
        assert_eq!(memory.at(4, 1), None);
    }
}
