//! Every command over a hostile library and a hostile project, under `strace`: no program starts but the tool and the
//! compilers, nothing is written but output, cache and data directories, the user's own files stay as they are.
//!
//! Unaware of why a command opens what it opens.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::yard::{Yard, end, tree};

/// Calls that change something by name.
const CHANGES: &str = "trace=execve,execveat,openat,?openat2,?open,?creat,?rename,?renameat,?renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,?symlink,symlinkat,?link,linkat,?chmod,fchmodat,?truncate,?mknod,mknodat,?chown,fchownat,?lchown,setxattr,utimensat";

pub fn storm(yard: &Yard) -> Result<String> {
    yard.good(&["compile", "vector_add.cpp", "--name", "v", "--out-dir", "lib", "--image", "both"])?;
    yard.good(&["run", "lib/v", "arange:24", "ones:24", "--like", "0", "-o", "a.npy"])?;
    let victim = yard.dir().with_file_name("victim");
    write_victim(&victim)?;
    hostile_library(yard, &victim)?;
    let library: [&[&str]; 12] = [
        &["inspect", "bad/v.so"],
        &["inspect", "bad/v.so", "--map", "out/map.svg"],
        &["verify", "bad/v"],
        &["verify", "bad/v.so", "bad/v.stripped.so", "bad/v.packed.so", "bad/v.ucpl"],
        &["run", "bad/v", "a.npy", "a.npy"],
        &["run", "bad/v", "a.npy", "a.npy", "--like", "0", "-o", "out/sum.npy"],
        &["run", "bad/v", "a.npy", "a.npy", "--lane", "ucpl", "--trace"],
        &["pack", "bad/v.so", "-o", "out/p.so", "-s", "out/s.so"],
        &["unpack", "bad/v.packed.so", "-o", "out/u.so"],
        &["prelink", "bad/v.split.so", "-o", "out/l.ucpl"],
        &["records", "load", "--addr", "0x1000000000", "--image", "bad/v.ucpl", "-o", "out/load.bin"],
        &["doctor"],
    ];
    // an empty element means the current directory
    let path = std::env::var("PATH").context("PATH")?;
    let through_here = format!(":{path}");
    let mut judge = Judge { yard, victim: &victim, path, calls: 0, programs: 0, broken: Vec::new() };
    for line in library {
        judge.watched(line, line[0] == "doctor")?;
    }
    let builds = hostile_projects(yard, &victim)?;
    for out in &builds {
        for command in ["compile", "plan"] {
            judge.watched(&[command, "vector_add.cpp", "--name", "v", "--out-dir", out], true)?;
        }
    }
    judge.path = through_here;
    judge.watched(&["compile", "vector_add.cpp", "--name", "w", "--out-dir", "out"], true)?;
    for line in [
        &["codegen", "--op", "vector_add", "-o", "out/w.cpp"][..],
        &["schema", "my::f(Tensor a) -> Tensor"],
        &["lsp", "--dir", "out/lsp"],
    ] {
        judge.watched(line, false)?;
    }
    ensure!(judge.broken.is_empty(), "{} promises:\n{}", judge.broken.len(), judge.broken.join("\n"));
    Ok(format!(
        "{} calls over a hostile library and {} hostile projects: {} programs started, all of them compilers; the user's \
         files untouched",
        judge.calls,
        builds.len(),
        judge.programs
    ))
}

/// What the user has beside the project.
fn write_victim(victim: &Path) -> Result<()> {
    fs::create_dir_all(victim.join("inner/older"))?;
    for name in ["thesis.txt", "inner/letter.txt", "inner/older/diary.txt", "log.txt"] {
        fs::write(victim.join(name), format!("{name}: all the user has\n"))?;
    }
    Ok(())
}

