//! Judges the documentation against the tree: citations of `docs/spec` resolve, links lead somewhere, `docs/design.md`
//! names every room.
//!
//! Unaware of what the pages say. A citation is a page's name and then sections: `codegen.md §4.4, §10 D6–D8`; a bare
//! section belongs to the page that the same file named last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Kinds of files that people write; what is generated repeats them.
const SOURCES: [&str; 12] = ["rs", "h", "hpp", "cpp", "c", "S", "py", "pyi", "xmm", "j2", "md", "txt"];
/// What else has numbered sections, and is not ours to check.
const FOREIGN: &str = "DWARF 5";
/// Words that may stand between a section and the numbered rule of it that is meant.
const BETWEEN: [&str; 12] =
    [" ", ",", "-", "–", "`", "and ", "with ", "of its ", "its ", "rules ", "rule ", "question "];

/// What one page has to be cited.
#[derive(Default)]
struct Page {
    sections: BTreeSet<String>,
    /// Numbered rules and questions: `D4`, `Q-6`.
    rules: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file under `dir` that people write, hidden and built directories left out. Links lead to files that are met where
/// they are.
fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory of the workspace").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().expect("a kind of file");
        if name.to_string_lossy().starts_with('.') || name == "target" || name == "build" {
            continue;
        }
        if kind.is_dir() {
            sources(&path, into);
        } else if kind.is_file()
            && path.extension().is_some_and(|ext| SOURCES.iter().any(|known| ext == *known))
        {
            into.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    found.sort();
    found
}

fn pages() -> BTreeMap<String, Page> {
    let files =
        fs::read_dir(root().join("docs/spec")).expect("docs/spec").flatten().map(|entry| entry.path());
    let pages = files.filter(|path| !path.ends_with("README.md"));
    pages.map(|path| (stem(&path), page(&read(&path)))).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file's name").to_string_lossy().into_owned()
}

fn page(text: &str) -> Page {
    let mut page = Page::default();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("##") {
            let number = section(heading.trim_start_matches('#').trim_start());
            if !number.is_empty() {
                assert!(page.sections.insert(number.to_owned()), "{number} twice");
            }
        } else if let Some(row) = line.strip_prefix("| ") {
            let cell = row.split('|').next().unwrap_or_default();
            page.rules.extend(cell.split(", ").filter_map(rule).map(str::to_owned));
        }
    }
    page
}

/// The section number that `text` starts with, without the full stop that ends a sentence.
fn section(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// The numbered rule that `text` starts with: a capital letter, perhaps a hyphen, one or two digits, no more.
fn rule(text: &str) -> Option<&str> {
    let letterless = text.strip_prefix(|first: char| first.is_ascii_uppercase())?;
    let digits = letterless.strip_prefix('-').unwrap_or(letterless);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let goes_on = digits[count..].starts_with(|next: char| next.is_alphanumeric() || next == '_');
    (matches!(count, 1 | 2) && !goes_on).then(|| &text[..text.len() - digits.len() + count])
}

/// The numbered rules right after a page's name or a section.
fn rules_after(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        if let Some(name) = rule(text) {
            found.push(name);
            text = &text[name.len()..];
        } else if let Some(rest) = BETWEEN.iter().find_map(|word| text.strip_prefix(word)) {
            text = rest;
        } else {
            return found;
        }
    }
}

/// What is wrong with the citations of one text, each with its line. `home` is the page that the text itself is: there,
/// a bare section is its own unless the line names another page.
fn faults(text: &str, pages: &BTreeMap<String, Page>, home: Option<&str>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut current = home;
    let mut is_foreign = false;
    for (index, line) in text.lines().enumerate() {
        if !line.contains('§') && !line.contains(".md") && !line.contains(FOREIGN) {
            continue;
        }
        let mut fault = |what: String| faults.push(format!("{}: {what}", index + 1));
        current = home.or(current);
        for (at, _) in line.char_indices() {
            let here = &line[at..];
            let is_word = line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '-');
            let named = pages.keys().find(|name| {
                !is_word && here.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(".md"))
            });
            let rest = if let Some(name) = named {
                (current, is_foreign) = (Some(name.as_str()), false);
                &here[name.len() + ".md".len()..]
            } else if here.starts_with(FOREIGN) {
                is_foreign = true;
                continue;
            } else if let Some(rest) = here.strip_prefix('§').filter(|_| !is_foreign) {
                let rest = rest.trim_start_matches(' ');
                let number = section(rest);
                match current {
                    Some(name) if pages[name].sections.contains(number) => {}
                    Some(name) => fault(format!("{name}.md has no section {number}")),
                    None => fault(format!("section {number} of which page?")),
                }
                &rest[number.len()..]
            } else {
                continue;
            };
            let Some(name) = current else { continue };
            for rule in rules_after(rest) {
                if !pages[name].rules.contains(rule) {
                    fault(format!("{name}.md has no {rule}"));
                }
            }
        }
    }
    faults
}

