//! Calls a kernel of a fixed image with float tensors, and prints what it gives and what is wrong with it.
//!
//! `cargo run --release --example call -- IMAGE.so KERNEL 1,2,3 4,5,6`: the output is like the first tensor.

use gpsimd_device::{Arg, Config, Control, CoreImage, Machine, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, kernel, tensors @ ..] = words.as_slice() else {
        return Err("call IMAGE.so KERNEL NUMBERS...".into());
    };
    let mut args = Vec::new();
    let mut output = None;
    for (at, numbers) in tensors.iter().enumerate() {
        let values = numbers.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
        let tensor = Tensor::from_f32(&values)?;
        output.get_or_insert_with(|| tensor.spec.clone());
        args.push(Arg::tensor(format!("x{at}"), tensor));
    }
    let output = output.ok_or("the output is like the first tensor: there is none")?;
    let mut machine = Machine::boot(vec![CoreImage::new(std::fs::read(image)?)], Config::default())?;
    let report = machine.call(kernel, args, output, &Control::default(), |_| {})?;
    for finding in &report.findings {
        println!("{}: {}", finding.code, finding.message);
    }
    println!("{:?}", report.output.to_f32().unwrap_or_default());
    Ok(())
}