/// A library whose neighbours are programs, and whose manifest points elsewhere.
fn hostile_library(yard: &Yard, victim: &Path) -> Result<()> {
    let bad = yard.path("bad");
    fs::create_dir_all(yard.path("out"))?;
    fs::create_dir_all(&bad)?;
    for entry in fs::read_dir(yard.path("lib"))?.flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), bad.join(entry.file_name()))?;
    }
    let manifest = bad.join("v.manifest.json");
    let text = fs::read_to_string(&manifest)?;
    let with = text.replacen('{', "{\n  \"shapes\": \"v.shapes\",", 1);
    fs::write(&manifest, with)?;
    let evil = format!("#!/bin/sh\necho gone > {}/thesis.txt\necho 24 float32\n", victim.display());
    for name in
        ["v.shapes", "eval", "xtensa-lx106-elf-g++", "c++", "cc1plus", "addr2line", "c++filt", "objdump"]
    {
        let path = bad.join(name);
        fs::write(&path, &evil)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Output directories prepared by someone else: each with a link where the tool keeps a file or a directory.
fn hostile_projects(yard: &Yard, victim: &Path) -> Result<Vec<String>> {
    let inside = victim.join("inner");
    let log = victim.join("log.txt");
    let links: [(&str, &Path); 11] = [
        (".gpsimd-build", &inside),
        (".gpsimd-build/v", &inside),
        (".gpsimd-build/v/generations", &inside),
        (".gpsimd-build/v/work", &inside),
        (".gpsimd-build/v/build.log", &log),
        (".gpsimd-build/v/lock", &log),
        (".gpsimd-build/v/state.json", &log),
        (".gpsimd-build/v/receipt.json", &log),
        (".gpsimd-build/v/current", &inside),
        ("v.so", &log),
        ("v.manifest.json", &log),
    ];
    let evil = format!("#!/bin/sh\necho gone > {}/thesis.txt\n", victim.display());
    // programs that a search through the current directory would find
    for name in [
        "xtensa-lx106-elf-g++",
        "xtensa-lx106-elf-gcc",
        "xtensa-lx106-elf-as",
        "c++",
        "g++",
        "clang++",
        "ccache",
    ] {
        let path = yard.path(name);
        fs::write(&path, &evil)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let mut outs = Vec::new();
    for (index, (name, target)) in links.iter().enumerate() {
        let out = format!("out{index}");
        let link = yard.path(&out).join(name);
        fs::create_dir_all(link.parent().context("a directory")?)?;
        symlink(target, &link)?;
        outs.push(out);
    }
    Ok(outs)
}

struct Judge<'a> {
    yard: &'a Yard,
    victim: &'a Path,
    /// Where programs are looked for.
    path: String,
    calls: usize,
    programs: usize,
    /// What was done that must not be.
    broken: Vec<String>,
}

impl Judge<'_> {
    /// Watches a command, and puts things right after one that did harm.
    fn watched(&mut self, line: &[&str], compiles: bool) -> Result<()> {
        if let Err(error) = self.watch(line, compiles) {
            self.broken.push(format!("{error:#}"));
            write_victim(self.victim)?;
        }
        Ok(())
    }

    /// Runs a command watched; `compiles` says whether it may start compilers.
    fn watch(&mut self, line: &[&str], compiles: bool) -> Result<()> {
        let before = tree(self.victim);
        let log = self.yard.dir().with_file_name("strace.log");
        let mut command = self.yard.bounded(300, "strace");
        command
            .args(["-f", "-qqq", "-y", "-s", "4096", "--seccomp-bpf", "-o"])
            .arg(&log)
            .args(["-e", CHANGES]);
        command.arg(self.yard.tool()).args(line);
        command.env("PATH", &self.path).env("TMPDIR", self.yard.path("out"));
        let end = end(&mut command)?;
        end.proper().with_context(|| format!("{line:?}"))?;
        ensure!(tree(self.victim) == before, "{line:?} changed the user's files\n{}", end.said);
        let text = fs::read_to_string(&log)?;
        for call in text.lines() {
            self.call(call, compiles).with_context(|| format!("{line:?}"))?;
        }
        self.calls += 1;
        Ok(())
    }

    fn call(&mut self, line: &str, compiles: bool) -> Result<()> {
        let Some((_, call)) = line.split_once(' ') else { return Ok(()) };
        let call = call.trim_start();
        let Some((name, rest)) = call.split_once('(') else { return Ok(()) };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return Ok(()) };
        if result.starts_with('-') || result.starts_with('?') {
            return Ok(());
        }
        match name {
            "execve" | "execveat" => {
                let program = quoted(arguments).next().context("a program")?;
                if Path::new(&program) != self.yard.tool() {
                    self.programs += 1;
                    ensure!(compiles && self.is_compiler(Path::new(&program)), "it starts {program}");
                }
            }
            "open" | "openat" | "openat2" | "creat" => {
                let writes =
                    ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag));
                if writes || name == "creat" {
                    // -y shows what the descriptor is of, links followed
                    let opened = result.split_once('<').and_then(|(_, path)| path.rsplit_once('>'));
                    let path = opened.map_or("", |(path, _)| path).trim_end_matches(" (deleted)");
                    ensure!(self.is_ours(Path::new(path)), "it opens {path} for writing: {call}");
                }
            }
            _ => {
                let mut paths = paths(arguments, self.yard.dir());
                if name.starts_with("symlink") {
                    paths.remove(0); // what a link points at is not changed by making it
                }
                for path in paths {
                    ensure!(self.is_ours(&path), "it changes {}: {call}", path.display());
                }
            }
        }
        Ok(())
    }

    fn is_ours(&self, path: &Path) -> bool {
        let out = self.yard.dir().to_string_lossy().into_owned() + "/out";
        path.starts_with(self.yard.home())
            || path.to_string_lossy().starts_with(&out)
            || ["/dev/null", "/dev/tty"].iter().any(|device| path == Path::new(device))
    }

    fn is_compiler(&self, program: &Path) -> bool {
        let toolchains = self.yard.home().join("toolchains");
        let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        let machine =
            ["/usr/bin", "/usr/lib", "/usr/libexec", "/bin"].iter().any(|dir| real.starts_with(dir));
        real.starts_with(toolchains) || machine && !real.ends_with("sh")
    }
}

