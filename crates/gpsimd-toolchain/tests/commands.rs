//! Commands for real: what they make is looked at with an ELF reader and with the toolchain's own tools.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod common;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use common::{run, toolchain};
use gpsimd_toolchain::depfile::{self, DepfileError};
use gpsimd_toolchain::{
    ArchiveJob, CompileJob, LinkJob, Machine, PrefixMap, Relocations, Toolchain, ToolchainError,
};
use object::{Object as _, ObjectKind, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};

const KERNEL: &str = "#include <cmath>\n#include <cstdint>\n#include <vector>\n#include \"sum.h\"\n\
    std::uint32_t count(std::uint32_t n) { return n; }\n\
    float total(const float *p, int n) { std::vector<float> v(p, p + n); float s = 0; for (float x : v) s = sum(s, std::exp(x)); return s; }\n";
const HEADER: &str = "inline float sum(float a, float b) { return a + b; }\n";

fn open() -> Toolchain {
    Toolchain::Open(toolchain().clone())
}

/// A directory of this name with a kernel and, in a directory with a blank, its header.
fn project(parent: &Path, name: &[u8]) -> std::path::PathBuf {
    let dir = parent.join(std::ffi::OsStr::from_bytes(name));
    fs::create_dir_all(dir.join("inc lude")).unwrap();
    fs::write(dir.join("k.cpp"), KERNEL).unwrap();
    fs::write(dir.join("inc lude/sum.h"), HEADER).unwrap();
    dir
}

fn kernel_job(dir: &Path) -> CompileJob {
    let mut job = CompileJob::new(dir.join("k.cpp"), dir.join("k.o"));
    job.includes = vec![dir.join("inc lude")];
    job.depfile = Some(dir.join("k.d"));
    job.prefix_maps = vec![PrefixMap::new(dir, "/src")];
    job
}

#[test]
fn every_directory_name_works_and_leaves_no_trace() {
    let scratch = tempfile::tempdir().unwrap();
    let names: &[&[u8]] = &[
        b"plain",
        b"a b",
        b"it's",
        b"\"q\"",
        b"a;b",
        b"$HOME",
        b"a#b",
        b"a:b",
        b"a\\ b",
        "grün".as_bytes(),
        b"-x",
        b"@x",
        b"\xff\xfe",
        b"a=b",
    ];
    let mut first = None;
    for name in names {
        let dir = project(scratch.path(), name);
        run(&open().compile(&kernel_job(&dir)), scratch.path()).unwrap();
        let mut inputs = depfile::parse(&fs::read(dir.join("k.d")).unwrap()).unwrap().inputs;
        // the toolchain's own headers are listed as well
        inputs.retain(|input| input.starts_with(&dir));
        assert_eq!(inputs, [dir.join("k.cpp"), dir.join("inc lude/sum.h")]);
        let object = fs::read(dir.join("k.o")).unwrap();
        assert_eq!(&object, first.get_or_insert_with(|| object.clone()), "{}", name.escape_ascii());
    }
}

#[test]
fn links_work_in_every_directory() {
    let scratch = tempfile::tempdir().unwrap();
    let names: &[&[u8]] = &[
        b"plain",
        b"it's \"q\"",
        b"a;b $x#y\\z",
        b"two\nlines",
        b"a,b",
        b"-Wl,x",
        "grün\u{2028}".as_bytes(),
        b"\xff",
    ];
    let mut first = None;
    for name in names {
        let dir = scratch.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&dir).unwrap();
        let mut job = link_job(&dir, "extern \"C\" int f(); extern \"C\" int _start() { return f(); }\n");
        fs::write(dir.join("f.c"), "int f(void) { return 1; }\n").unwrap();
        for source in ["p.cpp", "f.c"] {
            let mut compile = CompileJob::new(dir.join(source), dir.join(source).with_extension("o"));
            compile.prefix_maps = vec![PrefixMap::new(&dir, ".")];
            run(&open().compile(&compile), &dir).unwrap();
        }
        let archive = ArchiveJob { archive: dir.join("libf.a"), objects: vec![dir.join("f.o")] };
        run(&open().archive(&archive), &dir).unwrap();
        job.archives = vec![archive.archive];
        job.map = Some(dir.join("image.map"));
        run(&open().link(&job), scratch.path()).unwrap();
        let image = fs::read(&job.output).unwrap();
        assert!(&image == first.get_or_insert_with(|| image.clone()), "{}", name.escape_ascii());
    }
}

