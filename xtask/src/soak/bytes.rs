//! Single bytes of what ships, changed one at a time: `verify` finds each of them, whether a device reads it or not.
//!
//! Unaware of how files are checked. Which bytes nobody reads is told by the formats (spec `prelink.md` §10,
//! `load-and-dispatch.md` §5.2).

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use super::dice::Dice;
use super::yard::{Yard, end};

/// Records beside the library, for the address at which an image is staged.
const RECORDS: [&[&str]; 2] = [
    &["records", "load", "--single", "--addr", "0x1000000000", "--image", "lib/v.ucpl", "-o", "load.bin"],
    &["records", "unload", "--single", "-o", "unload.bin"],
];
const VERIFY: [&str; 4] = ["verify", "lib/v", "load.bin", "unload.bin"];

pub fn storm(yard: &Yard, count: u64, seed: u64) -> Result<String> {
    yard.good(&["compile", "vector_add.cpp", "--name", "v", "--out-dir", "lib", "--image", "both"])?;
    for line in RECORDS {
        yard.good(line)?;
    }
    yard.good(&VERIFY)?;
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(yard.path("lib"))?.flatten().filter(|entry| entry.path().is_file()) {
        files.insert(format!("lib/{}", entry.file_name().to_string_lossy()), fs::read(entry.path())?);
    }
    for name in ["load.bin", "unload.bin"] {
        files.insert(name.to_owned(), fs::read(yard.path(name))?);
    }
    let names: Vec<&String> = files.keys().collect();
    let mut dice = Dice::new(seed);
    let mut unread = 0;
    for index in 0..count {
        let name = names[index as usize % names.len()];
        let whole = &files[name];
        let at = dice.roll(whole.len());
        let mut changed = whole.clone();
        changed[at] ^= 1 + dice.roll(255) as u8;
        unread += u64::from(is_unread(name, whole, at));
        // visible names are links into a generation: the damage goes to a file of this name
        let put = |bytes: &[u8]| -> Result<()> {
            let _ = fs::remove_file(yard.path(name));
            Ok(fs::write(yard.path(name), bytes)?)
        };
        put(&changed)?;
        let end = end(&mut yard.call(&VERIFY))?;
        put(whole)?;
        let about = || format!("{name}, byte {at:#x}, {:#04x} for {:#04x}", changed[at], whole[at]);
        end.proper().with_context(about)?;
        // a record that is none any more is told among the images; what is said of the loader is of the others
        ensure!(
            end.code == Some(1) && !end.said.contains("all passed"),
            "{}: not found\n{}",
            about(),
            end.said
        );
    }
    Ok(format!(
        "{count} changed bytes in {} files, all found, {unread} of them in .ucpl and records where no device looks",
        names.len()
    ))
}

/// Whether no device reads the byte: the magic number and the gap of an image, and of a record what its validator wants zero
/// or only an instruction stream uses.
fn is_unread(name: &str, whole: &[u8], at: usize) -> bool {
    let word = |at: usize| {
        whole.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    match name {
        name if name.ends_with(".ucpl") => {
            let gap = (word(4) + word(8)) as usize..word(0xc) as usize;
            at < 4 || gap.contains(&at)
        }
        "load.bin" => (2..0xc).contains(&at),
        "unload.bin" => (2..0xc).contains(&at) || (0x10..0x18).contains(&at) || (0x1c..0x20).contains(&at),
        _ => false,
    }
}
