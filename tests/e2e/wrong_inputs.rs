//! Wrong inputs and what is said about them: code, headline, place and remedy, one record an input.
//!
//! The records are in `wrong_inputs.txt`. What the documented API lacks is taken from the tool's own table, and each entry
//! is shown to the real compiler.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpsimd_engine::{LACKING, Written};

use crate::bench::{Bench, good, repository};

const RECORDS: &str = include_str!("wrong_inputs.txt");

/// One wrong input.
#[derive(Debug, Default, Clone)]
struct Record {
    /// What is wrong, in words.
    name: String,
    /// Files to write, by name.
    files: Vec<(String, String)>,
    /// Command lines; the last one must fail, the others succeed.
    commands: Vec<String>,
    /// What the last one must say: the code, and every other text.
    wanted: Vec<String>,
}

/// `== name`, `--- file` with its lines, `$ arguments`, `=> code | text | text`.
fn records(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            records.push(Record { name: name.to_owned(), ..Record::default() });
            continue;
        }
        let Some(record) = records.last_mut() else { continue };
        if let Some(file) = line.strip_prefix("--- ") {
            // every kernel begins so; what does not is written as `--- NAME plain`
            let head = match file.strip_suffix(" plain") {
                Some(_) => "",
                None => "#include <torch/torch.h>\n",
            };
            record.files.push((file.trim_end_matches(" plain").to_owned(), head.to_owned()));
        } else if let Some(arguments) = line.strip_prefix("$ ") {
            record.commands.push(arguments.to_owned());
        } else if let Some(wanted) = line.strip_prefix("=> ") {
            record.wanted = wanted.split(" | ").map(|text| text.trim().to_owned()).collect();
        } else if let Some((_, text)) = record.files.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    records
}

/// The words of a command line; those in single quotes stay together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

