//! The mark of checked images: built for the simulator's own checks, and nothing that may ship.
//!
//! Unaware of formats: the mark is text among the constants, so every form of an image has it.

/// What `sdk/src/checked/handlers.S` puts into a checked image.
const MARK: &[u8] = b"gpsimd-build: checked image, for the simulator only";

/// Whether bytes hold a checked image, linked, stripped, packed or prelinked.
pub fn is_checked(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, MARK).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_anywhere_and_only_whole() {
        let whole = [&b"ggg"[..], MARK, b"tail"].concat();
        assert!(is_checked(&whole));
        assert!(!is_checked(&whole[..3 + MARK.len() - 1]));
        assert!(!is_checked(b""));
    }

    #[test]
    fn the_handlers_carry_the_mark() {
        let source = include_bytes!("../sdk/src/checked/handlers.S");
        assert!(is_checked(source));
    }
}
