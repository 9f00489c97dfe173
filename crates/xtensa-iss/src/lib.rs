//! One Xtensa core: decode, execute, register windows. Knows no GPSIMD.
