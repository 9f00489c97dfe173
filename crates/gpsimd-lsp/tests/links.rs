//! The scripts under the real linker: what it makes of them, section by section and symbol by symbol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpsimd_lsp::{LinkMode, Lsp, Variant};
use gpsimd_toolchain::{Command, CompileJob, Home, LinkJob, Machine, OpenToolchain, Toolchain};
use object::read::elf::{ElfFile32, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian as LE, Object, ObjectSection, ObjectSymbol, SectionKind};

const HOW: &str =
    "these tests need the open toolchain: run `cargo run -p gpsimd-build -- toolchain install --yes`";

/// Constructors, literals, weak names; without libraries, so that every symbol of the result is the script's or ours.
const SOURCE: &str = r#"
extern "C" void _init();
extern "C" void _fini();
extern "C" const int _bss_table_start[];
int initialised = 3;
int zeroed[100];
static const int table[] = {1, 2, 3, 4};
struct Early { Early() { zeroed[1] = initialised; } } early;
int used(int x) { return table[x & 3] * 0x12345678 + zeroed[x]; }
int unused(int x) { return x * 0x7654321; }
extern "C" int _start() { _init(); int x = used(zeroed[2]) + *_bss_table_start; _fini(); return x; }
"#;

struct Bench {
    open: OpenToolchain,
    toolchain: Toolchain,
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let home = Home::from_env().unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let open =
            OpenToolchain::discover(&Machine::here(), &home).unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let bench = Bench {
            toolchain: Toolchain::Open(open.clone()),
            open,
            dir: tempfile::tempdir().expect("a directory"),
        };
        for variant in Variant::all() {
            for (path, text) in Lsp::custom_op(variant).render() {
                let file = bench.path(&variant.lsp_name()).join(path);
                std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
                std::fs::write(file, text).expect("a script");
            }
        }
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn compile(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        std::fs::write(self.path(name), source).expect("a source");
        let object = self.path(&format!("{name}.o"));
        let mut job = CompileJob::new(self.path(name), &object);
        job.cflags = flags.iter().map(Into::into).collect();
        succeed(&self.toolchain.compile(&job), self.dir.path());
        object
    }

    fn command(&self, variant: Variant, objects: &[PathBuf], flags: &[&str]) -> Command {
        let mut job = LinkJob::new(self.path("image.so"), self.path(&variant.lsp_name()));
        job.objects = objects.to_vec();
        job.ldflags = flags.iter().map(Into::into).collect();
        self.toolchain.link(&job)
    }

    fn link(&self, variant: Variant, objects: &[PathBuf], flags: &[&str]) -> Vec<u8> {
        succeed(&self.command(variant, objects, flags), self.dir.path());
        std::fs::read(self.path("image.so")).expect("an image")
    }

    fn tool(&self, name: &str, args: &[&str]) -> String {
        let command = self.open.tool(&Machine::here(), name).unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        succeed(&command.args(args.iter().copied()), self.dir.path())
    }
}

