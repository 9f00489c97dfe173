//! A double of the licensed tools: writes down how it was called, then does the work with the open toolchain.
//!
//! Installed by the tests under the names `xt-clang++` and `xt-pkg-loadlib`. It understands exactly the command lines of
//! the reference driver (spec `toolchain.md` §2, §3, §6) and fails on any other word, so that a flag nobody wrote down
//! cannot pass unseen.
//!
//! Environment: `XT_DOUBLE_LOG` names the file that gets one JSON line a call, `XT_DOUBLE_ROOT` the directory that plays
//! `NEURON_CUSTOM_OP`; `XT_DOUBLE_FAIL` makes it fail with that text.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gpsimd_toolchain::{CompileJob, Home, LinkJob, Machine, Toolchain};

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next().map(PathBuf::from).unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let args: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    record(&name, &args);
    if let Some(text) = std::env::var_os("XT_DOUBLE_FAIL") {
        eprintln!("{}", text.to_string_lossy());
        return ExitCode::FAILURE;
    }
    let done = match name.as_str() {
        "xt-clang++" => clang(&args),
        "xt-pkg-loadlib" => package(&args),
        other => Err(format!("no double of {other}")),
    };
    match done {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("{name} (double): {problem}");
            ExitCode::from(70)
        }
    }
}

fn record(name: &str, args: &[String]) {
    let Some(log) = std::env::var_os("XT_DOUBLE_LOG") else { return };
    let variables = ["LM_LICENSE_FILE", "PATH", "XTENSA_CORE", "XTENSA_SYSTEM"];
    let env: serde_json::Map<String, serde_json::Value> = variables
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?.into())))
        .collect();
    let line = serde_json::json!({ "program": name, "args": args, "env": env });
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).expect("the log opens");
    // one write a line: several doubles run at once
    file.write_all(format!("{line}\n").as_bytes()).expect("the log takes a line");
}

/// What the vendor's line says about a file, once every word of it is accounted for.
#[derive(Default)]
struct Line {
    is_compile: bool,
    output: Option<PathBuf>,
    files: Vec<PathBuf>,
    lsp: Option<PathBuf>,
    /// Words that GCC takes as well: the caller's.
    callers: Vec<OsString>,
    includes: Vec<PathBuf>,
    core: Option<String>,
    system: Option<PathBuf>,
}

/// Built-in words with no counterpart that matters here.
const DROPPED: &[&str] = &[
    "-g",
    "-std=c++14",
    "-stdlib=libc++-e",
    "-fno-jump-tables",
    "-Os",
    "-Wall",
    "-Werror",
    "-Wno-c99-designator",
    "-mcoproc",
    "-MMD",
    "-MP",
    "-fpic",
    "-mlongcalls",
    "-lloader",
    "-lxmem",
    "-lhal",
    "-lc++-e",
    "-lm",
    "-lgcc",
];

fn read(args: &[String]) -> Result<Line, String> {
    let mut line = Line::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = |prefix: &str| word.strip_prefix(prefix).map(str::to_owned);
        if word == "-c" {
            line.is_compile = true;
        } else if word == "-o" {
            line.output = words.next().map(PathBuf::from);
        } else if let Some(core) = value("--xtensa-core=") {
            line.core = Some(core);
        } else if let Some(system) = value("--xtensa-system=") {
            line.system = Some(system.into());
        } else if let Some(lsp) = value("-mlsp=") {
            line.lsp = Some(lsp.into());
        } else if let Some(dir) = value("-I") {
            line.includes.push(dir.into());
        } else if DROPPED.contains(&word.as_str()) {
            continue;
        } else if word.starts_with('-') {
            line.callers.push(word.into());
        } else {
            line.files.push(word.into());
        }
    }
    // the vendor's tools do nothing without a core (spec toolchain.md §1)
    if line.core.is_none() {
        return Err("no default Xtensa core has been registered".to_owned());
    }
    match &line.system {
        Some(system) if system.is_dir() => Ok(line),
        other => Err(format!("no Xtensa core registry at {other:?}")),
    }
}

fn clang(args: &[String]) -> Result<ExitCode, String> {
    if args.last().is_some_and(|word| word == "--version") {
        read(&args[..args.len() - 1])?;
        println!("XtensaTools-14.09 clang version 10.0.1 (double)");
        return Ok(ExitCode::SUCCESS);
    }
    let line = read(args)?;
    let home = Home::from_env().map_err(|error| error.to_string())?;
    let open = Toolchain::discover(&Machine::here(), &home).map_err(|error| error.to_string())?;
    let output = line.output.clone().ok_or("no -o")?;
    let command = if line.is_compile {
        let [source] = line.files.as_slice() else { return Err(format!("{} sources", line.files.len())) };
        let job = CompileJob {
            depfile: Some(output.with_extension("d")),
            cflags: line.callers,
            includes: line.includes,
            ..CompileJob::new(source, &output)
        };
        open.compile(&job)
    } else {
        let is_archive = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "a");
        let job = LinkJob {
            archives: line.files.iter().filter(is_archive).cloned().collect(),
            objects: line.files.iter().filter(|path| !is_archive(path)).cloned().collect(),
            ldflags: line.callers,
            ..LinkJob::new(&output, line.lsp.ok_or("no -mlsp")?)
        };
        open.link(&job)
    };
    let status = command.to_std().status().map_err(|error| error.to_string())?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `-e lib_func --xtensa-core=… --xtensa-system=… -o PACKED -s STRIPPED LINKED`.
fn package(args: &[String]) -> Result<ExitCode, String> {
    let [e, symbol, core, system, o, packed, s, stripped, linked] = args else {
        return Err(format!("{} words", args.len()));
    };
    let shape = [e.as_str(), symbol, o, s];
    let is_right = shape == ["-e", "lib_func", "-o", "-s"]
        && core.starts_with("--xtensa-core=")
        && system.starts_with("--xtensa-system=");
    if !is_right {
        return Err(format!("unknown words: {args:?}"));
    }
    let image = std::fs::read(linked).map_err(|error| format!("{linked}: {error}"))?;
    let image = gpsimd_image::strip(&image).map_err(|error| error.to_string())?;
    let object = gpsimd_image::pack(&image).map_err(|error| error.to_string())?;
    for (path, bytes) in [(stripped, &image), (packed, &object)] {
        std::fs::write(Path::new(path), bytes).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
