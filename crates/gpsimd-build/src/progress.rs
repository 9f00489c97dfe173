//! What a person sees while a build runs.
//!
//! Nothing for the first 0.3 s and nothing on a pipe; then one line with what is running. `-v` prints each
//! command as it starts, `--explain` why. Unaware of what the actions are.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpsimd_engine::{Event, How};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{escaped, say};
use crate::timings::Timings;

/// A wait shorter than this needs no explanation.
const PATIENCE: Duration = Duration::from_millis(300);

/// Shows the progress of one build.
pub struct Progress {
    bar: ProgressBar,
    begin: Instant,
    /// Whether there is a terminal to draw on.
    is_shown: bool,
    verbose: bool,
    explains: bool,
    running: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
    timings: Mutex<Timings>,
}

impl Progress {
    /// No bar when `silent` or when standard error is no terminal; what `verbose` or explaining asks for is said anyway.
    pub fn new(verbose: bool, silent: bool, explains: bool) -> Self {
        let is_shown = !silent && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("[{pos}/{len}, {elapsed}] {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            begin: Instant::now(),
            is_shown,
            // asked for, on standard error: a document on standard output is not in the way
            verbose,
            explains,
            running: Mutex::default(),
            warnings: Mutex::default(),
            timings: Mutex::default(),
        }
    }

    /// Takes note of an event.
    pub fn event(&self, event: &Event) {
        let now = self.begin.elapsed();
        if self.is_shown && now > PATIENCE && self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        match event {
            Event::Waiting => self.line("waiting for another build of this library"),
            Event::Warning { text } => lock(&self.warnings).push(format!("warning: {text}")),
            Event::Planned { actions } => self.bar.set_length(*actions as u64),
            Event::Fresh { action, output } => {
                self.warn(&action.label, output);
                self.bar.inc(1);
            }
            Event::Started { action, reason, lane, after } => {
                self.explain(&format!("{}: {reason}", action.label));
                if self.verbose {
                    self.line(&action.work.command().to_string());
                }
                lock(&self.timings).start(&action.label, now, *lane, after.map(|action| &*action.label));
                lock(&self.running).push(action.label.clone());
                self.show_running();
            }
            Event::Finished { action, took, output, how } => {
                let mut running = lock(&self.running);
                if let Some(index) = running.iter().position(|label| *label == action.label) {
                    running.remove(index);
                }
                drop(running);
                let is_cached = *how == How::Cached;
                lock(&self.timings).end(&action.label, now, is_cached);
                if self.verbose {
                    let from = if is_cached { " (from the cache)" } else { "" };
                    self.line(&format!("  {} took {} ms{from}", action.label, took.as_millis()));
                }
                self.warn(&action.label, output);
                self.bar.inc(1);
                self.show_running();
            }
        }
    }

    /// Says why something runs or does not, if asked to.
    pub fn explain(&self, text: &str) {
        if self.explains {
            self.line(text);
        }
    }

    /// Clears the line; gives what successful commands said (warnings), in the order they ended, and how long
    /// everything took.
    pub fn finish(self) -> (Vec<String>, Timings) {
        self.bar.finish_and_clear();
        let timings = self.timings.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner), timings)
    }

    /// Since the build began.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    fn warn(&self, label: &str, output: &str) {
        if !output.trim().is_empty() {
            lock(&self.warnings).push(format!("{label}:\n{}", output.trim_end()));
        }
    }

    fn show_running(&self) {
        self.bar.set_message(escaped(&lock(&self.running).join(", ")).into_owned());
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| say(&format!("{text}\n")));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
