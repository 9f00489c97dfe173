//! Asks a shape image for the output of an op, or for all that it registers.
//!
//! `cargo run --example shape -- IMAGE.shapes.so [my::relu float32:2x3]`

use gpsimd_shapes::Shapes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let image = words.next().ok_or("shape IMAGE.shapes.so [OP ARGUMENT...]")?;
    let mut shapes = Shapes::parse(&std::fs::read(image)?)?;
    match words.next() {
        None => println!("{}", shapes.list()?),
        Some(op) => {
            let output = shapes.output(&op, &words.collect::<Vec<_>>())?;
            println!("{} {:?}", output.dtype, output.shape);
        }
    }
    Ok(())
}
