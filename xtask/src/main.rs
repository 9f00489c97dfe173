//! Chores of this repository: `cargo xtask demo`, `cargo xtask test`.

fn main() {}
