#![doc = include_str!("../README.md")]

pub mod arguments;
pub mod file;
mod library;
mod ops;
pub mod prelinked;
pub mod shapes;

pub use library::{Lane, Library, LibraryError, Loadable, Staging};
pub use ops::{Op, OpError, Ops};
pub use shapes::ShapeFunctions;
