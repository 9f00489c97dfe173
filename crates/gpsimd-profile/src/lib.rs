//! What a run cost, where and when, and what would make it faster; in forms for people and for viewers.
//!
//! ```no_run
//! use gpsimd_device::{Arg, Config, Control, CoreImage, Machine, Tensor};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = CoreImage::new(std::fs::read("build/relu.so")?);
//! let mut machine = Machine::boot(vec![image], Config { profile: true, ..Config::default() })?;
//! let x = Tensor::from_f32(&[1.0, -2.0])?;
//! let spec = x.spec.clone();
//! let report = machine.call("relu_forward", vec![Arg::tensor("x", x)], spec, &Control::default(), |_| {})?;
//! print!("{}", gpsimd_profile::text(&report));
//! # Ok(())
//! # }
//! ```
//!
//! Unaware of how cores run, of the command line, and of where files go.

mod advice;
mod calls;
mod compare;
mod cost;
mod flame;
mod lines;
mod page;
mod timeline;

pub use advice::{Advice, Kind, advice};
pub use calls::{folded, speedscope};
pub use compare::{Change, Comparison, compare};
pub use flame::flame;
pub use lines::{annotated, text};
pub use page::{Called, PageError, page};
pub use timeline::timeline;