#[test]
fn a_newline_in_a_name_compiles_and_its_depfile_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = project(scratch.path(), b"two\nlines");
    run(&open().compile(&kernel_job(&dir)), scratch.path()).unwrap();
    let result = depfile::parse(&fs::read(dir.join("k.d")).unwrap());
    assert!(matches!(result, Err(DepfileError::NotARule { .. })), "{result:?}");
}

#[test]
fn relative_paths_like_options_work() {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["-k.cpp", "@k.cpp"] {
        fs::write(scratch.path().join(name), "int f() { return 1; }\n").unwrap();
        let job = CompileJob::new(name, format!("{name}.o"));
        run(&open().compile(&job), scratch.path()).unwrap();
        let archive =
            ArchiveJob { archive: format!("{name}.a").into(), objects: vec![format!("{name}.o").into()] };
        run(&open().archive(&archive), scratch.path()).unwrap();
        assert!(scratch.path().join(format!("{name}.a")).exists());
    }
}

#[test]
fn objects_are_windowed_soft_float_and_dwarf_4() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = project(scratch.path(), b"p");
    run(&open().compile(&kernel_job(&dir)), &dir).unwrap();
    let bytes = fs::read(dir.join("k.o")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let names: Vec<&str> = file.symbols().map(|s| s.name().unwrap()).collect();
    // The SDK's mangled names take uint32_t as unsigned int (spec customop-abi.md §1).
    assert!(names.contains(&"_Z5countj"), "{names:?}");
    assert!(names.contains(&"__addsf3"), "{names:?}");
    let info = file.section_by_name(".debug_info").unwrap().data().unwrap();
    assert_eq!(info[4..6], [4, 0], "DWARF version");
    let objdump = toolchain().tool(&Machine::here(), "objdump").unwrap().arg("-d").arg(dir.join("k.o"));
    let listing = run(&objdump, &dir).unwrap();
    assert!(listing.contains("\tentry\ta1, ") && listing.contains("retw"), "{listing}");
    for absent in ["add.s", "madd.s", "lsi\t", "loop", "quos", "excw", "ret.n", "call0"] {
        assert!(!listing.contains(&format!("\t{absent}")), "{absent} in {listing}");
    }
}

#[test]
fn of_two_flags_the_callers_counts() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(
        scratch.path().join("k.cpp"),
        "static_assert(__cplusplus == 201703L, \"\"); int f(int x) { int y; return x; }\n",
    )
    .unwrap();
    let mut job = CompileJob::new("k.cpp", "k.o");
    job.cflags = vec!["-std=c++17".into()];
    let error = run(&open().compile(&job), scratch.path()).unwrap_err();
    assert!(error.contains("unused variable"), "warnings are errors: {error}");
    job.cflags.push("-Wno-error".into());
    run(&open().compile(&job), scratch.path()).unwrap();
}

#[test]
fn hidden_inputs_are_ignored() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("hidden")).unwrap();
    fs::write(scratch.path().join("hidden/h.h"), "").unwrap();
    fs::write(scratch.path().join("k.cpp"), "#include <h.h>\n").unwrap();
    // A test cannot change its own environment, so a child of it has the variable.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_environment_names_a_hidden_header", "--ignored", "--nocapture"])
        .env("CPATH", scratch.path().join("hidden"))
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

#[test]
#[ignore = "the child of the test above"]
fn the_environment_names_a_hidden_header() {
    let command = open().compile(&CompileJob::new("k.cpp", "k.o"));
    let mut inherits = std::process::Command::new(&command.program);
    inherits.args(&command.args).envs(command.env.iter().cloned());
    assert!(inherits.output().unwrap().status.success(), "CPATH has no effect at all");
    assert!(!command.to_std().output().unwrap().status.success());
}

