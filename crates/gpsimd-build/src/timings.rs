//! Where the time of a build went: as a tree for people, as Chrome trace events for a browser's tracing page.
//!
//! An action hangs below the one whose end let it start, so the way from a root to the last leaf is the critical path.
//! Unaware of what the actions are.

use std::time::Duration;

use miette::{IntoDiagnostic as _, Result};
use serde_json::json;

/// The actions that ran, in the order they started.
#[derive(Debug, Default)]
pub struct Timings {
    spans: Vec<Span>,
}

#[derive(Debug)]
struct Span {
    label: String,
    begin: Duration,
    end: Option<Duration>,
    lane: usize,
    after: Option<String>,
    is_cached: bool,
}

impl Span {
    fn took(&self) -> Duration {
        self.end.unwrap_or(self.begin).saturating_sub(self.begin)
    }
}

impl Timings {
    /// An action starts on a worker; `after` let it.
    pub fn start(&mut self, label: &str, now: Duration, lane: usize, after: Option<&str>) {
        let after = after.map(str::to_owned);
        self.spans.push(Span {
            label: label.to_owned(),
            begin: now,
            end: None,
            lane,
            after,
            is_cached: false,
        });
    }

    /// It ends.
    pub fn end(&mut self, label: &str, now: Duration, is_cached: bool) {
        if let Some(span) = self.spans.iter_mut().rev().find(|span| span.label == label && span.end.is_none())
        {
            span.end = Some(now);
            span.is_cached = is_cached;
        }
    }

    /// Chrome trace JSON: complete events, times in microseconds.
    ///
    /// # Errors
    /// None but of memory.
    pub fn trace(&self) -> Result<Vec<u8>> {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let events: Vec<_> = self
            .spans
            .iter()
            .map(|span| {
                json!({
                    "name": span.label,
                    "cat": if span.is_cached { "cached" } else { "ran" },
                    "ph": "X",
                    "ts": micros(span.begin),
                    "dur": micros(span.took()),
                    "pid": 1,
                    "tid": span.lane + 1,
                })
            })
            .collect();
        serde_json::to_vec_pretty(&json!({ "traceEvents": events, "displayTimeUnit": "ms" }))
            .into_diagnostic()
    }

    /// One line an action, indented below what it waited for; `*` marks the critical path.
    pub fn tree(&self) -> String {
        if self.spans.is_empty() {
            return "nothing ran\n".to_owned();
        }
        let path = self.critical_path();
        let total: Duration = path.iter().filter_map(|&index| self.spans.get(index)).map(Span::took).sum();
        let end = self.spans.iter().filter_map(|span| span.end).max().unwrap_or_default();
        let begin = self.spans.iter().map(|span| span.begin).min().unwrap_or_default();
        let mut text = format!(
            "{} actions in {} ms, {} ms of them on the critical path (*)\n",
            self.spans.len(),
            end.saturating_sub(begin).as_millis(),
            total.as_millis()
        );
        for root in self.children(None) {
            self.branch(root, 0, &path, &mut text);
        }
        text
    }

    fn branch(&self, index: usize, depth: usize, path: &[usize], text: &mut String) {
        let Some(span) = self.spans.get(index) else { return };
        let mark = if path.contains(&index) { '*' } else { '-' };
        let cached = if span.is_cached { "  from the cache" } else { "" };
        let took = span.took().as_secs_f64() * 1000.0;
        let indent = "  ".repeat(depth);
        *text += &format!("{mark} {took:8.1} ms  {indent}{}{cached}\n", span.label);
        for child in self.children(Some(index)) {
            self.branch(child, depth + 1, path, text);
        }
    }

    /// Spans that the span let start; of one that did not run, nobody is left to hang below, so they are roots.
    fn children(&self, parent: Option<usize>) -> Vec<usize> {
        let parent_of = |index: usize, span: &Span| {
            let after = span.after.as_ref()?;
            self.spans.get(..index)?.iter().rposition(|other| other.label == *after)
        };
        let spans = self.spans.iter().enumerate();
        spans.filter(|(index, span)| parent_of(*index, span) == parent).map(|(index, _)| index).collect()
    }

    /// From the span that ended last back to a root.
    fn critical_path(&self) -> Vec<usize> {
        let last = (0..self.spans.len()).max_by_key(|&index| self.spans.get(index).and_then(|span| span.end));
        let mut path: Vec<usize> = last.into_iter().collect();
        while let Some(span) = path.last().and_then(|&index| self.spans.get(index)) {
            let before = path.last().and_then(|&index| self.spans.get(..index));
            let parent =
                span.after.as_ref().and_then(|after| before?.iter().rposition(|other| other.label == *after));
            match parent {
                Some(parent) => path.push(parent),
                None => break,
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings() -> Timings {
        let ms = Duration::from_millis;
        let mut timings = Timings::default();
        timings.start("compile k.cpp", ms(1), 0, None);
        timings.start("compile wrapper.cpp", ms(1), 1, None);
        timings.end("compile wrapper.cpp", ms(41), true);
        timings.end("compile k.cpp", ms(101), false);
        timings.start("link", ms(102), 0, Some("compile k.cpp"));
        timings.end("link", ms(122), false);
        timings
    }

    #[test]
    fn the_tree_shows_the_critical_path() {
        insta::assert_snapshot!(timings().tree(), @r"
        3 actions in 121 ms, 120 ms of them on the critical path (*)
        *    100.0 ms  compile k.cpp
        *     20.0 ms    link
        -     40.0 ms  compile wrapper.cpp  from the cache
        ");
        assert_eq!(Timings::default().tree(), "nothing ran\n");
    }

    #[test]
    fn the_trace_has_complete_events() {
        let trace: serde_json::Value =
            serde_json::from_slice(&timings().trace().expect("a trace")).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        assert_eq!(events.len(), 3);
        assert_eq!(
            events[2],
            json!({
                "name": "link", "cat": "ran", "ph": "X", "ts": 102_000, "dur": 20_000, "pid": 1, "tid": 1
            })
        );
    }
}
