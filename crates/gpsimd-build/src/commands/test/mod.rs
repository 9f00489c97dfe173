//! `test`: everything about the ops of a library, in one go.
//!
//! What is tried and how it is judged is [`gpsimd_test`]'s; here libraries are found or built, and results shown.

mod asked;
mod libraries;
mod reference;
mod show;
mod twin;

#[cfg(test)]
pub use show::Document;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use gpsimd_device::{Code, Control, Tensor, TensorSpec};
use gpsimd_library::arguments::{checks, count};
use gpsimd_schema::Signature;
use gpsimd_test::{Dim, Group, OpReport, Pattern, Reference, Shard, Slot, Tester, Tolerance, Wish};
use miette::{Diagnostic, Result};

use super::draft::host_compiler;
use super::{Status, processors};
use crate::cli::{Cases, Test};
use crate::files::{self, read_at_most};
use crate::inputs;
use crate::interrupt;
use crate::npy;
use crate::output::say;
use crate::render::Render;
use libraries::Libraries;
use reference::Python;
use twin::Twin;

/// Most cases at the same time: each tester has a device of its own for every way to it.
const MOST_TESTERS: usize = 4;

/// Calls that are told before the rest is built: leading extents to beyond two rounds of eight cores.
const CALLS_OF_FIRST_LOOK: usize = 20;

/// Why nothing can be tested.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum TestError {
    /// `--op` that is not in the library.
    #[error("the library has no op {name}; it has {}", .known.join(", "))]
    #[diagnostic(code(test::op), help("name one of them by its kernel, its name, or my::name"))]
    Op {
        /// As given.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A library without a manifest.
    #[error("{path} does not say what its ops take")]
    #[diagnostic(
        code(test::manifest),
        help("name the library by its manifest (build/NAME), or give its sources")
    )]
    NoManifest {
        /// The library.
        path: String,
    },
    /// Inputs for several ops.
    #[error("--input, --reference and --expect are about one op, and there are {}", .known.join(", "))]
    #[diagnostic(code(test::one_op), help("choose one with --op"))]
    OneOp {
        /// What there is.
        known: Vec<String>,
    },
}

/// Tests a library.
pub fn run(arguments: &Test, render: &Render) -> Result<Status> {
    interrupt::listen();
    let allowed = checks(&arguments.allow)?;
    let control = Arc::new(Control::default());
    let handle = Arc::clone(&control);
    interrupt::on_stop(move || handle.stop());
    let look = |libraries: &Libraries| first_look(arguments, libraries, &allowed, &control, render);
    let libraries = Libraries::of(arguments, render, look)?;
    let ops = libraries.ops(&arguments.compile.ops.ops)?;
    let is_about_one =
        !arguments.inputs.is_empty() || arguments.reference.is_some() && !arguments.is_by_twin();
    if is_about_one && ops.len() > 1 {
        let known = ops.into_iter().map(|(kernel, _)| kernel).collect();
        return Err(TestError::OneOp { known }.into());
    }
    let (part, of) = arguments.shard.unwrap_or((Shard::WHOLE.part, Shard::WHOLE.of));
    let line = show::Line::new(render.is_json());
    let mut reports: Vec<OpReport> = Vec::new();
    for (kernel, signature) in ops {
        let wish = Wish {
            given: given(&arguments.inputs, &signature, &kernel)?,
            seed: arguments.seed,
            shard: Shard { part, of },
            groups: arguments.only.iter().map(|cases| group(*cases)).collect(),
            most: usize::MAX,
        };
        let reference = reference(arguments, &libraries, &kernel)?;
        let tester = || -> Result<Tester<'_>> {
            let mut tester = self::tester(&libraries, &kernel, signature.clone(), &allowed, &control)?;
            tester.reference = reference.clone();
            tester.tolerance = Tolerance { ulps: arguments.ulps.clone() };
            tester.notes = libraries.notes.iter().cloned().collect();
            Ok(tester)
        };
        let mut others = (1..processors().min(MOST_TESTERS)).map(|_| tester()).collect::<Result<Vec<_>>>()?;
        let observe = &mut |group, at, all| line.show(&kernel, group, at, all);
        reports.push(tester()?.run(&mut others, &wish, interrupt::flag(), observe));
    }
    line.clear();
    if let Some(path) = &arguments.junit {
        files::write(path, gpsimd_test::junit(&reports).as_bytes())?;
    }
    if interrupt::flag().load(std::sync::atomic::Ordering::SeqCst) {
        return Err(gpsimd_engine::EngineError::Stopped.into());
    }
    show::reports(&reports, line.elapsed(), render)
}

/// Who tries an op on every library there is so far.
fn tester<'l>(
    libraries: &'l Libraries,
    kernel: &str,
    signature: Signature,
    allowed: &BTreeSet<Code>,
    control: &Arc<Control>,
) -> Result<Tester<'l>> {
    let mut tester = Tester::new(kernel.to_owned(), signature, libraries.ways()?, Arc::clone(control));
    tester.shapes = libraries.shapes()?;
    tester.allowed = allowed.clone();
    Ok(tester)
}

