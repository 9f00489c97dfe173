#![doc = include_str!("../README.md")]

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