#[test]
fn every_citation_resolves() {
    let pages = pages();
    let root = root();
    let mut bad = Vec::new();
    for path in all_sources() {
        let inside = path.strip_prefix(&root).expect("below the root").display().to_string();
        let home = path.parent().is_some_and(|dir| dir.ends_with("docs/spec")).then(|| stem(&path));
        if home.as_deref() == Some("README") || path.ends_with("xtask/src/pages.rs") {
            continue; // both show what a citation looks like
        }
        bad.extend(
            faults(&read(&path), &pages, home.as_deref()).iter().map(|fault| format!("{inside}:{fault}")),
        );
    }
    assert!(bad.is_empty(), "citations of docs/spec that lead nowhere:\n{}", bad.join("\n"));
}

#[test]
fn citations_are_told_apart() {
    let page = page("## 1. One\n### 1.2 Two\n| D4 | a |\n| Q-6, Q-7 | b |\n");
    let pages = BTreeMap::from([("codegen".to_owned(), page)]);
    let rows: &[(&str, &[&str])] = &[
        ("// spec codegen.md §1, §1.2.", &[]),
        ("// `codegen.md` §1-§1.2 (see §1.2): fine", &[]),
        ("// codegen.md §1 D4, Q-6 and Q-7 hold", &[]),
        ("// codegen.md §3", &["1: codegen.md has no section 3"]),
        ("// codegen.md §1\n// §1.3", &["2: codegen.md has no section 1.3"]),
        ("// codegen.md §1 D4–D6", &["1: codegen.md has no D6"]),
        ("// codegen.md Q-9", &["1: codegen.md has no Q-9"]),
        ("// §1", &["1: section 1 of which page?"]),
        ("// codegen.md §1; DWARF 5 §7.5", &[]),
        ("// my-codegen.md §9", &["1: section 9 of which page?"]),
        ("// codegen.md §1 Q7NX is no rule", &[]),
    ];
    for (text, want) in rows {
        assert_eq!(faults(text, &pages, None), *want, "{text}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut bad = Vec::new();
    for path in all_sources().into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "md")) {
        // code is indented or between backticks, and a lambda is no link
        let text = read(&path);
        let lines: String =
            text.lines().filter(|line| !line.starts_with("    ")).collect::<Vec<_>>().join("\n");
        let prose: String =
            lines.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2)).collect();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '#']).next());
        for target in targets.filter(|target| !target.is_empty() && !target.contains("://")) {
            if !path.parent().expect("a directory").join(target).exists() {
                bad.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(bad.is_empty(), "links that lead nowhere:\n{}", bad.join("\n"));
}

#[test]
fn the_design_names_every_room() {
    let design = read(&root().join("docs/design.md"));
    let mut rooms = Vec::new();
    for dir in ["", "crates", "integrations"] {
        for entry in fs::read_dir(root().join(dir)).expect("a directory").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // what builds leave is no room
            let is_left = name == "target" || name == "build";
            let is_room = entry.path().is_dir() && !name.starts_with('.') && !is_left;
            rooms.extend(is_room.then(|| Path::new(dir).join(name).display().to_string()));
        }
    }
    rooms.retain(|room| !design.contains(&format!("`{room}")));
    assert!(rooms.is_empty(), "docs/design.md does not name {rooms:?}");
}

/// Files of the SDK are installed and examples are copied, each alone: they say their licence. Rust's say it in
/// `Cargo.toml`, once.
#[test]
fn what_travels_alone_says_its_licence() {
    let root = root();
    let line = "SPDX-License-Identifier: Apache-2.0";
    let mut bad = Vec::new();
    for path in all_sources() {
        let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let travels = ["sdk", "examples"].iter().any(|dir| path.starts_with(root.join(dir)));
        let wanted = travels && ["h", "hpp", "c", "cpp", "S"].contains(&kind.as_str());
        let said = read(&path).lines().take(3).any(|first| first.contains(line));
        if wanted && !said || kind == "rs" && said {
            bad.push(path.display().to_string());
        }
    }
    assert!(bad.is_empty(), "licence lines missing, or superfluous in Rust:\n{}", bad.join("\n"));
}

