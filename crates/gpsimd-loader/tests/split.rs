//! Split-load libraries from real links: what the GNU linker makes of small kernels goes through synthesis and the
//! strict prelinker, and what cannot be proven to survive is refused.
#![allow(clippy::unwrap_used)]

#[path = "support/links.rs"]
mod links;

use gpsimd_loader::kernel_table::{self, Row};
use gpsimd_loader::split::{SCRIPT, Split, SplitError, strip, synthesize};
use gpsimd_loader::ucpl::Ucpl;
use gpsimd_loader::{Bounds, Generation, Mode, Prelinked, fuzz, prelink};
use links::Links;

/// Everything that brings absolute addresses: constructors, virtual tables, pointers in data, strings, weak functions.
const KERNELS: &str = r#"
extern "C" void _init();
extern "C" int weak_fn() __attribute__((weak));
struct Thing {
  int v;
  Thing(int x) : v(x * 2) {}
  virtual int get() { return v; }
};
struct Other : Thing {
  Other() : Thing(7) {}
  int get() override { return v + 1; }
};
Other thing;
static int table[3] = {1, 2, 3};
int* pointer = &table[1];
const char* words[] = {"one", "two", "three"};
char* end_of_table = reinterpret_cast<char*>(table + 3);
int zeroed[10];
int dispatch(int x) {
  switch (x) {
    case 0: return zeroed[1];
    case 1: return table[2];
    case 2: return thing.get();
    case 3: return *pointer;
    case 4: return words[x - 4][0];
    case 5: return *end_of_table;
  }
  return weak_fn ? weak_fn() : 3;
}
int add_k_stack_switch() { return dispatch(zeroed[0]); }
int mul_k_stack_switch() { return dispatch(table[0]) * 3; }
extern "C" int _start(unsigned* host) {
  if (*host < 36) return 2;
  _init();
  return 0;
}
"#;

fn rows_source() -> String {
    let ops = kernel_table::number(&["add_k", "mul_k"], kernel_table::FIRST_FREE_SPEC).unwrap();
    kernel_table::source(&ops).unwrap()
}

fn strict(split: &Split, bounds: &Bounds) -> Prelinked {
    prelink(&split.elf, bounds, Mode::Strict, &mut |line| panic!("{line}")).unwrap()
}

#[test]
fn a_link_becomes_a_library() {
    let links = Links::new();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows_source())];
    let linked = links.link(&objects, |_| {});
    let split = synthesize(&linked, &Bounds::CAYMAN).unwrap();
    let keys: Vec<(u8, u8)> = split.rows.iter().map(|row| (row.opcode, row.spec)).collect();
    assert_eq!(keys, [(0xf0, 10), (0xf0, 11)]);

    for generation in Generation::ALL {
        let bounds = generation.bounds();
        let prelinked = strict(&split, &bounds);
        assert_eq!(prelinked.relocations.words as usize, split.relocations);
        let image = prelinked.image();
        assert_eq!(Ucpl::parse(&image).unwrap().check(&bounds), vec![]);
        let table = prelinked.kernel_table.unwrap();
        assert_eq!(table.rows, 2);
        let at = (table.addr - bounds.data.base) as usize;
        let rows = kernel_table::parse(&prelinked.data[at..at + 16]);
        let moved: Vec<Row> = split
            .rows
            .iter()
            .map(|row| Row { func: row.func - 0x0100_0000 + bounds.code.base, ..*row })
            .collect();
        assert_eq!(rows, moved);
    }

    // A reader of the toolchain's own finds nothing to complain about.
    let headers = links.readelf(&split.elf, "-Wl");
    for line in [
        "Entry point 0x10",
        "LOAD           0x000100 0x01000000 0x01000000",
        "0x02000000 0x02000000",
        " -WE 0x80",
        "DYNAMIC",
    ] {
        let line = line.replace("-WE", "WE");
        assert!(headers.contains(&line), "{line}\n{headers}");
    }
    let dynamic = links.readelf(&split.elf, "-Wd");
    for tag in
        ["(HASH)", "(STRTAB)", "(SYMTAB)", "(STRSZ)", "(SYMENT)", "(RELA)", "(RELASZ)", "(RELAENT)", "(NULL)"]
    {
        assert!(dynamic.contains(tag), "{tag}\n{dynamic}");
    }
    let relocations = links.readelf(&split.elf, "-Wr");
    assert_eq!(relocations.matches("R_XTENSA_RELATIVE").count(), split.relocations, "{relocations}");
    assert!(
        links.readelf(&split.elf, "-Ws").contains("_Z18add_k_stack_switchv"),
        "symbols stay, for reports"
    );
    assert!(links.readelf(&split.elf, "-WS").contains(".debug_info"));
}

