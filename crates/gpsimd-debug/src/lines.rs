//! Which instructions begin which source line, from the line tables of DWARF.
//!
//! Unaware of functions and of how a file is found. Damaged tables count as absent.

use gimli::{EndianSlice, LittleEndian};
use gpsimd_image::ElfFile;

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// The line tables of an image.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    files: Vec<String>,
    /// By address; where a sequence ends, the line is 0.
    rows: Vec<Row>,
}

/// Where a line begins, or goes on behind something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// Address, as linked.
    pub address: u32,
    file: usize,
    /// From 1.
    pub line: u32,
    /// Whether a debugger should stop here.
    pub is_statement: bool,
    /// Whether the function's arguments are in place here.
    pub is_behind_prologue: bool,
}

impl Lines {
    /// The tables of an ELF image.
    pub fn read(bytes: &[u8]) -> Lines {
        let mut lines = Lines::default();
        // what was read before the damage is good
        let _ = lines.add(bytes);
        lines.rows.sort_by_key(|row| (row.address, row.line != 0));
        lines
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), gimli::Error> {
        let Ok(elf) = ElfFile::without_symbols(bytes) else { return Ok(()) };
        let load = |id: gimli::SectionId| -> Result<Reader<'_>, gimli::Error> {
            Ok(EndianSlice::new(elf.section_data(id.name()), LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(load)?;
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            let Some(program) = unit.line_program.clone() else { continue };
            let mut numbers = std::collections::HashMap::new();
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row()? {
                let address = row.address() as u32;
                if row.end_sequence() {
                    self.rows.push(Row {
                        address,
                        file: 0,
                        line: 0,
                        is_statement: false,
                        is_behind_prologue: false,
                    });
                    continue;
                }
                let file = match numbers.get(&row.file_index()) {
                    Some(known) => *known,
                    None => {
                        let path = path(&dwarf, &unit, header, row)?;
                        let file =
                            self.files.iter().position(|known| *known == path).unwrap_or(self.files.len());
                        if file == self.files.len() {
                            self.files.push(path);
                        }
                        numbers.insert(row.file_index(), file);
                        file
                    }
                };
                self.rows.push(Row {
                    address,
                    file,
                    line: row.line().map_or(0, |line| line.get() as u32),
                    is_statement: row.is_stmt(),
                    is_behind_prologue: row.prologue_end(),
                });
            }
        }
        Ok(())
    }

    /// Every file, as the compiler was given it.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether a debugger should stop at an address, because a line begins there.
    pub fn begins(&self, address: u32) -> bool {
        let first = self.rows.partition_point(|row| row.address < address);
        let mut here = self.rows[first..].iter().take_while(|row| row.address == address);
        here.any(|row| row.is_statement && row.line != 0)
    }

    /// Rows between two addresses.
    pub fn between(&self, from: u32, to: u32) -> &[Row] {
        let first = self.rows.partition_point(|row| row.address < from);
        let last = self.rows.partition_point(|row| row.address < to);
        self.rows.get(first..last).unwrap_or_default()
    }

    /// Every row where a line begins.
    pub fn statements(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.is_statement && row.line != 0)
    }

    /// Rows that begin a line of a file, or the next line behind it that has code.
    pub fn of(&self, file: &str, line: u32) -> Vec<Row> {
        let is_named: Vec<bool> = self.files.iter().map(|known| is_same(known, file)).collect();
        let of_file = |row: &&Row| is_named.get(row.file).is_some_and(|named| *named);
        let line = self.statements().filter(of_file).map(|row| row.line).filter(|found| *found >= line).min();
        let rows = self.statements().filter(of_file).filter(|row| Some(row.line) == line);
        rows.copied().collect()
    }
}

/// Whether a file is what somebody calls so: one name is the end of the other, whole parts of it.
pub(crate) fn is_same(known: &str, asked: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (known, asked) = (parts(known), parts(asked));
    !asked.is_empty() && !known.is_empty() && (known.ends_with(&asked) || asked.ends_with(&known))
}

fn path(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    header: &gimli::LineProgramHeader<Reader<'_>>,
    row: &gimli::LineRow,
) -> Result<String, gimli::Error> {
    let text = |value| dwarf.attr_string(unit, value).map(|text| text.to_string_lossy().into_owned());
    let mut path = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let mut push = |part: &str| match part.starts_with('/') || path.is_empty() {
        true => part.clone_into(&mut path),
        false => path = format!("{}/{part}", path.trim_end_matches('/')),
    };
    let Some(file) = row.file(header) else { return Ok(String::new()) };
    if file.directory_index() != 0
        && let Some(directory) = file.directory(header)
    {
        push(&text(directory)?);
    }
    push(&text(file.path_name())?);
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_ends() {
        let rows = [
            ("/a/ops/relu.cpp", "relu.cpp", true),
            ("/a/ops/relu.cpp", "ops/relu.cpp", true),
            ("./relu.cpp", "/home/me/relu.cpp", true),
            ("/a/ops/relu.cpp", "elu.cpp", false),
            ("/a/ops/relu.cpp", "b/relu.cpp", false),
            ("/a/ops/relu.cpp", "", false),
        ];
        for (known, asked, want) in rows {
            assert_eq!(is_same(known, asked), want, "{known} {asked}");
        }
    }

    #[test]
    fn damaged_images_have_no_lines() {
        assert!(Lines::read(b"\x7fELF\x01\x01\x01garbage").files().is_empty());
    }
}
