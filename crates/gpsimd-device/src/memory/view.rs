//! One core's view of the shared tensors: their frozen contents under the pages this core has written.
//!
//! Unaware of other cores; [`merge`] combines what all of them wrote, in core order, and records who wrote each byte.

use crate::call::shared::{Role, SharedMemory};

const PAGE: usize = 4096;
/// The byte holds a value.
const INIT: u8 = 1;
/// This core wrote the byte.
const WRITTEN: u8 = 2;

#[derive(Clone)]
struct Page {
    data: [u8; PAGE],
    state: [u8; PAGE],
}

/// A core's copy-on-write view.
pub struct View<'a> {
    shared: &'a SharedMemory,
    pages: Vec<Vec<Option<Box<Page>>>>,
    last: usize,
}

/// What one byte-wise look at a region found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded<const N: usize> {
    /// The bytes.
    pub data: [u8; N],
    /// How many of them hold a value.
    pub initialised: usize,
}

impl<'a> View<'a> {
    /// A view in which nothing is written yet.
    pub fn new(shared: &'a SharedMemory) -> View<'a> {
        let pages = shared
            .regions()
            .iter()
            .map(|region| (0..(region.byte_len() as usize).div_ceil(PAGE)).map(|_| None).collect())
            .collect();
        View { shared, pages, last: 0 }
    }

    /// A view with what was written before.
    pub fn with(shared: &'a SharedMemory, writes: Writes) -> View<'a> {
        View { shared, pages: writes.pages, last: 0 }
    }

    /// The tensors behind the view.
    pub fn shared(&self) -> &'a SharedMemory {
        self.shared
    }

    /// Region and offset of a SoC address. Remembers the last hit, as accesses come in runs.
    #[inline]
    pub fn find(&mut self, soc: u64) -> Option<(usize, usize)> {
        if let Some(region) = self.shared.regions().get(self.last) {
            let offset = soc.wrapping_sub(region.base);
            if offset < region.byte_len() {
                return Some((self.last, offset as usize));
            }
        }
        let index = self.shared.find(soc)?;
        self.last = index;
        Some((index, (soc - self.shared.regions()[index].base) as usize))
    }

    /// Reads `N` bytes of a region that do not straddle a page (aligned accesses never do); `None` past its end.
    #[inline]
    pub fn load<const N: usize>(&self, region: usize, offset: usize) -> Option<Loaded<N>> {
        let info = self.shared.regions().get(region)?;
        if offset.checked_add(N)? > info.byte_len() as usize {
            return None;
        }
        match self.pages.get(region)?.get(offset / PAGE)? {
            Some(page) => {
                let at = offset % PAGE;
                let data = *page.data.get(at..)?.first_chunk::<N>()?;
                let state = page.state.get(at..)?.first_chunk::<N>()?;
                Some(Loaded { data, initialised: state.iter().filter(|state| **state & INIT != 0).count() })
            }
            None if info.role == Role::Output => Some(Loaded { data: [0; N], initialised: 0 }),
            None => Some(Loaded { data: *info.data.get(offset..)?.first_chunk::<N>()?, initialised: N }),
        }
    }

    /// Writes `N` bytes of a region that do not straddle a page; says whether they lay inside.
    #[inline]
    pub fn store<const N: usize>(&mut self, region: usize, offset: usize, value: [u8; N]) -> bool {
        if offset.saturating_add(N) as u64
            > self.shared.regions().get(region).map_or(0, |info| info.byte_len())
        {
            return false;
        }
        let Some(page) = self.page_mut(region, offset / PAGE) else { return false };
        let at = offset % PAGE;
        let data = page.data.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>());
        let state = page.state.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>());
        match (data, state) {
            (Some(data), Some(state)) => {
                *data = value;
                *state = [INIT | WRITTEN; N];
                true
            }
            _ => false,
        }
    }

    /// Takes back that bytes of a region hold a value, because they were copied from bytes nobody wrote; they stay
    /// written. Says whether they lay inside.
    pub fn forget(&mut self, region: usize, offset: usize, len: usize) -> bool {
        let Some(page) = self.page_mut(region, offset / PAGE) else { return false };
        let at = offset % PAGE;
        let Some(states) = page.state.get_mut(at..at.saturating_add(len)) else { return false };
        for state in states {
            *state &= !INIT;
        }
        true
    }

    /// Reads a range inside a region into `data`, and into `init` which bytes hold a value.
    pub fn read_range(&self, region: usize, offset: usize, data: &mut [u8], init: &mut [bool]) {
        let Some(info) = self.shared.regions().get(region) else { return };
        let mut done = 0;
        while done < data.len() {
            let at = offset + done;
            let n = (PAGE - at % PAGE).min(data.len() - done);
            let (to, to_init) = (&mut data[done..done + n], &mut init[done..done + n]);
            match self.pages[region].get(at / PAGE) {
                Some(Some(page)) => {
                    to.copy_from_slice(&page.data[at % PAGE..at % PAGE + n]);
                    for (init, state) in to_init.iter_mut().zip(&page.state[at % PAGE..at % PAGE + n]) {
                        *init = state & INIT != 0;
                    }
                }
                Some(None) if info.role != Role::Output => {
                    to.copy_from_slice(&info.data[at..at + n]);
                    to_init.fill(true);
                }
                _ => {
                    to.fill(0);
                    to_init.fill(false);
                }
            }
            done += n;
        }
    }

    /// Writes a range inside a region. A byte whose `init` is false is written but still counts as holding no value.
    pub fn write_range(&mut self, region: usize, offset: usize, data: &[u8], init: &[bool]) {
        let mut done = 0;
        while done < data.len() {
            let at = offset + done;
            let n = (PAGE - at % PAGE).min(data.len() - done);
            let Some(page) = self.page_mut(region, at / PAGE) else { return };
            page.data[at % PAGE..at % PAGE + n].copy_from_slice(&data[done..done + n]);
            for (state, init) in page.state[at % PAGE..at % PAGE + n].iter_mut().zip(&init[done..done + n]) {
                *state = if *init { INIT | WRITTEN } else { WRITTEN };
            }
            done += n;
        }
    }

    fn page_mut(&mut self, region: usize, index: usize) -> Option<&mut Page> {
        let slot = self.pages.get_mut(region)?.get_mut(index)?;
        if slot.is_none() {
            let mut page = Box::new(Page { data: [0; PAGE], state: [0; PAGE] });
            let info = &self.shared.regions()[region];
            if info.role != Role::Output {
                let from = index * PAGE;
                let source = &info.data[from..info.data.len().min(from + PAGE)];
                page.data[..source.len()].copy_from_slice(source);
                page.state[..source.len()].fill(INIT);
            }
            *slot = Some(page);
        }
        slot.as_deref_mut()
    }

    /// The pages this core wrote, for [`merge`] after the shared memory is given back.
    pub fn into_writes(self) -> Writes {
        Writes { pages: self.pages }
    }
}

