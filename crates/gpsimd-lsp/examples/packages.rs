//! Writes linker support packages: those of the nine windows of custom ops, or that of a memory map.
//!
//! `cargo run --example packages -- DIRECTORY [MAP.xmm]`

use std::path::{Path, PathBuf};

use gpsimd_lsp::{Lsp, MemoryMap, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let directory = arguments.next().ok_or("packages DIRECTORY [MAP.xmm]")?;
    match arguments.next() {
        None => Variant::all().try_for_each(|variant| {
            println!("{} {}", variant.lsp_name(), variant.window());
            write(&Lsp::custom_op(variant), &directory.join(variant.lsp_name()))
        })?,
        Some(map) => {
            let map = MemoryMap::parse(&std::fs::read_to_string(map)?)?;
            write(&Lsp::from_map("map", map), &directory)?;
        }
    }
    Ok(())
}

fn write(package: &Lsp, directory: &Path) -> std::io::Result<()> {
    for (name, text) in package.render() {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(directory))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}
