//! The table of the gallery's README, measured: `cargo test -p gpsimd-build --test conformance gallery::table -- --ignored`.
//!
//! Instructions are exact for one compiler; cycles are the device model's estimate. What depends on neither is compared with
//! the table in every test run.

use std::fmt::Write as _;

use gpsimd_device::{Config, Machine, RunReport};

use super::{build, cases, gallery, image};
use crate::bench::Bench;
use crate::workshop::{call, files};

/// What the operations are counted by, where that is not the elements of the output; and why one does not scale.
fn notes(name: &str) -> (Unit, &'static str) {
    match name {
        "bincount" => (
            Unit::Input,
            "does not scale: no atomics, so every core reads all of x and counts its own numbers",
        ),
        "cumsum" => (
            Unit::Output,
            "does not scale: a core cannot hand its total on, so it sums what lies before its part; rows do scale (`cumsum_rows`)",
        ),
        "nms" => (
            Unit::Output,
            "does not scale: each box waits for all better ones; classes or images to cores do",
        ),
        "scatter_add" => (Unit::Rows, "every core reads all indices, and the rows that are its own"),
        "embedding_bag" => (Unit::Rows, "bags are of different size, so cores end at different times"),
        "fps" => (Unit::PairsInClouds, "a cloud is one core's: scales with the number of clouds"),
        "knn" => (Unit::Pairs, ""),
        "chamfer" => (Unit::Pairs, ""),
        "topk" | "hash32" => (Unit::Input, ""),
        _ => (Unit::Output, ""),
    }
}

/// What one is counted.
enum Unit {
    Output,
    Input,
    /// Elements of the rows that an index names: table [_, D], index [N].
    Rows,
    /// Pairs of a point and another.
    Pairs,
    /// The same within each cloud, once for every point that is chosen.
    PairsInClouds,
}

impl Unit {
    fn of(&self, name: &str, case: &cases::Case) -> (u64, &'static str) {
        match self {
            Unit::Output => (case.output.shape.iter().product(), "element"),
            Unit::Input => (case.extents(0).iter().product(), "input element"),
            Unit::Rows => (case.extents(0)[1] * case.extents(1)[0], "element of the named rows"),
            Unit::Pairs => {
                let pairs = case.extents(0)[0] * case.extents(1)[0];
                (if name == "chamfer" { 2 * pairs } else { pairs }, "pair")
            }
            Unit::PairsInClouds => (case.extents(0)[0] * case.extents(0)[1] * case.output.shape[1], "pair"),
        }
    }
}

fn run(bench: &Bench, name: &str, suffixes: &[String], case: &cases::Case) -> RunReport {
    let images = suffixes.iter().map(|suffix| image(bench, &format!("{name}{suffix}")));
    let mut machine = Machine::boot(images.collect(), Config::default()).expect("boots");
    let report = call(&mut machine, name, case.args(), case.output.clone());
    // errors of rounding grow with the size; the numbers are judged at the sizes of the tests
    assert!(report.is_clean(), "{name}: {:?}", report.findings);
    report
}

/// Lines that are neither empty nor comment.
fn lines(source: &str) -> usize {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// Millions, with what is worth knowing.
fn millions(cycles: u64) -> String {
    format!("{:.2}", cycles as f64 / 1e6)
}

/// The columns that no compiler changes: what is measured on what, and how long the kernel is.
fn head(name: &str) -> String {
    let source = std::fs::read_to_string(gallery().join(format!("{name}.cpp"))).expect("readable");
    let words = cases::measured(name).words();
    let shapes: Vec<&str> = words.iter().map(String::as_str).filter(|word| word.contains(':')).collect();
    format!("| [`{name}`]({name}.cpp) | {} | {} |", shapes.join(", "), lines(&source))
}

fn row(name: &str) -> String {
    let case = cases::measured(name);
    let single = build(name, str::to_owned, &[]);
    let one = run(&single, name, &[String::new()], &case);
    let eight = build(name, str::to_owned, &["--multicore"]);
    let suffixes: Vec<String> = (0..8).map(|cpu| format!("_cpu{cpu}")).collect();
    let all = run(&eight, name, &suffixes, &case);
    let longest = all.cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let (unit, note) = notes(name);
    let (count, unit) = unit.of(name, &case);
    let size = single.path("build").join(format!("{name}.stripped.so")).metadata().expect("built").len();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} {:.0} per {unit} | {} | {} | {:.1} | {:.1} | {note} |",
        head(name),
        one.cores[0].counters.instructions as f64 / count as f64,
        millions(one.cores[0].cycles),
        millions(longest),
        one.cores[0].cycles as f64 / longest as f64,
        size as f64 / 1024.0,
    );
    text
}

fn operations() -> Vec<String> {
    let name = |path: &std::path::PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    files(&gallery(), "cpp").iter().filter_map(name).collect()
}

/// The README, in three: before the table, the table, after it.
fn readme() -> (String, String, String) {
    let text = std::fs::read_to_string(gallery().join("README.md")).expect("readable");
    let (head, rest) = text.split_once("<!-- table -->\n").expect("where the table begins");
    let (table, tail) = rest.split_once("<!-- end -->").expect("where the table ends");
    (head.to_owned(), table.to_owned(), tail.to_owned())
}

#[test]
fn the_table_has_a_row_for_every_operation_as_it_is() {
    let (_, table, _) = readme();
    let rows: Vec<&str> = table.lines().skip(2).collect();
    let operations = operations();
    assert_eq!(rows.len(), operations.len(), "write it again, see the head of this file");
    for (row, name) in rows.iter().zip(&operations) {
        let (_, note) = notes(name);
        let is_current = row.starts_with(&head(name)) && row.ends_with(&format!("| {note} |"));
        assert!(is_current, "out of date, see the head of this file:\n{row}\n{} … | {note} |", head(name));
    }
}

#[test]
#[ignore = "writes examples/gallery/README.md"]
fn table() {
    let (head, _, tail) = readme();
    let mut text = String::from(
        "| operation | inputs | lines | instructions | one core, Mcycles | eight | gain | KiB | |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for name in operations() {
        text += &row(&name);
    }
    std::fs::write(gallery().join("README.md"), format!("{head}<!-- table -->\n{text}<!-- end -->{tail}"))
        .expect("written");
}