/// `diff` recipes show changes that were made: each added line is still there.
#[test]
fn recipes_are_in_the_tree() {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = read(&root().join("CONTRIBUTING.md"));
    let mut checked = 0;
    for recipe in page.split("```diff\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let mut file = String::new();
        for line in recipe.lines() {
            if let Some(rest) = line.strip_prefix("+++ ") {
                file = squeezed(&read(&root().join(rest.split_whitespace().next().unwrap_or_default())));
            } else if let Some(added) = line.strip_prefix('+') {
                assert!(file.contains(&squeezed(added)), "not in the tree any more: {added}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked} lines");
}

/// Tests that pages promise, in backticks in the last column of a table headed so.
#[test]
fn tests_that_pages_name_exist() {
    let mut tests = BTreeSet::new();
    for path in all_sources() {
        let kind = path.extension().unwrap_or_default();
        if kind != "rs" && kind != "py" {
            continue;
        }
        for line in read(&path).lines().map(str::trim_start) {
            let name = ["fn ", "pub fn ", "def "].iter().find_map(|start| line.strip_prefix(start));
            tests.extend(name.and_then(|name| name.split('(').next()).map(str::to_owned));
        }
    }
    for page in ["security.md", "compat.md"] {
        let text = read(&root().join("docs").join(page));
        let mut named = 0;
        let mut is_test_column = false;
        for line in text.lines() {
            let last = line.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default().trim();
            match last.to_lowercase().as_str() {
                _ if !line.starts_with('|') => is_test_column = false,
                "test" | "tests" | "shown by" => is_test_column = true,
                _ if is_test_column => {
                    for name in last.split('`').skip(1).step_by(2) {
                        assert!(
                            tests.contains(name),
                            "docs/{page} names `{name}`, and there is no such test"
                        );
                        named += 1;
                    }
                }
                _ => {}
            }
        }
        assert!(named > 10, "docs/{page} names {named} tests");
    }
}

/// The story of a custom op is accounted for: every claim has a verdict, what shows it is there, and what differs is counted
/// where a user looks.
#[test]
fn every_claim_of_the_story_is_accounted_for() {
    let docs = root().join("docs");
    let sources: String = all_sources()
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .map(|path| read(path))
        .collect();
    let mut counts = BTreeMap::<String, usize>::new();
    let page = read(&docs.join("trace.md"));
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && line[2..].starts_with(|c: char| c.is_ascii_digit()));
    for (index, row) in rows.enumerate() {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [number, _, _, verdict, shown] = cells[..] else { panic!("five columns: {row}") };
        assert_eq!(number, (index + 1).to_string(), "{row}");
        assert!(["implemented", "differs"].contains(&verdict), "{row}");
        *counts.entry(verdict.to_owned()).or_default() += 1;
        let named = shown.split('`').skip(1).step_by(2);
        let linked = shown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        assert!(named.clone().count() + linked.clone().count() > 0, "nothing shows {row}");
        for name in named {
            let is_there = root().join(name).is_file() || sources.contains(&format!("fn {name}("));
            assert!(is_there, "{number} names `{name}`, which is neither file nor test");
        }
        for target in linked {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let anchor = |line: &str| -> Option<String> {
                let title = line.strip_prefix("## ").or(line.strip_prefix("### "))?;
                let plain = title.to_lowercase().replace(' ', "-");
                Some(plain.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect())
            };
            let has = read(&docs.join(file)).lines().filter_map(anchor).any(|found| found == heading);
            assert!(heading.is_empty() || has, "{number} leads to {target}, which is no heading");
        }
    }
    assert_eq!(counts.values().sum::<usize>(), 175);
    let said = format!("{} are implemented, {} differ", counts["implemented"], counts["differs"]);
    assert!(read(&docs.join("compat.md")).contains(&said), "docs/compat.md does not say: {said}");
}

/// Where `unsafe` is, and how often: `docs/security.md` has a row for each file.
#[test]
fn unsafe_code_is_counted() {
    let root = root();
    let page = read(&root.join("docs/security.md"));
    let mut rows = Vec::new();
    for path in all_sources().into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "rs")) {
        let code = read(&path);
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        let blocks: usize = lines
            .map(|line| {
                ["unsafe {", "unsafe fn", "unsafe impl"]
                    .iter()
                    .map(|form| line.matches(form).count())
                    .sum::<usize>()
            })
            .sum();
        if blocks > 0 && !path.ends_with("xtask/src/pages.rs") {
            rows.push(format!(
                "| `{}` | {blocks} |",
                path.strip_prefix(&root).expect("below the root").display()
            ));
        }
    }
    let missing: Vec<&String> = rows.iter().filter(|row| !page.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/security.md lacks these rows:\n{missing:#?}");
    let listed = page.lines().filter(|line| line.starts_with("| `") && line.contains(".rs` | ")).count();
    assert_eq!(listed, rows.len(), "docs/security.md has rows for files without `unsafe`");
}
