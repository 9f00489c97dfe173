//! A failed command of the toolchain, as people read it: the compiler's own words first, then what they mean, the command
//! folded away.
//!
//! Colours are put on here, as GCC has them, after whatever a terminal would obey was spelled. Unaware of what the words mean.

use std::path::Path;

use gpsimd_engine::Failed;

use crate::output::escaped;

/// How wide a text is, and what is in it.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether it is coloured.
    pub color: bool,
    /// Whether nothing is folded.
    pub is_whole: bool,
    /// Whether a terminal would obey what strangers wrote; then it is spelled.
    pub is_terminal: bool,
}

/// Most lines of a compiler that are shown at once.
const MOST_LINES: usize = 48;
/// Most notes below an error, and most names that a linker misses.
const MOST_NOTES: usize = 2;
const MOST_MISSING: usize = 4;

/// What a failed command's words mean, what to do, and where the command is to be found.
pub fn meaning(failed: &Failed, look: Look) -> String {
    let command = match &failed.log {
        Some(log) if !look.is_whole => format!("the command: -v, or the end of {}", relative(log)),
        _ => format!("the command, to try by hand:\n{}", failed.command),
    };
    let spelled = |text: &str| if look.is_terminal { escaped(text).into_owned() } else { text.to_owned() };
    let (first, rest) = (painted("×", "31", look.color), painted("│", "31", look.color));
    let headline = wrapped(&spelled(&failed.headline()), look.width.saturating_sub(4));
    let headline = headline.join(&format!("\n  {rest} "));
    let mut text = format!("{}\n\n  {first} {headline}\n", painted(failed.verdict.code, "31", look.color));
    let mut before = painted("  help: ", "36", look.color);
    let room = look.width.saturating_sub(8);
    let remedy = wrapped(&spelled(&failed.verdict.remedy), room);
    // what is to be pasted is not broken
    let command = spelled(&command);
    let command = command.lines().map(str::to_owned);
    for line in remedy.into_iter().chain(command) {
        text += &format!("{before}{line}\n");
        before = " ".repeat(8);
    }
    text
}

/// Lines of a text, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut row = String::new();
        for word in line.split(' ') {
            if !row.is_empty() && row.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut row));
            } else if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
        lines.push(row);
    }
    lines
}

