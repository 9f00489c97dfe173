//! Opens a debugging session on a call, in this terminal.
//!
//! `cargo run --release --example session -- IMAGE.so KERNEL 1,-2,3`: the output is like the tensor.

use gpsimd_debug::{Debugger, Images, terminal};
use gpsimd_device::{Arg, Config, CoreImage, Machine, Sources, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, kernel, numbers] = words.as_slice() else {
        return Err("session IMAGE.so KERNEL NUMBERS".into());
    };
    let values = numbers.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
    let x = Tensor::from_f32(&values)?;
    let spec = x.spec.clone();
    // cores that are looked at step by step are interpreted
    let config = Config { native: false, translate: false, ..Config::default() };
    let mut machine = Machine::boot(vec![CoreImage::new(std::fs::read(image)?)], config)?;
    let call = machine.begin(kernel, vec![Arg::tensor("x", x)], spec)?;
    let images = Images::of(&machine.programs());
    let sources = Sources::default().below(vec![std::env::current_dir()?]);
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stdin());
    terminal::run(&mut Debugger::new(call, &images, sources), is_terminal, &mut std::io::stdout().lock())?;
    Ok(())
}
