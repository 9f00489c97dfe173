//! Which way to the C heap a block went: the three must not be mixed.
//!
//! Unaware of blocks; functions are told by their names.

/// A way to the C heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Malloc,
    New,
    NewArray,
}

impl Origin {
    /// The way that goes through these functions.
    pub fn of(functions: &[String]) -> Origin {
        let has = |names: [&str; 2]| functions.iter().any(|name| names.contains(&name.as_str()));
        match () {
            () if has(["operator new[]", "operator delete[]"]) => Origin::NewArray,
            () if has(["operator new", "operator delete"]) => Origin::New,
            () => Origin::Malloc,
        }
    }

    /// What allocates this way.
    pub fn allocates(self) -> &'static str {
        match self {
            Origin::Malloc => "malloc()",
            Origin::New => "new",
            Origin::NewArray => "new[]",
        }
    }

    /// What frees this way.
    pub fn frees(self) -> &'static str {
        match self {
            Origin::Malloc => "free()",
            Origin::New => "delete",
            Origin::NewArray => "delete[]",
        }
    }
}
