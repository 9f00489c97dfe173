//! Every command of the README, the pages and the help is run as it is printed.
//!
//! A page's blocks run in order in one fresh directory that looks like the repository's root; a block of another language
//! whose first line names a file is that file. What a page says above a block:
//!
//! ```text
//! <!-- sources: examples/relu.cpp -->   copies of these lie in the directory from here on
//! <!-- output -->                       the block after a command's: its lines are printed, in this order; … stands for anything
//! <!-- fails: 1 -->                     each line of the block is a command that ends so
//! <!-- not run: WHY -->                 nobody can here
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{repository, tool};

/// Pages without commands that a reader of them would type.
const OTHERS: [&str; 2] = ["docs/errors.md", "docs/spec"];

/// Lines of the help that are not run, by how they begin, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("sudo ", "needs root, and installs packages"),
    ("gpsimd-build test ", "takes long; tests/e2e/tester.rs runs such"),
    ("gpsimd-build debug --listen", "has no end; tests/e2e/debug_adapter.rs runs such"),
    ("gpsimd-build watch ", "has no end; tests/e2e/watching.rs runs such"),
    ("gpsimd-build toolchain export", "takes long; crates/gpsimd-toolchain/tests/travel.rs does it"),
    ("gpsimd-build toolchain wheel", "takes long; cargo xtask soak wheel does it"),
    ("gpsimd-build toolchain install", "takes minutes; CI does it before these tests"),
];

/// A fenced block.
struct Block {
    page: String,
    line: usize,
    language: String,
    /// The marks above it.
    marks: Vec<String>,
    text: String,
}

impl Block {
    fn mark(&self, name: &str) -> Option<&str> {
        self.marks
            .iter()
            .find_map(|mark| mark.strip_prefix(name))
            .map(|rest| rest.trim_start_matches(':').trim())
    }

