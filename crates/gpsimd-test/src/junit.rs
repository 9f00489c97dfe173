//! Reports as JUnit XML, which every build server reads: a suite for each op, a case for each group.
//!
//! Unaware of files.

use std::fmt::Write as _;

use crate::report::OpReport;

/// The document.
pub fn junit(reports: &[OpReport]) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpsimd-build test\">\n");
    for report in reports {
        let seconds: f64 = report.groups.iter().map(|group| group.seconds).sum();
        let failed = report.groups.iter().filter(|group| group.failed > 0).count();
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" time=\"{seconds:.3}\">",
            escaped(&report.op),
            report.groups.len(),
        );
        for group in &report.groups {
            let name = group.group.name();
            let head = format!(
                "    <testcase classname=\"{}\" name=\"{name}\" time=\"{:.3}\"",
                escaped(&report.op),
                group.seconds
            );
            let failures = report.failures.iter().filter(|failure| failure.group == group.group);
            let failures: Vec<String> = failures
                .map(|failure| {
                    format!(
                        "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                        failure.rule,
                        escaped(&failure.message),
                        escaped(&failure.lines.join("\n"))
                    )
                })
                .collect();
            let _ = match failures.is_empty() {
                true => writeln!(text, "{head}/>"),
                false => writeln!(text, "{head}>\n{}    </testcase>", failures.concat()),
            };
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// Text that XML can carry: its own marks spelled, and what it has no form for left out.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown += "&amp;",
            '<' => shown += "&lt;",
            '>' => shown += "&gt;",
            '"' => shown += "&quot;",
            '\n' => shown += "&#10;",
            letter if letter.is_control() => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_control_characters() {
        assert_eq!(escaped("a<b & \"c\"\x1b\n"), "a&lt;b &amp; &quot;c&quot;\u{fffd}&#10;");
    }
}
