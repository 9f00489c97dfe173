//! The native twin: the same kernels for this machine, for whoever wants their results fast and has no need of checks that
//! only a simulated device can make.
//!
//! Made by the machine's own compiler, which the request names: without that there is no code for this machine in a build.
//! Unaware of images. What the twin runs on instead of a device is `sdk/native/runtime.cpp`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gpsimd_toolchain::Command;

use crate::plan::kernels;
use crate::plan::place::{Place, with_suffix};
use crate::stages::native::Table;
use crate::words::action::{Action, Work};
use crate::words::disk::{NATIVE, OPERATORS, file_name};
use crate::words::request::{NamedOp, Operators, Sanitizer};

/// The source of the twin's device.
pub(crate) const RUNTIME: &str = "runtime.cpp";

/// What makes this machine's C++ mean what the device's does: its language, plain `char` without a sign, one rounding for each
/// operation, shapes braced from a `size_t`, which is no narrowing on the device. Warnings are the device compiler's to give.
const MEANING: &[&str] = &["-std=c++14", "-funsigned-char", "-ffp-contract=off", "-Wno-narrowing", "-w"];

/// Nothing of the twin's is seen by who loads it but its two functions: PyTorch has the same names for other things.
const MAKING: &[&str] = &["-fPIC", "-fvisibility=hidden", "-g", "-O2"];

const KERNELS: &[&str] = &["-fno-rtti"];

/// The source of what makes operators of the twin's ops. It comes last: what shape sources register is there when it begins.
pub(crate) const OPERATORS_SOURCE: &str = "operators.cpp";

/// PyTorch's language; its headers are large, and nothing here takes long.
const FOR_PYTORCH: &[&str] = &["-std=c++17", "-fPIC", "-fvisibility=hidden", "-O1", "-w"];

/// Calls by which a kernel ends lead back to the caller, whose process goes on.
const LINK: &[&str] = &["-shared", "-pthread", "-Wl,--wrap=abort,--wrap=__assert_fail"];

/// The actions that make the twin, if the request has one.
pub(crate) fn twin(
    place: &Place,
    ops: &[NamedOp],
    device_objects: &[PathBuf],
    actions: &mut Vec<Action>,
) -> Vec<PathBuf> {
    let Some(compiler) = &place.project.native else { return Vec::new() };
    let twin = Twin { place, compiler, directory: place.work.join("native") };
    let sdk = &place.kit.sdk;
    let mut objects = Vec::new();
    for source in &place.project.sources {
        let object = with_suffix(twin.directory.join("obj").join(&source.object_stem), ".o");
        actions.push(twin.compile(&source.path, &object, &twin.kernel_flags()));
        objects.push(object);
    }
    let table = twin.directory.join("table.cpp");
    actions.push(Action::stage(
        "list the kernels of the native twin",
        device_objects.to_vec(),
        vec![table.clone()],
        Table { ops: ops.to_vec(), objects: device_objects.to_vec(), output: table.clone() },
    ));
    for source in [table, sdk.native_dir().join(RUNTIME)] {
        let object = twin.directory.join(file_name(&source)).with_extension("o");
        actions.push(twin.compile(&source, &object, &[]));
        objects.push(object);
    }
    let output = with_suffix(twin.directory.join(&place.project.name), NATIVE);
    actions.push(twin.link(&objects, &output));
    let operators = place.project.operators.as_ref().map(|operators| twin.operators(operators, actions));
    [output].into_iter().chain(operators).collect()
}

struct Twin<'a> {
    place: &'a Place<'a>,
    compiler: &'a Path,
    directory: PathBuf,
}

