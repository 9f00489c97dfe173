//! Prints the wrapper of a library: kernels, each with its op's schema.
//!
//! `cargo run --example wrapper -- scale 'my::scale(Tensor a, float s) -> (Tensor r)'`

use gpsimd_codegen::{Op, check, wrapper};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut ops = Vec::new();
    for pair in words.chunks(2) {
        let [kernel, schema] = pair else { return Err("KERNEL SCHEMA [KERNEL SCHEMA]...".into()) };
        ops.push(Op::new(kernel, gpsimd_schema::signature(schema)?));
    }
    if let Some(error) = check(&ops).into_iter().next() {
        return Err(error.into());
    }
    print!("{}", wrapper(&ops)?);
    Ok(())
}
