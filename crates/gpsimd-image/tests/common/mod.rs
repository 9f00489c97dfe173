//! A small ELF writer for tests: every field can be set wrong, and no toolchain is needed.
#![allow(dead_code)] // each test binary uses its part

use gpsimd_lsp::{CpuId, Variant};

pub const EXEC: u16 = 2;
pub const DYN: u16 = 3;
pub const REL: u16 = 1;
pub const LOAD: u32 = 1;
pub const PROGBITS: u32 = 1;
pub const RELA: u32 = 4;
pub const DYNAMIC: u32 = 6;
pub const NOBITS: u32 = 8;
pub const W: u32 = 1;
pub const A: u32 = 2;
pub const X: u32 = 4;
pub const ABS: u16 = 0xfff1;
pub const GLOBAL: u8 = 0x10;

#[derive(Clone)]
pub struct Elf {
    pub kind: u16,
    pub machine: u16,
    pub flags: u32,
    pub entry: u32,
    pub segments: Vec<Seg>,
    pub sections: Vec<Sec>,
    pub symbols: Vec<Sym>,
}

#[derive(Clone)]
pub struct Seg {
    pub kind: u32,
    pub flags: u32,
    pub vaddr: u32,
    pub paddr: u32,
    pub memsz: u32,
    /// Claimed file size, when it is not the data's.
    pub filesz: Option<u32>,
    pub data: Vec<u8>,
}

#[derive(Clone)]
pub struct Sec {
    pub name: &'static str,
    pub kind: u32,
    pub flags: u32,
    pub addr: u32,
    pub size: u32,
    pub align: u32,
    pub link: u32,
    pub info: u32,
    /// Bytes of sections that no segment holds.
    pub data: Vec<u8>,
}

#[derive(Clone)]
pub struct Sym {
    pub name: String,
    pub value: u32,
    pub size: u32,
    pub info: u8,
    /// 0 is undefined, `ABS` absolute, else the 1-based section.
    pub section: u16,
}

impl Seg {
    pub fn load(flags: u32, vaddr: u32, memsz: u32, data: Vec<u8>) -> Seg {
        Seg { kind: LOAD, flags, vaddr, paddr: vaddr, memsz, filesz: None, data }
    }
}

impl Sec {
    pub fn loaded(name: &'static str, flags: u32, addr: u32, size: u32) -> Sec {
        Sec {
            name,
            kind: PROGBITS,
            flags: flags | A,
            addr,
            size,
            align: 4,
            link: 0,
            info: 0,
            data: Vec::new(),
        }
    }

    pub fn other(name: &'static str, data: &[u8]) -> Sec {
        let size = data.len() as u32;
        Sec { name, kind: PROGBITS, flags: 0, addr: 0, size, align: 1, link: 0, info: 0, data: data.to_vec() }
    }
}

impl Elf {
    pub fn segment(&mut self, index: usize) -> &mut Seg {
        &mut self.segments[index]
    }

    pub fn section(&mut self, name: &str) -> &mut Sec {
        self.sections.iter_mut().find(|section| section.name == name).expect(name)
    }

    pub fn symbol(&mut self, name: &str) -> &mut Sym {
        self.symbols.iter_mut().find(|symbol| symbol.name == name).expect(name)
    }

