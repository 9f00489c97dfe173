//! Packing: a stripped image as data in a relocatable object, and back.
//!
//! Unaware of what the payload holds beyond that it is an ELF file. The object has the sections that the reference
//! sequence (two empty assemblies, objcopy and a partial link) leaves, so that linkers treat it alike: an assembler's
//! empty `.text`, `.data` and `.bss`, the ABI note, and the property record of the 4-byte alignment.
//! Facts: spec `toolchain.md` §7.2 steps 5-9, §8.3; section list measured with GNU as and ld 2.40.

use object::write::elf::{FileHeader, Rel, SectionHeader, SectionIndex, Sym, Writer};
use object::{Endianness, elf};

use crate::elf_file::{ElfFile, FLAGS, MACHINE, kind_name};
use crate::error::ImageError;

/// Symbol at the start of the payload.
pub const PAYLOAD_SYMBOL: &str = "lib_func";
/// Section that is the payload.
pub const PAYLOAD_SECTION: &str = ".rodata";

/// ABI 0 is windowed: linking the object into a call0 program is then diagnosed.
const XTENSA_INFO: &[u8] = b"\x0c\0\0\0\x20\0\0\0\x01\0\0\0Xtensa_Info\0USE_ABSOLUTE_LITERALS=0\nABI=0\n\0\0";
/// Property flags of aligned data: `.align 4` at offset 0 of the payload.
const ALIGNED_DATA: u32 = 0x2804;

/// A packed object from outside: what a linker sees of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Container {
    /// `REL (1)`.
    pub kind: String,
    /// The section that is the payload, and its bytes.
    pub section: &'static str,
    /// Bytes of the payload.
    pub size: u32,
    /// The symbol at the payload.
    pub symbol: &'static str,
    /// Its offset in the section: 0, or the object is not what a host expects.
    pub offset: u32,
    /// Whether other objects see it.
    pub is_global: bool,
}

/// What a packed object is from outside; nothing for other files.
pub fn container(bytes: &[u8]) -> Option<Container> {
    let object = ElfFile::parse(bytes).ok()?;
    let symbol = object.symbol(PAYLOAD_SYMBOL)?;
    let section = object.sections.get(usize::from(symbol.section)).filter(|s| s.name == PAYLOAD_SECTION)?;
    Some(Container {
        kind: kind_name(object.header.kind),
        section: PAYLOAD_SECTION,
        size: section.size,
        symbol: PAYLOAD_SYMBOL,
        offset: symbol.value,
        is_global: symbol.binding == elf::STB_GLOBAL.0,
    })
}

