//! What a compiler's or linker's words mean for a kernel author.
//!
//! The words are always shown; the first error's meaning is put beside them. Only errors are asked: a note says what the
//! compiler considered, and a warning beside an error stops nothing. Unaware of who ran what, and of terminals.

pub(crate) mod lacking;
mod meaning;
mod names;
mod output;
pub(crate) mod rules;
mod undefined;

use crate::run::diagnose::meaning::{Meant, meant};
use crate::run::diagnose::output::Message;
use crate::words::failed::Verdict;

/// What the output of a failed command means; `status` is how it ended.
pub(crate) fn verdict(output: &str, status: &str) -> Verdict {
    if let Some(verdict) = rules::of_the_machine(output) {
        return verdict;
    }
    let errors = output::errors(output);
    let Some(first) = errors.first() else { return rules::without_errors(output, status) };
    let subject = meant(&first.text);
    macro_of_type(subject, &errors)
        .or_else(|| lacking::said(subject).map(|(headline, remedy)| lack(first, headline, remedy)))
        .or_else(|| names::verdict(subject, first))
        .or_else(|| rules::verdict(&errors))
        .unwrap_or_else(|| Verdict {
            code: rules::FAILED,
            headline: first.text.clone(),
            remedy: rules::plain_remedy(first),
            place: first.place.clone(),
        })
}

/// What a compiler's or linker's words mean.
pub fn meaning_of(output: &str) -> Verdict {
    verdict(output, "no status")
}

fn lack(error: &Message, headline: String, remedy: String) -> Verdict {
    Verdict { code: lacking::CODE, headline, remedy, place: error.place.clone() }
}

/// `scalar_t` is missed first, inside a dispatch macro's lambda; what is missing is the macro.
fn macro_of_type(subject: Meant<'_>, errors: &[Message]) -> Option<Verdict> {
    let is_type = matches!(subject, Meant::Undeclared { name: "scalar_t" });
    let is_dispatch = |error: &&Message| match meant(&error.text) {
        Meant::Undeclared { name } => name.starts_with("AT_DISPATCH_"),
        _ => false,
    };
    let missing = errors.iter().find(is_dispatch).filter(|_| is_type)?;
    let (headline, remedy) = lacking::said(meant(&missing.text))?;
    Some(lack(missing, headline, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_counts() {
        let rows = [
            (
                "k.cpp:2:10: fatal error: torchneuron/register.h: No such file or directory\n",
                "compile::registration",
                "k.cpp:2:10",
            ),
            (
                "k.cpp:2:10: fatal error: Eigen/Dense: No such file or directory\n",
                "compile::header",
                "k.cpp:2:10",
            ),
            (
                "k.cpp:2:5: error: unused variable 'u' [-Werror=unused-variable]\nk.cpp:3:1: error: exception handling disabled",
                "compile::warning",
                "k.cpp:2:5",
            ),
            (
                "k.cpp:4:5: error: 'scalar_t' was not declared in this scope\nt.h:9:1: note: passing 'const at::Tensor' as 'this' argument discards qualifiers\nk.cpp:3:3: error: 'AT_DISPATCH_ALL_TYPES' was not declared in this scope\n",
                "compile::lacking",
                "k.cpp:3:3",
            ),
            (
                "k.cpp:2:5: warning: unused variable 'u' [-Wunused-variable]\nk.cpp:3:1: error: expected ';' before '}' token\n",
                "engine::command_failed",
                "k.cpp:3:1",
            ),
            ("k.cpp:4:52: error: format '%d' expects ... [-Werror=format=]", "compile::format", "k.cpp:4:52"),
            (
                "libXtensaCodeGen.so: cannot enable executable stack as shared object requires: Permission denied",
                "compile::executable_stack",
                "",
            ),
            (
                "Error: License checkout failed: FlexNet Licensing error:-15,570. System Error: 111",
                "compile::licence",
                "",
            ),
            (
                "k.cpp:2:10: fatal error: 'torchneuron/register.h' file not found",
                "compile::registration",
                "k.cpp:2:10",
            ),
            (
                "k.cpp:5:14: error: format specifies type 'int' [-Werror,-Wformat]",
                "compile::format",
                "k.cpp:5:14",
            ),
            ("k.cpp:3:1: error: no matching function for call to 'empty'", "compile::dtype", "k.cpp:3:1"),
            ("k.cpp:1:1: error: expected ';' before '}' token", "engine::command_failed", "k.cpp:1:1"),
            ("ld: k.o: undefined reference to `fopen'", "link::undefined", ""),
            ("", "engine::command_failed", ""),
        ];
        for (output, code, place) in rows {
            let verdict = verdict(output, "exit status: 1");
            let found = verdict.place.map(|place| place.to_string()).unwrap_or_default();
            assert_eq!((verdict.code, found.as_str()), (code, place), "{output}");
        }
    }
}
