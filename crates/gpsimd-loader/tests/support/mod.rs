//! Split-load libraries made by hand, field by field, so that a test can get any of them wrong.
#![allow(dead_code, clippy::unwrap_used)]

use gpsimd_loader::{Bounds, Mode, PrelinkError, Prelinked, prelink};

pub const NONE: u32 = 0;
pub const WORD: u32 = 5;
pub const LOW: u32 = 20;
pub const HIGH: u32 = 35;
pub const CODE: u32 = 0x0100_0000;
pub const DATA: u32 = 0x0200_0000;
pub const SCRATCH: u32 = 0x0300_0000;

#[derive(Debug, Clone)]
pub struct Seg {
    pub p_type: u32,
    pub paddr: u32,
    pub bytes: Vec<u8>,
    pub memsz: u32,
    pub flags: u32,
}

impl Seg {
    pub fn new(paddr: u32, bytes: Vec<u8>, flags: u32) -> Seg {
        let memsz = bytes.len() as u32;
        Seg { p_type: 1, paddr, bytes, memsz, flags }
    }
}

#[derive(Debug, Clone)]
pub struct Section {
    pub name: &'static str,
    pub sh_type: u32,
    pub addr: u32,
    pub size: u32,
    pub align: u32,
}

/// A library. `build` lays it out as the documented one is: code at 0x100, then data, then dynamic section and
/// relocation table in the scratch segment, then section headers.
#[derive(Debug, Clone)]
pub struct Lib {
    pub ident: [u8; 6],
    pub e_type: u16,
    pub machine: u16,
    pub entry: u32,
    pub phnum: Option<u16>,
    pub code: Seg,
    pub data: Seg,
    /// Flags of the scratch segment.
    pub scratch: Option<u32>,
    pub dynamic_flags: u32,
    /// Tags before the ones for the relocation table.
    pub dynamic: Vec<(u32, u32)>,
    pub rela: Vec<(u32, u32, u32)>,
    /// Tags for the table are left out.
    pub hide_rela: bool,
    pub sections: Vec<Section>,
    pub big_endian: bool,
}

impl Lib {
    /// Small and correct: 0x100 bytes of code, 0x40 of data.
    pub fn small() -> Lib {
        let mut code = Vec::new();
        while code.len() < 0x100 {
            code.extend([0x24, 0x00, 0x02]);
        }
        code.truncate(0x100);
        Lib {
            ident: [0x7f, b'E', b'L', b'F', 1, 1],
            e_type: 2,
            machine: 94,
            entry: CODE,
            phnum: None,
            code: Seg::new(CODE, code, 5),
            data: Seg::new(DATA, (0..0x40).collect(), 7),
            scratch: Some(3),
            dynamic_flags: 6,
            dynamic: Vec::new(),
            rela: Vec::new(),
            hide_rela: false,
            sections: vec![section(".text", CODE, 0x100, 32), section(".data", DATA, 0x40, 8)],
            big_endian: false,
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Lib)) -> Lib {
        change(&mut self);
        self
    }

    pub fn rela(self, rela: &[(u32, u32, u32)]) -> Lib {
        self.with(|lib| lib.rela = rela.to_vec())
    }

    pub fn build(&self) -> Vec<u8> {
        let half = |value: u16| if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let word = |value: u32| if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let align = |value: usize| value.next_multiple_of(0x80);
        let code_at = 0x100;
        let data_at = align(code_at + self.code.bytes.len());
        let scratch_at = align(data_at + self.data.bytes.len());

        let mut dynamic = self.dynamic.clone();
        let rela_off = (dynamic.len() as u32 + 4) * 8;
        if !self.hide_rela {
            dynamic.extend([(7, SCRATCH + rela_off), (8, self.rela.len() as u32 * 12), (9, 12)]);
        } else {
            dynamic.extend([(0x1234, 0); 3]);
        }
        dynamic.push((0, 0));
        let dynamic_size = dynamic.len() as u32 * 8;
        let mut scratch: Vec<u8> =
            dynamic.iter().flat_map(|(tag, value)| [word(*tag), word(*value)].concat()).collect();
        scratch.extend(self.rela.iter().flat_map(|(a, b, c)| [word(*a), word(*b), word(*c)].concat()));

        let phdr = |p_type, at: usize, paddr, filesz: u32, memsz, flags| {
            [p_type, at as u32, paddr, paddr, filesz, memsz, flags, 0x80].map(word).concat()
        };
        let mut phdrs = Vec::new();
        for (seg, at) in [(&self.code, code_at), (&self.data, data_at)] {
            phdrs.extend(phdr(seg.p_type, at, seg.paddr, seg.bytes.len() as u32, seg.memsz, seg.flags));
        }
        let scratch_len = scratch.len() as u32;
        if let Some(flags) = self.scratch {
            phdrs.extend(phdr(1, scratch_at, SCRATCH, scratch_len, scratch_len, flags));
        }
        phdrs.extend(phdr(2, scratch_at, SCRATCH, dynamic_size, dynamic_size, self.dynamic_flags));

        let mut file = self.ident.to_vec();
        file.resize(16, 0);
        file.extend([half(self.e_type), half(self.machine)].concat());
        file.extend(word(1));
        file.extend(word(self.entry));
        file.extend(word(52));
        let shoff_at = file.len();
        file.extend(word(0));
        file.extend(word(0x300));
        let phnum = self.phnum.unwrap_or(phdrs.len() as u16 / 32);
        let shnum = if self.sections.is_empty() { 0 } else { self.sections.len() as u16 + 2 };
        file.extend([52, 32, phnum, 40, shnum, shnum.saturating_sub(1)].map(half).concat());
        file.extend(phdrs);
        for (at, bytes) in [(code_at, &self.code.bytes), (data_at, &self.data.bytes), (scratch_at, &scratch)]
        {
            file.resize(at, 0);
            file.extend(bytes);
        }
        if shnum > 0 {
            let mut names = vec![0];
            let mut headers = vec![0; 40];
            for Section { name, sh_type, addr, size, align } in &self.sections {
                let fields = [names.len() as u32, *sh_type, 3, *addr, 0, *size, 0, 0, *align, 0];
                headers.extend(fields.map(word).concat());
                names.extend(name.bytes().chain([0]));
            }
            file.resize(file.len().next_multiple_of(4), 0);
            let fields = [0, 3, 0, 0, file.len() as u32, names.len() as u32, 0, 0, 1, 0];
            headers.extend(fields.map(word).concat());
            file.extend(&names);
            file.resize(file.len().next_multiple_of(4), 0);
            let shoff = word(file.len() as u32);
            file[shoff_at..shoff_at + 4].copy_from_slice(&shoff);
            file.extend(headers);
        }
        file
    }
}

