//! Who made an image: the lines of its `.comment` section, and which of two version axes they are on.
//!
//! Unaware of installed toolchains. Facts: spec `toolchain.md` §13: the tools' release and the hardware's are different numbers
//! for one core, and a package's version is a third.

use serde::Serialize;

use crate::elf_file::ElfFile;

/// The hardware that the core's configuration is of, whatever made the code.
pub const HARDWARE: &str = "NX1.1.4, LX7.1.4, hardware release RI-2020.4";

/// One line of `.comment`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Producer {
    /// As it stands there.
    pub text: String,
    /// The release of the tools on their own axis, if they are the vendor's.
    pub tools: Option<&'static str>,
}

/// The producers that an image names, each once.
pub fn producers(image: &ElfFile<'_>) -> Vec<Producer> {
    let mut found: Vec<Producer> = Vec::new();
    for line in image.section_data(".comment").split(|&byte| byte == 0).filter(|line| !line.is_empty()) {
        let text = String::from_utf8_lossy(line).into_owned();
        let tools = text.contains("XtensaTools-14.09").then_some("14.09, tools release RI-2022.9");
        if !found.iter().any(|known| known.text == text) {
            found.push(Producer { text, tools });
        }
    }
    found
}