/// What a few calls on the library that the author means come to, told while the others are yet to be built.
fn first_look(
    arguments: &Test,
    libraries: &Libraries,
    allowed: &BTreeSet<Code>,
    control: &Arc<Control>,
    render: &Render,
) -> Result<()> {
    if render.is_json() {
        return Ok(());
    }
    let line = show::Line::new(true);
    let ops = libraries.ops(&arguments.compile.ops.ops)?;
    let is_about_one = ops.len() == 1;
    let mut reports = Vec::new();
    for (kernel, signature) in ops {
        let given = if is_about_one { given(&arguments.inputs, &signature, &kernel)? } else { None };
        let groups = vec![Group::Given, Group::Extents];
        let wish =
            Wish { given, seed: arguments.seed, shard: Shard::WHOLE, groups, most: CALLS_OF_FIRST_LOOK };
        let mut tester = tester(libraries, &kernel, signature, allowed, control)?;
        reports.push(tester.run(&mut [], &wish, interrupt::flag(), &mut |_, _, _| {}));
    }
    if !interrupt::flag().load(std::sync::atomic::Ordering::SeqCst) {
        say(&show::first_look(&reports, line.elapsed()));
    }
    Ok(())
}

fn group(cases: Cases) -> Group {
    match cases {
        Cases::Given => Group::Given,
        Cases::Calls => Group::Calls,
        Cases::Extents => Group::Extents,
        Cases::Blocks => Group::Blocks,
        Cases::Dtypes => Group::Dtypes,
        Cases::Unusual => Group::Unusual,
    }
}

/// Who knows what an op should compute; asked by one tester at a time.
type Known = Arc<Mutex<dyn Reference + Send>>;

fn reference(arguments: &Test, libraries: &Libraries, kernel: &str) -> Result<Option<Known>> {
    if let Some(path) = &arguments.expect {
        let tensor = npy::read(path, read_at_most(path, inputs::LONGEST)?)?;
        return Ok(Some(Arc::new(Mutex::new(Expected(tensor)))));
    }
    if arguments.is_by_twin() {
        let twin = Twin::start(&libraries.twin, &host_compiler()?, kernel, libraries.cores())?;
        return Ok(Some(Arc::new(Mutex::new(twin))));
    }
    let Some(name) = &arguments.reference else { return Ok(None) };
    Ok(Some(Arc::new(Mutex::new(Python::start(name, arguments.python.as_deref())?))))
}

/// What one call should give.
struct Expected(Tensor);

impl Reference for Expected {
    fn output(&mut self, _: &[gpsimd_device::Arg], _: &TensorSpec) -> Result<Tensor, String> {
        Ok(self.0.clone())
    }

    fn knows_all(&self) -> bool {
        false
    }
}

/// What the words of one good call say an op takes: extents that are equal are tied.
fn given(words: &[String], signature: &Signature, op: &str) -> Result<Option<(Pattern, Vec<u64>)>> {
    if words.is_empty() {
        return Ok(None);
    }
    count(op, signature, words.len())?;
    let mut symbols: BTreeMap<u64, usize> = BTreeMap::new();
    let mut sizes = Vec::new();
    let mut slots = Vec::new();
    for (index, (word, param)) in words.iter().zip(&signature.params).enumerate() {
        let name = param.name.clone().unwrap_or_else(|| format!("input{index}"));
        let argument = inputs::argument(index, &name, word, Some(param.ty), 0)?;
        let Some(made) = inputs::made(word)? else {
            slots.push(Slot::Value(argument.value, word.clone()));
            continue;
        };
        let mut dim = |extent: &u64| match extent {
            1 => Dim::One,
            _ => Dim::Symbol(*symbols.entry(*extent).or_insert_with(|| {
                sizes.push(*extent);
                sizes.len() - 1
            })),
        };
        let dims = made.spec.shape.iter().map(&mut dim).collect();
        slots.push(Slot::Tensor { dims, dtype: made.spec.dtype, kind: made.kind });
    }
    Ok(Some((Pattern { slots }, sizes)))
}

#[cfg(test)]
mod tests {
    use gpsimd_device::{Dtype, Value};

    use super::*;

    #[test]
    fn equal_extents_are_tied() {
        let schema =
            gpsimd_schema::signature("my::n(Tensor x, Tensor w, float eps) -> Tensor").expect("a schema");
        let words = ["rand:16x24", "ones:1x24:int8", "1e-5"].map(str::to_owned);
        let (pattern, sizes) = given(&words, &schema, "n").expect("reads").expect("given");
        assert_eq!(sizes, [16, 24]);
        assert_eq!(pattern.words(), ["float32[a, b]", "int8[1, b]", "1e-5"]);
        assert!(matches!(pattern.slots[2], Slot::Value(Value::Float(_), _)));
        assert_eq!(pattern.first(), Some((2, Dtype::Float32)));
    }
}