#[test]
fn a_stripped_library_gives_the_same_image() {
    let links = Links::new();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows_source())];
    let split = synthesize(&links.link(&objects, |_| {}), &Bounds::CAYMAN).unwrap();
    let stripped = strip(&split.elf).unwrap();
    assert!(stripped.len() < split.elf.len() / 2, "{} of {}", stripped.len(), split.elf.len());
    assert_eq!(strip(&stripped).unwrap(), stripped, "once is enough");
    let [whole, small] = [&split.elf, &stripped].map(|elf| {
        let bounds = Generation::Mariana.bounds();
        let prelinked = prelink(elf, &bounds, Mode::Strict, &mut |line| panic!("{line}")).unwrap();
        (prelinked.image(), prelinked.kernel_table)
    });
    assert_eq!(small, whole);
    let sections = links.readelf(&stripped, "-WSl");
    assert!(!sections.contains(".debug_info") && !sections.contains(".symtab"), "{sections}");
    for cut in (0..stripped.len()).step_by(97) {
        // Whatever is cut off is refused or leaves a library that the prelinker judges.
        if let Ok(again) = strip(&stripped[..cut]) {
            let _ = prelink(&again, &Bounds::CAYMAN, Mode::Strict, &mut |_| {});
        }
    }
}

#[test]
fn links_at_other_addresses_give_the_same_image() {
    // The proof that no address was missed: it would differ.
    let links = Links::new();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows_source())];
    let image = |code: &str, data: &str| {
        let script = SCRIPT.replace("0x01000000", code).replace("0x02000000", data);
        let linked = links.link_with(&script, &objects, |_| {});
        strict(&synthesize(&linked, &Bounds::CAYMAN).unwrap(), &Bounds::CAYMAN).image()
    };
    let usual = image("0x01000000", "0x02000000");
    assert_eq!(usual, image("0x01480000", "0x02c00000"));
    assert_eq!(usual, image("0x00300000", "0x01010000"));
}

#[test]
fn hooks_become_init_and_fini() {
    let links = Links::new();
    let source = r#"extern "C" { int _start() { return 0; } void __split_init() {} void __split_fini() {} }"#;
    let objects = [links.compile("hooks.cpp", source)];
    let linked = links.link(&objects, |job| {
        job.ldflags = ["-Wl,-u,__split_init", "-Wl,-u,__split_fini"].map(Into::into).to_vec();
    });
    let header = strict(&synthesize(&linked, &Bounds::CAYMAN).unwrap(), &Bounds::CAYMAN).header;
    assert_ne!(header.init, 0);
    assert_ne!(header.fini, 0);
    let linked = links.link(&objects, |_| {});
    let header = strict(&synthesize(&linked, &Bounds::CAYMAN).unwrap(), &Bounds::CAYMAN).header;
    assert_eq!((header.init, header.fini), (0, 0), "the constructors are the start function's business");
}

/// Links one source and says why it is refused.
fn refusal(links: &Links, source: &str, flags: &[&str]) -> String {
    let objects = [links.compile("refused.cpp", source)];
    let linked = links.link(&objects, |job| job.ldflags = flags.iter().map(Into::into).collect());
    synthesize(&linked, &Bounds::CAYMAN).unwrap_err().to_string()
}