/// A bank at 0x84000000, as small as a script for these objects can be.
const SCRIPT: &str = "MEMORY { bank : org = 0x84000000, len = 0x200000 }\nPHDRS { text PT_LOAD; bss PT_LOAD; }\nENTRY(_start)\n\
    SECTIONS {\n\
    .text : { *(.literal .literal.* .init.literal .fini.literal .text .text.*) KEEP(*(.init)) KEEP(*(.fini)) } > bank :text\n\
    .eh_frame : { *(.eh_frame) } > bank :text\n\
    .ctors : { KEEP(*crtbegin.o(.ctors)) KEEP(*(SORT(.ctors.*))) KEEP(*(.ctors)) } > bank :text\n\
    .dtors : { KEEP(*crtbegin.o(.dtors)) KEEP(*(.dtors)) } > bank :text\n\
    .rodata : { *(.rodata .rodata.*) } > bank :text\n.data : { *(.data .data.*) } > bank :text\n\
    .bss (NOLOAD) : { *(.bss .bss.* COMMON) } > bank :bss\n\
    .debug_info 0 : { *(.debug_info) } .debug_abbrev 0 : { *(.debug_abbrev) } .debug_line 0 : { *(.debug_line) }\n\
    .debug_frame 0 : { *(.debug_frame) } .debug_str 0 : { *(.debug_str) } .debug_loc 0 : { *(.debug_loc) }\n\
    .debug_ranges 0 : { *(.debug_ranges) } .debug_aranges 0 : { *(.debug_aranges) }\n\
    .xt.prop 0 : { *(.xt.prop .xt.prop.*) } .xt.lit 0 : { *(.xt.lit .xt.lit.*) } .xtensa.info 0 : { *(.xtensa.info) } .comment 0 : { *(.comment) }\n}\n";

const PROGRAM: &str = "#include <cstdio>\n#include <cstdlib>\n#include <map>\n#include <string>\nstd::map<int, std::string> global;\n\
    extern \"C\" int _start(const char *s) { global[1] = s; return std::printf(\"%f\", std::strtod(s, nullptr)) + std::rand(); }\n";

fn link_job(dir: &Path, source: &str) -> LinkJob {
    fs::create_dir_all(dir.join("l s p/ldscripts")).unwrap();
    fs::write(dir.join("l s p/ldscripts/elf32xtensa.x"), SCRIPT).unwrap();
    fs::write(dir.join("p.cpp"), source).unwrap();
    let mut job = LinkJob::new(dir.join("im age.so"), dir.join("l s p"));
    job.objects = vec![dir.join("p.o")];
    job
}

#[test]
fn an_image_is_static_code_in_its_bank() {
    let scratch = tempfile::tempdir().unwrap();
    let mut job = link_job(scratch.path(), PROGRAM);
    job.map = Some(scratch.path().join("a, b.map"));
    run(&open().compile(&CompileJob::new("p.cpp", "p.o")), scratch.path()).unwrap();
    run(&open().link(&job), scratch.path()).unwrap();
    let dropped = fs::read(&job.output).unwrap();
    job.relocations = Relocations::Keep;
    run(&open().link(&job), scratch.path()).unwrap();
    let kept = fs::read(&job.output).unwrap();
    assert!(fs::read_to_string(job.map.unwrap()).unwrap().contains("libc.a"));

    let [dropped, kept] = [&dropped, &kept].map(|bytes| object::File::parse(&**bytes).unwrap());
    assert_eq!(dropped.kind(), ObjectKind::Executable);
    assert_eq!(dropped.architecture(), object::Architecture::Xtensa);
    assert!(dropped.is_little_endian());
    assert!((0x8400_0000..0x8420_0000).contains(&dropped.entry()));
    assert!(
        dropped
            .segments()
            .all(|s| s.size() == 0 || (0x8400_0000..=0x8420_0000).contains(&(s.address() + s.size())))
    );
    assert!(dropped.symbols().all(|s| !s.is_undefined() || s.is_weak() || s.name() == Ok("")));
    // The loaded bytes do not depend on whether relocations are kept beside them.
    for section in dropped.sections().filter(|s| s.address() != 0) {
        let other = kept.section_by_name(section.name().unwrap()).unwrap();
        assert_eq!(section.data().unwrap(), other.data().unwrap(), "{:?}", section.name());
    }
    assert!(dropped.section_by_name(".rela.text").is_none());
    assert!(kept.section_by_name(".rela.text").is_some());
}

