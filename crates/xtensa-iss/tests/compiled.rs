//! Compiled programs: the same executable prints the same text and exits alike under the model and under qemu-xtensa; and
//! the disassembler reads them as objdump does.

mod common;

use common::compiler::{build, load, run, tool};
use common::guest::{run_model, run_qemu};
use xtensa_iss::{decode, disasm};

fn matches_qemu(name: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for level in ["-O0", "-Os", "-O2"] {
        let elf = std::fs::read(build(dir.path(), name, level)).expect("the linked program");
        let theirs = run_qemu("dc233c", &elf);
        let (image, memory, entry) = load(&elf);
        let (ours, cpu) = run_model(&image, memory, entry);
        assert!(!theirs.output.is_empty(), "{name} {level} printed nothing");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&ours.output), text(&theirs.output), "{name} {level}");
        assert_eq!(ours.exit, theirs.exit, "{name} {level}");
        assert!(cpu.instructions() > 1000, "{name} {level}");
    }
}

#[test]
fn recursion_matches_qemu() {
    matches_qemu("recursion.c");
}

#[test]
fn library_text_functions_match_qemu() {
    matches_qemu("text.c");
}

#[test]
fn software_floating_point_matches_qemu() {
    matches_qemu("numbers.c");
}

#[test]
fn native_routines_match_qemu() {
    matches_qemu("routines.c");
}

#[test]
fn long_jumps_and_spilled_frames_match_qemu() {
    matches_qemu("jumps.c");
}

/// Operands as numbers and names: `0x10` and `16` are the same, symbols and comments are not compared.
fn normal(text: &str) -> Vec<String> {
    let text = text.split(['<', '(']).next().unwrap_or_default();
    text.split([' ', '\t', ','])
        .filter(|w| !w.is_empty())
        .map(|w| {
            let (sign, digits) = w.strip_prefix('-').map_or((1, w), |d| (-1, d));
            match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).map_or(w.into(), |v| (sign * v).to_string()),
                None => w.into(),
            }
        })
        .collect()
}

#[test]
fn disassembly_agrees_with_objdump() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = build(dir.path(), "numbers.c", "-O2");
    let listing = run(&tool("objdump").args(["-d", "-z", "-j", ".text"]).arg(&image));
    let (mut compared, mut wrong) = (0, Vec::new());
    // Lines are "address:\tbytes as one little-endian number\tmnemonic\toperands".
    for line in listing.lines() {
        let mut columns = line.split('\t');
        let (Some(address), Some(number), Some(mnemonic)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let address = u32::from_str_radix(address.trim().trim_end_matches(':'), 16).expect("an address");
        let number = number.trim();
        let value = u32::from_str_radix(number, 16).expect("instruction bytes");
        let bytes = &value.to_le_bytes()[..number.len() / 2];
        // Literals have no mnemonic; `excw` stands for what objdump does not know, such as const16.
        if mnemonic.is_empty() || mnemonic.starts_with('.') || mnemonic.starts_with("excw") {
            continue;
        }
        let theirs = format!("{mnemonic} {}", columns.collect::<Vec<_>>().join(" "));
        let ours = disasm(bytes, address);
        // objdump prints targets as bare hexadecimal.
        let target = |words: &[String]| words.last().and_then(|w| u32::from_str_radix(w, 16).ok());
        let (mut a, b) = (normal(&ours), normal(&theirs));
        if a != b && target(&b) == a.last().and_then(|w| w.parse().ok()) {
            a.pop();
            a.extend(b.last().cloned());
        }
        compared += 1;
        if a != b || usize::from(decode(bytes, address).len) != bytes.len() {
            wrong.push(format!("{address:08x}: {ours} / {theirs}"));
        }
    }
    assert!(compared > 5000, "only {compared} lines read");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}
