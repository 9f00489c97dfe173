//! Findings as text: the source around them, who called, the tensor and the block concerned, what to do.
//!
//! Unaware of how things were found, and of where the text goes.

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use gpsimd_device::call::shared::Role;
use gpsimd_device::explain::describe::heap_name;
use gpsimd_device::memory::heap::Kind;
use gpsimd_device::report::{About, Life, Site};
use gpsimd_device::{Code, Finding, Severity, Sources, token};

use crate::output::escaped;

/// Lines shown before and behind one that is meant.
const CONTEXT: u32 = 2;
/// Calls that are told.
const MOST_CALLS: usize = 8;

/// How findings look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Columns.
    pub width: usize,
    /// Whether there are colours.
    pub color: bool,
    /// Cores that ran.
    pub cores: usize,
}

/// A place that a finding is about, and what is said of it.
struct Mark<'a> {
    site: &'a Site,
    kind: AnnotationKind,
    label: String,
}

impl Mark<'_> {
    fn is_at(&self, site: &Site) -> bool {
        let here = self.site;
        (here.file.as_str(), here.line, here.column) == (site.file.as_str(), site.line, site.column)
    }
}

/// One finding.
pub(super) fn text(finding: &Finding, sources: &Sources, look: Look) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut headline = escaped(&finding.message).into_owned();
    if finding.count > 1 {
        headline += &format!(" ({} times)", finding.count);
    }
    let mut elements = places(&marks(finding), sources);
    let note = |text: String| Element::from(Level::NOTE.message(escaped(&text).into_owned()));
    elements.extend(notes(finding, look.cores).into_iter().map(note));
    elements.push(Level::HELP.message(escaped(&finding.help).into_owned()).into());
    let group: Group<'_> = level.primary_title(headline).id(finding.code.name()).elements(elements);
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n\n", renderer.term_width(look.width).render(&[group]))
}

/// The places of a finding, the one to look at first; a place is told once.
fn marks(finding: &Finding) -> Vec<Mark<'_>> {
    let Life { allocated, freed, .. } = finding.block.as_ref().unwrap_or(&NO_BLOCK);
    let around = [
        (allocated.as_ref(), "allocated here"),
        (freed.as_ref(), "freed here"),
        (finding.history.as_ref().filter(|_| finding.block.is_none()), earlier(finding.code)),
        (finding.neighbour.as_ref(), other(finding.code)),
    ];
    let mut marks: Vec<Mark<'_>> = Vec::new();
    if let Some(site) = &finding.site {
        let via = match site.via.as_str() {
            "" => String::new(),
            via => format!("by `{via}`"),
        };
        marks.push(Mark { site, kind: AnnotationKind::Primary, label: via });
    }
    for (site, label) in around {
        if let Some(site) = site.filter(|site| !site.file.is_empty())
            && !marks.iter().any(|mark| mark.is_at(site))
        {
            marks.push(Mark { site, kind: AnnotationKind::Context, label: label.to_owned() });
        }
    }
    marks
}

const NO_BLOCK: Life = Life { heap: Kind::Tcm, len: 0, allocated: None, freed: None };

/// What happened before, at the place that a finding without a block has beside its own.
fn earlier(code: Code) -> &'static str {
    match code {
        Code::Coherency => "the stream is opened here",
        Code::Uninitialised | Code::UninitialisedOutput => "its value is read here",
        _ => "the memory is from here",
    }
}

/// What the other place of a finding is.
fn other(code: Code) -> &'static str {
    match code {
        Code::Race => "another core writes it here",
        Code::Overlap => "and here",
        Code::Coherency => "the other access is here",
        _ => "the block beside it is allocated here",
    }
}

/// Source around the places, file by file; what cannot be read is named.
fn places<'a>(marks: &[Mark<'_>], sources: &Sources) -> Vec<Element<'a>> {
    let mut elements = Vec::new();
    let mut left: Vec<&Mark<'_>> = marks.iter().collect();
    while let Some(first) = left.first().copied() {
        let is_near = |mark: &&Mark<'_>| {
            mark.site.file == first.site.file && mark.site.line.abs_diff(first.site.line) <= 4 * CONTEXT
        };
        let (near, far): (Vec<&Mark<'_>>, Vec<&Mark<'_>>) = left.into_iter().partition(is_near);
        left = far;
        match excerpt(&near, sources) {
            Some(snippet) => elements.push(snippet.into()),
            None => elements.extend(near.into_iter().flat_map(named)),
        }
    }
    elements
}

/// The lines around places of one file.
fn excerpt<'a>(marks: &[&Mark<'_>], sources: &Sources) -> Option<Snippet<'a, Annotation<'a>>> {
    let lines = || marks.iter().map(|mark| mark.site.line);
    let (first, last) = (lines().min().filter(|line| *line > 0)?, lines().max()?);
    let from = first.saturating_sub(CONTEXT).max(1);
    let file = &marks.first()?.site.file;
    let text = sources.text(file)?;
    let shown: Vec<String> = text
        .lines()
        .skip(from as usize - 1)
        .take((last + CONTEXT - from) as usize + 1)
        .map(|line| escaped(line).into_owned())
        .collect();
    let annotation = |mark: &&Mark<'_>| {
        let at = (mark.site.line - from) as usize;
        let start: usize = shown.iter().take(at).map(|line| line.len() + 1).sum();
        let span = token(shown.get(at)?, mark.site.column);
        let label = Some(mark.label.clone()).filter(|label| !label.is_empty());
        Some(mark.kind.span(start + span.start..start + span.end).label(label))
    };
    let annotations: Option<Vec<Annotation<'a>>> = marks.iter().map(annotation).collect();
    let snippet = Snippet::source(shown.join("\n")).line_start(from as usize).path(shown_path(file));
    Some(snippet.fold(false).annotations(annotations?))
}

