//! Prints where the time of a call goes, and what would make it faster.
//!
//! `cargo run --release --example hot -- IMAGE.so KERNEL 1,-2,3`: the output is like the tensor.

use gpsimd_device::{Arg, Config, Control, CoreImage, Machine, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, kernel, numbers] = words.as_slice() else { return Err("hot IMAGE.so KERNEL NUMBERS".into()) };
    let values = numbers.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
    let x = Tensor::from_f32(&values)?;
    let spec = x.spec.clone();
    let config = Config { profile: true, ..Config::default() };
    let mut machine = Machine::boot(vec![CoreImage::new(std::fs::read(image)?)], config)?;
    let report = machine.call(kernel, vec![Arg::tensor("x", x)], spec, &Control::default(), |_| {})?;
    print!("{}", gpsimd_profile::text(&report));
    Ok(())
}
