//! Which element type a piece of the program takes a tensor for, by the names of the functions it goes through.
//!
//! Accessors are templates, so their names say it, inlined or not. Unaware of addresses.

use crate::call::dtype::Dtype;
use crate::explain::symbols::Frame;

/// Functions whose first template argument is the element type, what a report calls them, and whether they copy memory, as
/// bytes if one likes.
const ACCESSORS: [(&str, &str, bool); 7] = [
    ("tensor_to_tcm<", "the copy to TCM", true),
    ("tcm_to_tensor<", "the copy from TCM", true),
    ("StreamAccessor<", "the stream", false),
    ("TensorStream<", "the stream", false),
    ("TensorElementReference<", "the accessor", false),
    ("TensorAccessor<", "the accessor", false),
    ("operator[]<", "the accessor", false),
];

/// C++ types and the names that PyTorch's enumeration has for them. Types of raw bytes (`char`, unsigned words) are left
/// out on purpose: they view any tensor as memory.
const TYPES: [(&str, &str, usize); 9] = [
    ("float", "Float", 4),
    ("double", "Double", 8),
    ("int", "Int", 4),
    ("short", "Short", 2),
    ("signed char", "Char", 1),
    ("unsigned char", "Byte", 1),
    ("long long", "Long", 8),
    ("c10::Half", "Half", 2),
    ("c10::BFloat16", "BFloat16", 2),
];

/// What an access is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The scalar type.
    pub scalar: &'static str,
    /// How the access is made.
    pub how: &'static str,
    size: usize,
    /// Whether the name is exact: the compiler merges functions whose code is the same, such as copies of equal width.
    /// Code that was inlined into a function that is no template can hardly be such.
    exact: bool,
}

impl Used {
    /// Whether a tensor of this element type must not be used so; in a checked build no functions are merged.
    pub fn differs(self, dtype: Dtype, is_checked: bool) -> bool {
        self.size != dtype.size() || (self.exact || is_checked) && self.scalar != scalar_type(dtype)
    }
}

/// The name that PyTorch's enumeration has for an element type.
pub fn scalar_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Int8 => "Char",
        Dtype::Uint8 => "Byte",
        Dtype::Int16 => "Short",
        Dtype::Bfloat16 => "BFloat16",
        Dtype::Float16 => "Half",
        Dtype::Int32 => "Int",
        Dtype::Float32 => "Float",
        Dtype::Int64 => "Long",
    }
}

/// Whether an image names an accessor for another element type than this: without one there is nothing to find, and names
/// need not be read.
pub fn names_another(image: &[u8], dtype: Dtype) -> bool {
    let is_other = |at: usize| {
        let (before, after) = image.split_at(at + 1);
        let name =
            after.iter().take(24).take_while(|byte| !b",>\0".contains(byte)).copied().collect::<Vec<u8>>();
        ACCESSORS.iter().any(|(marker, ..)| before.ends_with(marker.as_bytes()))
            && TYPES
                .iter()
                .any(|(cpp, scalar, _)| cpp.as_bytes() == name.as_slice() && scalar_type(dtype) != *scalar)
    };
    memchr::memchr_iter(b'<', image).any(is_other)
}

/// The scalar type that an access by the kernel's author is for, and how it is made; nothing where it cannot be told. A
/// call chain's frames, innermost first.
pub fn used(frames: &[Frame]) -> Option<Used> {
    let author = frames.iter().position(|frame| !frame.is_runtime()).unwrap_or(frames.len());
    // What a tensor operation of the library does with its tensors is the library's business.
    let own = frames.get(..author)?;
    let is_template = frames.get(author).is_none_or(|frame| frame.function.contains('<'));
    let from = own.iter().rposition(|frame| !frame.file.contains("/include/")).map_or(0, |at| at + 1);
    own.get(from..)?.iter().rev().find_map(|frame| {
        let named = |(marker, how, copies): &(&str, &'static str, bool)| {
            let (_, rest) = frame.function.split_once(marker)?;
            let name = rest.split([',', '>']).next()?.trim();
            let (_, scalar, size) = TYPES.iter().find(|(cpp, ..)| *cpp == name)?;
            let is_bytes = *copies && *size == 1;
            (!is_bytes).then_some(Used { scalar, how, size: *size, exact: frame.inlined && !is_template })
        };
        ACCESSORS.iter().find_map(named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(rows: &[(&str, &str)]) -> Vec<Frame> {
        let frame = |(function, file): &(&str, &str)| Frame {
            function: (*function).to_owned(),
            file: (*file).to_owned(),
            line: 1,
            column: 0,
            inlined: true,
        };
        rows.iter().map(frame).collect()
    }

    #[test]
    fn images_that_name_no_other_type_need_no_look() {
        let image = b"x\0TensorAccessor<float, 1u, true>\0less<int>\0tensor_to_tcm<c10::Half>\0";
        assert!(names_another(image, Dtype::Float32));
        assert!(!names_another(&image[..image.len() / 2], Dtype::Float32));
    }

    #[test]
    fn accessors_say_their_types() {
        let tcm = "/sdk/include/ATen/core/TensorTcmAccessor.h";
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let rows: &[Row] = &[
            (
                &[
                    ("dma_data_transfer", "/sdk/src/neuroncustomop/data_transfer.cpp"),
                    ("at::TensorTcmAccessor<true>::tensor_to_tcm<float>", tcm),
                    ("half", "half.cpp"),
                ],
                Some("Float"),
            ),
            (
                &[
                    (
                        "at::TensorElementReference<c10::Half, true>::operator c10::Half",
                        "/sdk/include/ATen/core/TensorAccessor.h",
                    ),
                    ("mix", "mix.cpp"),
                ],
                Some("Half"),
            ),
            (&[("at::TensorTcmAccessor<true>::tensor_to_tcm<char>", tcm), ("raw", "raw.cpp")], None),
            (
                &[
                    ("at::TensorTcmAccessor<true>::tensor_to_tcm<float>", tcm),
                    ("at::add", "/sdk/src/c10/ops_arithmetic.cpp"),
                    ("sum", "sum.cpp"),
                ],
                None,
            ),
        ];
        for (rows, want) in rows {
            assert_eq!(used(&frames(rows)).map(|used| used.scalar), *want, "{rows:?}");
        }
        let used = |exact| Used { scalar: "Float", how: "", size: 4, exact };
        let rows = [(true, Dtype::Int32, true), (false, Dtype::Int32, false), (false, Dtype::Int64, true)];
        for (exact, dtype, want) in rows {
            assert_eq!(used(exact).differs(dtype, false), want, "{exact} {dtype}");
        }
    }
}
