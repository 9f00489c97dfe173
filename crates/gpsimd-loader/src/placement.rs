//! Where the two segments land, their scratch buffers, and the map from link addresses to device addresses.
//!
//! Unaware of ELF and relocation types. Facts: spec `prelink.md` §3 step 1, §6, §8.2, §8.3.

use crate::elf::Phdr;
use crate::error::{PrelinkError, Segment};
use crate::generation::Region;
use crate::mode::Mode;

/// What scratch buffers are filled with before anything is copied.
pub(crate) const POISON: u8 = 0xa5;
/// Least distance of code end and data start that a library with a scratch segment promises: addresses that little
/// below the data still count as data (biased base pointers).
const SEPARATION: u32 = 0x400;

/// One segment in the scratch buffer of its region.
pub(crate) struct Placed {
    pub region: Region,
    /// The whole region's bytes.
    pub bytes: Vec<u8>,
    /// Device address of the segment.
    pub dst: u32,
    /// `p_paddr`: what link addresses of the segment are relative to.
    pub link: u32,
    /// Offset of the segment in the region.
    pub offset: u32,
    /// Bytes of the segment in memory.
    pub memsz: u32,
}

/// `align_ptr(base, align) + (paddr & (align - 1))`, with the vendor's arithmetic also where `align` makes no sense.
pub(crate) fn destination(region: Region, paddr: u32, align: u32) -> u32 {
    let mask = align.wrapping_sub(1);
    (region.base.wrapping_add(mask) & !mask).wrapping_add(paddr & mask)
}

impl Placed {
    /// Checks the segment against its region, then fetches its file bytes and copies them; the rest is zero.
    pub fn load<'a>(
        segment: Segment,
        region: Region,
        phdr: &Phdr,
        align: u32,
        contents: impl FnOnce() -> Result<&'a [u8], PrelinkError>,
    ) -> Result<Placed, PrelinkError> {
        let dst = destination(region, phdr.paddr, align);
        let offset = dst.wrapping_sub(region.base);
        let need = u64::from(offset) + u64::from(phdr.memsz);
        if need > u64::from(region.size) {
            return Err(PrelinkError::SegmentTooLarge { segment, need, region });
        }
        // The vendor would copy past the buffer and clear what is left of the address space.
        if phdr.filesz > phdr.memsz {
            return Err(PrelinkError::FileBeyondMemory { segment, filesz: phdr.filesz, memsz: phdr.memsz });
        }
        let contents = contents()?;
        let mut bytes = vec![POISON; region.size as usize];
        let (start, end) = (offset as usize, need as usize);
        let (filled, bss) = bytes[start..end].split_at_mut(contents.len().min(end - start));
        filled.copy_from_slice(&contents[..filled.len()]);
        bss.fill(0);
        Ok(Placed { region, bytes, dst, link: phdr.paddr, offset, memsz: phdr.memsz })
    }

    /// The segment's own range on the device.
    pub fn extent(&self) -> Region {
        Region { base: self.dst, size: self.memsz }
    }

    /// What staging copies: as many bytes as the segment has, rounded up to words, but always from the start of the
    /// buffer. A segment that does not start there loses its end (§6.2, the lead-in quirk). The bytes that round up
    /// are what the buffer holds; strict mode clears them (§17 R11).
    pub fn staged(&self, mode: Mode) -> Vec<u8> {
        let len = staged_len(self.memsz) as usize;
        let mut staged = self.bytes.clone();
        staged.resize(len.max(staged.len()), POISON);
        staged.truncate(len);
        if mode == Mode::Strict {
            // Strict mode has no lead-in, so the segment's bytes end at memsz.
            staged[self.memsz as usize..].fill(0);
        }
        staged
    }
}

/// Bytes of a segment in the image: a multiple of four. Segments are at most a region long, so this cannot wrap.
pub(crate) fn staged_len(memsz: u32) -> u32 {
    memsz.saturating_add(3) & !3
}

/// The library in memory: both segments, and the way from link addresses to device addresses.
pub(crate) struct Placement {
    pub code: Placed,
    pub data: Placed,
    pub has_scratch: bool,
}

