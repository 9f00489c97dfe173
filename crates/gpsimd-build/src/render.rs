//! How results and failures look: text for people, JSON for programs.
//!
//! Unaware of what the commands do. Standard output carries results, standard error everything else.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write as _;
use std::io::IsTerminal;

use gpsimd_engine::{EngineError, Failed};
use gpsimd_toolchain::ToolchainError;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, Diagnosis, only_problem};
use crate::cli::{Global, When};
use crate::compiler_words::{self, Look};
use crate::output::{escaped, is_obeyed, json_escaped, print, print_raw, say, say_raw};
use crate::status::Status;

/// The chosen way to show things.
#[derive(Debug)]
pub struct Render {
    json: bool,
    color: bool,
    paints: bool,
    /// How many `-v` were given.
    pub verbose: u8,
    /// As an answer names it.
    command: &'static str,
    /// What an answer will say beside its result.
    warnings: RefCell<Vec<Diagnosis>>,
}

/// A result that is a text, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Text {
    /// What is printed without `--json`.
    pub text: String,
}

impl Render {
    /// From the global options and what standard error is, for one command.
    pub fn new(global: &Global, command: &'static str) -> Self {
        let colors = |stream: &dyn Fn() -> bool| match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => stream() && std::env::var_os("NO_COLOR").is_none(),
        };
        let color = colors(&|| std::io::stderr().is_terminal());
        let paints = colors(&|| std::io::stdout().is_terminal());
        Self {
            json: global.json,
            color,
            paints,
            verbose: global.verbose,
            command,
            warnings: RefCell::default(),
        }
    }

    /// Whether results are JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether what goes to standard output has colours.
    pub fn paints(&self) -> bool {
        self.paints
    }

    /// Prints a result: `value` in an answer, or the text that `text` makes.
    ///
    /// # Errors
    /// `value` cannot be represented in JSON, or standard output takes no more.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> miette::Result<()> {
        self.verdict(None, value, text).map(|_| ())
    }

    /// Prints a result, with what is wrong in it if something is; gives the exit status that this means.
    ///
    /// # Errors
    /// As for [`Render::result`].
    pub fn verdict(
        &self,
        fault: Option<Diagnosis>,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> miette::Result<Status> {
        let status = if fault.is_none() { Status::Good } else { Status::AtFault };
        if self.json {
            self.document(&self.answer(Some(value), fault)?)?;
        } else {
            print(&text())?;
        }
        Ok(status)
    }

    /// Prints a text that is the result.
    ///
    /// # Errors
    /// As for [`Render::result`].
    pub fn text(&self, text: String) -> miette::Result<Status> {
        let text = Text { text };
        self.verdict(None, &text, || text.text.clone())
    }

    /// Says what stops nothing: at once, or in the answer.
    pub fn warn(&self, warning: &(dyn Diagnostic + 'static)) {
        if self.json {
            self.warnings.borrow_mut().push(Diagnosis::of(warning));
        } else {
            say_raw(&self.diagnostic_text(warning));
        }
    }

    /// Says what another program said.
    pub fn warn_in_words(&self, text: &str) {
        if self.json {
            self.warnings.borrow_mut().push(Diagnosis::of_words(text));
        } else {
            say(&format!("{text}\n"));
        }
    }

    /// What an answer would say now beside its result.
    pub fn warnings(&self) -> Vec<Diagnosis> {
        self.warnings.borrow().clone()
    }

    /// The text of an answer.
    ///
    /// # Errors
    /// `result` cannot be represented in JSON.
    pub fn answer(
        &self,
        result: Option<&impl Serialize>,
        error: Option<Diagnosis>,
    ) -> miette::Result<String> {
        self.answer_with(result, error, self.warnings())
    }

    /// The text of an answer with these warnings.
    ///
    /// # Errors
    /// `result` cannot be represented in JSON.
    pub fn answer_with(
        &self,
        result: Option<&impl Serialize>,
        error: Option<Diagnosis>,
        warnings: Vec<Diagnosis>,
    ) -> miette::Result<String> {
        let answer = Answer::new(Some(self.command.to_owned()), result, error, warnings);
        serde_json::to_string_pretty(&answer)
            .map_err(|error| miette::miette!("cannot print the result as JSON: {error}"))
    }

    /// Prints the text of an answer.
    ///
    /// # Errors
    /// Standard output takes no more.
    pub fn document(&self, text: &str) -> miette::Result<()> {
        Ok(print_raw(format!("{}\n", json_escaped(text)).as_bytes())?)
    }

    /// Shows why a command failed.
    pub fn failure(&self, report: &miette::Report) {
        let error: &dyn Diagnostic = report.as_ref();
        // where the answer does not arrive, the text may
        let is_told = self.json
            && self
                .answer(None::<&()>, Some(Diagnosis::of(error)))
                .and_then(|answer| self.document(&answer))
                .is_ok();
        if !is_told {
            say_raw(&self.diagnostic_text(only_problem(error)));
        }
    }

    /// A diagnostic as text, with its labels pointing into the source. Where it has words that a terminal would obey,
    /// they are spelled, and nothing is coloured.
    pub fn diagnostic_text(&self, error: &(dyn Diagnostic + 'static)) -> String {
        let typed: &(dyn Error + 'static) = error;
        if let Some(EngineError::Failed(failed)) = typed.downcast_ref() {
            return self.failed_text(failed);
        }
        let plain = Self::themed(error, GraphicalTheme::unicode_nocolor());
        let is_obeyed = std::io::stderr().is_terminal() && plain.contains(is_obeyed);
        match (is_obeyed, self.color) {
            (true, _) => escaped(&plain).into_owned(),
            (false, true) => Self::themed(error, GraphicalTheme::unicode()),
            (false, false) => plain,
        }
    }

    /// A failed command: its own words, then what they mean.
    fn failed_text(&self, failed: &Failed) -> String {
        let is_terminal = std::io::stderr().is_terminal();
        let width = if is_terminal { width_of(&std::io::stderr()) } else { QUOTE_WIDTH };
        let look = Look { width, color: self.color, is_whole: self.verbose > 0, is_terminal };
        format!("{}\n{}", compiler_words::words(&failed.output, look), compiler_words::meaning(failed, look))
    }

    fn themed(error: &(dyn Diagnostic + 'static), theme: GraphicalTheme) -> String {
        let is_quoted = quotes_a_command(error);
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(width_of(&std::io::stderr()))
            .with_wrap_lines(std::io::stderr().is_terminal() && !is_quoted);
        let mut text = String::new();
        if handler.render_report(&mut text, error).is_err() {
            let _ = writeln!(text, "{error}");
        }
        text
    }
}

/// Whether the error holds what a command said, which is shown as it was said.
fn quotes_a_command(error: &(dyn Diagnostic + 'static)) -> bool {
    let error: &(dyn Error + 'static) = error;
    matches!(error.downcast_ref(), Some(ToolchainError::CommandFailed { .. }))
}

/// Columns of a compiler's words where there is no terminal.
const QUOTE_WIDTH: usize = 80;

/// Columns of what is not a terminal, or does not say.
const PLAIN_WIDTH: usize = 100;

/// Columns of standard output.
pub fn output_width() -> usize {
    width_of(&std::io::stdout())
}

/// Columns of a stream: its terminal's, which `COLUMNS` overrides; enough for a report everywhere.
fn width_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> usize {
    if !stream.is_terminal() {
        return PLAIN_WIDTH;
    }
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    asked.or_else(found).filter(|&width| width >= 40).unwrap_or(PLAIN_WIDTH)
}

/// The tool's own log, for its authors: `-vv` or `GPSIMD_BUILD_LOG`.
pub fn logging(verbose: u8) {
    let log =
        tracing_subscriber::fmt().with_writer(std::io::stderr).log_internal_errors(false).without_time();
    match tracing_subscriber::EnvFilter::try_from_env("GPSIMD_BUILD_LOG") {
        Ok(filter) => log.with_env_filter(filter).init(),
        // reading a filter takes longer than a build where nothing changed may
        Err(_) if verbose >= 2 => log.with_max_level(tracing::Level::DEBUG).init(),
        Err(_) => log.with_max_level(tracing::Level::WARN).init(),
    }
}