fn succeed(command: &Command, dir: &Path) -> String {
    let output = command.to_std().current_dir(dir).output().expect("a program that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &said
}

fn symbols(image: &[u8]) -> BTreeMap<String, u64> {
    let file = ElfFile32::<LE>::parse(image).expect("an ELF file");
    file.symbols().map(|symbol| (symbol.name().expect("a name").to_owned(), symbol.address())).collect()
}

/// (name, address, size) of the loaded sections that hold something.
fn loaded(image: &[u8]) -> Vec<(String, u64, u64)> {
    let file = ElfFile32::<LE>::parse(image).expect("an ELF file");
    let sections = file.sections().filter(|s| s.size() > 0 && s.address() > 0);
    sections.map(|s| (s.name().expect("a name").to_owned(), s.address(), s.size())).collect()
}

#[test]
fn every_variant_links_into_its_window() {
    let bench = Bench::new();
    let object = bench.compile("k.cpp", SOURCE, &[]);
    for variant in Variant::all() {
        let image = bench.link(variant, std::slice::from_ref(&object), &[]);
        let (base, end) = (u64::from(variant.window().base), variant.window().end());
        let symbols = symbols(&image);
        // spec lsp-and-memory.md §4.3, in full; the cache words are the same in all.
        for (name, value) in [
            ("_memmap_mem_iram0_start", 0),
            ("_memmap_mem_iram0_end", 0x10000),
            ("_memmap_mem_sram0_start", base),
            ("_memmap_mem_sram0_end", end),
            ("_memmap_seg_iram0_0_start", 0),
            ("_memmap_seg_iram0_0_max", 0x1000),
            ("_memmap_seg_sram0_0_start", base),
            ("_memmap_seg_sram0_0_max", end),
            ("_rom_store_table", 0),
            ("_memmap_cacheattr_wb_base", 0x0001_0004),
            ("_memmap_cacheattr_wt_base", 0x0003_0004),
            ("_memmap_cacheattr_bp_base", 0x0004_0004),
            ("_memmap_cacheattr_unused_mask", 0xfff0_fff0),
            ("_memmap_cacheattr_wb_trapnull", 0x4441_4444),
            ("_memmap_cacheattr_wbna_trapnull", 0x4442_4444),
            ("_memmap_cacheattr_wt_trapnull", 0x4443_4444),
            ("_memmap_cacheattr_bp_allvalid", 0x4444_4444),
            ("_memmap_region_map", 0x11),
            ("_itb_default", 0),
            ("_memmap_mem_iram0_max", 0),
            ("_memmap_seg_iram0_0_end", 0),
            ("_text_start", base),
        ] {
            assert_eq!(symbols.get(name), Some(&value), "{variant} {name}");
        }
        let at = |name: &str| *symbols.get(name).unwrap_or_else(|| panic!("{variant}: no {name}"));
        assert_eq!(at("_bss_table_end") - at("_bss_table_start"), 8);
        assert_eq!(at("_memmap_seg_sram0_0_end"), at("_bss_end"));
        assert_eq!(at("_memmap_mem_sram0_max"), at("_bss_end"));
        assert_eq!(at("_ctors_end") - at("_ctors_start"), 12, "sentinel, one constructor, null");
        for absent in ["_end", "end", "__stack", "_stack_sentry", "_heap_sentry", "_isb_default"] {
            assert!(!symbols.contains_key(absent), "{variant} {absent}");
        }
        // PROVIDEd, so only there when something asks.
        assert!(!symbols.contains_key("_memmap_cacheattr_reset"));
        segments(&image, base, at("_bss_start")..at("_bss_end"), at("_start"));
        // The table's two words are the bounds of bss.
        let file = ElfFile32::<LE>::parse(&image[..]).expect("an ELF file");
        let rodata = file.section_by_name(".rodata").expect("a section");
        let words = rodata.data_range(at("_bss_table_start"), 8).expect("data").expect("in the section");
        let bounds = [at("_bss_start") as u32, at("_bss_end") as u32];
        assert_eq!(words, bounds.map(u32::to_le_bytes).concat());
    }
}

/// spec lsp-and-memory.md §8, measured program headers.
fn segments(image: &[u8], base: u64, bss: std::ops::Range<u64>, start: u64) {
    let file = ElfFile32::<LE>::parse(image).expect("an ELF file");
    let header = file.elf_header();
    assert_eq!((header.e_type(LE).0, header.e_machine(LE).0, header.e_flags(LE).0), (2, 94, 0x300));
    assert_eq!(file.entry(), start);
    let rows: Vec<[u32; 6]> = file
        .elf_program_headers()
        .iter()
        .map(|p| {
            [p.p_type(LE).0, p.p_vaddr(LE), p.p_paddr(LE), p.p_filesz(LE), p.p_memsz(LE), p.p_flags(LE).0]
        })
        .collect();
    let [iram, bank, zeroed] = &rows[..] else { panic!("three segments: {rows:x?}") };
    assert_eq!(iram[..5], [1, 0, 0, 0, 0]);
    let base = base as u32;
    assert_eq!((bank[0], bank[1], bank[2], bank[5]), (1, base, base, 7));
    assert_eq!(bank[3], bank[4]);
    let (start, len) = (bss.start as u32, (bss.end - bss.start) as u32);
    assert_eq!(*zeroed, [1, start, start, 0, len, 6]);
}

#[test]
fn sections_come_in_the_documented_order() {
    let bench = Bench::new();
    // One input section for every output section of spec lsp-and-memory.md §5.1 that code can ask for.
    let outputs = Lsp::custom_op(Variant::Single).output_sections();
    let asked: Vec<&str> = outputs.iter().map(|(name, _)| name.as_str()).collect();
    let mut source = SOURCE.to_owned();
    let mut kept = Vec::new();
    for (i, name) in
        asked.iter().enumerate().filter(|(_, name)| name.contains("clib") || name.contains("rtos"))
    {
        let (access, size) = if name.ends_with(".text") { ("ax", 2) } else { ("aw", 4) };
        source += &format!(
            "asm(\".section {name}, \\\"{access}\\\"\\n.globl part{i}\\npart{i}: .zero {size}\\n.previous\");\n"
        );
        kept.push(format!("-Wl,-u,part{i}"));
    }
    let object = bench.compile("k.cpp", &source, &[]);
    let flags: Vec<&str> = kept.iter().map(String::as_str).collect();
    let sections = loaded(&bench.link(Variant::Single, &[object], &flags));
    let names: Vec<&str> = sections.iter().map(|(name, ..)| name.as_str()).collect();
    let expected: Vec<&str> = asked
        .iter()
        .copied()
        .filter(|name| !name.contains("Vector") && !name.contains("Handler"))
        .filter(|name| ![".interp", ".note.gnu.build-id", ".eh_frame"].contains(name))
        .collect();
    let found: Vec<&str> = names.iter().copied().filter(|name| *name != ".eh_frame").collect();
    assert_eq!(found, expected);
    assert!(sections.windows(2).all(|pair| pair[0].1 + pair[0].2 <= pair[1].1), "{sections:x?}");
}

#[test]
fn vector_sections_go_to_instruction_memory() {
    let bench = Bench::new();
    let vectors = r#"asm(".section .DispatchVector.text, \"ax\"\n.globl vector\nvector: nop.n\n.previous");"#;
    let object = bench.compile("k.cpp", &format!("{SOURCE}{vectors}\n"), &[]);
    let image = bench.link(Variant::Single, &[object], &[]);
    assert_eq!(symbols(&image)["vector"], 0);
    assert_eq!(symbols(&image)["_DispatchVector_text_end"], 4, "kept under --gc-sections and padded to 4");
}

#[test]
fn collecting_sections_keeps_constructors_and_drops_the_unused() {
    let bench = Bench::new();
    let object = bench.compile("k.cpp", SOURCE, &["-fasynchronous-unwind-tables"]);
    let symbols_of =
        |flags: &[&str]| symbols(&bench.link(Variant::Single, std::slice::from_ref(&object), flags));
    let collected = symbols_of(&[]);
    assert!(collected.contains_key("_Z4usedi") && !collected.contains_key("_Z6unusedi"));
    assert_eq!(collected["_ctors_end"] - collected["_ctors_start"], 12);
    assert!(collected["_eh_frame_end"] > collected["_eh_frame_start"]);
    assert!(symbols_of(&["-Wl,--no-gc-sections"]).contains_key("_Z6unusedi"));
}

#[test]
fn no_compiler_output_is_an_orphan() {
    // The driver links with --orphan-handling=warn --fatal-warnings: success is the proof.
    let bench = Bench::new();
    for (i, flags) in [
        &["-gdwarf-5"][..],
        &["-gdwarf-5", "-fdebug-types-section", "-ggnu-pubnames", "-g3"],
        &["-gdwarf-2"],
        &["-fexceptions", "-frtti", "-fasynchronous-unwind-tables"],
        &["-fno-function-sections", "-fno-data-sections", "-fcommon"],
        &["-mtext-section-literals"],
        &["-O0", "-fjump-tables"],
        &["-fno-pic", "-O3"],
    ]
    .iter()
    .enumerate()
    {
        let object = bench.compile(&format!("k{i}.cpp"), SOURCE, flags);
        bench.link(Variant::Single, &[object], &["-Wl,--no-gc-sections"]);
    }
}

#[test]
fn what_the_script_does_not_place_is_named() {
    let bench = Bench::new();
    let local = "__attribute__((section(\".dram0.data\"), used)) int lost = 1;\n";
    let object = bench.compile("k.cpp", &format!("{SOURCE}{local}"), &[]);
    let output =
        bench.command(Variant::Single, &[object], &["-Wl,--no-gc-sections"]).to_std().output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("orphan section `.dram0.data'"), "{said}");
}