/// A place whose source is not here.
fn named<'a>(mark: &Mark<'_>) -> Vec<Element<'a>> {
    let Site { pc, function, file, line, column, .. } = mark.site;
    let label = Some(&mark.label).filter(|label| !label.is_empty());
    if file.is_empty() {
        let function = if function.is_empty() { String::new() } else { format!(", in {function}") };
        return vec![
            Level::NOTE.message(escaped(&format!("at pc {pc:#010x}{function}")).into_owned()).into(),
        ];
    }
    let mut origin = Origin::path(shown_path(file)).line(*line as usize);
    if *column > 0 {
        origin = origin.char_column(*column as usize);
    }
    let said =
        label.map(|label| Level::NOTE.message(escaped(&format!("{label}: {file}:{line}")).into_owned()));
    std::iter::once(Element::from(origin)).chain(said.map(Element::from)).collect()
}

fn shown_path(file: &str) -> String {
    escaped(file.trim_start_matches("./")).into_owned()
}

/// What is known beside places.
fn notes(finding: &Finding, cores: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if (1..cores).contains(&finding.cores.len()) {
        let numbers: Vec<String> = finding.cores.iter().map(ToString::to_string).collect();
        notes.push(format!("on core {}", numbers.join(", ")));
    }
    if let Some(site) = &finding.site {
        notes.extend(calls(site));
    }
    if let Some(About { name, dtype, shape, role }) = &finding.tensor {
        let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let role = match role {
            Role::Input => "an input",
            Role::Scalar => "a scalar",
            Role::Output => "the output",
        };
        notes.push(format!("`{name}` is {dtype} [{}], {role}", extents.join(", ")));
    }
    if let Some(Life { heap, len, allocated, freed }) = &finding.block {
        let end = |verb: &str, site: &Option<Site>| {
            let site = site.as_ref().filter(|site| !site.function.is_empty())?;
            Some(format!("{verb} in `{}`", site.function))
        };
        let life: Vec<String> =
            [end("allocated", allocated), end("freed", freed)].into_iter().flatten().collect();
        if !life.is_empty() {
            notes.push(format!("the {} of {len} bytes was {}", heap_name(*heap), life.join(", and ")));
        }
    }
    notes
}

/// Who called the author's function that a place is in, up to the kernel.
fn calls(site: &Site) -> Vec<String> {
    let at = site.stack.iter().position(|step| !step.library);
    let Some(rest) = at.and_then(|at| site.stack.get(at..)) else { return Vec::new() };
    let own: Vec<_> = rest.iter().filter(|step| !step.library && !step.function.is_empty()).collect();
    let [innermost, callers @ ..] = own.as_slice() else { return Vec::new() };
    let mut told = vec![format!("in `{}`", innermost.function)];
    told.extend(
        callers
            .iter()
            .take(MOST_CALLS)
            .map(|step| format!("called by `{}` at {}:{}", step.function, shown_path(&step.file), step.line)),
    );
    if let [.., kernel] = callers
        && callers.len() > MOST_CALLS
    {
        told.push(format!("and so on, {} calls deep, from `{}`", callers.len(), kernel.function));
    }
    told
}

#[cfg(test)]
mod tests {
    use gpsimd_device::report::Step;

    use super::*;

    fn site(function: &str, line: u32, column: u32) -> Site {
        let (function, file) = (function.to_owned(), "./k.cpp".to_owned());
        let step = Step {
            function: function.clone(),
            file: file.clone(),
            line,
            column,
            inlined: false,
            library: false,
        };
        Site { pc: 0x8400_0000, function, file, line, column, via: String::new(), stack: vec![step] }
    }

    #[test]
    fn a_finding_shows_source_calls_and_the_block() {
        let directory = tempfile::tempdir().expect("a directory");
        let source = directory.path().join("k.cpp");
        std::fs::write(
            &source,
            "float last(float* p) {\n  return p[3];\x1b\n}\nvoid k() {\n  free(p);\n  last(p);\n}\n",
        )
        .expect("written");
        let mut at = site("last", 2, 11);
        at.stack.push(site("k", 6, 7).stack.remove(0));
        let freed = site("k", 5, 7);
        let finding = Finding {
            site: Some(at),
            history: Some(freed.clone()),
            block: Some(Life { heap: Kind::Libc, len: 16, allocated: None, freed: Some(freed) }),
            cores: vec![3],
            count: 2,
            help: "free it later".to_owned(),
            ..Finding::about_all(Code::UseAfterFree, "reads 4 bytes after they were freed".to_owned())
        };
        let look = Look { width: 100, color: false, cores: 8 };
        let shown = text(&finding, &Sources::among(vec![source]), look);
        let want = "\
error[run::use_after_free]: reads 4 bytes after they were freed (2 times)
 --> k.cpp:2:10
  |
1 | float last(float* p) {
2 |   return p[3];\\x1b
  |          ^^^^
3 | }
4 | void k() {
5 |   free(p);
  |   ------- freed here
6 |   last(p);
7 | }
  |
  = note: on core 3
  = note: in `last`
  = note: called by `k` at k.cpp:6
  = note: the malloc block of 16 bytes was freed in `k`
  = help: free it later

";
        assert_eq!(shown, want);
        let elsewhere = text(&finding, &Sources::default(), look);
        assert!(elsewhere.contains("--> k.cpp:2:11"), "{elsewhere}");
        assert!(elsewhere.contains("freed here: ./k.cpp:5"), "{elsewhere}");
    }
}
