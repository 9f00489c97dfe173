//! Names and source lines of addresses, from the symbol table and DWARF of an unstripped image.
//!
//! Unaware of what happened there. Everything is optional: a stripped image has no names, and lookups find nothing.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock, PoisonError};

use gpsimd_image::ElfFile;

use crate::call::dtype::Dtype;
use crate::explain::types;
use crate::memory::heap::Chain;

/// Bytes that a function of unknown size may have.
const MOST_UNSIZED: u32 = 0x1000;

type Reader<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// One function on the way to an address; inlined calls have frames of their own.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Frame {
    /// Function, as the source spells it.
    pub function: String,
    /// Source file as the compiler was given it; empty without line information.
    pub file: String,
    /// Line, from 1; 0 without line information.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
    /// Whether it has no code of its own: the names of such are exact, while the compiler may have merged functions.
    pub inlined: bool,
}

impl Frame {
    /// Whether the frame is a generated wrapper, which calls the runtime and the kernel.
    pub fn is_wrapper(&self) -> bool {
        self.function.ends_with("_wrapper")
    }

    /// Whether the frame is `operator new` or `operator new[]`.
    pub fn is_operator_new(&self) -> bool {
        self.function.starts_with("operator new")
    }

    /// Whether the frame is library code rather than the kernel author's.
    pub fn is_runtime(&self) -> bool {
        /// As builds call the SDK, wherever it lies.
        const SDK: &str = "gpsimd-sdk";
        const PLACES: [(&str, &[&str]); 3] = [
            ("include", &["ATen", "c10", "torch", "neuron", "neuron_torch_extension", "c++"]),
            ("src", &["neuroncustomop", "c10", "checked"]),
            ("sdk", &["include", "src", "sysroot"]),
        ];
        let parts: Vec<&str> = self.file.split('/').collect();
        let name = parts.last().copied().unwrap_or_default();
        let in_place =
            |pair: &[&str]| PLACES.iter().any(|(dir, below)| pair[0] == *dir && below.contains(&pair[1]));
        name.is_empty()
            || name.ends_with(".S")
            || name == "wrapper.cpp"
            || parts.contains(&SDK)
            || parts.windows(2).any(in_place)
    }
}

/// What was found for an image's addresses before: one call after the other asks for the same ones, and reading debug
/// information takes longer than a short call.
#[derive(Debug, Default)]
pub struct Memo {
    frames: Mutex<HashMap<u32, Vec<Frame>>>,
    functions: Mutex<HashMap<u32, Option<String>>>,
    has_lines: OnceLock<bool>,
    names_another: Mutex<HashMap<Dtype, bool>>,
    agreements: Mutex<HashMap<(Chain, Chain), bool>>,
}

/// What `memo` holds for an address or the like, else what `find` finds.
fn once<K: Hash + Eq, T: Clone>(memo: &Mutex<HashMap<K, T>>, pc: K, find: impl FnOnce() -> T) -> T {
    let known = memo.lock().unwrap_or_else(PoisonError::into_inner).get(&pc).cloned();
    known.unwrap_or_else(|| {
        let found = find();
        memo.lock().unwrap_or_else(PoisonError::into_inner).insert(pc, found.clone());
        found
    })
}

/// Symbols and line information of one image.
///
/// Read when first asked: most runs have nothing to explain.
pub struct Symbols<'a> {
    bytes: &'a [u8],
    shift: u32,
    memo: Option<&'a Memo>,
    dwarf: OnceCell<Option<addr2line::Context<Reader<'a>>>>,
    functions: OnceCell<Vec<(u32, u32, &'a str)>>,
}

impl<'a> Symbols<'a> {
    /// Symbols of an ELF image; damaged parts count as absent.
    pub fn read(bytes: &'a [u8]) -> Symbols<'a> {
        Symbols { bytes, shift: 0, memo: None, dwarf: OnceCell::new(), functions: OnceCell::new() }
    }

    /// The same for code that was moved up by `shift` bytes (modulo 2^32) after the link.
    pub fn moved_by(self, shift: u32) -> Symbols<'a> {
        Symbols { shift, ..self }
    }

