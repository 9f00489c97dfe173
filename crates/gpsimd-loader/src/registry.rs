//! The libraries that handles can be made for, by coretype and index. The vendor embeds its own; here they are given.
//!
//! Unaware of their contents. Facts: spec `load-and-dispatch.md` §2.3, `prelink.md` §12.4.

use std::collections::BTreeMap;

use crate::generation::Generation;
use crate::result::ResultCode;
use crate::selector::Build;

/// Libraries by generation and index.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    libraries: BTreeMap<(Generation, u64), Vec<u8>>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Puts a split-load ELF under an index. Replaces what was there.
    pub fn insert(&mut self, generation: Generation, index: u64, elf: Vec<u8>) {
        self.libraries.insert((generation, index), elf);
    }

    /// The vendor's internal getter: flavor, then coretype, then index. Flavors 0 to 3 all mean the same libraries.
    ///
    /// # Errors
    /// [`ResultCode::UnknownImage`], [`ResultCode::UnknownCore`], [`ResultCode::MissingImage`], in that order; an index
    /// beyond the vendor's table, which the vendor does not check, is missing too.
    pub fn get(&self, build: Build, coretype: u32, flavor: u32, index: u64) -> Result<&[u8], ResultCode> {
        if flavor > 3 {
            return Err(ResultCode::UnknownImage);
        }
        let generation = build.generation(coretype)?;
        self.libraries.get(&(generation, index)).map(Vec::as_slice).ok_or(ResultCode::MissingImage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_in_order() {
        let mut registry = Registry::new();
        registry.insert(Generation::Cayman, 0, vec![1]);
        registry.insert(Generation::Maverick, 0, vec![2]);
        let rows = [
            (Build::Shipped, 13, 0, 0, Ok(&[1][..])),
            (Build::Shipped, 13, 3, 0, Ok(&[1][..])),
            (Build::Shipped, 99, 4, 9, Err(ResultCode::UnknownImage)),
            (Build::Shipped, 99, 0, 9, Err(ResultCode::UnknownCore)),
            (Build::Shipped, 13, 0, 9, Err(ResultCode::MissingImage)),
            (Build::Shipped, 37, 0, 0, Err(ResultCode::UnknownCore)),
            (Build::Internal, 37, 0, 0, Ok(&[2][..])),
        ];
        for (build, coretype, flavor, index, want) in rows {
            assert_eq!(registry.get(build, coretype, flavor, index), want, "{coretype} {flavor} {index}");
        }
    }
}
