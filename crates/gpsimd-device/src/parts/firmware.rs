//! The firmware page: return point, callback stubs and the 36-byte hand-off block that the library's entry reads.
//!
//! Every stub is a windowed function that stops the simulator with SIMCALL; the host does the work and sets the result.
//! Unaware of how calls are run. Facts: spec `customop-abi.md` §3.1-§3.4, `load-and-dispatch.md` §11.2.

use crate::parts::map;

/// What the program asked of the firmware by reaching a SIMCALL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// A call made by the host has returned.
    Return,
    /// `register_ext_isa_fn(handle, name, launcher)` and its later versions.
    Register,
    /// `get_libc_fn(name)`.
    GetLibc,
    /// `get_data_scratch(address*, size*)`.
    GetDataScratch,
    /// `get_hbm_scratch(address*, size*)`.
    GetHbmScratch,
    /// `get_dma_queue(m2s*, s2m*)`.
    GetDmaQueue,
    /// libc `write(fd, buffer, count)`.
    Write,
    /// libc `exit(status)`.
    Exit,
}

impl Service {
    const ALL: [Service; 8] = [
        Service::Return,
        Service::Register,
        Service::GetLibc,
        Service::GetDataScratch,
        Service::GetHbmScratch,
        Service::GetDmaQueue,
        Service::Write,
        Service::Exit,
    ];

    /// NX address of the stub in the page at `base`.
    pub fn address(self, base: u32) -> u32 {
        base + self as u32 * STUB_LEN
    }

    /// The service of the page at `base` whose SIMCALL ends right before `pc`.
    pub fn stopped_at(pc: u32, base: u32) -> Option<Service> {
        Service::ALL.into_iter().find(|service| {
            let before = if *service == Service::Return { 0 } else { ENTRY.len() };
            pc.wrapping_sub(service.address(base)) as usize == before + SIMCALL.len()
        })
    }
}

/// Result of a registration callback: success.
pub const SUCCESS: u32 = 0;
/// Result of a registration callback: failure.
pub const FAILURE: u32 = 1;
/// What the hand-off block carries as `library_handle`; opaque to the library.
pub const HANDLE: u32 = 0x4750_5349;
/// Offset of the hand-off block in the page.
pub const HANDOFF: u32 = 0x800;
/// Bytes of the hand-off block.
pub const HANDOFF_LEN: u32 = 36;

/// Offset of the stub that watched functions return to.
pub const WATCH_RETURN: u32 = 0xF0;

/// Offset of the stub that enters the `n`th watched function.
pub fn watch(n: usize) -> u32 {
    0x100 + n as u32 * STUB_LEN
}

const STUB_LEN: u32 = 0x10;
/// `entry a1, 32`
const ENTRY: [u8; 3] = [0x36, 0x41, 0x00];
/// `simcall`
const SIMCALL: [u8; 3] = [0x00, 0x51, 0x00];
/// `retw.n`
const RETW: [u8; 2] = [0x1D, 0xF0];

/// The contents of the firmware page at NX address `base`.
pub fn page(base: u32) -> Vec<u8> {
    let mut page = vec![0; map::FIRMWARE_LEN as usize];
    for service in Service::ALL {
        let code: Vec<u8> = match service {
            Service::Return => SIMCALL.to_vec(),
            _ => [&ENTRY[..], &SIMCALL, &RETW].concat(),
        };
        let at = service.address(0) as usize;
        page[at..at + code.len()].copy_from_slice(&code);
    }
    let words = [
        HANDOFF_LEN,
        HANDLE,
        Service::Register.address(base),
        Service::GetLibc.address(base),
        Service::GetDataScratch.address(base),
        Service::GetHbmScratch.address(base),
        Service::GetDmaQueue.address(base),
        // v2 and v3 take (handle, name, byte[, launcher]); their exact signatures are unknown, so they are absent.
        0,
        0,
    ];
    let at = HANDOFF as usize;
    for (slot, word) in page[at..at + HANDOFF_LEN as usize].chunks_exact_mut(4).zip(words) {
        slot.copy_from_slice(&u32::to_le_bytes(word));
    }
    page
}

/// Address of the libc function that the firmware at `base` lends, 0 for any other name.
pub fn libc(name: &str, base: u32) -> u32 {
    match name {
        "write" => Service::Write.address(base),
        "exit" => Service::Exit.address(base),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_36_bytes_with_every_callback() {
        let page = page(map::FIRMWARE);
        let at = HANDOFF as usize;
        assert_eq!(page[at..at + 4], 36u32.to_le_bytes());
        assert_eq!(page[at + 24..at + 28], Service::GetDmaQueue.address(map::FIRMWARE).to_le_bytes());
        assert!(page[at + 36..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn services_are_told_apart_by_where_they_stop() {
        for service in Service::ALL {
            let base = map::FIRMWARE;
            let end = service.address(base) + if service == Service::Return { 3 } else { 6 };
            assert_eq!(Service::stopped_at(end, base), Some(service));
            assert_eq!(Service::stopped_at(end, base - 0x1000), None);
        }
        assert_eq!(Service::stopped_at(map::FIRMWARE, map::FIRMWARE), None);
    }
}
