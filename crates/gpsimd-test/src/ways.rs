//! A loaded library, one for each way a call can go.
//!
//! Unaware of cases. Who makes one knows the files.

use gpsimd_device::{Arg, CallError, Control, LoadError, Machine, RunReport, TensorSpec};
use serde::Serialize;

/// How a library was built, and how it got to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WayKind {
    /// Images at fixed addresses, on eight cores.
    Eight,
    /// The image for one core.
    One,
    /// The split image, loaded by record.
    Record,
    /// Images with the compiler's checks in.
    Checked,
}

impl WayKind {
    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            WayKind::Eight => "eight cores",
            WayKind::One => "one core",
            WayKind::Record => "the split image",
            WayKind::Checked => "the checked build",
        }
    }
}

/// Makes a machine with the library freshly loaded.
pub type Boot<'a> = Box<dyn Fn() -> Result<Machine, LoadError> + Send + 'a>;

/// One way.
pub struct Way<'a> {
    /// Which.
    pub kind: WayKind,
    /// What `run` calls it: the library, and options.
    pub words: (String, Vec<String>),
    machine: Machine,
    boot: Boot<'a>,
}

impl<'a> Way<'a> {
    /// Loads the library for the first time.
    ///
    /// # Errors
    /// [`LoadError`] when a core does not take it.
    pub fn new(kind: WayKind, words: (String, Vec<String>), boot: Boot<'a>) -> Result<Way<'a>, LoadError> {
        Ok(Way { kind, words, machine: boot()?, boot })
    }

    /// Names of the ops that it registers.
    pub fn functions(&self) -> Vec<String> {
        self.machine.functions().iter().map(|function| function.name.clone()).collect()
    }

    /// Calls an op.
    ///
    /// # Errors
    /// [`CallError`] when the call cannot be made at all.
    pub fn call(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: TensorSpec,
        control: &Control,
    ) -> Result<RunReport, CallError> {
        self.machine.call(op, args, output, control, |_| {})
    }

    /// Calls an op of a library that was never called before.
    ///
    /// # Errors
    /// [`CallError`] when the call cannot be made at all; a library that loads once and then no more is one that aborts.
    pub fn call_first(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: TensorSpec,
        control: &Control,
    ) -> Result<RunReport, CallError> {
        if let Ok(machine) = (self.boot)() {
            self.machine = machine;
        }
        self.call(op, args, output, control)
    }

    /// The line that makes a call by hand.
    pub fn line(&self, op: &str, words: &[String], more: &[&str]) -> String {
        let (library, options) = &self.words;
        let quoted = |word: &String| match word.contains([' ', '(', '\'', '"']) {
            true => format!("'{word}'"),
            false => word.clone(),
        };
        let mut line = vec!["gpsimd-build run".to_owned(), quoted(library)];
        line.extend(words.iter().map(quoted));
        line.extend(["--op".to_owned(), op.to_owned()]);
        line.extend(options.iter().cloned());
        line.extend(more.iter().map(ToString::to_string));
        line.join(" ")
    }
}