/// Everything one core wrote to shared tensors.
#[derive(Clone, Default)]
pub struct Writes {
    pages: Vec<Vec<Option<Box<Page>>>>,
}

/// A region after all cores ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Final bytes; where two cores wrote, the higher core's.
    pub data: Vec<u8>,
    /// One bit per core that wrote the byte.
    pub writers: Vec<u8>,
    /// Whether the byte holds a value.
    pub initialised: Vec<bool>,
}

/// Combines what the cores wrote to one region. `writes` is in core order.
pub fn merge(shared: &SharedMemory, region: usize, writes: &[(u8, Writes)]) -> Merged {
    let info = &shared.regions()[region];
    let len = info.byte_len() as usize;
    let is_output = info.role == Role::Output;
    let mut data = if is_output { vec![0; len] } else { info.data.clone() };
    let mut initialised = vec![!is_output; len];
    let mut writers = vec![0; len];
    for (core, written) in writes {
        let pages = written.pages.get(region).into_iter().flatten();
        for (index, page) in
            pages.enumerate().filter_map(|(index, page)| page.as_ref().map(|page| (index, page)))
        {
            let from = index * PAGE;
            let to = len.min(from + PAGE);
            let (value, state) = (&page.data[..to - from], &page.state[..to - from]);
            // written as a whole, as nearly always: many bytes at once
            if state.iter().fold(true, |all, state| all & (*state == INIT | WRITTEN)) {
                data[from..to].copy_from_slice(value);
                initialised[from..to].fill(true);
                writers[from..to].iter_mut().for_each(|who| *who |= 1 << (core & 7));
                continue;
            }
            let out = data[from..to].iter_mut().zip(&mut initialised[from..to]).zip(&mut writers[from..to]);
            for (((byte, init), who), (value, state)) in out.zip(page.data.iter().zip(&page.state)) {
                if state & WRITTEN != 0 {
                    *byte = *value;
                    *init = state & INIT != 0;
                    *who |= 1 << (core & 7);
                }
            }
        }
    }
    Merged { data, writers, initialised }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::dtype::Dtype;
    use crate::call::tensor::{Tensor, TensorSpec};
    use crate::call::wire::Location;

    fn memory() -> SharedMemory {
        let mut shared = SharedMemory::default();
        let x = Tensor::new(Dtype::Uint8, [5000], (0..5000u32).map(|i| i as u8).collect()).unwrap();
        shared.place("x", x, Role::Input, Location::Hbm, 1 << 20).unwrap();
        shared.place_output("out", TensorSpec::new(Dtype::Uint8, [5000]), Location::Hbm, 1 << 20).unwrap();
        shared
    }

    #[test]
    fn reads_see_frozen_contents_and_own_writes() {
        let shared = memory();
        let mut view = View::new(&shared);
        let base = shared.regions()[0].base;
        assert_eq!(view.find(base + 4100), Some((0, 4100)));
        assert_eq!(view.load::<2>(0, 4100), Some(Loaded { data: [4, 5], initialised: 2 }));
        assert!(view.store(0, 4100, [9u8]));
        assert_eq!(view.load::<2>(0, 4100), Some(Loaded { data: [9, 5], initialised: 2 }));
        assert_eq!(view.load::<4>(1, 0), Some(Loaded { data: [0; 4], initialised: 0 }));
        assert!(view.store(1, 1, [7u8]));
        assert_eq!(view.load::<4>(1, 0), Some(Loaded { data: [0, 7, 0, 0], initialised: 1 }));
        assert_eq!(view.load::<4>(1, 4997), None);
        assert!(!view.store(1, 5000, [0u8]));
    }

    #[test]
    fn ranges_cross_pages_and_carry_initialisation() {
        let shared = memory();
        let mut view = View::new(&shared);
        let data: Vec<u8> = (0..200).collect();
        let init: Vec<bool> = data.iter().map(|byte| byte % 2 == 0).collect();
        view.write_range(1, 4000, &data, &init);
        let (mut back, mut back_init) = (vec![0; 202], vec![true; 202]);
        view.read_range(1, 3999, &mut back, &mut back_init);
        assert_eq!(back[1..201], data);
        assert_eq!(back_init[1..201], init);
        assert!(!back_init[0] && !back_init[201]);
    }

    #[test]
    fn merging_keeps_the_higher_core_and_names_all_writers() {
        let shared = memory();
        let writes: Vec<(u8, Writes)> = [(0u8, 10usize, [1u8; 4]), (5, 12, [2; 4])]
            .into_iter()
            .map(|(core, offset, value)| {
                let mut view = View::new(&shared);
                assert!(view.store(1, offset, value));
                (core, view.into_writes())
            })
            .collect();
        let merged = merge(&shared, 1, &writes);
        assert_eq!(merged.data[9..17], [0, 1, 1, 2, 2, 2, 2, 0]);
        assert_eq!(merged.writers[9..17], [0, 1, 1, 0x21, 0x21, 0x20, 0x20, 0]);
        assert!(merged.initialised[10] && !merged.initialised[9]);
        assert_eq!(merge(&shared, 0, &writes).data, shared.regions()[0].data);
    }
}
