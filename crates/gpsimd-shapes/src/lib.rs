#![doc = include_str!("../README.md")]
//!
//! # What is asked
//!
//! Two questions: `list` and `eval OP ARGUMENT...`. An image's constructors run once; every question is asked of what they
//! left. Facts: spec `user-api.md` §1, §9.

mod core;

use std::collections::HashMap;

use gpsimd_image::ImageError;
use serde::Deserialize;

use crate::core::Program;

/// A library's shape functions.
#[derive(Debug)]
pub struct Shapes {
    program: Program,
    /// Answers by question: an op is asked once for each shape of its inputs.
    answers: HashMap<Vec<String>, Shape>,
}

/// Element type and extents of an output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Shape {
    /// `float32` and so on.
    pub dtype: String,
    /// Outermost first.
    pub shape: Vec<u64>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The image has words against the question: a failed check, an exception, a registration that cannot be built.
    #[error("{said}")]
    Refused {
        /// The words.
        said: String,
    },
    /// The image did not come to its end.
    #[error("{why}{}{said}", if .said.is_empty() { "" } else { "; it said: " })]
    Stopped {
        /// What happened.
        why: String,
        /// What it had said before.
        said: String,
        /// Where, innermost first: addresses of the image.
        chain: Vec<u32>,
    },
    /// The answer is none.
    #[error("{said:.200?}")]
    Answer {
        /// What stands there instead.
        said: String,
    },
}

impl Shapes {
    /// Reads a shape image.
    ///
    /// # Errors
    /// Bytes that are no executable for the simulated core.
    pub fn parse(bytes: &[u8]) -> Result<Shapes, ImageError> {
        Ok(Shapes { program: Program::parse(bytes)?, answers: HashMap::new() })
    }

    /// All registrations, as the lister's JSON document; what a shape source printed before stands before it.
    ///
    /// # Errors
    /// Registrations that cannot be built, and images that do not come to an end.
    pub fn list(&mut self) -> Result<String, Failure> {
        self.ask(&["list"])
    }

    /// The output of `op` (`ns::op`) for arguments such as `float32:2x3` and `0.5`.
    ///
    /// # Errors
    /// Inputs that the shape function refuses, and functions that do not come to an end.
    pub fn output(&mut self, op: &str, arguments: &[String]) -> Result<Shape, Failure> {
        let words: Vec<&str> = ["eval", op].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let question: Vec<String> = words.iter().map(ToString::to_string).collect();
        if let Some(shape) = self.answers.get(&question) {
            return Ok(shape.clone());
        }
        let said = self.ask(&words)?;
        let shape = read(&said).ok_or(Failure::Answer { said })?;
        self.answers.insert(question, shape.clone());
        Ok(shape)
    }

    fn ask(&mut self, words: &[&str]) -> Result<String, Failure> {
        let ran = self.program.run(words)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match ran.status {
            0 => Ok(text(&ran.out)),
            status => {
                let said = text(&ran.err).trim_end().to_owned();
                let said = if said.is_empty() { format!("it ended with status {status}") } else { said };
                Err(Failure::Refused { said })
            }
        }
    }
}

/// The last document is the answer: a shape function may print before it.
fn read(said: &str) -> Option<Shape> {
    #[derive(Deserialize)]
    struct Answer {
        output: Shape,
    }
    let document = &said[said.rfind("{\"format\":")?..];
    serde_json::from_str(document).ok().map(|answer: Answer| answer.output)
}

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers: outside bytes in, no panic.

    /// Runs the bytes as a shape image, briefly.
    pub fn fuzz_image(data: &[u8]) {
        if let Ok(mut shapes) = crate::Shapes::parse(data) {
            shapes.program.budget = 20_000;
            let _ = shapes.output("my::f", &["int8:2".to_owned()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_answers_once() {
        let image = include_bytes!("../corpus/image/answers");
        fuzz::fuzz_image(image);
        let mut shapes = Shapes::parse(image).unwrap_or_else(|error| panic!("{error}"));
        let five = Ok(Shape { dtype: "int8".into(), shape: vec![5] });
        assert_eq!(shapes.output("f", &[]), five);
        // asked again, it need not run
        shapes.program.budget = 0;
        assert_eq!(shapes.output("f", &[]), five);
        assert!(matches!(shapes.output("g", &[]), Err(Failure::Stopped { .. })));
    }

    #[test]
    fn the_last_document_is_the_answer() {
        let answer = "{\"format\":1,\"op\":\"my::f\",\"kernel\":\"f\",\"output\":{\"dtype\":\"int8\",\"shape\":[2,3]}}";
        let want = Some(Shape { dtype: "int8".into(), shape: vec![2, 3] });
        assert_eq!(read(&format!("{answer}\n")), want);
        assert_eq!(read(&format!("hello\nby 1{answer}\n")), want);
        for other in ["", "hello", "{}", "{\"output\":{\"dtype\":1,\"shape\":[1]}}"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
