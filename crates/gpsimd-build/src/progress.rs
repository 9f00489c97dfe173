//! What a person sees while a build runs.
//!
//! Nothing for the first 0.3 s and nothing on a pipe; then one line with what is running. `-v` prints each
//! command as it starts. Unaware of what the actions are.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpsimd_engine::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A wait shorter than this needs no explanation.
const PATIENCE: Duration = Duration::from_millis(300);

/// Shows the progress of one build.
pub struct Progress {
    bar: ProgressBar,
    begin: Instant,
    verbose: bool,
    running: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl Progress {
    /// No line of what is running when `silent` or when standard error is no terminal; `verbose` speaks anyway.
    pub fn new(verbose: bool, silent: bool) -> Self {
        let bar = if silent || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        };
        if let Ok(style) = ProgressStyle::with_template("[{pos}/{len}] {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, begin: Instant::now(), verbose, running: Mutex::default(), warnings: Mutex::default() }
    }

    /// Takes note of an event.
    pub fn event(&self, event: &Event) {
        if self.begin.elapsed() > PATIENCE && self.bar.is_hidden() && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        match event {
            Event::Waiting => self.line("waiting for another build of this library"),
            Event::Planned { actions } => self.bar.set_length(*actions as u64),
            Event::Started { action } => {
                if self.verbose {
                    self.line(&action.work.command().to_string());
                }
                lock(&self.running).push(action.label.clone());
                self.show_running();
            }
            Event::Finished { action, took, output } => {
                let mut running = lock(&self.running);
                if let Some(index) = running.iter().position(|label| *label == action.label) {
                    running.remove(index);
                }
                drop(running);
                if self.verbose {
                    self.line(&format!("  {} took {} ms", action.label, took.as_millis()));
                }
                if !output.trim().is_empty() {
                    lock(&self.warnings).push(format!("{}:\n{}", action.label, output.trim_end()));
                }
                self.bar.inc(1);
                self.show_running();
            }
        }
    }

    /// Clears the line; gives what successful commands said (warnings), in the order they ended.
    pub fn finish(self) -> Vec<String> {
        self.bar.finish_and_clear();
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since the build began.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    fn show_running(&self) {
        self.bar.set_message(lock(&self.running).join(", "));
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