    /// The same, with what was found before.
    pub fn remembering(self, memo: &'a Memo) -> Symbols<'a> {
        Symbols { memo: Some(memo), ..self }
    }

    fn dwarf(&self) -> Option<&addr2line::Context<Reader<'a>>> {
        self.dwarf.get_or_init(|| dwarf(self.bytes)).as_ref()
    }

    fn functions(&self) -> &[(u32, u32, &'a str)] {
        self.functions.get_or_init(|| functions(self.bytes).unwrap_or_default())
    }

    /// Whether any line information was found.
    pub fn has_lines(&self) -> bool {
        let find = || self.dwarf().is_some();
        self.memo.map_or_else(find, |memo| *memo.has_lines.get_or_init(find))
    }

    /// Frames of an address, innermost first.
    pub fn frames(&self, pc: u32) -> Vec<Frame> {
        match self.memo {
            Some(memo) => once(&memo.frames, pc, || self.find_frames(pc)),
            None => self.find_frames(pc),
        }
    }

    fn find_frames(&self, pc: u32) -> Vec<Frame> {
        let mut frames = self.dwarf_frames(pc).unwrap_or_default();
        if frames.is_empty()
            && let Some(function) = self.function(pc)
        {
            frames.push(Frame { function, file: String::new(), line: 0, column: 0, inlined: false });
        }
        frames
    }

    /// Frames of a call chain, innermost first: a return address stands for the call before it.
    pub fn chain(&self, chain: &[u32]) -> Vec<Frame> {
        let calls =
            chain.iter().enumerate().map(|(depth, pc)| if depth == 0 { *pc } else { pc.wrapping_sub(1) });
        calls.flat_map(|pc| self.frames(pc)).collect()
    }

    /// Name of the function that holds an address.
    pub fn function(&self, pc: u32) -> Option<String> {
        match self.memo {
            Some(memo) => once(&memo.functions, pc, || self.find_function(pc)),
            None => self.find_function(pc),
        }
    }

    fn find_function(&self, pc: u32) -> Option<String> {
        let pc = pc.wrapping_sub(self.shift);
        let after = self.functions().partition_point(|(start, ..)| *start <= pc);
        let (start, len, name) = self.functions().get(after.checked_sub(1)?)?;
        (pc - start < *len).then(|| spelled(name))
    }

    /// As [`Symbols::function`]; code of an assembler's function, whose symbol has no size, reaches to the next one.
    pub fn function_or_label(&self, pc: u32) -> Option<String> {
        let unsized_one = || {
            let pc = pc.wrapping_sub(self.shift);
            let after = self.functions().partition_point(|(start, ..)| *start <= pc);
            let (start, len, name) = self.functions().get(after.checked_sub(1)?)?;
            (*len == 0 && *start > 0 && pc - start < MOST_UNSIZED).then(|| spelled(name))
        };
        self.function(pc).or_else(unsized_one)
    }

    /// Whether the image names an accessor for another element type than this ([`types::names_another`]).
    pub fn names_another(&self, dtype: Dtype) -> bool {
        let look = || types::names_another(self.bytes, dtype);
        self.memo.map_or_else(look, |memo| once(&memo.names_another, dtype, look))
    }

    /// Whether two call chains agree in something that their functions tell.
    pub fn agree(&self, chains: &(Chain, Chain), find: impl FnOnce() -> bool) -> bool {
        let Some(memo) = self.memo else { return find() };
        let known = memo.agreements.lock().unwrap_or_else(PoisonError::into_inner).get(chains).copied();
        known.unwrap_or_else(|| once(&memo.agreements, chains.clone(), find))
    }

    /// Address and length of the function that the source calls so.
    pub fn place(&self, name: &str) -> Option<(u32, u32)> {
        let mut functions = self.functions().iter();
        let (start, len, _) =
            functions.find(|(_, _, known)| known.contains(name) && spelled(known) == name)?;
        Some((start.wrapping_add(self.shift), *len))
    }

    /// Address and length of the function that holds an address.
    pub fn extent(&self, pc: u32) -> Option<(u32, u32)> {
        let pc = pc.wrapping_sub(self.shift);
        let after = self.functions().partition_point(|(start, ..)| *start <= pc);
        let (start, len, _) = self.functions().get(after.checked_sub(1)?)?;
        (pc - start < *len).then(|| (start.wrapping_add(self.shift), *len))
    }

    /// The same symbols, to be read again where they are asked.
    pub fn again(&self) -> Symbols<'a> {
        Symbols { memo: self.memo, ..Symbols::read(self.bytes).moved_by(self.shift) }
    }