#[test]
fn too_much_is_refused_by_the_window() {
    let bench = Bench::new();
    let big = "int big[0x90000];\nint* use() { return big; }\n";
    let object = bench.compile("k.cpp", &format!("{SOURCE}{big}"), &[]);
    let objects = [object];
    let flags = ["-Wl,-u,big"];
    let output = bench
        .command(Variant::all().next().expect("cpu0"), &objects, &flags)
        .to_std()
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("will not fit in region `sram0_0_seg'"), "{said}");
    bench.link(Variant::Single, &objects, &flags);
}

#[test]
fn literals_stay_in_reach_of_half_a_megabyte_of_code() {
    // `l32r` reaches 256 KiB back: with all literals first, the last functions could not load theirs.
    let bench = Bench::new();
    let mut objects = vec![bench.compile("k.cpp", SOURCE, &[])];
    for file in 0..8 {
        let mut source = String::new();
        for i in 0..64u32 {
            let constant = 0x1234_5678u32.wrapping_mul(file * 64 + i + 1) | 0x0100_0001;
            source += &format!(
                "int f{file}_{i}(int x) {{ asm volatile(\".space 1020, 0\"); return x * (int){constant:#x}u; }}\n"
            );
        }
        objects.push(bench.compile(&format!("f{file}.cpp"), &source, &[]));
    }
    let image = bench.link(Variant::Single, &objects, &["-Wl,--no-gc-sections"]);
    let text = loaded(&image).into_iter().find(|(name, ..)| name == ".text").expect("code");
    assert!(text.2 > 500 << 10, "{text:x?}");

    // The control: the same link with literals before all code does not reach.
    let script = bench.path(&Variant::Single.lsp_name()).join(LinkMode::Default.path());
    let ours = std::fs::read_to_string(&script).expect("a script");
    let apart =
        ours.replace("*(.literal .text .literal.* .text.* ", "*(.literal .literal.*)\n*(.text .text.* ");
    assert_ne!(ours, apart);
    std::fs::write(&script, apart).expect("a script");
    let command = bench.command(Variant::Single, &objects, &["-Wl,--no-gc-sections"]);
    let output = command.to_std().output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("l32r"), "{said}");
}

