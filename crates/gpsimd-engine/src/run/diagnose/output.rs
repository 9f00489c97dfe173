//! What a compiler or linker printed, as messages: errors in order, each with its place, the source it quotes and its notes.
//!
//! Reads GCC, Clang and GNU ld. Unaware of what the messages mean.

use crate::words::failed::Place;

/// An error of a compiler or linker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The author's line that the error is about; a header's only where the author's is not told.
    pub(super) place: Option<Place>,
    /// The error's own words, quotes plain.
    pub(super) text: String,
    /// The source that is shown below it.
    pub(super) quoted: String,
    /// What is noted about this error, a line each.
    pub(super) notes: Vec<String>,
}

/// The errors of an output, in order. Neither warnings nor notes are errors, whatever they say.
pub(super) fn errors(output: &str) -> Vec<Message> {
    let plain = output.replace(['‘', '’'], "'");
    let mut errors: Vec<Message> = Vec::new();
    // the author's lines that lead to what follows: instantiations, macros, inclusions
    let mut trail: Option<Place> = None;
    let mut is_quoting = false;
    for line in plain.lines() {
        if let Some(text) = quoted(line) {
            if let Some(last) = errors.last_mut().filter(|_| is_quoting) {
                last.quoted.push_str(text);
                last.quoted.push('\n');
            }
            continue;
        }
        let (place, rest) = located(line);
        let own = place.clone().filter(Place::is_authors);
        if let Some(text) = after(rest, &["error: ", "fatal error: "]) {
            let place = own.or(trail.take()).or(place);
            errors.push(Message { place, text: text.to_owned(), ..Message::default() });
            is_quoting = true;
        } else if let Some(text) = undefined(rest) {
            errors.push(Message { place: own, text: text.to_owned(), ..Message::default() });
            is_quoting = false;
        } else if let Some(text) = after(rest, &["note: ", "  note: "]) {
            if let Some(last) = errors.last_mut() {
                last.place = last.place.take().or(own);
                last.notes.push(text.trim().to_owned());
            }
            is_quoting = false;
        } else if rest.trim_start().starts_with("required from") {
            trail = own.or(trail);
        } else if rest.contains("In instantiation of") || rest.starts_with("warning: ") {
            trail = None;
            is_quoting = false;
        } else if let Some(text) = link_failure(rest) {
            errors.push(Message { text: text.to_owned(), ..Message::default() });
            is_quoting = false;
        }
    }
    errors
}

/// The source text of a line that quotes it: `    4 | code`, `      |   ^`.
fn quoted(line: &str) -> Option<&str> {
    let (number, text) = line.split_once('|')?;
    let is_margin = number.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'+');
    (is_margin && line.starts_with(' ')).then_some(text)
}

fn after<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    words.iter().find_map(|word| text.strip_prefix(word))
}

/// `k.cpp:4:12: rest`, `k.cpp:4: rest`; what has no such place is all rest.
fn located(line: &str) -> (Option<Place>, &str) {
    // the linker's own name before a place says nothing
    let line = line.split_once("/ld: ").map_or(line, |(_, rest)| rest);
    // what a flag such as -DFACTOR=missing says is in no file
    let line = line.strip_prefix("<command-line>: ").unwrap_or(line);
    let Some((file, rest)) = line.split_once(':') else { return (None, line) };
    if file.is_empty() || file.contains(['\'', '(']) || file.starts_with(' ') {
        return (None, line);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let wide = digits(rest);
    let Ok(number) = rest[..wide].parse() else { return (None, line) };
    let rest = rest[wide..].strip_prefix(':').unwrap_or(&rest[wide..]);
    let column = digits(rest);
    let (column, rest) = match rest[..column].parse() {
        Ok(number) if rest[column..].starts_with(':') => (number, &rest[column + 1..]),
        _ => (0, rest),
    };
    let place = Place { file: file.to_owned(), line: number, column };
    (Some(place), rest.strip_prefix(' ').unwrap_or(rest))
}

/// The linker's complaint about a name that nothing defines.
fn undefined(rest: &str) -> Option<&str> {
    rest.find("undefined reference to ").map(|at| &rest[at..])
}

/// What else a linker says that ends its work, in whose lines `error` is not written.
fn link_failure(rest: &str) -> Option<&str> {
    let signs =
        ["will not fit in region", "' overflowed by ", "multiple definition of ", "dangerous relocation"];
    signs.iter().any(|sign| rest.contains(sign)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_order_with_the_authors_place() {
        let output = "\
In file included from /sdk/gpsimd-sdk/include/torch/torch.h:11,
                 from k.cpp:1:
k.cpp: In function 'at::Tensor f(const at::Tensor&)':
k.cpp:3:9: warning: something that names no error: no
k.cpp:4:12: error: ‘scalar_t’ was not declared in this scope
    4 |     auto a = x.accessor<scalar_t, 1>();
      |                         ^~~~~~~~
/home/sdk/3ababa7c84b3731e/include/Tensor.h:39:31: note:   passing 'const at::Tensor' as 'this' argument discards qualifiers
/sdk/gpsimd-sdk/x.h: In instantiation of 'T& R<T>::operator=(T)':
k.cpp:7:83:   required from here
/home/sdk/3ababa7c84b3731e/include/x.h:27:19: error: static assertion failed: Can only write to non-const Tensors
";
        let found = errors(output);
        let places: Vec<String> = found
            .iter()
            .map(|error| error.place.as_ref().map(Place::to_string).unwrap_or_default())
            .collect();
        assert_eq!(places, ["k.cpp:4:12", "k.cpp:7:83"]);
        assert_eq!(found[0].text, "'scalar_t' was not declared in this scope");
        assert!(found[0].quoted.contains("x.accessor<scalar_t") && found[0].notes.len() == 1);
        assert_eq!(found[1].text, "static assertion failed: Can only write to non-const Tensors");
    }

    #[test]
    fn a_linkers_words_are_errors_too() {
        let rows = [
            (
                "/usr/bin/ld: /b/k.o:(.text.f+0x4): undefined reference to `fopen'",
                "undefined reference to `fopen'",
            ),
            ("/toolchain/x.h:883: undefined reference to `std::x'", "undefined reference to `std::x'"),
            (
                "ld: k.so section `.bss' will not fit in region `sram'",
                "ld: k.so section `.bss' will not fit in region `sram'",
            ),
        ];
        for (output, want) in rows {
            assert_eq!(errors(output).first().map(|error| error.text.as_str()), Some(want), "{output}");
        }
    }
}