    /// The image, as it was given.
    pub fn image(&self) -> &'a [u8] {
        self.bytes
    }

    /// How far the code was moved up after the link.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Addresses of the functions with one of these linkage names, each with the name's index; nothing else is read.
    pub fn find(&self, names: &[&str]) -> Vec<(u32, usize)> {
        let found = ElfFile::without_symbols(self.bytes).map(|elf| elf.find_functions(names));
        let shifted = |(start, index): (u32, usize)| (start.wrapping_add(self.shift), index);
        found.unwrap_or_default().into_iter().map(shifted).collect()
    }

    fn dwarf_frames(&self, pc: u32) -> Option<Vec<Frame>> {
        let mut found =
            self.dwarf()?.find_frames(pc.wrapping_sub(self.shift).into()).skip_all_loads().ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let location = frame.location;
            frames.push(Frame {
                function: name.map(|name| spelled(&name)).unwrap_or_default(),
                file: location.as_ref().and_then(|at| at.file).unwrap_or_default().to_owned(),
                line: location.as_ref().and_then(|at| at.line).unwrap_or(0),
                column: location.and_then(|at| at.column).unwrap_or(0),
                inlined: true,
            });
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        Some(frames)
    }
}

/// A linkage name as the source spells it, parameters left out.
fn spelled(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    cpp_demangle::Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok())
        .unwrap_or_else(|| name.to_owned())
}

fn dwarf(bytes: &[u8]) -> Option<addr2line::Context<Reader<'_>>> {
    let elf = ElfFile::without_symbols(bytes).ok()?;
    let load = |id: gimli::SectionId| -> Result<Reader<'_>, gimli::Error> {
        Ok(gimli::EndianSlice::new(elf.section_data(id.name()), gimli::LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(load).ok()?;
    dwarf.debug_info.units().next().ok()??;
    addr2line::Context::from_dwarf(dwarf).ok()
}

fn functions(bytes: &[u8]) -> Option<Vec<(u32, u32, &str)>> {
    let elf = ElfFile::parse(bytes).ok()?;
    let functions = elf.symbols.iter().filter(|symbol| symbol.is_function());
    let mut functions: Vec<_> = functions.map(|symbol| (symbol.value, symbol.size, symbol.name)).collect();
    functions.sort_unstable();
    Some(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_code_is_told_from_the_kernel() {
        let rows = [
            ("/home/a/ops/relu.cpp", false),
            ("relu.cpp", false),
            ("/home/a/torch/include/helpers.h", false),
            ("/opt/sdk/include/ATen/core/TensorAccessor.h", true),
            ("gpsimd-sdk/include/gpsimd/map.hpp", true),
            ("./gpsimd-sdk/host/start.cpp", true),
            ("/home/a/ops/include/gpsimd/mine.hpp", false),
            ("/opt/x/src/neuroncustomop/translation.cpp", true),
            ("/build/relu/wrapper.cpp", true),
            ("", true),
        ];
        for (file, want) in rows {
            let frame =
                Frame { function: String::new(), file: file.to_owned(), line: 1, column: 0, inlined: false };
            assert_eq!(frame.is_runtime(), want, "{file}");
        }
    }

    #[test]
    fn names_are_spelled_as_in_the_source() {
        assert_eq!(spelled("_Z16neuron_translatePvy"), "neuron_translate");
        assert_eq!(spelled("main"), "main");
    }

    #[test]
    fn damaged_images_have_no_symbols() {
        let symbols = Symbols::read(b"\x7fELF\x01\x01\x01garbage");
        assert!(!symbols.has_lines());
        assert_eq!(symbols.frames(0x8400_0000), []);
    }
}
