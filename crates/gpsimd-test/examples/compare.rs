//! Compares two float tensors as tests compare results: in units in the last place.
//!
//! `cargo run --example compare -- 1,2,3 1,2.0000002,3.5`

use gpsimd_device::{Dtype, Tensor};
use gpsimd_test::{Tolerance, worst};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [want, got] = words.as_slice() else { return Err("compare WANT GOT".into()) };
    let (want, got) = (tensor(want)?, tensor(got)?);
    if want.spec != got.spec {
        return Err("they are not of one shape".into());
    }
    match worst(&got, &want, Tolerance::default().of(Dtype::Float32)) {
        None => println!("equal, or as good as"),
        Some(worst) => println!("{worst}"),
    }
    Ok(())
}

fn tensor(numbers: &str) -> Result<Tensor, Box<dyn std::error::Error>> {
    let values = numbers.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
    Ok(Tensor::from_f32(&values)?)
}