#[test]
fn nmagic_and_omagic_give_the_same_addresses() {
    let bench = Bench::new();
    let object = bench.compile("k.cpp", SOURCE, &[]);
    let directory = bench.path(&Variant::Single.lsp_name());
    let lib = bench.open.dir().join("target/lib");
    let lib = |name: &str| lib.join(name).to_string_lossy().into_owned();
    let link = |flag: Option<&str>, mode: LinkMode| {
        let script = directory.join(mode.path()).to_string_lossy().into_owned();
        let (crti, crtbegin, crtend, crtn) =
            (lib("crti.o"), lib("crtbegin.o"), lib("crtend.o"), lib("crtn.o"));
        let object = object.to_string_lossy();
        let mut args = vec!["--fatal-warnings", "--no-warn-rwx-segments", "-T", &script, "-o", "mode.so"];
        args.extend([&crti[..], &crtbegin, &object, &crtend, &crtn]);
        args.extend(flag);
        bench.tool("ld", &args);
        loaded(&std::fs::read(bench.path("mode.so")).expect("an image"))
    };
    let default = link(None, LinkMode::Default);
    assert!(default.len() > 4);
    assert_eq!(link(Some("-n"), LinkMode::Nmagic), default);
    assert_eq!(link(Some("-N"), LinkMode::Omagic), default);
}

#[test]
fn partial_links_merge_literals_with_code_and_stay_relocatable() {
    let bench = Bench::new();
    let object = bench.compile("k.cpp", SOURCE, &["-fno-function-sections", "-fno-data-sections"]);
    let directory = bench.path(&Variant::Single.lsp_name());
    for (flag, mode) in [("-r", LinkMode::Relocatable), ("-Ur", LinkMode::Constructors)] {
        let script = directory.join(mode.path()).to_string_lossy().into_owned();
        bench.tool(
            "ld",
            &[flag, "--fatal-warnings", "-T", &script, "-o", "partial.o", &object.to_string_lossy()],
        );
        let partial = std::fs::read(bench.path("partial.o")).expect("an object");
        let file = ElfFile32::<LE>::parse(&partial[..]).expect("an ELF file");
        assert_eq!(file.elf_header().e_type(LE).0, 1);
        assert!(file.section_by_name(".literal").is_none() && file.section_by_name(".data").is_some());
        assert!(file.sections().any(|s| s.kind() == SectionKind::Text && s.name() == Ok(".text")));
        // And the result links like any object.
        bench.link(Variant::Single, &[bench.path("partial.o")], &["-Wl,--no-gc-sections"]);
    }
}

#[test]
fn the_specs_file_brings_only_start_and_end_objects() {
    let bench = Bench::new();
    let specs = bench.path(&Variant::Single.lsp_name()).join("specs");
    let said = bench.tool("gcc", &[&format!("-specs={}", specs.display()), "-###", "k.o"]);
    let line =
        said.lines().find(|line| line.contains("collect2") && line.contains("k.o")).expect("a link line");
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = |end: &str| words.iter().position(|word| word.trim_matches('"').ends_with(end));
    let places = ["crti.o", "crtbegin.o", "k.o", "crtend.o", "crtn.o"].map(|name| place(name).expect(name));
    assert!(places.is_sorted(), "{line}");
    assert!(
        !words.iter().any(|word| ["-lc", "-lnosys", "-lm"].contains(word) || word.contains("crt0")),
        "{line}"
    );
}