/// The quoted strings of a line of `strace`.
fn quoted(arguments: &str) -> impl Iterator<Item = String> + '_ {
    arguments.split('"').skip(1).step_by(2).map(str::to_owned)
}

/// The paths among a call's arguments as the kernel takes them: below the descriptor before them, or below `cwd`; the
/// directory's links followed, the last name as it is.
fn paths(arguments: &str, cwd: &Path) -> Vec<PathBuf> {
    let mut below = cwd.to_owned();
    let mut found = Vec::new();
    // odd pieces are quoted; those between them end in a descriptor, if there is one
    for (index, piece) in arguments.split('"').enumerate() {
        if index % 2 == 1 {
            let path = below.join(piece);
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            let resolved = parent.zip(path.file_name()).map(|(parent, name)| parent.join(name));
            found.push(resolved.unwrap_or(path));
        } else if let Some((_, descriptor)) = piece.rsplit_once('<') {
            below = descriptor.split('>').next().map_or_else(|| cwd.to_owned(), PathBuf::from);
        }
    }
    found
}

#[test]
fn paths_of_calls() {
    let rows: &[(&str, &[&str])] = &[
        (r#""a", "b""#, &["/nowhere/a", "/nowhere/b"]),
        (r#"AT_FDCWD</nix>, "a", 5</dev>, "b""#, &["/nix/a", "/dev/b"]),
        (r#"3</dev>, "/etc/x", 0644"#, &["/etc/x"]),
        (r#"4</dev/f>, NULL, [UTIME_OMIT], 0"#, &[]),
    ];
    for (text, want) in rows {
        let want: Vec<PathBuf> = want.iter().map(PathBuf::from).collect();
        assert_eq!(paths(text, Path::new("/nowhere")), want, "{text}");
    }
}
