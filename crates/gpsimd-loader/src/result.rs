//! Result codes of the vendor's runtime, which every call on this path may end with.
//!
//! Unaware of who returns which. Facts: spec `load-and-dispatch.md` §1.3.

/// `nrtucode_result_t` without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, miette::Diagnostic, serde::Serialize)]
pub enum ResultCode {
    /// 1: no pool coretype.
    #[error("the coretype is none of the known pool cores")]
    #[diagnostic(
        code(loader::unknown_core),
        help(
            "pool coretypes are 6 (sunda), 13 (cayman), 21 (mariana), 29 (mariana-plus) and, internally, 37 (maverick)"
        )
    )]
    UnknownCore,
    /// 2: no such flavor.
    #[error("the image flavor is not 0, 1, 2 or 3")]
    #[diagnostic(code(loader::unknown_image), help("use flavor 0"))]
    UnknownImage,
    /// 3: no library of that index.
    #[error("there is no library of that index")]
    #[diagnostic(
        code(loader::missing_image),
        help("register the library under the index that the selector names")
    )]
    MissingImage,
    /// 4: API level.
    #[error("the API level is not 3")]
    #[diagnostic(code(loader::version), help("create the context with level 3"))]
    Version,
    /// 5: host or device memory.
    #[error("the memory could not be allocated")]
    #[diagnostic(code(loader::allocation), help("destroy libraries that are no longer used"))]
    Allocation,
    /// 6: access to device memory.
    #[error("device memory could not be accessed")]
    #[diagnostic(code(loader::io), help("the access goes beyond its allocation"))]
    Io,
    /// 7: image or buffer size.
    #[error("the image is too large or the record buffer too small")]
    #[diagnostic(
        code(loader::no_space),
        help(
            "an image may have 65536 bytes; a record needs 64, and eight records are written on a foreign core"
        )
    )]
    NoSpace,
    /// 8: misuse.
    #[error("the call is invalid")]
    #[diagnostic(code(loader::invalid), help("attach device memory; align record buffers to 8 bytes"))]
    Invalid,
    /// 9: the prelinker refused.
    #[error("the library could not be prelinked")]
    #[diagnostic(code(loader::relocation), help("the log has the prelinker's status and reason"))]
    Relocation,
}

impl ResultCode {
    /// The number.
    pub fn code(self) -> u32 {
        match self {
            ResultCode::UnknownCore => 1,
            ResultCode::UnknownImage => 2,
            ResultCode::MissingImage => 3,
            ResultCode::Version => 4,
            ResultCode::Allocation => 5,
            ResultCode::Io => 6,
            ResultCode::NoSpace => 7,
            ResultCode::Invalid => 8,
            ResultCode::Relocation => 9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        use ResultCode::*;
        let codes =
            [UnknownCore, UnknownImage, MissingImage, Version, Allocation, Io, NoSpace, Invalid, Relocation];
        assert_eq!(codes.map(ResultCode::code), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
