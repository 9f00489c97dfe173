//! The one form of every `--json` answer: an envelope with a version, and what is wrong as data.
//!
//! Unaware of what the commands answer, and of where the answer goes. The schemas in `docs/json/` are made from these
//! types and those of the commands (`schemas`, a test).

use std::error::Error;
use std::path::Path;

use gpsimd_engine::EngineError;
use miette::{Diagnostic, Severity as MietteSeverity};
use schemars::JsonSchema;
use serde::Serialize;

use crate::files::FileError;

/// Raised when a program that reads today's answers could misread the new ones. New fields do not raise it.
pub const VERSION: u32 = 1;

/// What a command answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer<T> {
    /// Version of this form: 1.
    pub version: u32,
    /// The command, `toolchain show` in words; null where the command line names none.
    pub command: Option<String>,
    /// Whether the exit status is 0.
    pub ok: bool,
    /// What came out: there whenever the command did its work, even if it found something wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<T>,
    /// The first cause: there if and only if `ok` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Diagnosis>,
    /// What is worth knowing and stops nothing.
    pub warnings: Vec<Diagnosis>,
}

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Stable name, which `gpsimd-build explain` takes; null for what another program said, such as a compiler's warning.
    pub code: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What happened.
    pub headline: String,
    /// What more there is to read: a compiler's own words, expected beside found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where, if it is anywhere.
    pub place: Option<Place>,
    /// What to do next.
    pub remedy: Option<String>,
    /// The parts of a text on the command line that are meant: a schema's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
    /// Each problem by itself, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Diagnosis>,
}

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The command cannot be done, or what it looked at is at fault.
    Error,
    /// Something is likely not as it was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// A place in a file, or in a text that was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The text that is no file's: a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Label {
    /// What is said of it.
    pub text: Option<String>,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Bytes.
    pub length: usize,
}

impl<T> Answer<T> {
    /// An answer to `command`.
    pub fn new(
        command: Option<String>,
        result: Option<T>,
        error: Option<Diagnosis>,
        warnings: Vec<Diagnosis>,
    ) -> Self {
        Self { version: VERSION, command, ok: error.is_none(), result, error, warnings }
    }
}