/// Text as it would be on one endless line.
fn flat(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// What is wrong with what is said about a record; nothing if all is right.
fn judge(record: &Record, library: &Bench) -> Option<String> {
    let bench = Bench::new();
    for (name, text) in &record.files {
        bench.write(name, text);
    }
    let mut said = String::new();
    let mut status = None;
    for line in &record.commands {
        let mut command = bench.tool();
        let line = line.replace("@ADD", &library.path("build/add").display().to_string());
        let output = command.args(words(&line)).output().expect("the tool starts");
        said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        status = output.status.code();
    }
    let said_flat = flat(&said);
    let mut faults = Vec::new();
    if !matches!(status, Some(1..=3)) {
        faults.push(format!("the exit status is {status:?}"));
    }
    faults.extend(
        record
            .wanted
            .iter()
            .filter(|text| !said_flat.contains(&flat(text)))
            .map(|text| format!("no {text:?}")),
    );
    let is_of_compiler = record.wanted.first().is_some_and(|code| code.starts_with("compile::"));
    if is_of_compiler && let Some(line) = said.lines().find(|line| line.chars().count() > 80) {
        faults.push(format!("over 80 columns: {line}"));
    }
    (!faults.is_empty()).then(|| format!("== {}\n{}\n{said}", record.name, faults.join("\n")))
}

/// Judges all records on as many threads as there are processors.
fn all_right(records: &[Record]) {
    let library = Bench::new();
    library.write(
        "add.cpp",
        "#include <torch/torch.h>\ntorch::Tensor add(const torch::Tensor& a, const torch::Tensor& b, double by, int64_t n) { return torch::add(a, b, by); }\n",
    );
    good(library.tool().args(["compile", "add.cpp"]));
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(record) = records.get(index) else { return };
            if let Some(fault) = judge(record, &library) {
                faults.lock().expect("no thread panicked").insert(index, fault);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().expect("no thread panicked");
    let text: Vec<String> = faults.into_values().collect();
    assert!(text.is_empty(), "{} of {}:\n{}", text.len(), records.len(), text.join("\n"));
}

#[test]
fn each_headline_is_the_first_true_cause() {
    let mut records = records(RECORDS);
    records.extend(LACKING.iter().filter_map(|lack| lacking_record(*lack.written.first()?, lack.instead)));
    for record in &records {
        assert!(!record.commands.is_empty() && record.wanted.len() >= 2, "{}", record.name);
    }
    assert!(records.len() >= 150, "{} records", records.len());
    all_right(&records);
}

/// A kernel that has it, and what is said about it.
fn lacking_record(written: Written, instead: &str) -> Option<Record> {
    let (line, name) = usage(written)?;
    let source = format!("#include <torch/torch.h>\n{line}\n");
    Some(Record {
        name: format!("{written:?}"),
        files: vec![("k.cpp".to_owned(), source)],
        commands: vec!["compile k.cpp".to_owned()],
        wanted: vec!["compile::lacking".to_owned(), name, "k.cpp:2".to_owned(), instead.to_owned()],
    })
}

/// A line of a source with something that is not there, and its name.
fn usage(written: Written) -> Option<(String, String)> {
    let kernel = |body: String| format!("torch::Tensor f(torch::Tensor x) {{ {body} return x; }}");
    let (line, name) = match written {
        Written::Member(name) => (kernel(format!("x.{name}();")), name),
        Written::Free(name) => (kernel(format!("torch::{name}(x);")), name),
        Written::Operator("[]") => (kernel("x[0];".to_owned()), "[]"),
        Written::Operator(sign) => (kernel(format!("x {sign} x;")), sign),
        Written::Name(name) if name.ends_with('*') => {
            (kernel(format!("{}ALL_TYPES(x);", name.trim_end_matches('*'))), name.trim_end_matches('*'))
        }
        Written::Name("indexing") => (kernel("using namespace torch::indexing;".to_owned()), "indexing"),
        Written::Name(name) if name.starts_with("__") && name != "__syncthreads" => {
            (format!("{name} torch::Tensor f(torch::Tensor x) {{ return x; }}"), name)
        }
        Written::Name(name) => (kernel(format!("int n = {name};")), name),
        Written::Shape(name) => (kernel(format!("x.sizes().{name}();")), name),
        Written::Options(name) => (kernel(format!("x.options().{name}();")), name),
        Written::Accessor(name) => {
            (kernel(format!("x.accessor<float, 1>(); auto a = x.accessor<float, 1>(); a.{name}();")), name)
        }
        Written::Pragma(name) => (format!("#pragma {name} parallel"), name),
        Written::Header(name) if name.ends_with('/') => (format!("#include <{name}x.h>"), name),
        Written::Header(name) if name.ends_with(".h") => (format!("#include <{name}>"), name),
        Written::Header(name) => (format!("#include <{name}.h>"), name),
    };
    Some((line, name.to_owned()))
}

/// The compiler's own words about every entry of the table, each on a line of one source.
#[test]
fn everything_that_is_lacking_is_told_by_the_compilers_words() {
    let everything: Vec<(Written, &str)> =
        LACKING.iter().flat_map(|lack| lack.written.iter().map(|written| (*written, lack.instead))).collect();
    // a missing header ends the compilation, so each has a source of its own
    let (headers, names): (Vec<_>, Vec<_>) =
        everything.iter().partition(|(written, _)| matches!(written, Written::Header(_)));
    let bench = Bench::new();
    let mut source = String::from("#include <torch/torch.h>\n");
    for (written, _) in &names {
        let (line, _) = usage(*written).expect("a usage");
        source += &line.replace(" f(", &format!(" f{}(", source.lines().count()));
        source += "\n";
    }
    bench.write("k.cpp", &source);
    let mut faults = told(&words_of_compiler(&bench, "k.cpp"), &names, 2);
    for header in &headers {
        bench.write("h.cpp", &format!("{}\n", usage(header.0).expect("a usage").0));
        faults.extend(told(&words_of_compiler(&bench, "h.cpp"), std::slice::from_ref(header), 1));
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), everything.len(), faults.join("\n"));
}

/// What the device compiler says about a source, by the command that the tool would run.
fn words_of_compiler(bench: &Bench, source: &str) -> String {
    let plan = good(bench.tool().args(["compile", source, "--dry-run"]));
    let line = plan
        .lines()
        .find(|line| line.contains(" -c -o "))
        .expect("the compiler's command")
        .replace(" -c -o ", " -fsyntax-only -o ");
    let output = Command::new("sh").args(["-c", &line]).current_dir(bench.dir()).output().expect("sh starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Which of the entries, one a line from `first` on, the first error of their line does not tell.
fn told(output: &str, entries: &[(Written, &str)], first: usize) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, (written, instead)) in entries.iter().enumerate() {
        let place = format!(".cpp:{}:", first + index);
        let line = output.lines().find(|line| line.contains(&place) && line.contains("error: "));
        let Some(line) = line else {
            faults.push(format!("{written:?}: the compiler has nothing against it"));
            continue;
        };
        let verdict = gpsimd_engine::meaning_of(line);
        let (_, name) = usage(*written).expect("a usage");
        if verdict.code != "compile::lacking"
            || !verdict.headline.contains(&name)
            || verdict.remedy != *instead
        {
            faults.push(format!("{written:?}: {line}\n    {verdict:?}"));
        }
    }
    faults
}

/// The public cases that are wrong inputs are in the table under their own names.
#[test]
fn records_read() {
    let records = records(RECORDS);
    let names: std::collections::BTreeSet<&str> = records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names.len(), records.len(), "a name is used twice");
    assert!(repository().join("tests/e2e/wrong_inputs.txt").is_file());
    assert_eq!(words("run x 'a b' -o y"), ["run", "x", "a b", "-o", "y"]);
}
