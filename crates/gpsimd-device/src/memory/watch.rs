//! Functions of the runtime whose calls the model looks into: its allocators, and what gives memory back.
//!
//! They run as they are, on their own bookkeeping. Fetching the first instruction of one yields a SIMCALL; a stub in the
//! firmware page executes the real ENTRY and stops again, with the arguments in their registers; another stub is what the
//! function returns to. Nothing in memory is changed for that. Unaware of what is done with a call.

use crate::memory::heap::Kind;
use crate::parts::firmware;

/// What a watched function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// `int f(size_t bytes, pointer* block, size_t alignment)`.
    Allocate(Kind),
    /// `int f(pointer block)`.
    Release(Kind),
    /// `int f(pointer block, size_t* bytes)`.
    Measure(Kind),
    /// `operator delete` with the size that the compiler knows.
    SizedDelete,
    /// A stream accessor is used after `close()`.
    ClosedStream,
}

/// Linkage names of the functions; `size_t` is `unsigned int` on this core.
const FUNCTIONS: [(&str, Job); 11] = [
    ("_Z19neuron_hbm_allocatejPyj", Job::Allocate(Kind::Hbm)),
    ("_Z21neuron_hbm_deallocatey", Job::Release(Kind::Hbm)),
    ("_Z25neuron_hbm_get_alloc_sizeyPj", Job::Measure(Kind::Hbm)),
    ("_Z23neuron_dataram_allocatejPPvj", Job::Allocate(Kind::Tcm)),
    ("_Z25neuron_dataram_deallocatePv", Job::Release(Kind::Tcm)),
    ("_Z19_libc_heap_allocatejPPvj", Job::Allocate(Kind::Libc)),
    ("_Z21_libc_heap_deallocatePv", Job::Release(Kind::Libc)),
    ("_Z25_libc_heap_get_alloc_sizePvPj", Job::Measure(Kind::Libc)),
    ("_ZdlPvj", Job::SizedDelete),
    ("_ZdaPvj", Job::SizedDelete),
    ("_ZN2at6detail16stream_is_closedEv", Job::ClosedStream),
];

/// Where the watched functions of an image are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    functions: Vec<(u32, Job)>,
}

/// How far a watched call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Its first instruction was fetched: continue at this stub.
    Called(u32),
    /// Its arguments are in a2 and on: it goes on at this address, doing this.
    Begun(u32, Job),
    /// It has returned.
    Ended,
}

/// `simcall`
const SIMCALL: [u8; 3] = [0x00, 0x51, 0x00];
/// Bytes of ENTRY, and of SIMCALL.
const LEN: u32 = 3;

impl Watch {
    /// The functions to be watched among those that `find` knows by their linkage names, each with the name's index.
    pub fn jobs(find: impl FnOnce(&[&str]) -> Vec<(u32, usize)>) -> Vec<(u32, Job)> {
        let found = find(&FUNCTIONS.map(|(name, _)| name));
        found.into_iter().filter_map(|(at, index)| Some((at, FUNCTIONS.get(index)?.1))).collect()
    }

    /// Watches the functions at these addresses, whose code `code` reads; those that do not begin with ENTRY are left
    /// alone. Writes the stubs into the firmware page at `base`.
    pub fn new(
        functions: impl IntoIterator<Item = (u32, Job)>,
        code: impl Fn(u32) -> Option<[u8; 3]>,
        page: &mut [u8],
    ) -> Watch {
        let mut watch = Watch::default();
        for (at, job) in functions {
            let Some(entry) = code(at).filter(|bytes| bytes[0] == 0x36 && bytes[1] & 0xF == 1) else {
                continue;
            };
            let stub = firmware::watch(watch.functions.len()) as usize;
            let Some(bytes) = page.get_mut(stub..stub + 6) else { break };
            bytes[..3].copy_from_slice(&entry);
            bytes[3..].copy_from_slice(&SIMCALL);
            watch.functions.push((at, job));
        }
        if let Some(bytes) =
            page.get_mut(firmware::WATCH_RETURN as usize..).and_then(|rest| rest.first_chunk_mut())
        {
            *bytes = SIMCALL;
        }
        watch
    }

    /// Whether both what hands out blocks of every heap and what takes them back is watched.
    pub fn is_complete(&self) -> bool {
        let has = |wanted: Job| self.functions.iter().any(|(_, job)| *job == wanted);
        Kind::ALL.into_iter().all(|kind| has(Job::Allocate(kind)) && has(Job::Release(kind)))
    }

    /// Puts a stop over the first instruction of every watched function among code bytes fetched from `addr`.
    pub fn cover(&self, addr: u32, code: &mut [u8]) {
        for (at, _) in &self.functions {
            let offset = at.wrapping_sub(addr) as usize;
            for (byte, stop) in code.get_mut(offset..).into_iter().flatten().zip(SIMCALL) {
                *byte = stop;
            }
        }
    }

    /// Which stage of a call a SIMCALL that ends right before `pc` is, with the firmware page at `base`.
    pub fn stage(&self, pc: u32, base: u32) -> Option<Stage> {
        if pc == base + firmware::WATCH_RETURN + LEN {
            return Some(Stage::Ended);
        }
        self.functions.iter().enumerate().find_map(|(index, (at, job))| {
            let stub = base + firmware::watch(index);
            match pc {
                _ if pc == at.wrapping_add(LEN) => Some(Stage::Called(stub)),
                _ if pc == stub + 2 * LEN => Some(Stage::Begun(at.wrapping_add(LEN), *job)),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::map;

    #[test]
    fn a_call_has_three_stages() {
        let base = map::FIRMWARE;
        let mut page = firmware::page(base);
        let functions = [(0x8400_0010, Job::Release(Kind::Tcm)), (0x8400_0040, Job::SizedDelete)];
        let code = |at| Some(if at == 0x8400_0010 { [0x36, 0x41, 0] } else { [0x1D, 0xF0, 0] });
        let watch = Watch::new(functions, code, &mut page);
        let stub = base + firmware::watch(0);
        assert_eq!(page[firmware::watch(0) as usize..][..6], [0x36, 0x41, 0, 0, 0x51, 0]);
        assert_eq!(watch.stage(0x8400_0013, base), Some(Stage::Called(stub)));
        assert_eq!(watch.stage(stub + 6, base), Some(Stage::Begun(0x8400_0013, Job::Release(Kind::Tcm))));
        assert_eq!(watch.stage(base + firmware::WATCH_RETURN + 3, base), Some(Stage::Ended));
        assert_eq!(watch.stage(0x8400_0043, base), None, "no ENTRY, not watched");
        let mut bytes = [0xFF; 8];
        watch.cover(0x8400_000E, &mut bytes);
        assert_eq!(bytes, [0xFF, 0xFF, 0, 0x51, 0, 0xFF, 0xFF, 0xFF]);
        assert!(!watch.is_complete());
    }
}
