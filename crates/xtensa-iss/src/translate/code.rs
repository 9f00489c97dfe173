//! Memory for host code: written, then executable, never both at once.
//!
//! Chunks of fixed size, filled one after the other, given back all together. Unaware of what the code does.

use memmap2::{Mmap, MmapMut};

/// Bytes of a chunk, of which the permissions change together.
const CHUNK: usize = 1 << 18;
/// Most chunks: 16 MiB of code.
const CHUNKS: usize = 64;
/// Code begins at multiples of this.
const ALIGN: usize = 16;

#[derive(Default)]
pub(super) struct CodeStore {
    chunks: Vec<Mmap>,
    /// Bytes used of the last chunk.
    used: usize,
}

/// The store is full, or the system gives no memory.
pub(super) struct Full;

impl CodeStore {
    /// Keeps `code`; the address it is executable at from now on.
    pub fn add(&mut self, code: &[u8]) -> Result<*const u8, Full> {
        if code.len() > CHUNK {
            return Err(Full);
        }
        let (mut writable, start) = match self.chunks.pop() {
            Some(last) if self.used + code.len() <= CHUNK => (last.make_mut().map_err(|_| Full)?, self.used),
            last => {
                self.chunks.extend(last);
                if self.chunks.len() == CHUNKS {
                    return Err(Full);
                }
                (MmapMut::map_anon(CHUNK).map_err(|_| Full)?, 0)
            }
        };
        let place = writable.get_mut(start..start + code.len()).ok_or(Full)?;
        place.copy_from_slice(code);
        let executable = writable.make_exec().map_err(|_| Full)?;
        let address = executable.get(start..).ok_or(Full)?.as_ptr();
        self.chunks.push(executable);
        self.used = (start + code.len()).next_multiple_of(ALIGN);
        Ok(address)
    }
}