impl Diagnosis {
    /// What an error says. One that only collects problems, and has one, is that one: as its text is.
    pub fn of(error: &(dyn Diagnostic + 'static)) -> Self {
        let mut said = Self::of_part(only_problem(error));
        if let Some(place) = place_of_failure(error) {
            said.place = Some(place);
        }
        if said.place.is_none() {
            said.place = place_of_file(error);
        }
        said
    }

    fn of_part(error: &dyn Diagnostic) -> Self {
        let text = whole_message(error);
        let (headline, detail) = match text.split_once('\n') {
            Some((headline, detail)) => (headline, Some(detail.trim_matches('\n'))),
            None => (text.as_str(), None),
        };
        let labels: Vec<Label> = error
            .labels()
            .into_iter()
            .flatten()
            .map(|label| Label {
                text: label.label().map(str::to_owned),
                offset: label.offset(),
                length: label.len(),
            })
            .collect();
        Self {
            code: error.code().map(|code| code.to_string()),
            severity: match error.severity() {
                Some(MietteSeverity::Advice) => Severity::Note,
                Some(MietteSeverity::Warning) => Severity::Warning,
                Some(MietteSeverity::Error) | None => Severity::Error,
            },
            headline: headline.to_owned(),
            detail: detail.filter(|detail| !detail.is_empty()).map(str::to_owned),
            place: place_of_label(error).or_else(|| mentioned(&text)),
            remedy: error.help().map(|help| help.to_string()),
            labels,
            related: error.related().into_iter().flatten().map(Self::of_part).collect(),
        }
    }

    /// What another program said although it succeeded: `compile relu.cpp:` and its words.
    pub fn of_words(text: &str) -> Self {
        let text = text.strip_prefix("warning: ").unwrap_or(text);
        let (headline, detail) = text.split_once('\n').unwrap_or((text, ""));
        Self {
            code: None,
            severity: Severity::Warning,
            headline: headline.trim_end_matches(':').to_owned(),
            detail: Some(detail).filter(|detail| !detail.is_empty()).map(str::to_owned),
            place: mentioned(text),
            remedy: None,
            labels: Vec::new(),
            related: Vec::new(),
        }
    }
}

/// The one problem of an error that only collects problems, else the error.
pub fn only_problem<'a>(error: &'a (dyn Diagnostic + 'static)) -> &'a (dyn Diagnostic + 'static) {
    let typed: &(dyn Error + 'static) = error;
    match typed.downcast_ref::<EngineError>().and_then(EngineError::only_problem) {
        Some(problem) => problem,
        None => error,
    }
}

/// The message, and those of its causes that it does not repeat.
fn whole_message(error: &dyn Diagnostic) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// Where the first label points.
fn place_of_label(error: &dyn Diagnostic) -> Option<Place> {
    let label = error.labels()?.next()?;
    let contents = error.source_code()?.read_span(label.inner(), 0, 0).ok()?;
    let text = contents.name().is_none().then(|| String::from_utf8_lossy(contents.data()).into_owned());
    Some(Place {
        file: contents.name().map(str::to_owned),
        text,
        line: Some(contents.line() + 1),
        column: Some(contents.column() + 1),
    })
}

/// Where a compiler's first error is.
fn place_of_failure(error: &(dyn Diagnostic + 'static)) -> Option<Place> {
    let error: &(dyn Error + 'static) = error;
    let Some(EngineError::Failed(failed)) = error.downcast_ref() else { return None };
    let place = failed.verdict.place.as_ref()?;
    Some(Place {
        file: Some(place.file.clone()),
        text: None,
        line: usize::try_from(place.line).ok(),
        column: usize::try_from(place.column).ok().filter(|column| *column > 0),
    })
}

/// The file that the error, or what it came from, is about.
fn place_of_file(error: &(dyn Diagnostic + 'static)) -> Option<Place> {
    let file = |path: &Path| Some(Place { file: Some(path.display().to_string()), ..Place::default() });
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(
            FileError::Io { path, .. } | FileError::Kind { path, .. } | FileError::Size { path, .. },
        ) = error.downcast_ref()
        {
            return file(path);
        }
        if let Some(
            EngineError::Io { path, .. }
            | EngineError::NotOurs { path, .. }
            | EngineError::Stage { path, .. },
        ) = error.downcast_ref()
        {
            return file(path);
        }
        next = error.source();
    }
    None
}

/// The first place that a compiler's words name: `relu.cpp:7:3: error: …`, an error before anything else.
fn mentioned(text: &str) -> Option<Place> {
    let is_error = |line: &&str| line.contains("error:") || line.contains("undefined reference");
    let errors = text.lines().filter(is_error).find_map(place_of_line);
    errors.or_else(|| text.lines().find_map(place_of_line))
}

/// `FILE:LINE` or `FILE:LINE:COLUMN` of a source, anywhere in the line.
fn place_of_line(line: &str) -> Option<Place> {
    const SOURCES: [&str; 10] = [".cpp", ".cc", ".cxx", ".c", ".hpp", ".hh", ".hxx", ".h", ".inc", ".S"];
    let words = line.split(|letter: char| letter.is_whitespace() || "()`'\"".contains(letter));
    words.into_iter().find_map(|word| {
        let mut parts = word.split(':');
        let (file, line) = (parts.next()?, parts.next()?.trim_end_matches([',', '.']).parse().ok()?);
        SOURCES.iter().any(|ending| file.ends_with(ending)).then(|| Place {
            file: Some(file.to_owned()),
            text: None,
            line: Some(line),
            column: parts.next().and_then(|column| column.trim_end_matches([',', '.']).parse().ok()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_the_first_error() {
        let rows = [
            (
                "compile k.cpp failed: exit status: 1\n\nk.cpp:2:9: warning: unused\nsub/k.cpp:7:3: error: expected ';'",
                Some(("sub/k.cpp", 7, Some(3))),
            ),
            ("expected: at::Tensor f()\nfound:    int f() (k.hpp:4)", Some(("k.hpp", 4, None))),
            ("build/k.so: section .text ends at 0x10:20", None),
        ];
        for (text, want) in rows {
            let found = mentioned(text);
            let found = found.as_ref().map(|place| {
                (place.file.as_deref().unwrap_or_default(), place.line.unwrap_or_default(), place.column)
            });
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn a_report_says_each_cause_once() {
        let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let error = FileError::of("read", "a.so")(missing);
        let report = miette::Report::from(error).wrap_err("build/a.so");
        let said = Diagnosis::of(report.as_ref());
        assert_eq!(said.headline, "build/a.so: cannot read a.so: no such file");
        assert_eq!(said.code.as_deref(), Some("cli::file"));
        assert_eq!(said.place.and_then(|place| place.file).as_deref(), Some("a.so"));
    }
}
