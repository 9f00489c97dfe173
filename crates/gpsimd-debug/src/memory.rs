//! Memory by the names that people have for it: a tensor, one of its elements, an address.
//!
//! Unaware of variables. What no core has written yet holds nothing, and is said to.

use gpsimd_device::cores::bus::Place;
use gpsimd_device::cores::paused::Bytes;

use crate::engine::Debugger;
use crate::error::DebugError;

/// Memory that somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The first byte.
    pub place: Place,
    /// How many.
    pub len: usize,
    /// Whether all cores have it.
    pub is_shared: bool,
}

impl Debugger<'_> {
    /// `out`, `out[993]`, `out[2][3]`, `0x80001000`, `0x80001000:16`.
    pub(crate) fn named(&mut self, text: &str) -> Result<Named, DebugError> {
        let text = text.trim();
        let unknown = || DebugError::Memory { text: text.to_owned() };
        let (name, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
        let regions = self.session.regions();
        if let Some(index) = regions.iter().position(|region| region.name == name.trim()) {
            let spec = &regions[index].spec;
            let size = spec.dtype.size();
            let count = spec.byte_len() / size as u64;
            if rest.is_empty() {
                let len = spec.byte_len() as usize;
                return Ok(Named { place: Place::Tensor(index, 0), len, is_shared: true });
            }
            let indices = indices(rest).ok_or_else(unknown)?;
            let beyond = || DebugError::Element { text: text.to_owned(), count };
            let at = match indices.as_slice() {
                [one] => *one,
                several if several.len() == spec.shape.len() => {
                    let mut at = 0_u64;
                    for (index, extent) in several.iter().zip(&spec.shape) {
                        at = at.saturating_mul(*extent).saturating_add(*index);
                        if index >= extent {
                            return Err(beyond());
                        }
                    }
                    at
                }
                _ => return Err(unknown()),
            };
            if at >= count {
                return Err(beyond());
            }
            return Ok(Named { place: Place::Tensor(index, at as usize * size), len: size, is_shared: true });
        }
        if !text.starts_with(|first: char| first.is_ascii_digit()) {
            let value = self.evaluate((self.current, self.frame), text)?;
            let place = match (value.address, value.device_address) {
                (Some(address), _) => self.session.place(self.current, address),
                (None, Some(address)) => self.session.device_place(self.current, address),
                (None, None) => return Err(unknown()),
            };
            let len = value.size.filter(|size| *size > 0).ok_or_else(unknown)? as usize;
            return Ok(Named { place, len, is_shared: matches!(place, Place::Tensor(..)) });
        }
        let (address, len) = text.split_once(':').unwrap_or((text, "4"));
        let address = number(address).and_then(|address| u32::try_from(address).ok()).ok_or_else(unknown)?;
        let len = number(len).filter(|len| (1..=1 << 20).contains(len)).ok_or_else(unknown)? as usize;
        let place = self.session.place(self.current, address);
        match place {
            Place::Apb(_) | Place::Nowhere => Err(unknown()),
            place => Ok(Named { place, len, is_shared: matches!(place, Place::Tensor(..)) }),
        }
    }

    /// Bytes as numbers: of a tensor elements, else words.
    pub(crate) fn shown(&self, place: Place, bytes: &Bytes) -> String {
        const MOST: usize = 8;
        let Place::Tensor(region, _) = place else { return words(bytes) };
        let Some(region) = self.session.regions().get(region) else { return String::new() };
        let dtype = region.spec.dtype;
        let elements = bytes.data.chunks(dtype.size()).zip(bytes.is_set.chunks(dtype.size()));
        let text = |(data, set): (&[u8], &[bool])| match set.iter().all(|set| *set) {
            true => dtype.show(data),
            false => "nothing".to_owned(),
        };
        let mut shown: Vec<String> = elements.take(MOST).map(text).collect();
        if bytes.data.len() > MOST * dtype.size() {
            shown.push("…".to_owned());
        }
        shown.join(", ")
    }

    /// The tensors of the call; one of them with its first values.
    pub(crate) fn tensors(&mut self, name: Option<&str>) -> Result<String, DebugError> {
        let Some(name) = name else {
            let rows = self.session.regions().iter().map(|region| {
                let role = match region.role {
                    gpsimd_device::call::shared::Role::Input => "input",
                    gpsimd_device::call::shared::Role::Scalar => "scalar",
                    gpsimd_device::call::shared::Role::Output => "output",
                };
                format!("{} {} {role} at {:#x}\n", region.name, region.spec, region.base)
            });
            return Ok(rows.collect());
        };
        let Named { place, .. } = self.named(name)?;
        let Place::Tensor(index, offset) = place else {
            return Err(DebugError::Memory { text: name.to_owned() });
        };
        let merged = self.session.tensor(index);
        let region = &self.session.regions()[index];
        let (dtype, size) = (region.spec.dtype, region.spec.dtype.size());
        let count = merged.data.len() / size;
        let set = merged.initialised.chunks(size).filter(|set| set.iter().all(|set| *set)).count();
        let mut text = format!("{} {}", region.name, region.spec);
        if set < count {
            text += &format!(", {set} of {count} elements hold a value");
        }
        text.push('\n');
        /// Elements of a row, and rows.
        const SHOWN: (usize, usize) = (8, 4);
        let first = offset / size / SHOWN.0 * SHOWN.0;
        let last = count.min(first + SHOWN.0 * SHOWN.1);
        for row in (first..last).step_by(SHOWN.0) {
            let elements = (row..last.min(row + SHOWN.0)).map(|at| {
                let bytes = at * size..(at + 1) * size;
                match merged.initialised.get(bytes.clone()).is_some_and(|set| set.iter().all(|set| *set)) {
                    true => merged.data.get(bytes).map(|data| dtype.show(data)).unwrap_or_default(),
                    false => "nothing".to_owned(),
                }
            });
            text += &format!("[{row}] {}\n", elements.collect::<Vec<_>>().join(", "));
        }
        if last < count {
            text += &format!("… {} more\n", count - last);
        }
        Ok(text)
    }
}

/// `[2][3]`.
fn indices(text: &str) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    inner.split("][").map(number).collect()
}

/// `12`, `0xc`.
pub(crate) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn words(bytes: &Bytes) -> String {
    const MOST: usize = 32;
    let word = |(data, set): (&[u8], &[bool])| {
        let number = data.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let mark = if set.iter().all(|set| *set) { "" } else { "?" };
        format!("{number:#0width$x}{mark}", width = 2 + 2 * data.len())
    };
    let words = bytes.data.chunks(4).zip(bytes.is_set.chunks(4));
    words.take(MOST).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_read() {
        assert_eq!(indices("[993]"), Some(vec![993]));
        assert_eq!(indices("[2][0x10]"), Some(vec![2, 16]));
        assert_eq!(indices("[2"), None);
        assert_eq!(indices("[x]"), None);
    }
}