#[test]
fn sizes_are_refused_with_both_numbers() {
    let links = Links::new();
    let data = "int big[3000] = {1}; int small[4] = {2}; extern \"C\" int _start(int i) { return big[i] + small[i]; }";
    let objects = [links.compile("data.cpp", data)];
    let linked = links.link(&objects, |_| {});
    let error = synthesize(&linked, &Bounds::CAYMAN).unwrap_err();
    let SplitError::TooLarge { size, allowed, over, ref largest, .. } = error else { panic!("{error}") };
    assert_eq!((allowed, size - over), (8192, 8192));
    assert!((12016..12100).contains(&size), "{size}");
    assert!(largest.starts_with("The largest: `big` 12000, `small` 16"), "{largest}");
    assert_eq!(
        error.to_string(),
        format!("the data segment has {size} bytes; its region on the device has 8192")
    );

    let code = "extern \"C\" int _start() { asm volatile(\".rept 40000\\n nop\\n .endr\"); return 0; }";
    let error = refusal(&links, code, &[]);
    assert!(
        error.starts_with("the code segment has ") && error.ends_with(" region on the device has 32768"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_proven_is_refused() {
    let links = Links::new();
    let plain = "extern \"C\" int _start() { return 0; }";
    let constant = "extern char constant[]; extern \"C\" char* _start() { return constant; }";
    let error = refusal(&links, constant, &["-Wl,--defsym=constant=0x02000000"]);
    assert!(error.ends_with(" is the constant `constant`, but lies in the data segment"), "{error}");
    let outside = links.link(&[links.compile("outside.cpp", constant)], |job| {
        job.ldflags = vec!["-Wl,--defsym=constant=0x84000000".into()];
    });
    assert!(synthesize(&outside, &Bounds::CAYMAN).is_ok(), "a constant is not moved");
    let biased = "static int far[2]; extern \"C\" int* _start(int i) { return &(far - 0x200)[i]; }";
    let error = refusal(&links, biased, &[]);
    assert!(error.contains("would be moved with the other one"), "{error}");

    let objects = [links.compile("plain.cpp", plain)];
    let dropped = links.link(&objects, |job| job.relocations = gpsimd_toolchain::Relocations::Drop);
    assert_eq!(synthesize(&dropped, &Bounds::CAYMAN).unwrap_err(), SplitError::NoRelocations);

    let near = SCRIPT.replace("0x02000000", "0x01000500");
    let code = "extern \"C\" int _start() { asm volatile(\".rept 300\\n nop\\n .endr\"); return 0; }";
    let objects = [links.compile("near.cpp", code)];
    let linked = links.link_with(&near, &objects, |_| {});
    let error = synthesize(&linked, &Bounds::CAYMAN).unwrap_err();
    assert!(matches!(error, SplitError::TooClose { data_start: 0x0100_0500, .. }), "{error}");

    let object = std::fs::read(&objects[0]).unwrap();
    assert_eq!(
        synthesize(&object, &Bounds::CAYMAN).unwrap_err().to_string(),
        "this is no static Xtensa link: it is no executable"
    );
    assert!(matches!(synthesize(b"", &Bounds::CAYMAN), Err(SplitError::Input { .. })));

    // A table row that is no function.
    let row = format!(
        "{plain}\n__attribute__((section(\"kernel_info_table\"), used)) unsigned row[2] = {{0xf00a0000, 5}};"
    );
    assert_eq!(refusal(&links, &row, &[]), "row 0 of the kernel_info_table has a function outside the code");
    let row = row.replace(", 5}", ", 0x01000000}");
    assert_eq!(
        refusal(&links, &row, &[]),
        "row 0 of the kernel_info_table has a function that is no address"
    );
}

#[test]
fn damaged_links_are_refused_or_prelink() {
    let links = Links::new();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows_source())];
    let linked = links.link(&objects, |_| {});
    let mut state = 0x5eed_u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let headers = u32::from_le_bytes(linked[0x20..0x24].try_into().unwrap()) as usize;
    let rounds = std::env::var("GPSIMD_SOAK").map_or(2_000, |text| text.parse().unwrap());
    for _ in 0..rounds {
        let mut bytes = linked.clone();
        for _ in 0..=random(3) {
            let at = match random(4) {
                0 => random(bytes.len()),
                1 => random(0x74),
                _ => headers + random(bytes.len() - headers),
            };
            bytes[at] = random(256) as u8;
        }
        if random(20) == 0 {
            bytes.truncate(random(bytes.len()));
        }
        fuzz::fuzz_split(&bytes);
    }
}

/// A link whose section headers and relocations a test can change.
struct Linked {
    bytes: Vec<u8>,
}

impl Linked {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn set(&mut self, at: usize, word: u32) {
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    /// File offset of the header of the first section that `is` accepts by type, address and size.
    fn section(&self, is: impl Fn(u32, u32, u32) -> bool) -> usize {
        let count = usize::from(u16::from_le_bytes([self.bytes[0x30], self.bytes[0x31]]));
        let headers = (0..count).map(|i| self.word(0x20) as usize + 40 * i);
        headers.clone().find(|&at| is(self.word(at + 4), self.word(at + 12), self.word(at + 20))).unwrap()
    }

    /// File offsets of the relocations of `.text` (the first relocation section) of one type.
    fn relocations(&self, kind: u32) -> Vec<usize> {
        let header = self.section(|sh_type, _, _| sh_type == 4);
        let (at, size) = (self.word(header + 16) as usize, self.word(header + 20) as usize);
        (at..at + size).step_by(12).filter(|&entry| self.word(entry + 4) & 0xff == kind).collect()
    }

    /// The bytes at a link address of the code.
    fn code(&mut self, addr: u32) -> &mut [u8] {
        let at = self.word(0x34 + 4) as usize + (addr - 0x0100_0000) as usize;
        &mut self.bytes[at..]
    }
}

#[test]
fn relocations_that_a_good_link_does_not_have() {
    let links = Links::new();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows_source())];
    let good = links.link(&objects, |_| {});
    type Damage = fn(&mut Linked);
    // One row a rule: what is done to the link, and the beginning and end of what is said about it.
    let rows: &[(Damage, &str, &str)] = &[
        (
            |link| {
                let word = link.relocations(1)[1];
                link.set(word + 4, link.word(word + 4) & !0xff | 14)
            },
            "R_XTENSA_32_PCREL at 0x100",
            "which is not there",
        ),
        (
            |link| {
                let word = link.relocations(1)[1];
                link.set(word + 4, link.word(word + 4) & !0xff | 3)
            },
            "R_XTENSA_GLOB_DAT at 0x100",
            "when loading",
        ),
        (
            |link| {
                let word = link.relocations(1)[1];
                link.set(word + 4, link.word(word + 4) & !0xff | 50)
            },
            "relocation type 50 at 0x100",
            "when loading",
        ),
        (
            |link| {
                let word = link.relocations(20)[0];
                link.set(word + 4, link.word(word + 4) & !0xff | 35)
            },
            "R_XTENSA_SLOT0_ALT at 0x100",
            "when loading",
        ),
        (
            |link| {
                let word = link.relocations(1)[0];
                link.set(word, 0x0500_0000)
            },
            "R_XTENSA_32 at 0x5000000",
            "that no segment has in the file",
        ),
        (
            |link| {
                let word = link.relocations(20)[0];
                link.set(word + 4, 0xff_ff00 | 20)
            },
            "R_XTENSA_SLOT0_OP at 0x100",
            "uses `#65535`, which nothing defines",
        ),
        (
            |link| {
                let words = link.relocations(1);
                let site = link.word(words[0]);
                link.set(words[1], site + 2);
                link.code(site + 4)[..2].copy_from_slice(&[0, 2])
            },
            "the words at 0x100",
            "are relocated both, and overlap",
        ),
        (
            |link| {
                let at = link.section(|sh_type, addr, _| sh_type == 8 && addr != 0);
                link.set(at + 12, 0x0400_0000)
            },
            "section `.bss` at 0x4000000",
            "lies in neither segment",
        ),
        (
            |link| {
                let at = link.section(|sh_type, _, size| sh_type == 4 && size == 24);
                link.set(at + 28, 0)
            },
            "row",
            "no address",
        ),
        (
            |link| link.set(0x34 + 24, 7),
            "program header 0 (type 0x1, flags 0x7)",
            "is not the code, a LOAD with flags R-X",
        ),
        (
            |link| link.set(0x18, 0x0200_0000),
            "the library does not prelink: the start symbol is 0x1018000, outside the loaded code",
            "",
        ),
    ];
    for (row, (damage, start, end)) in rows.iter().enumerate() {
        let mut link = Linked { bytes: good.clone() };
        damage(&mut link);
        match synthesize(&link.bytes, &Bounds::CAYMAN) {
            Ok(_) => panic!("row {row} was accepted"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with(start) && text.ends_with(end), "row {row}: {text}");
            }
        }
    }
}

