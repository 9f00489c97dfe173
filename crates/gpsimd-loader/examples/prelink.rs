//! Prelinks a split image for the memory of a generation, as a loader does before it stages a library.
//!
//! `cargo run --example prelink -- IMAGE.split.so OUTPUT.ucpl`

use gpsimd_loader::{Generation, Mode, prelink};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, output] = words.as_slice() else { return Err("prelink IMAGE.split.so OUTPUT.ucpl".into()) };
    let bounds = Generation::Cayman.bounds();
    let mut log = |line: &str| eprintln!("{line}");
    let prelinked = prelink(&std::fs::read(image)?, &bounds, Mode::Strict, &mut log)?;
    println!("{} bytes of code, {} of data", prelinked.code.len(), prelinked.data.len());
    println!("{:?}", prelinked.relocations);
    std::fs::write(output, prelinked.image())?;
    Ok(())
}