    /// Sets a word of the loaded bytes.
    pub fn poke(&mut self, address: u32, word: u32) {
        let holds = |s: &&mut Seg| address >= s.vaddr && address + 4 <= s.vaddr + s.data.len() as u32;
        let segment = self.segments.iter_mut().find(holds).expect("a loaded address");
        let at = (address - segment.vaddr) as usize;
        segment.data[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![0; 52 + 32 * self.segments.len()];
        let mut offsets = Vec::new();
        for segment in &self.segments {
            out.resize(out.len().next_multiple_of(8), 0);
            offsets.push(out.len() as u32);
            out.extend(&segment.data);
        }
        let loaded_at = |section: &Sec| {
            let holder = self.segments.iter().zip(&offsets).find(|(segment, _)| {
                segment.kind == LOAD
                    && section.addr >= segment.vaddr
                    && section.addr < segment.vaddr + segment.memsz.max(1)
            });
            holder.map_or(0, |(segment, offset)| {
                offset + (section.addr - segment.vaddr).min(segment.data.len() as u32)
            })
        };
        let mut headers = vec![[0u32; 10]];
        let mut names = vec![0u8];
        let mut name = |text: &str| {
            let at = names.len() as u32;
            names.extend(text.bytes().chain([0]));
            at
        };
        for section in &self.sections {
            let offset = match section.data.is_empty() {
                true => loaded_at(section),
                false => {
                    out.extend(&section.data);
                    (out.len() - section.data.len()) as u32
                }
            };
            let Sec { kind, flags, addr, size, align, link, info, .. } = *section;
            headers.push([name(section.name), kind, flags, addr, offset, size, link, info, align, 0]);
        }
        if !self.symbols.is_empty() {
            let mut strings = vec![0u8];
            let mut table = vec![0u8; 16];
            for symbol in &self.symbols {
                for word in [strings.len() as u32, symbol.value, symbol.size] {
                    table.extend(word.to_le_bytes());
                }
                table.extend([symbol.info, 0]);
                table.extend(symbol.section.to_le_bytes());
                strings.extend(symbol.name.bytes().chain([0]));
            }
            out.resize(out.len().next_multiple_of(4), 0);
            let (at, len) = (out.len() as u32, table.len() as u32);
            out.extend(table);
            let strtab = headers.len() as u32 + 1;
            headers.push([name(".symtab"), 2, 0, 0, at, len, strtab, 1, 4, 16]);
            headers.push([name(".strtab"), 3, 0, 0, out.len() as u32, strings.len() as u32, 0, 0, 1, 0]);
            out.extend(strings);
        }
        let shstrtab = name(".shstrtab");
        headers.push([shstrtab, 3, 0, 0, out.len() as u32, names.len() as u32, 0, 0, 1, 0]);
        out.extend(names);
        out.resize(out.len().next_multiple_of(4), 0);
        let shoff = out.len() as u32;
        for header in &headers {
            header.iter().for_each(|word| out.extend(word.to_le_bytes()));
        }

        out[..16].copy_from_slice(b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0");
        let mut at = 16;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&self.kind.to_le_bytes());
        put(&self.machine.to_le_bytes());
        for word in [1, self.entry, if self.segments.is_empty() { 0 } else { 52 }, shoff, self.flags] {
            put(&word.to_le_bytes());
        }
        let (phnum, shnum) = (self.segments.len() as u16, headers.len() as u16);
        for half in [52, 32, phnum, 40, shnum, shnum - 1] {
            put(&half.to_le_bytes());
        }
        for (segment, offset) in self.segments.iter().zip(offsets) {
            let filesz = segment.filesz.unwrap_or(segment.data.len() as u32);
            let Seg { kind, flags, vaddr, paddr, memsz, .. } = *segment;
            for word in [kind, offset, vaddr, paddr, filesz, memsz, flags, 4] {
                put(&word.to_le_bytes());
            }
        }
        out
    }
}

pub fn cpu(index: u8) -> Variant {
    Variant::Cpu(CpuId::new(index).expect("a core"))
}

/// Name of the library every test builds.
pub fn file_name(variant: Variant, kind: &str) -> String {
    format!("k{}{kind}", variant.file_suffix())
}

/// An unstripped image as the linker leaves it: code with two absolute words, tables, data, bss, symbols.
pub fn linked(variant: Variant) -> Elf {
    let base = variant.window().base;
    let end = variant.window().end() as u32;
    let mut code = vec![0u8; 0x80];
    code.iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8);
    let text = |offset| base + offset;
    let mut elf = Elf {
        kind: EXEC,
        machine: 94,
        flags: 0x300,
        entry: text(0x10),
        segments: vec![
            Seg::load(0, 0, 0, Vec::new()),
            Seg::load(7, base, 0x80, code),
            Seg::load(6, text(0x80), 0x100, Vec::new()),
        ],
        sections: vec![
            Sec::loaded(".DispatchVector.text", W, 0, 0),
            Sec::loaded(".text", X, base, 0x40),
            Sec::loaded(".clib.rodata", W, text(0x40), 0),
            Sec::loaded(".ctors", W, text(0x40), 0xc),
            Sec::loaded(".rodata", 0, text(0x4c), 0x14),
            Sec::loaded(".data", W, text(0x60), 0x20),
            Sec { kind: NOBITS, align: 8, ..Sec::loaded(".bss", W, text(0x80), 0x100) },
            Sec::other(".debug_info", b"debug"),
            Sec::other(".xt.prop", &[0; 12]),
            Sec { kind: 7, ..Sec::other(".xtensa.info", XTENSA_INFO) },
            Sec { flags: 0x30, ..Sec::other(".comment", b"GCC: (GNU) 12.2.0\0") },
        ],
        symbols: Vec::new(),
    };
    // A pointer into the bank, a pointer to its end (which carries into the next byte on cpu7), a table, bss bounds.
    for (address, word) in [
        (text(0x0), text(0x60)),
        (text(0x4), end),
        (text(0x40), 0xffff_ffff),
        (text(0x44), text(0x20)),
        (text(0x48), 0),
        (text(0x58), text(0x80)),
        (text(0x5c), text(0x180)),
        (text(0x64), text(0x100)),
    ] {
        elf.poke(address, word);
    }
    let function =
        |name: &str, value| Sym { name: name.to_owned(), value, size: 4, info: GLOBAL | 2, section: 2 };
    let absolute =
        |name: &str, value| Sym { name: name.to_owned(), value, size: 0, info: GLOBAL, section: ABS };
    elf.symbols = vec![
        Sym { info: 2, ..function("helper", text(0x30)) },
        function("_start", text(0x10)),
        function("_Z12get_func_cntv", text(0x14)),
        function("_Z13get_func_namei", text(0x18)),
        function("_Z12get_func_ptri", text(0x1c)),
        function("switchBack", text(0x28)),
        function("_Z10customop_kRK6Tensor", text(0x2c)),
        absolute("_memmap_seg_sram0_0_start", base),
        absolute("_memmap_seg_sram0_0_max", end),
        absolute("_memmap_seg_sram0_0_end", text(0x180)),
        absolute("_memmap_seg_iram0_0_end", 0),
        absolute("_memmap_mem_sram0_max", text(0x180)),
        absolute("_bss_table_start", text(0x58)),
        absolute("_bss_table_end", text(0x60)),
        absolute("_bss_start", text(0x80)),
        absolute("_bss_end", text(0x180)),
    ];
    elf
}

pub const XTENSA_INFO: &[u8] =
    b"\x0c\0\0\0\x20\0\0\0\x01\0\0\0Xtensa_Info\0USE_ABSOLUTE_LITERALS=0\nABI=0\n\0\0";
