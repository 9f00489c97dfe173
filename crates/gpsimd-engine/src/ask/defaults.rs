//! Default arguments of kernels, read from their sources: debug information does not have them.
//!
//! Unaware of schemas; a default that is no plain number is handed on as it is written.

/// The default of each parameter of `function`, as written; `None` if no declaration with `count` parameters has any.
pub(crate) fn defaults(source: &str, function: &str, count: usize) -> Option<Vec<Option<String>>> {
    let text = without_comments(source);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut from = 0;
    while let Some(at) = text[from..].find(function).map(|at| from + at) {
        from = at + function.len();
        let is_word = !text[..at].ends_with(is_part) && !text[from..].starts_with(is_part);
        let Some(list) = text[from..].trim_start().strip_prefix('(').filter(|_| is_word) else { continue };
        let Some(parameters) = parameters(list).filter(|found| found.len() == count) else { continue };
        let found: Vec<Option<String>> = parameters.iter().map(|parameter| default(parameter)).collect();
        if found.iter().any(Option::is_some) {
            return Some(found);
        }
    }
    None
}

/// The number that a default is, as a schema writes it.
pub(crate) fn number(written: &str) -> Option<&str> {
    let plain = match written.strip_prefix("0x") {
        Some(_) => return None,
        None => written.trim_end_matches(['f', 'F', 'l', 'L', 'u', 'U']),
    };
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    let is_number =
        digits.starts_with(|letter: char| letter.is_ascii_digit()) && plain.parse::<f64>().is_ok();
    is_number.then_some(plain)
}

/// What stands between the parentheses, comma by comma; `list` begins after the first of them.
fn parameters(list: &str) -> Option<Vec<&str>> {
    let (mut depth, mut begin, mut found) = (0_u32, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => {
                found.push(&list[begin..at]);
                return Some(found);
            }
            ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                found.push(&list[begin..at]);
                begin = at + 1;
            }
            ';' => return None,
            _ => {}
        }
    }
    None
}

/// The default of `double by = 2.0`, if the text declares something and gives it one.
fn default(parameter: &str) -> Option<String> {
    let (declared, value) = parameter.split_once('=')?;
    // a call's argument has no type before its name
    let is_declared = declared.split_whitespace().count() > 1 && !value.starts_with('=');
    is_declared.then(|| value.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text with every comment blank.
fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        let skipped = match rest.get(..2) {
            Some("//") => rest.find('\n').unwrap_or(rest.len()),
            Some("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => 0,
        };
        if skipped > 0 {
            text.push(' ');
            rest = &rest[skipped..];
        } else {
            text.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_declaration_says() {
        let rows: &[(&str, Option<&[&str]>)] = &[
            (
                "torch::Tensor f(const torch::Tensor& x, double by = 2.0f, int64_t n=3) {",
                Some(&["", "2.0f", "3"]),
            ),
            (
                "Tensor f(const Tensor& x,\n  float by /* = 1 */ = M_PI / 2, // no, = 7\n  int n);",
                Some(&["", "M_PI / 2", ""]),
            ),
            ("Tensor f(std::map<int, int> m, int a, int n = g(1, 2));", Some(&["", "", "g(1, 2)"])),
            ("Tensor f(Tensor x, float by, int n) { return other_f(x, by = 1, 2); }", None),
            ("Tensor of(Tensor x, float by = 1, int n = 2);", None),
            ("Tensor f(Tensor x, float by = 1);", None),
            ("Tensor f(", None),
        ];
        for (source, want) in rows {
            let found = defaults(source, "f", 3);
            let found: Option<Vec<String>> =
                found.map(|found| found.into_iter().map(Option::unwrap_or_default).collect());
            assert_eq!(
                found.as_deref(),
                want.map(|want| want.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref(),
                "{source}"
            );
        }
        let numbers = [
            ("2.0f", Some("2.0")),
            ("-3", Some("-3")),
            ("1e-5", Some("1e-5")),
            ("7UL", Some("7")),
            ("M_PI", None),
            ("0x10", None),
            ("1 + 1", None),
            ("inf", None),
        ];
        for (written, want) in numbers {
            assert_eq!(number(written), want, "{written}");
        }
    }
}