pub fn section(name: &'static str, addr: u32, size: u32, align: u32) -> Section {
    Section { name, sh_type: 1, addr, size, align }
}

/// The geometry of the documented reference library (prelink.md §4.6): sizes, flags, addresses, dynamic tags, and 240
/// relocations of the documented kinds, the first ones at the documented places.
pub fn reference() -> Lib {
    let mut rela = vec![
        (0x0100_001b, HIGH, 0x0200_025c),
        (0x0100_001e, LOW, 0x0200_025c),
        (0, NONE, 0),
        (0, NONE, 0),
        (0x0100_0043, HIGH, 0x0200_01f8),
        (0x0100_0048, LOW, 0x0200_01f8),
    ];
    for i in 0..99 {
        let site = 0x0100_0100 + 0x40 * i;
        rela.extend([(site, HIGH, 0x0200_0240 + i), (site + 3, LOW, 0x0200_0240 + i)]);
    }
    rela.extend([(0, NONE, 0); 6]);
    let ctors = (0..13).map(|i| 0x0200_0200 + 4 * i);
    let rows = (0..17).map(|i| 0x0200_0384 + 8 * i);
    rela.extend(ctors.chain(rows).map(|site| (site, WORD, 0)));

    let mut code = vec![0xaa; 0x6f1e];
    let mut data = vec![0; 0x450];
    for &(site, kind, _) in &rela {
        match kind {
            HIGH | LOW => code[(site - CODE) as usize..][..3].copy_from_slice(&[0x24, 0x55, 0x55]),
            WORD => data[(site - DATA) as usize..][..4].copy_from_slice(&0x0100_5610u32.to_le_bytes()),
            _ => {}
        }
    }
    for (row, func) in ROWS.into_iter().enumerate() {
        data[0x380 + 8 * row..][..8].copy_from_slice(&func.to_be_bytes());
    }
    let mut data = Seg::new(DATA, data, 7);
    data.memsz = 0x48c;
    Lib {
        entry: 0x0100_5610,
        code: Seg::new(CODE, code, 5),
        data,
        dynamic: vec![
            (12, 0x0100_0000),
            (13, 0x0100_6f10),
            (4, 0x0300_00a4),
            (6, 0x0300_00b4),
            (5, 0x0300_00c4),
            (11, 0x10),
            (10, 1),
            (3, 0x0300_0c08),
        ],
        rela,
        sections: vec![
            section(".text", CODE, 0x6f1e, 32),
            section(".rodata", DATA, 0x1ec, 4),
            section(".ctors", 0x0200_01fc, 0x38, 4),
            section(".data", 0x0200_0240, 0x140, 64),
            section("kernel_info_table", 0x0200_0380, 0x88, 8),
            Section { sh_type: 8, ..section(".bss", 0x0200_0450, 0x3c, 4) },
        ],
        ..Lib::small()
    }
}

/// load-and-dispatch.md §7.2.
pub const ROWS: [u64; 17] = [
    0x0000007e80000001,
    0x0000007cf8030001,
    0x0000007d10040001,
    0x00000045900b0001,
    0x000000515c100001,
    0x000000411c0f0001,
    0x000000f070330001,
    0x000001f080330001,
    0x000002f084340001,
    0x000004f0a8370001,
    0x000003f0603a0001,
    0x00000052403b0001,
    0x00000046c0400001,
    0x0000004760410001,
    0x000000be04420001,
    0x000000f24c480001,
    0x0000007bc44d0001,
];

/// The result, and what was logged.
pub fn run(lib: &Lib, bounds: &Bounds, mode: Mode) -> (Result<Prelinked, PrelinkError>, Vec<String>) {
    run_bytes(&lib.build(), bounds, mode)
}

pub fn run_bytes(
    bytes: &[u8],
    bounds: &Bounds,
    mode: Mode,
) -> (Result<Prelinked, PrelinkError>, Vec<String>) {
    let mut log = Vec::new();
    let result = prelink(bytes, bounds, mode, &mut |line| log.push(line.to_owned()));
    (result, log)
}

/// 0, or the status and the log in one line.
pub fn verdict(lib: &Lib, bounds: &Bounds, mode: Mode) -> String {
    verdict_bytes(&lib.build(), bounds, mode)
}

pub fn verdict_bytes(bytes: &[u8], bounds: &Bounds, mode: Mode) -> String {
    let (result, log) = run_bytes(bytes, bounds, mode);
    let status = result.map_or_else(|error| error.status(), |_| 0);
    let lines: Vec<String> = std::iter::once(status.to_string()).chain(log).collect();
    lines.join(" | ")
}