#[test]
fn const16_pairs_are_moved() {
    // This toolchain has no CONST16, so a pair is written over two instructions with relocations.
    let links = Links::new();
    let source = "int there = 5; extern \"C\" int _start() { asm volatile(\".rept 30\\n call8 _start\\n .endr\"); return there; }";
    let objects = [links.compile("pair.cpp", source)];
    let mut link = Linked { bytes: links.link(&objects, |_| {}) };
    // The literal that points to `there`: the only one with a symbol of its own and nothing added.
    let literals = link.relocations(1);
    let literal = literals.into_iter().find(|&at| {
        let site = link.word(at);
        let word = u32::from_le_bytes(link.code(site)[..4].try_into().unwrap());
        word >= 0x0200_0000 && link.word(at + 8) == 0
    });
    let (symbol, literal) = literal.map(|at| (link.word(at + 4) >> 8, link.word(at))).unwrap();
    let address = u32::from_le_bytes(link.code(literal)[..4].try_into().unwrap());
    let [low0, low1, high0, high1] = address.to_le_bytes();
    let calls = link.relocations(20);
    let [first, second] = [calls[4], calls[5]];
    let site = link.word(first);
    assert_eq!(link.word(second), site + 3);
    for (at, kind) in [(first, 35), (second, 20)] {
        link.set(at + 4, symbol << 8 | kind);
        link.set(at + 8, 0);
    }
    link.code(site)[..6].copy_from_slice(&[0x24, high0, high1, 0x24, low0, low1]);
    let split = synthesize(&link.bytes, &Bounds::CAYMAN).unwrap();
    let prelinked = strict(&split, &Bounds::CAYMAN);
    assert_eq!((prelinked.relocations.low, prelinked.relocations.high), (1, 1));
    let moved = address - 0x0200_0000 + Bounds::CAYMAN.data.base;
    let [low0, low1, high0, high1] = moved.to_le_bytes();
    let at = (site - 0x0100_0000) as usize;
    assert_eq!(prelinked.code[at..at + 6], [0x24, high0, high1, 0x24, low0, low1]);

    link.code(site)[1] ^= 1;
    let error = synthesize(&link.bytes, &Bounds::CAYMAN).unwrap_err();
    assert!(matches!(error, SplitError::Const16 { .. }), "{error}");
}