/// Packs a stripped image into a relocatable object: `.rodata` is the image, global `lib_func` its first byte.
///
/// # Errors
/// Images so large that the object could not be addressed.
pub fn pack(stripped: &[u8]) -> Result<Vec<u8>, ImageError> {
    let mut buffer = Vec::new();
    let mut writer = Writer::new(Endianness::Little, false, &mut buffer);
    writer.reserve_file_header();
    let payload_at = writer.reserve(stripped.len() as u64, 4);
    let info_at = writer.reserve(XTENSA_INFO.len() as u64, 1);
    let prop = property();
    let prop_at = writer.reserve(prop.len() as u64, 1);

    let allocated = u64::from(elf::SHF_ALLOC.0 as u32);
    let writable = allocated | elf::SHF_WRITE.0;
    let plain = [
        (".text", elf::SHT_PROGBITS, allocated | elf::SHF_EXECINSTR.0, payload_at, 0, 1),
        (PAYLOAD_SECTION, elf::SHT_PROGBITS, allocated, payload_at, stripped.len() as u64, 4),
        (".data", elf::SHT_PROGBITS, writable, info_at, 0, 1),
        (".bss", elf::SHT_NOBITS, writable, info_at, 0, 1),
        (".xtensa.info", elf::SHT_NOTE, 0, info_at, XTENSA_INFO.len() as u64, 1),
        (".xt.prop", elf::SHT_PROGBITS, 0, prop_at, prop.len() as u64, 1),
    ];
    let mut indices = [SectionIndex(0); 6];
    let names = plain.map(|(name, ..)| writer.add_section_name(name.as_bytes()));
    indices.fill_with(|| writer.reserve_section_index());
    let [_, payload, _, _, _, xt_prop] = indices;
    let rela_name = writer.add_section_name(b".rela.xt.prop");
    writer.reserve_section_index();

    let symbol_name = writer.add_string(PAYLOAD_SYMBOL.as_bytes());
    for index in indices.into_iter().chain([payload]) {
        writer.reserve_symbol_index(Some(index));
    }
    let symtab = writer.reserve_symtab_section_index();
    writer.reserve_symtab();
    writer.reserve_strtab_section_index();
    writer.reserve_strtab().map_err(unwritable)?;
    let rela_at = writer.reserve_relocations(1, true);
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab().map_err(unwritable)?;
    writer.reserve_section_headers();
    if writer.reserved_len() > u32::MAX.into() {
        return Err(ImageError::TooLarge { found: writer.reserved_len(), allowed: u32::MAX.into() });
    }

    writer
        .write_file_header(&FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: elf::ET_REL,
            e_machine: elf::EM_XTENSA,
            e_entry: 0,
            e_flags: elf::FileFlags(FLAGS),
        })
        .map_err(unwritable)?;
    writer.pad_until(payload_at);
    writer.write(stripped);
    writer.write(XTENSA_INFO);
    writer.write(&prop);
    writer.write_null_symbol();
    for index in indices {
        writer.write_symbol(&symbol(0, index, elf::STB_LOCAL, elf::STT_SECTION));
    }
    let name = writer.string_offset(Some(symbol_name));
    writer.write_symbol(&symbol(name, payload, elf::STB_GLOBAL, elf::STT_NOTYPE));
    writer.write_strtab();
    writer.write_align_relocation();
    // Symbols 1 to 6 are the sections in order.
    writer.write_relocation(
        true,
        &Rel { r_offset: 0, r_sym: payload.0, r_type: elf::R_XTENSA_32, r_addend: 0 },
    );
    writer.write_shstrtab();

    writer.write_null_section_header();
    for ((_, sh_type, flags, sh_offset, sh_size, sh_addralign), name) in plain.into_iter().zip(names) {
        let sh_name = writer.section_name_offset(Some(name));
        let sh_flags = elf::SectionFlags(flags);
        writer.write_section_header(&SectionHeader {
            sh_name,
            sh_type,
            sh_flags,
            sh_addr: 0,
            sh_offset,
            sh_size,
            sh_link: 0,
            sh_info: 0,
            sh_addralign,
            sh_entsize: 0,
        });
    }
    writer.write_relocation_section_header(rela_name, xt_prop, symtab, rela_at, 1, true);
    writer.write_symtab_section_header(indices.len() as u32 + 1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(buffer)
}

/// The image inside a packed object, ours or one that GNU ld made.
///
/// # Errors
/// What [`ElfFile::parse`] refuses; other machines and types; no `.rodata`, or `lib_func` elsewhere than at its start.
pub fn unpack(packed: &[u8]) -> Result<&[u8], ImageError> {
    let object = ElfFile::parse(packed)?;
    if object.header.machine != MACHINE {
        return Err(ImageError::WrongMachine { found: object.header.machine });
    }
    if object.header.kind != elf::ET_REL.0 {
        return Err(ImageError::WrongType {
            found: kind_name(object.header.kind),
            allowed: "REL (1)",
            help: "a packed image is a relocatable object; give the `.packed.so` file",
        });
    }
    let payload = object.section(PAYLOAD_SECTION).ok_or(ImageError::NotPacked { what: "section .rodata" })?;
    let symbol = object.symbol(PAYLOAD_SYMBOL).ok_or(ImageError::NotPacked { what: "symbol lib_func" })?;
    let holder =
        object.sections.get(usize::from(symbol.section)).map_or("no section", |section| section.name);
    if holder != PAYLOAD_SECTION || symbol.value != 0 {
        return Err(ImageError::LibFuncPlace { found: symbol.value, section: holder.to_owned() });
    }
    Ok(payload.data)
}

/// One `.xt.prop` record: address (relocated), size 0, flags.
fn property() -> [u8; 12] {
    let mut record = [0; 12];
    record[8..].copy_from_slice(&ALIGNED_DATA.to_le_bytes());
    record
}

fn symbol(st_name: u32, section: SectionIndex, binding: elf::SymbolBind, kind: elf::SymbolType) -> Sym {
    Sym {
        section: Some(section.0),
        st_name,
        st_info: elf::SymbolInfo::new(binding, kind),
        st_other: elf::SymbolOther(0),
        st_shndx: elf::SymbolSection(0),
        st_value: 0,
        st_size: 0,
    }
}

fn unwritable(error: object::write::Error) -> ImageError {
    ImageError::Malformed { what: "the new file", detail: error.to_string() }
}
