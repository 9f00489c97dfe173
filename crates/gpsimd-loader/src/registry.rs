//! The libraries that handles can be made for, by coretype and index. The vendor embeds its own; here they are given.
//!
//! Unaware of their contents. Facts: spec `load-and-dispatch.md` §2.3, `prelink.md` §12.4.

use std::collections::BTreeMap;

use crate::generation::Generation;
use crate::result::ResultCode;
use crate::selector::Build;

/// The vendor's getters of one built-in library: names by which a file is known to be it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Getter {
    /// The generation.
    pub generation: Generation,
    /// Position among the generation's libraries: the selector that picks it.
    pub index: u64,
    /// What the names of both getters begin with.
    pub stem: String,
}

impl Getter {
    /// All of them. Each library has two: one for the image, one for its description.
    pub fn all() -> Vec<Getter> {
        let of = |generation: Generation| {
            let (name, flavor) =
                (generation.name().to_uppercase().replace('-', "_"), Self::flavor(generation));
            (0..generation.num_ext_isa_libs() as u64).map(move |index| Getter {
                generation,
                index,
                stem: format!("{name}_Q7_POOL_{flavor}_EXTISA_{index}"),
            })
        };
        Generation::ALL.into_iter().flat_map(of).collect()
    }

    fn flavor(generation: Generation) -> &'static str {
        match generation {
            Generation::Sunda => "RELEASE",
            _ => "PERF",
        }
    }

    /// The getter of the image.
    pub fn image(&self) -> String {
        format!("{}_SO_get", self.stem)
    }

    /// The getter of the description.
    pub fn description(&self) -> String {
        format!("{}_JSON_get", self.stem)
    }

    /// Whether the runtime's libraries only refer to it: SUNDA's library is in a container of its own, and where that is not
    /// loaded, the getter is null and [`ResultCode::MissingImage`] the answer.
    pub fn is_weak(&self) -> bool {
        self.generation == Generation::Sunda
    }
}

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
    fn getters() {
        let all = Getter::all();
        assert_eq!(all.len(), 1 + 4 * 4);
        assert_eq!(all[0].image(), "SUNDA_Q7_POOL_RELEASE_EXTISA_0_SO_get");
        assert!(all[0].is_weak() && all.iter().filter(|getter| getter.is_weak()).count() == 1);
        assert_eq!(all[1].description(), "CAYMAN_Q7_POOL_PERF_EXTISA_0_JSON_get");
        assert_eq!(all[12].image(), "MARIANA_PLUS_Q7_POOL_PERF_EXTISA_3_SO_get");
    }

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
