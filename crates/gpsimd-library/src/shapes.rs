//! The shape of an op's output, from the shape image that a library was built with.
//!
//! Shape functions see shapes, element types and numbers, never a tensor's elements (user-api.md §1). Unaware of kernels and
//! of the device; [`gpsimd_shapes`] runs the image on a simulated core.

use std::path::Path;

use gpsimd_device::explain::symbols::{Frame, Symbols};
use gpsimd_device::{Dtype, TensorSpec};
use gpsimd_shapes::{Failure, Shapes};
use miette::{Diagnostic, Result};

use crate::file::read;

/// Why a shape image does not give a shape.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ShapeImageError {
    /// It is none.
    #[error("the library's shape image {path} cannot be used: {source}")]
    #[diagnostic(code(run::shape_image), help("build the library again, or say --like N or --shape 2x3"))]
    NotAnImage {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: gpsimd_image::ImageError,
    },
    /// The op's shape function does not accept these inputs.
    #[error("the shape function of {op} refuses these inputs: {said}")]
    #[diagnostic(
        code(run::shape_refused),
        help("give inputs that it accepts; --like N or --shape 2x3 overrides it")
    )]
    Refused {
        /// `ns::op`.
        op: String,
        /// The image's own words.
        said: String,
    },
    /// The op's shape function ended otherwise, or not at all.
    #[error("the shape function of {op} gives no shape: {failure}{at}")]
    #[diagnostic(
        code(run::shape_stopped),
        help("correct the shape function; --like N or --shape 2x3 overrides it")
    )]
    Stopped {
        /// `ns::op`.
        op: String,
        /// What happened.
        failure: Failure,
        /// Where in the shape sources, if that is known.
        at: String,
    },
    /// The image's answer is none.
    #[error("the shape image's answer for {op} cannot be read: {said:.200?}")]
    #[diagnostic(
        code(run::shape_answer),
        help("the file was not made by this tool; --like N or --shape 2x3 overrides it")
    )]
    Answer {
        /// `ns::op`.
        op: String,
        /// What it said instead.
        said: String,
    },
}

/// A library's shape functions, open for questions: one that is asked again is answered from memory, and what the image does
/// before its first answer is done once.
#[derive(Debug)]
pub struct ShapeFunctions {
    image: Vec<u8>,
    shapes: Shapes,
}

impl ShapeFunctions {
    /// Of the shape image at `path`.
    ///
    /// # Errors
    /// [`ShapeImageError::NotAnImage`], or a file that cannot be read.
    pub fn open(path: &Path) -> Result<ShapeFunctions> {
        let image = read(path)?;
        let shapes = Shapes::parse(&image)
            .map_err(|source| ShapeImageError::NotAnImage { path: path.display().to_string(), source })?;
        Ok(ShapeFunctions { image, shapes })
    }

    /// The output of `op` (`ns::op`) for arguments that are `float32:2x3` or a number.
    ///
    /// # Errors
    /// [`ShapeImageError`].
    pub fn output(&mut self, op: &str, arguments: &[String]) -> Result<TensorSpec> {
        let op = op.to_owned();
        let shape = self.shapes.output(&op, arguments).map_err(|failure| match failure {
            Failure::Refused { said } => ShapeImageError::Refused { op: op.clone(), said },
            Failure::Answer { said } => ShapeImageError::Answer { op: op.clone(), said },
            Failure::Stopped { ref chain, .. } => {
                let at = place(&self.image, chain);
                ShapeImageError::Stopped { op: op.clone(), failure, at }
            }
        })?;
        match Dtype::from_name(&shape.dtype) {
            Some(dtype) => Ok(TensorSpec::new(dtype, shape.shape)),
            None => Err(ShapeImageError::Answer { op, said: shape.dtype }.into()),
        }
    }
}

/// ` (relu_shape.cpp:7, in forward_shape)`: the innermost place that the author wrote.
fn place(image: &[u8], chain: &[u32]) -> String {
    let is_own = |frame: &Frame| !frame.is_runtime() && Path::new(&frame.file).extension().is_some();
    let frames = Symbols::read(image).chain(chain);
    let Some(frame) = frames.iter().find(|frame| is_own(frame)) else { return String::new() };
    // how the compiler names what lies below its working directory
    let file = frame.file.strip_prefix("./").unwrap_or(&frame.file);
    format!(" ({file}:{}, in {})", frame.line, frame.function)
}
