//! Says what a compiler's or linker's output means: what is wrong with a kernel, where, and what to do.
//!
//! `make 2>&1 | cargo run --example meaning`

fn main() -> std::io::Result<()> {
    let output = std::io::read_to_string(std::io::stdin())?;
    let verdict = gpsimd_engine::meaning_of(&output);
    println!("{}: {}", verdict.code, verdict.headline);
    if let Some(place) = &verdict.place {
        println!("  at {place}");
    }
    println!("  {}", verdict.remedy);
    Ok(())
}