impl Twin<'_> {
    fn compile(&self, source: &Path, object: &Path, flags: &[OsString]) -> Action {
        let sdk = &self.place.kit.sdk;
        let mut words: Vec<OsString> = MEANING.iter().chain(MAKING).map(OsString::from).collect();
        for directory in [sdk.include_dir(), sdk.native_dir()] {
            words.extend(["-I".into(), directory.into_os_string()]);
        }
        words.extend(flags.iter().cloned());
        self.compiled("this machine", source, object, words)
    }

    /// The compile of a source with these words, by the machine's own compiler.
    fn compiled(&self, purpose: &str, source: &Path, object: &Path, words: Vec<OsString>) -> Action {
        let depfile = object.with_extension("d");
        let command = Command::new(self.compiler)
            .args(words)
            .args(["-MMD", "-MF"])
            .arg(depfile.as_os_str())
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(object);
        Action {
            label: format!("compile {} for {purpose}", file_name(source)),
            // the compiler is what the result depends on, too
            inputs: [source.to_owned(), self.compiler.to_owned()]
                .into_iter()
                .chain(self.place.unwritten_sdk())
                .collect(),
            outputs: vec![object.to_owned()],
            depfile: Some(depfile),
            work: Work::Process(command),
        }
    }

    /// The ops as operators of a PyTorch that is installed, with the shape sources' functions for their outputs.
    fn operators(&self, operators: &Operators, actions: &mut Vec<Action>) -> PathBuf {
        let sdk = &self.place.kit.sdk;
        let directory = self.directory.join("torch");
        let shapes = operators.shapes.iter().map(|source| (source.path.clone(), &*source.object_stem));
        let own = (sdk.native_dir().join(OPERATORS_SOURCE), OsStr::new("gpsimd.operators"));
        let mut objects = Vec::new();
        for (source, stem) in shapes.chain([own]) {
            let object = with_suffix(directory.join(stem), ".o");
            actions.push(self.compile_for_pytorch(&source, &object, &operators.libtorch));
            objects.push(object);
        }
        let output = with_suffix(directory.join(&self.place.project.name), OPERATORS);
        let libraries = operators.libtorch.join("lib");
        let command = Command::new(self.compiler)
            .arg("-shared")
            .arg("-o")
            .arg(&output)
            .args(objects.iter().map(|object| object.as_os_str()))
            .args(["-L".into(), libraries.into_os_string()])
            .args(["-ltorch", "-ltorch_cpu", "-lc10", "-ldl"]);
        actions.push(linked(command, &objects, &output));
        output
    }

    fn compile_for_pytorch(&self, source: &Path, object: &Path, libtorch: &Path) -> Action {
        let (sdk, project) = (&self.place.kit.sdk, self.place.project);
        let headers = libtorch.join("include");
        let mut flags: Vec<OsString> = FOR_PYTORCH.iter().map(OsString::from).collect();
        for directory in [headers.join("torch/csrc/api/include"), headers, sdk.native_dir()] {
            flags.extend(["-I".into(), directory.into_os_string()]);
        }
        // of the SDK's half for shape functions only what PyTorch has not
        flags.extend(["-idirafter".into(), sdk.host_dir().into_os_string()]);
        flags.extend(
            project.includes.iter().flat_map(|include| ["-I".into(), include.clone().into_os_string()]),
        );
        flags.extend(portable(&project.cflags).into_iter().filter(|flag| !is_level(flag)));
        flags.push(format!("-DGPSIMD_CORES={}", project.cores.count()).into());
        self.compiled("PyTorch", source, object, flags)
    }

    /// What the kernels get beside what all get: the author's flags that any compiler knows, then the checks.
    fn kernel_flags(&self) -> Vec<OsString> {
        let project = self.place.project;
        let mut flags: Vec<OsString> = KERNELS.iter().map(OsString::from).collect();
        flags.extend(kernels::alone(self.place));
        for directory in &project.includes {
            flags.extend(["-I".into(), directory.clone().into_os_string()]);
        }
        flags.extend(portable(&project.cflags));
        flags.extend(sanitizers(&project.sanitizers));
        flags
    }

    fn link(&self, objects: &[PathBuf], output: &Path) -> Action {
        let checks = sanitizers(&self.place.project.sanitizers);
        // a sanitizer's functions are the program's to bring
        let whole = checks.is_empty().then_some("-Wl,-z,defs");
        let command = Command::new(self.compiler)
            .args(LINK)
            .args(whole)
            .args(checks)
            .arg("-o")
            .arg(output)
            .args(objects.iter().map(|object| object.as_os_str()));
        linked(command, objects, output)
    }
}

/// The link of `objects` to `output` by a command.
fn linked(command: Command, objects: &[PathBuf], output: &Path) -> Action {
    Action {
        label: format!("link {}", file_name(output)),
        inputs: objects.to_vec(),
        outputs: vec![output.to_owned()],
        depfile: None,
        work: Work::Process(command),
    }
}

/// The flags among a kernel's that say something about C++, not about the device.
fn portable(cflags: &[OsString]) -> Vec<OsString> {
    let is_portable = |flag: &&OsString| {
        let bytes = flag.as_encoded_bytes();
        bytes.len() > 2
            && ["-D", "-U", "-I", "-O", "-std="].iter().any(|start| bytes.starts_with(start.as_bytes()))
    };
    cflags.iter().filter(is_portable).cloned().collect()
}

/// Whether a flag is about how much to optimise, or the version of the language.
fn is_level(flag: &OsString) -> bool {
    let bytes = flag.as_encoded_bytes();
    bytes.starts_with(b"-O") || bytes.starts_with(b"-std=")
}

/// The host's sanitizers of the same names: these check every access, and the heap as well.
fn sanitizers(chosen: &[Sanitizer]) -> Vec<OsString> {
    let of = |sanitizer: &Sanitizer| match sanitizer {
        Sanitizer::Address => ["-fsanitize=address", "-fno-omit-frame-pointer"].as_slice(),
        Sanitizer::Undefined => &["-fsanitize=undefined", "-fsanitize=float-cast-overflow"],
        Sanitizer::Pairs => {
            &["-fsanitize=address", "-fsanitize=pointer-compare", "-fsanitize=pointer-subtract"]
        }
    };
    chosen.iter().flat_map(of).map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_about_the_language_are_portable() {
        let flags: Vec<OsString> = ["-DN=4", "-O3", "-std=c++17", "-mlongcalls", "-Iinc", "-fno-common"]
            .iter()
            .map(OsString::from)
            .collect();
        assert_eq!(portable(&flags), ["-DN=4", "-O3", "-std=c++17", "-Iinc"]);
    }
}