impl Placement {
    /// `reloc_addr`: every address maps, those from just below the data segment on with the data's offset, all others
    /// with the code's.
    pub fn map(&self, addr: u32) -> u32 {
        let separation = if self.has_scratch { SEPARATION } else { 0 };
        if addr.wrapping_add(separation) >= self.data.link {
            addr.wrapping_add(self.data.dst.wrapping_sub(self.data.link))
        } else {
            self.map_code(addr)
        }
    }

    /// The map of entry, init and fini, which are code whatever their value.
    pub fn map_code(&self, addr: u32) -> u32 {
        addr.wrapping_add(self.code.dst.wrapping_sub(self.code.link))
    }

    /// The buffer bytes from a device address to the end of its region: data is asked first, then code.
    pub fn at(&mut self, addr: u32) -> Option<&mut [u8]> {
        for placed in [&mut self.data, &mut self.code] {
            if let Some(offset) = placed.region.offset_of(addr) {
                return placed.bytes.get_mut(offset as usize..);
            }
        }
        None
    }

    /// Whether all of `width` bytes at `addr` belong to one loaded segment.
    pub fn is_loaded(&self, addr: u32, width: u32) -> bool {
        [&self.data, &self.code].iter().any(|placed| {
            let extent = placed.extent();
            addr >= extent.base && u64::from(addr) + u64::from(width) <= extent.end()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Bounds;

    fn placed(region: Region, link: u32) -> Placed {
        let bytes = vec![POISON; region.size as usize];
        Placed { region, bytes, dst: region.base, link, offset: 0, memsz: 0x100 }
    }

    fn placement(has_scratch: bool) -> Placement {
        let Bounds { code, data } = Bounds::CAYMAN;
        Placement { code: placed(code, 0x0100_0000), data: placed(data, 0x0200_0000), has_scratch }
    }

    #[test]
    fn the_map_of_addresses() {
        // prelink.md §18 T2
        let rows = [
            (0x0200_025c, 0xb_e25c),
            (0x0200_01f8, 0xb_e1f8),
            (0x0100_0bc0, 0x1_8bc0),
            (0x01ff_ffff, 0xb_dfff),
            (0x01ff_fc00, 0xb_dc00),
            (0x01ff_fbff, 0x0101_7bff),
            (0x0300_0000, 0x010b_e000),
        ];
        for (link, device) in rows {
            assert_eq!(placement(true).map(link), device, "{link:#x}");
        }
        // Without a scratch segment data starts where it starts (§8.2).
        assert_eq!(placement(false).map(0x01ff_ffff), 0x0101_7fff);
        assert_eq!(placement(false).map(0x0200_0000), 0xb_e000);
        // The sum of address and separation wraps, so the highest addresses are code.
        assert_eq!(placement(true).map(0xffff_fc00), 0xff01_7c00);
    }

    #[test]
    fn destinations() {
        // prelink.md §6.1, §18 T1, T7, T11; the last row is an alignment of 0 (§4.4)
        let code = Bounds::CAYMAN.code;
        let data = Bounds::SUNDA.data;
        let rows = [
            (code, 0x0100_0000, 1, 0x1_8000),
            (code, 0x0100_0000, 0x80, 0x1_8000),
            (data, 0x0200_000c, 64, 0x8_e00c),
            (Region { base: 0x5504, size: 0 }, 0x0100_0000, 64, 0x5540),
            (code, 0x0100_0000, 0, 0x0100_0000),
        ];
        for (region, paddr, align, want) in rows {
            assert_eq!(destination(region, paddr, align), want, "{paddr:#x} {align}");
        }
    }

    #[test]
    fn what_is_loaded() {
        let placement = placement(true);
        let rows = [
            (0x1_8000, 4, true),
            (0x1_80fd, 3, true),
            (0x1_80fd, 4, false),
            (0x1_7fff, 4, false),
            (0xb_e0fc, 4, true),
            (u32::MAX, 4, false),
        ];
        for (addr, width, want) in rows {
            assert_eq!(placement.is_loaded(addr, width), want, "{addr:#x}");
        }
    }
}
