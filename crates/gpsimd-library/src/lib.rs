//! A built library on disk, opened: its files, its ops by any of their names, the shapes of their outputs.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use gpsimd_device::{Config, Trace};
//! use gpsimd_library::{Lane, Library, Ops, Staging};
//!
//! # fn main() -> miette::Result<()> {
//! let library = Library::find(Path::new("build/vector_add"))?;
//! let loadable = library.loadable(&Staging::by(Lane::Fixed))?;
//! let mut machine = loadable.machine(Config::default(), &mut Trace::default())?;
//! machine.load()?;
//! let kernels = machine.functions().iter().map(|function| function.name.as_str());
//! let ops = Ops::of(&library, kernels);
//! let op = ops.find(None)?;
//! println!("{} is kernel {}", op.qualified.as_deref().unwrap_or("the op"), op.kernel);
//! # Ok(())
//! # }
//! ```
//!
//! Unaware of the command line, of terminals, and of how inputs are written.

pub mod arguments;
pub mod file;
mod library;
mod ops;
pub mod prelinked;
pub mod shapes;

pub use library::{Lane, Library, LibraryError, Loadable, Staging};
pub use ops::{Op, OpError, Ops};
pub use shapes::ShapeFunctions;