#[test]
fn a_link_fails_where_an_image_would_be_wrong() {
    let rows = [
        (
            "extern int missing(); extern \"C\" int _start() { return missing(); }\n",
            "undefined reference to `missing()'",
        ),
        (
            "__attribute__((section(\".stray\"))) int x = 1; extern \"C\" int *_start() { return &x; }\n",
            "orphan section `.stray'",
        ),
        ("char big[0x200000]; extern \"C\" char *_start() { return big; }\n", "overflowed by"),
    ];
    for (source, message) in rows {
        let scratch = tempfile::tempdir().unwrap();
        let job = link_job(scratch.path(), source);
        run(&open().compile(&CompileJob::new("p.cpp", "p.o")), scratch.path()).unwrap();
        let error = run(&open().link(&job), scratch.path()).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn archives_hold_content_only() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("a.c"), "int a(void) { return 1; }\n").unwrap();
    let mut archives = Vec::new();
    for (archive, age) in [("one.a", 0), ("two.a", 1000)] {
        run(&open().compile(&CompileJob::new("a.c", "a.o")), scratch.path()).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(age);
        fs::File::options()
            .append(true)
            .open(scratch.path().join("a.o"))
            .unwrap()
            .set_modified(time)
            .unwrap();
        run(
            &open().archive(&ArchiveJob { archive: archive.into(), objects: vec!["a.o".into()] }),
            scratch.path(),
        )
        .unwrap();
        archives.push(fs::read(scratch.path().join(archive)).unwrap());
    }
    assert_eq!(archives[0], archives[1]);
}

#[test]
fn aligned_new_links_in_cxx17() {
    let scratch = tempfile::tempdir().unwrap();
    let source = "struct alignas(64) Line { char c[64]; };\nextern \"C\" int _start() { Line *l = new Line; int x = l->c[1]; delete l; return x; }\n";
    let job = link_job(scratch.path(), source);
    let mut compile = CompileJob::new("p.cpp", "p.o");
    compile.cflags = vec!["-std=c++17".into()];
    run(&open().compile(&compile), scratch.path()).unwrap();
    run(&open().link(&job), scratch.path()).unwrap();
    let image = fs::read(&job.output).unwrap();
    let file = object::File::parse(&*image).unwrap();
    assert!(file.symbols().any(|s| s.name() == Ok("_ZnwjSt11align_val_t")));
}

/// Our own wrappers are a windowed GNU cross compiler with a prefix.
#[test]
fn any_windowed_gnu_compiler_works_by_prefix() {
    let prefix = format!("{}/bin/q7-", toolchain().dir().display());
    let gnu = Toolchain::discover_gnu(&Machine::here(), &prefix).unwrap();
    assert_eq!(gnu.caveats(), []);
    assert_eq!(gnu.runtime_sources(), []);
    assert!(gnu.identity().contains("12.2.0") && gnu.identity().contains("libc.a"), "{}", gnu.identity());

    let scratch = tempfile::tempdir().unwrap();
    let job = link_job(scratch.path(), PROGRAM);
    run(&gnu.compile(&CompileJob::new("p.cpp", "p.o")), scratch.path()).unwrap();
    run(&gnu.link(&job), scratch.path()).unwrap();
    let by_prefix = fs::read(&job.output).unwrap();
    run(&open().compile(&CompileJob::new("p.cpp", "p.o")), scratch.path()).unwrap();
    run(&open().link(&job), scratch.path()).unwrap();
    assert!(by_prefix == fs::read(&job.output).unwrap(), "the same compiler makes the same image either way");
}

#[test]
fn other_compilers_are_refused_by_name() {
    let wrong = |prefix: &str| Toolchain::discover_gnu(&Machine::here(), prefix).unwrap_err();
    // Debian's compiler as it is makes call0 code; the host's is no Xtensa compiler at all.
    assert!(matches!(
        wrong("xtensa-lx106-elf-"),
        ToolchainError::WrongTarget { macro_name: "__XTENSA_EL__" | "__XTENSA_WINDOWED_ABI__", .. }
    ));
    assert!(matches!(wrong(""), ToolchainError::WrongTarget { macro_name: "__XTENSA__", .. }));
    assert!(
        matches!(wrong("no-such-"), ToolchainError::ProgramMissing { program, .. } if program == "no-such-gcc")
    );
}