    fn at(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

#[test]
fn every_block_of_the_pages_runs() {
    let (mut run, mut not_run, mut written, mut compared) = (0, 0, 0, 0);
    for page in pages() {
        let text = std::fs::read_to_string(repository().join(&page)).expect("a page");
        let place = Place::new();
        let mut printed = String::new();
        for block in blocks(&page, &text) {
            for source in block.mark("sources").unwrap_or_default().split_whitespace() {
                place.copy(source);
            }
            let is_command = ["sh", "bash", "shell", "console"].contains(&block.language.as_str());
            if let Some(reason) = block.mark("not run") {
                assert!(!reason.is_empty(), "{}: say why it is not run", block.at());
                println!("{}: not run: {reason}", block.at());
                not_run += 1;
            } else if let Some(status) = block.mark("fails") {
                let lines = block.text.lines();
                printed = lines.map(|line| place.fail(line, status, &block.at())).collect();
                run += 1;
            } else if is_command {
                printed = place.run(&block.text, &block.at());
                run += 1;
            } else if block.mark("output").is_some() {
                compare(&block, &printed);
                compared += 1;
            } else if let Some(name) = named(&block) {
                place.write(&name, &block.text);
                written += 1;
            }
        }
    }
    println!("{run} blocks run, {compared} outputs compared, {written} files written, {not_run} not run");
    assert!(run >= 16 && compared >= 9, "{run} blocks run, {compared} compared: has this test lost them?");
}

#[test]
fn every_example_of_the_help_runs() {
    let (mut run, mut not_run) = (0, 0);
    let with_library = Place::with_examples();
    with_library.library();
    for command in commands("") {
        let help = said(tool(&repository()).args(command.split_whitespace()).arg("--help"));
        // what comes first in a reader's day has nothing before it
        let fresh = ["", "compile", "plan"].contains(&command.as_str()).then(Place::with_examples);
        let place = fresh.as_ref().unwrap_or(&with_library);
        for line in examples(&help) {
            match NOT_RUN.iter().find(|(begin, _)| line.starts_with(begin)) {
                Some((_, reason)) => {
                    println!("help {command}: {line}: not run: {reason}");
                    not_run += 1;
                }
                None => {
                    place.run(&line, &format!("help {command}"));
                    run += 1;
                }
            }
        }
    }
    println!("{run} examples of the help run, {not_run} not run");
    assert!(run >= 30, "{run} examples: has this test lost them?");
}

/// What stands in a line or a cell is a command that exists, with options that exist.
#[test]
fn every_command_in_a_line_reads() {
    let names: Vec<String> = commands("");
    let (mut read, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(repository().join(&page)).expect("a page");
        for (number, line) in without_blocks(&text) {
            assert!(!line.starts_with("    gpsimd-build "), "{page}:{number}: put it between ```sh and ```");
            for span in line.split('`').skip(1).step_by(2) {
                let words: Vec<&str> = span.split_whitespace().collect();
                let words = words.strip_prefix(&["gpsimd-build"]).unwrap_or(&words);
                let is_command = words.len() > 1 && names.iter().any(|name| name == words[0]);
                // a name of a command, a schema or a word of C++ with the same letters is none
                if !is_command
                    || !words[1..].iter().any(|word| word.starts_with('-') || word.contains(['.', '/']))
                {
                    continue;
                }
                let given: Vec<&str> =
                    words.iter().map(|word| if *word == "N" { "1" } else { word }).collect();
                let script = format!("gpsimd-build {} --help", given.join(" ").replace('…', "x"));
                let output = Place::shell(&repository(), &script).output().expect("bash");
                read += 1;
                if !output.status.success() {
                    wrong.push(format!(
                        "{page}:{number}: {script}\n{}",
                        String::from_utf8_lossy(&output.stderr)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{read} commands within lines read");
    assert!(read >= 15, "{read} commands in lines: has this test lost them?");
}

/// A fresh directory in which a page's commands run.
struct Place {
    scratch: tempfile::TempDir,
}

impl Place {
    /// What lies in the repository's root lies here, too; what commands make does not get there.
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        for name in ["examples", "integrations", "sdk", "docs"] {
            std::os::unix::fs::symlink(repository().join(name), scratch.path().join(name)).expect("linked");
        }
        std::fs::create_dir_all(scratch.path().join("home")).expect("made");
        Self { scratch }
    }

    /// With the examples in it: where the help's commands are typed.
    fn with_examples() -> Self {
        let place = Self::new();
        for folder in ["examples", "examples/shape"] {
            for entry in std::fs::read_dir(repository().join(folder)).expect("a folder").flatten() {
                if entry.path().extension().is_some_and(|extension| extension == "cpp") {
                    std::fs::copy(entry.path(), place.dir().join(entry.file_name())).expect("copied");
                }
            }
        }
        place
    }

    fn dir(&self) -> &Path {
        self.scratch.path()
    }

    fn copy(&self, source: &str) {
        let from = repository().join(source);
        let to = self.dir().join(from.file_name().expect("a file"));
        std::fs::copy(&from, to).unwrap_or_else(|error| panic!("{source}: {error}"));
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir().join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    /// What the help of most commands has before it: `build/vector_add` on eight cores, and what lies beside it.
    fn library(&self) {
        const SETUP: &str = "gpsimd-build compile vector_add.cpp --multicore --image both --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor'
gpsimd-build run build/vector_add arange:1000 ones:1000 --like 0 -o a.npy
gpsimd-build run build/vector_add arange:2x3 ones:2x3 --like 0 -o x.npy
cp a.npy b.npy
cp build/vector_add.ucpl .
gpsimd-build compile relu.cpp --shape-src relu_shape.cpp --multicore
gpsimd-build compile scale_clip.cpp --multicore
gpsimd-build records load --addr 0x1000000000 --image vector_add.ucpl -o load.bin
echo 'my::f(Tensor a) -> Tensor' > schemas.txt";
        self.run(SETUP, "the library of the help's examples");
    }

    /// Runs a script that must succeed; gives what it printed.
    fn run(&self, script: &str, at: &str) -> String {
        let output = Place::shell(self.dir(), script).output().expect("bash");
        let [printed, told] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{at}: {}\n{script}\n{printed}\n{told}", output.status);
        printed.into_owned()
    }

    /// Runs a command that must end with this status; gives what it printed and said.
    fn fail(&self, line: &str, status: &str, at: &str) -> String {
        let output = Place::shell(self.dir(), line).output().expect("bash");
        let [printed, told] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let found = output.status.code().map(|code| code.to_string());
        assert_eq!(found.as_deref(), Some(status), "{at}: {line}\n{printed}\n{told}");
        format!("{printed}{told}")
    }

    /// A shell in which `gpsimd-build` is the one under test.
    fn shell(directory: &Path, script: &str) -> Command {
        let program = tool(directory).get_program().to_owned();
        let folder = Path::new(&program).parent().expect("a directory");
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let data = gpsimd_toolchain::Home::from_env().expect("a data directory");
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", script]).current_dir(directory).env("PATH", path);
        command
            .env("HOME", directory.join("home"))
            .env("GPSIMD_BUILD_HOME", data.path())
            .env("NO_COLOR", "1");
        command
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The pages, in order.
fn pages() -> Vec<String> {
    let root = repository();
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "docs", "examples", "integrations"]
        .map(|name| root.join(name))
        .into();
    while let Some(path) = waiting.pop() {
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        if OTHERS.contains(&name.as_str()) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
        } else if name.ends_with(".md") {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// The fenced blocks of a page with the marks above each.
fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut marks = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((line, words)) = lines.next() {
        if let Some(mark) = words.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            marks.push(mark.to_owned());
        } else if let Some(language) = words.strip_prefix("```") {
            let inside: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let text = inside.iter().map(|line| format!("{line}\n")).collect();
            let marks = std::mem::take(&mut marks);
            found.push(Block { page: page.to_owned(), line, language: language.to_owned(), marks, text });
        } else if !words.trim().is_empty() {
            marks.clear();
        }
    }
    found
}

fn without_blocks(text: &str) -> Vec<(usize, &str)> {
    let mut is_block = false;
    let outside = move |(_, line): &(usize, &str)| {
        is_block ^= line.starts_with("```");
        !is_block
    };
    (1..).zip(text.lines()).filter(outside).collect()
}

/// The file that a block is, by the comment in its first line.
fn named(block: &Block) -> Option<String> {
    let first = block.text.lines().next()?;
    let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?.split([' ', ':']).next()?;
    let is_name = name == "Makefile" || name.contains('.') && !name.ends_with('.');
    is_name.then(|| name.to_owned())
}

/// Every line of the block was printed, in this order.
fn compare(block: &Block, printed: &str) {
    let mut rest = printed.lines();
    for wanted in block.text.lines().filter(|line| !line.trim().is_empty()) {
        assert!(
            rest.any(|line| fits(line, wanted)),
            "{}: {wanted}\nis not what was printed:\n{printed}",
            block.at()
        );
    }
}

fn fits(line: &str, wanted: &str) -> bool {
    let mut rest = line.trim_end();
    let mut parts = wanted.trim_end().split('…');
    let Some(tail) = parts.next().and_then(|first| rest.strip_prefix(first)) else { return false };
    rest = tail;
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some((_, tail)) = rest.split_once(part) else { return false };
        rest = tail;
    }
    rest.ends_with(last)
}

/// Every command with its subcommands, hidden ones left out; the tool itself is "".
fn commands(parent: &str) -> Vec<String> {
    let help = said(tool(&repository()).args(parent.split_whitespace()).arg("--help"));
    let mut found = vec![parent.to_owned()];
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    for line in list.lines().take_while(|line| line.starts_with("  ")) {
        let name = line.split_whitespace().next().unwrap_or_default();
        let is_name = line.starts_with("  ") && !line.starts_with("   ") && name != "help";
        if is_name {
            found.extend(commands(format!("{parent} {name}").trim()));
        }
    }
    found
}

/// The command lines below `Example` and `First steps` of a help.
fn examples(help: &str) -> Vec<String> {
    let is_head = |line: &str| line.starts_with("Example") || line.starts_with("First steps");
    let mut found: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in
        help.lines().skip_while(|line| !is_head(line)).skip(1).take_while(|line| line.starts_with("  "))
    {
        let words = line.trim().trim_end_matches('\\');
        match found.last_mut().filter(|_| is_continued) {
            Some(last) => last.push_str(words),
            None => found.push(words.to_owned()),
        }
        is_continued = line.ends_with('\\');
    }
    found
}
