//! Memory maps to windows, linker scripts and specs. Knows no ELF.
