//! What an error is about: the member, name, operator or header that is not there, in one form for GCC and Clang.
//!
//! Unaware of which of them there should be.

/// The subject of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant<'a> {
    /// A member that a class has not.
    Member { class: &'a str, name: &'a str },
    /// A name that a namespace or class has not.
    Qualified { scope: &'a str, name: &'a str },
    /// A name that is nowhere declared.
    Undeclared { name: &'a str },
    /// An operator that the operands have not; Clang does not say which.
    Operator { sign: &'a str, operands: &'a str },
    /// A header that is not found.
    Header { name: &'a str },
    /// A pragma that is not obeyed.
    Pragma { name: &'a str },
    /// Something else.
    Other,
}

/// What the words of an error are about.
pub(super) fn meant(text: &str) -> Meant<'_> {
    member(text)
        .or_else(|| qualified(text))
        .or_else(|| undeclared(text))
        .or_else(|| operator(text))
        .or_else(|| header(text))
        .unwrap_or(Meant::Other)
}

/// The texts in single quotes, in order.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('\'').skip(1).step_by(2)
}

fn member(text: &str) -> Option<Meant<'_>> {
    if let Some((class, rest)) = text.split_once(" has no member named ") {
        return Some(Meant::Member { class, name: names(rest).next()? });
    }
    let rest = text.strip_prefix("no member named ").filter(|rest| !rest.contains("' in namespace '"))?;
    let mut names = names(rest);
    Some(Meant::Member { name: names.next()?, class: names.next()? })
}

fn qualified(text: &str) -> Option<Meant<'_>> {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mut quoted = names(text);
    let first = quoted.next()?;
    if says(&["' is not a member of '", "' in namespace '", "' in class '"]) {
        return Some(Meant::Qualified { name: first, scope: quoted.next()? });
    }
    // 'c10::optional' has not been declared
    let (scope, name) = first.rsplit_once("::").filter(|_| says(&["' has not been declared"]))?;
    Some(Meant::Qualified { scope, name })
}

fn undeclared(text: &str) -> Option<Meant<'_>> {
    const SIGNS: &[&str] = &[
        "' was not declared in this scope",
        "' has not been declared",
        "' does not name a type",
        "' is not a namespace-name",
        "use of undeclared identifier '",
        "unknown type name '",
    ];
    let is_said = SIGNS.iter().any(|sign| text.contains(sign));
    names(text).next().filter(|_| is_said).map(|name| Meant::Undeclared { name })
}

fn operator(text: &str) -> Option<Meant<'_>> {
    if let Some(rest) = text.strip_prefix("no match for 'operator") {
        let (sign, operands) = rest.split_once('\'')?;
        return Some(Meant::Operator { sign, operands });
    }
    if let Some(operands) = text.strip_prefix("invalid operands to binary expression ") {
        return Some(Meant::Operator { sign: "", operands });
    }
    if let Some((operands, _)) = text.split_once(" does not provide a subscript operator") {
        return Some(Meant::Operator { sign: "[]", operands });
    }
    let rest = text.strip_prefix("no 'operator")?;
    let (sign, operands) = rest.split_once('(')?;
    Some(Meant::Operator { sign, operands })
}

fn header(text: &str) -> Option<Meant<'_>> {
    if let Some(name) = text.strip_suffix(": No such file or directory") {
        return Some(Meant::Header { name });
    }
    if let Some(rest) = text.strip_suffix("' file not found") {
        return Some(Meant::Header { name: rest.trim_start_matches('\'') });
    }
    let name = text.strip_prefix("ignoring '#pragma ")?.split([' ', '\'']).next()?;
    Some(Meant::Pragma { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_of_gcc_and_clang() {
        let tensor = "'const class at::Tensor'";
        let rows = [
            (
                "'const class at::Tensor' has no member named 'mul'",
                Meant::Member { class: tensor, name: "mul" },
            ),
            ("no member named 'mul' in 'at::Tensor'", Meant::Member { class: "at::Tensor", name: "mul" }),
            ("'sum' is not a member of 'torch'", Meant::Qualified { scope: "torch", name: "sum" }),
            ("no member named 'sum' in namespace 'torch'", Meant::Qualified { scope: "torch", name: "sum" }),
            (
                "'optional' in namespace 'c10' does not name a template type",
                Meant::Qualified { scope: "c10", name: "optional" },
            ),
            ("'c10::optional' has not been declared", Meant::Qualified { scope: "c10", name: "optional" }),
            ("'scalar_t' was not declared in this scope", Meant::Undeclared { name: "scalar_t" }),
            ("use of undeclared identifier 'M_PI'", Meant::Undeclared { name: "M_PI" }),
            ("'__global__' does not name a type", Meant::Undeclared { name: "__global__" }),
            (
                "no match for 'operator*' (operand types are 'const at::Tensor' and 'int')",
                Meant::Operator { sign: "*", operands: " (operand types are 'const at::Tensor' and 'int')" },
            ),
            ("omp.h: No such file or directory", Meant::Header { name: "omp.h" }),
            ("'omp.h' file not found", Meant::Header { name: "omp.h" }),
            ("ignoring '#pragma omp parallel' [-Werror=unknown-pragmas]", Meant::Pragma { name: "omp" }),
            ("expected ';' before '}' token", Meant::Other),
        ];
        for (text, want) in rows {
            assert_eq!(meant(text), want, "{text}");
        }
    }
}