/// A path below the working directory from there on.
fn relative(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// The words themselves.
pub fn words(output: &str, look: Look) -> String {
    let output = if look.is_terminal { escaped(output) } else { output.into() };
    let output = shortened(&output);
    let blocks = blocks(&output);
    let mut text = String::new();
    let (mut shown, mut folded, mut notes, mut missing) = (0, 0, 0, 0);
    for block in &blocks {
        match block.kind {
            Kind::Note => notes += 1,
            Kind::Missing => missing += 1,
            Kind::Error => notes = 0,
            Kind::Warning | Kind::Foreign | Kind::Plain => {}
        }
        let is_over = (shown > 0 && shown + block.lines.len() > MOST_LINES)
            || block.kind == Kind::Foreign
            || notes > MOST_NOTES
            || missing > MOST_MISSING;
        if !look.is_whole && is_over {
            folded += block.lines.len();
            continue;
        }
        shown += block.lines.len();
        text += &block.text(look);
    }
    if folded > 0 {
        let lines = if folded == 1 { "line" } else { "lines" };
        text += &format!("… {folded} {lines} of notes and consequences are folded; -v shows them\n");
    }
    text
}

/// Paths as people know them: the SDK's and the toolchain's by their names, those below the working directory from there on.
fn shortened(output: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let here = format!("{}/", here.display());
    let mut lines = Vec::new();
    for line in output.lines() {
        let mut line = line.replace(&here, "");
        if let Some((program, said)) = line.split_once(": ")
            && (program.ends_with("/ld") || program.ends_with("-ld"))
        {
            line = format!("ld: {said}");
        }
        for (part, name, keeps) in [("/sdk/", "gpsimd-sdk/", 17), ("/toolchains/", "/toolchain/", 0)] {
            while let Some((begin, end)) = installed(&line, part, keeps) {
                line.replace_range(begin..end, name);
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// The part of a line that is the directory of something installed, its version included.
fn installed(line: &str, part: &str, version: usize) -> Option<(usize, usize)> {
    let at = line.find(part).filter(|at| line[..*at].contains('/'))?;
    let begin = line[..at].rfind([' ', '\'', '`', ':', '(', '=']).map_or(0, |space| space + 1);
    let after = at + part.len();
    let end = match version {
        0 => after + line[after..].find('/')? + 1,
        len => after + len,
    };
    (line.get(begin..=begin) == Some("/") && line.is_char_boundary(end) && end <= line.len())
        .then_some((begin, end))
}

/// A message with what belongs to it.
struct Block<'a> {
    lines: Vec<&'a str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Error,
    Warning,
    Note,
    /// A note about a header that is not the author's.
    Foreign,
    /// A name that a linker misses.
    Missing,
    Plain,
}

impl Kind {
    fn of(line: &str) -> Option<Kind> {
        let is_foreign = line.starts_with("gpsimd-sdk/") || line.starts_with('/');
        match () {
            () if line.contains(": error: ") || line.contains(": fatal error: ") => Some(Kind::Error),
            () if line.contains(": warning: ") => Some(Kind::Warning),
            () if line.contains(": note: ") && is_foreign => Some(Kind::Foreign),
            () if line.contains(": note: ") => Some(Kind::Note),
            () if line.contains(": undefined reference to ") => Some(Kind::Missing),
            () => None,
        }
    }

    fn paint(self) -> &'static str {
        match self {
            Kind::Error => "01;31",
            Kind::Warning => "01;35",
            Kind::Note | Kind::Foreign => "01;36",
            Kind::Missing | Kind::Plain => "01",
        }
    }
}

/// Messages in order; lines that lead to a message, such as `In file included from`, are part of it.
fn blocks(output: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut leading = Vec::new();
    for line in output.lines() {
        let is_lead = line.starts_with("In file included from")
            || line.starts_with("                 from ")
            || line.contains(": In ")
            || line.contains("required from");
        match (Kind::of(line), blocks.last_mut()) {
            (Some(kind), _) => {
                leading.push(line);
                blocks.push(Block { lines: std::mem::take(&mut leading), kind });
            }
            (None, _) if is_lead => leading.push(line),
            (None, Some(last)) if leading.is_empty() => last.lines.push(line),
            (None, _) => leading.push(line),
        }
    }
    if !leading.is_empty() {
        blocks.push(Block { lines: leading, kind: Kind::Plain });
    }
    blocks
}

impl Block<'_> {
    fn text(&self, look: Look) -> String {
        let shift = self.shift(look.width);
        let mut text = String::new();
        for line in &self.lines {
            match margin(line) {
                Some(at) => {
                    let (margin, source) = line.split_at(at);
                    let is_mark = !margin.bytes().any(|byte| byte.is_ascii_digit());
                    let source = window(source, shift, look.width.saturating_sub(at));
                    text += margin;
                    text += &painted(&source, self.kind.paint(), look.color && is_mark);
                }
                None => text += &self.message(line, look),
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    /// Columns of source that are left out at the left, so that what is marked is in sight.
    fn shift(&self, width: usize) -> usize {
        let sources = || self.lines.iter().filter_map(|line| Some((margin(line)?, *line)));
        let Some(at) = sources().map(|(at, _)| at).max() else { return 0 };
        let room = width.saturating_sub(at);
        let is_mark = |line: &str| !line.as_bytes().iter().take(at).any(u8::is_ascii_digit);
        let marked = sources().find(|(_, line)| is_mark(line) && line.len() > at);
        let marks = marked.map(|(at, line)| &line[at..]).unwrap_or_default();
        let begin = marks.chars().take_while(|letter| *letter == ' ').count();
        let caret = marks.chars().position(|letter| letter == '^').unwrap_or(begin);
        let longest = sources().map(|(at, line)| line[at..].chars().count()).max().unwrap_or(0);
        if longest <= room {
            return 0;
        }
        // the caret a third from the left; never more than what leaves the end in sight
        let begin = if caret.saturating_sub(begin) < room / 3 { begin } else { caret };
        begin.saturating_sub(room / 3).min(longest.saturating_sub(room))
    }

    /// A line of words, wrapped between words.
    fn message(&self, line: &str, look: Look) -> String {
        let indent = line.len() - line.trim_start().len();
        let (first, rest) = line.split_at(indent);
        let text = first.to_owned() + &wrapped(rest, look.width.saturating_sub(4.max(indent))).join("\n    ");
        if look.color { self.coloured(&text) } else { text }
    }

    /// Place and quoted names bold, the kind in its colour.
    fn coloured(&self, text: &str) -> String {
        let kinds = ["fatal error: ", "error: ", "warning: ", "note: "];
        let found =
            kinds.iter().find_map(|kind| Some((text.find(&format!(": {kind}"))? + 2, kind.len() - 1)));
        let Some((at, len)) = found else { return text.to_owned() };
        let (place, rest) = text.split_at(at);
        let (kind, rest) = rest.split_at(len);
        let mut said = String::new();
        for (index, piece) in rest.split('\'').enumerate() {
            said += &match index % 2 {
                0 if index > 0 => format!("'{piece}"),
                0 => piece.to_owned(),
                _ => format!("'{}", painted(piece, "01", true)),
            };
        }
        format!("{} {}{said}", painted(place.trim_end(), "01", true), painted(kind, self.kind.paint(), true))
    }
}

fn painted(text: &str, paint: &str, is_painted: bool) -> String {
    if is_painted && !text.trim().is_empty() {
        format!("\x1b[{paint}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Where the source begins in a line that quotes it: behind `    4 | `.
fn margin(line: &str) -> Option<usize> {
    let at = line.find('|').filter(|_| line.starts_with(' '))?;
    let is_margin = line[..at].trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'+');
    is_margin.then_some((at + 2).min(line.len()))
}

/// A part of a line, with marks where something is left out.
fn window(source: &str, shift: usize, room: usize) -> String {
    let letters: Vec<char> = source.chars().collect();
    if shift == 0 && letters.len() <= room {
        return source.to_owned();
    }
    let end = letters.len().min(shift + room);
    let mut shown: Vec<char> = letters.get(shift..end).unwrap_or_default().to_vec();
    let is_blank = |letters: &[char]| letters.iter().all(|letter| *letter == ' ');
    if let Some(first) =
        shown.first_mut().filter(|_| shift > 0 && !is_blank(&letters[..shift.min(letters.len())]))
    {
        *first = '…';
    }
    if let Some(last) = shown.last_mut().filter(|_| end < letters.len()) {
        *last = '…';
    }
    shown.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
k.cpp: In function 'at::Tensor f(const at::Tensor&)':
k.cpp:2:52: error: 'const class at::Tensor' has no member named 'mul'
    2 | torch::Tensor f(const torch::Tensor& x, const torch::Tensor& y, const torch::Tensor& z) { return x.mul(2); }
      |                                                                                                    ^~~
In file included from /home/a/sdk/3ababa7c84b3731e/include/torch/torch.h:11,
                 from k.cpp:1:
/home/a/sdk/3ababa7c84b3731e/include/ATen/ops.h:96:8: note: 'at::mul' declared here
   96 | Tensor mul(const Tensor& self);
      |        ^~~";

    #[test]
    fn eighty_columns_show_what_is_marked() {
        let look = Look { width: 80, color: false, is_whole: false, is_terminal: false };
        let text = words(OUTPUT, look);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("return x.mul(2); }\n") && text.contains("^~~") && !text.contains("ops.h"),
            "{text}"
        );
        let lines: Vec<&str> = text.lines().collect();
        let column = |line: &str, what: &str| line.split(what).next().map(|before| before.chars().count());
        assert_eq!(column(lines[2], "mul(2)"), column(lines[3], "^~~"), "{text}");
        assert!(text.ends_with("… 5 lines of notes and consequences are folded; -v shows them\n"), "{text}");
    }

    #[test]
    fn everything_is_there_when_asked() {
        let text = words(OUTPUT, Look { width: 200, color: false, is_whole: true, is_terminal: false });
        assert!(text.contains("gpsimd-sdk/include/ATen/ops.h:96:8: note: 'at::mul' declared here"), "{text}");
        assert!(text.contains("from gpsimd-sdk/include/torch/torch.h:11,"), "{text}");
    }

    #[test]
    fn colours_are_gccs() {
        let text = words(
            "k.cpp:2:5: error: 'x' was not declared",
            Look { width: 80, color: true, is_whole: false, is_terminal: false },
        );
        assert_eq!(
            text,
            "\x1b[01mk.cpp:2:5:\x1b[0m \x1b[01;31merror:\x1b[0m '\x1b[01mx\x1b[0m' was not declared\n"
        );
    }

    #[test]
    fn a_linkers_lines_lose_its_directories() {
        let text = words(
            "/usr/lib/gcc/xtensa/12/../../bin/ld: k.o:(.text.f+0x4): undefined reference to `fopen'",
            Look { width: 80, color: false, is_whole: false, is_terminal: false },
        );
        assert_eq!(text, "ld: k.o:(.text.f+0x4): undefined reference to `fopen'\n");
    }
}
