//! The words of findings: what an incident or an ending was, in the author's terms.
//!
//! Unaware of source lines and folding.

use xtensa_iss::{BusFault, Fault, FaultKind};

use crate::call::shared::{Region, SharedMemory};
use crate::call::tensor::TensorSpec;
use crate::checked::objects::{Storage, Variable};
use crate::cores::core::Run;
use crate::cores::dma::dataram_owner;
use crate::cores::incident::{Actor, Incident, Near, Source, What};
use crate::cores::run::Ended;
use crate::explain::symbols::Frame;
use crate::memory::heap::Kind;
use crate::parts::sdma::Stopped;
use crate::report::checks::Code;
use crate::report::{About, Element};

/// Names of the tensors of a call.
pub struct Names<'a> {
    /// The tensors.
    pub shared: &'a SharedMemory,
    /// Variables that the core's incidents name.
    pub variables: &'a [Variable],
}

impl Names<'_> {
    /// A tensor by name.
    pub fn tensor(&self, region: usize) -> String {
        self.shared.regions().get(region).map_or_else(String::new, |info| format!("`{}`", info.name))
    }

    /// The element at a byte offset of a tensor.
    pub fn element(&self, region: usize, offset: i64) -> Option<Element> {
        let info = self.shared.regions().get(region)?;
        let element = offset.div_euclid(info.spec.dtype.size() as i64);
        let inside = u64::try_from(offset).is_ok_and(|offset| offset < info.byte_len());
        let index = if inside { info.spec.multi_index(element as u64) } else { Vec::new() };
        Some(Element { tensor: info.name.clone(), element, index })
    }

    /// One incident as a sentence. `owner` is the function whose stack it concerns, if it does; empty for one that returned.
    pub fn incident(&self, incident: &Incident, owner: &str) -> String {
        let Incident { what, write, actor, near, len } = *incident;
        let verb = match (actor, write) {
            (Actor::Cpu, false) => format!("reads {len} byte{}", plural(len)),
            (Actor::Cpu, true) => format!("writes {len} byte{}", plural(len)),
            (Actor::Dma, false) => format!("a transfer reads {len} byte{}", plural(len)),
            (Actor::Dma, true) => format!("a transfer writes {len} byte{}", plural(len)),
        };
        let place = self.place(near);
        match what {
            What::Outside => format!("{verb} {place}"),
            What::Uninitialised => {
                let place = if let Near::Stack { .. } = near { local(owner) } else { place };
                format!("decides on {len} byte{} {place}, which nothing has written", plural(len))
            }
            What::UninitialisedCopy(source) => {
                let by = if actor == Actor::Dma { "a transfer copies" } else { "copies" };
                let source = self.source(source, owner);
                format!("{by} {len} byte{} that nothing has written{source}, {place}", plural(len))
            }
            What::Redzone { .. } if self.is_out_of_scope(near) => {
                format!("{verb} {place} after its scope has ended")
            }
            What::Redzone { .. } if matches!(near, Near::Stack { .. }) => {
                format!("{verb} beside a variable-length array or a block of alloca")
            }
            What::Redzone { .. } if matches!(near, Near::Block { .. }) => {
                format!("{verb} behind the last element of a container, {place}")
            }
            What::Redzone { .. } => format!("{verb} {place}"),
            What::Freed => format!("{verb} {place} after it was freed"),
            What::Null => match near {
                Near::Nx { addr: 0 } => format!("{verb} through a null pointer"),
                Near::Nx { addr } => format!("{verb} {addr:#x} bytes from a null pointer"),
                _ => format!("{verb} through a null pointer"),
            },
            What::Code => format!("{verb} in the code at {place}"),
            What::Input => format!("{verb} {place}, which is an input"),
            What::ScalarWidth => {
                format!("{verb} {place}: the scalar is passed narrower than the kernel reads it")
            }
            What::WindowUnset => format!("{verb} through an address window that was never set, {place}"),
            What::DoubleFree => format!("frees {} again", self.block(near)),
            What::WrongFree(kind) => {
                format!("{} is given {}, which is no block of its heap", frees(kind), self.pointer(near))
            }
            What::SizedDelete => format!("delete is told {len} bytes for {}", self.block(near)),
            What::Kept => format!("{verb} that a call before has left"),
            What::Below => format!("{verb} in a local variable of a function that has returned"),
            What::Stale => {
                format!(
                    "reads {len} bytes from a stream that holds old ones: the tensor was written meanwhile"
                )
            }
            What::DmaStopped(Stopped::Overrun { waiting, ring }) => {
                format!("the doorbell announces {waiting} descriptors, the ring holds {ring}")
            }
            What::DmaStopped(Stopped::BadRing { addr }) => {
                format!("a descriptor ring points to device address {addr:#x}, outside the core's data RAM")
            }
        }
    }

    /// Whether a place is in a variable, which then has no business to be a redzone.
    pub fn is_out_of_scope(&self, near: Near) -> bool {
        let Near::Variable { id, offset } = near else { return false };
        let inside = |variable: &Variable| (0..i64::from(variable.len)).contains(&offset);
        self.variables.get(id).is_some_and(inside)
    }

    fn block(&self, near: Near) -> String {
        match near {
            Near::Block { heap, len, .. } => format!("a {} of {len} bytes", heap_name(heap)),
            near => self.place(near),
        }
    }

    /// What a pointer that is freed points to.
    fn pointer(&self, near: Near) -> String {
        match near {
            Near::Block { offset: 0, .. } => self.block(near),
            Near::Block { .. } => format!("a pointer {}", self.place(near)),
            Near::Stack { .. } => "a local variable".to_owned(),
            near => format!("a pointer {}", self.place(near)),
        }
    }

    /// Where bytes came from.
    fn source(&self, source: Source, owner: &str) -> String {
        match source {
            Source::Tensor(region) => format!(" from {}", self.tensor(region)),
            Source::Block(heap) => format!(" from a {}", heap_name(heap)),
            Source::Stack => format!(" {}", local(owner).replacen("in", "from", 1)),
            Source::Other => String::new(),
        }
    }

    /// Where that is.
    pub fn place(&self, near: Near) -> String {
        match near {
            Near::Tensor { region, offset } => match self.shared.regions().get(region) {
                Some(info) => tensor_place(&info.name, &info.spec, offset),
                None => String::new(),
            },
            Near::Block { heap, len, offset, hit } => {
                let block = format!("{} a {} of {len} bytes", position(offset, len.into()), heap_name(heap));
                match hit {
                    Some(hit) => format!("{block}, into the {} of {hit} bytes beside it", heap_name(heap)),
                    None => block,
                }
            }
            Near::Variable { id, offset } => match self.variables.get(id) {
                Some(variable) => variable_place(variable, offset),
                None => String::new(),
            },
            Near::Stack { .. } => "in a local variable".to_owned(),
            Near::Dataram { addr } => {
                format!("at {addr:#x} in local memory, where there is no block and no stack")
            }
            Near::Nx { addr } => format!("at {addr:#x}"),
            Near::Soc { addr } => match dataram_owner(addr) {
                Some(core) => format!("at device address {addr:#x}, the local memory of core {core}"),
                None => format!("at device address {addr:#x}, where there is no tensor"),
            },
        }
    }
}

/// The stack frame of a function, or of one that returned.
fn local(owner: &str) -> String {
    match owner {
        "" => "in a local variable of a function that has returned".to_owned(),
        owner => format!("in a local variable of `{owner}`"),
    }
}

/// A tensor, as a finding tells it.
pub fn about(region: &Region) -> About {
    let Region { name, role, spec, .. } = region;
    About { name: name.clone(), dtype: spec.dtype, shape: spec.shape.to_vec(), role: *role }
}

/// What a heap's blocks are called.
pub fn heap_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Tcm => "TCM block",
        Kind::Hbm => "device memory block",
        Kind::Libc => "malloc block",
    }
}

/// The function that gives blocks of a heap back.
fn frees(kind: Kind) -> &'static str {
    match kind {
        Kind::Tcm => "tcm_free()",
        Kind::Hbm => "neuron_hbm_deallocate()",
        Kind::Libc => "free()",
    }
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn position(offset: i64, len: i64) -> String {
    match offset {
        before if before < 0 => format!("starting {} bytes before", -before),
        past if past == len => "right past the end of".to_owned(),
        past if past > len => format!("starting {} bytes past the end of", past - len),
        0 => "at the start of".to_owned(),
        inside => format!("at byte {inside} of"),
    }
}

fn variable_place(variable: &Variable, offset: i64) -> String {
    let Variable { storage, len, name, line, .. } = variable;
    let kind = match storage {
        Storage::Stack => "local variable",
        Storage::Global => "global",
    };
    let name = match name.as_str() {
        "" => format!("an unnamed {kind}"),
        name => format!("the {kind} `{name}`"),
    };
    let declared = if *line == 0 { String::new() } else { format!(", declared in line {line}") };
    format!("{} {name} of {len} bytes{declared}", position(offset, (*len).into()))
}

fn tensor_place(name: &str, spec: &TensorSpec, offset: i64) -> String {
    let len = spec.byte_len() as i64;
    if (0..len).contains(&offset) {
        let element = offset as u64 / spec.dtype.size() as u64;
        return format!("at element {:?} of `{name}`", spec.multi_index(element));
    }
    let element = offset.div_euclid(spec.dtype.size() as i64);
    let elements = len / spec.dtype.size() as i64;
    format!("{} `{name}` (element {element} of {elements})", position(offset, len))
}

/// A run of elements, or its ends when there are holes.
pub fn range(spec: &TensorSpec, first: u64, last: u64, count: u64) -> String {
    let (from, to) = (spec.multi_index(first), spec.multi_index(last));
    match count {
        1 => format!("{from:?}"),
        _ if last - first + 1 == count => format!("{from:?} to {to:?}"),
        _ => format!("{from:?} to {to:?}, with gaps"),
    }
}

/// What is said of a program that ended itself and printed nothing.
pub const WITHOUT_WORDS: &str = "abort() without a message";

/// What the runtime's own assertions mean for the author, by their place (spec `device-runtime.md` §18).
const RUNTIME_ASSERTIONS: &[(&str, &str)] = &[
    (
        "Coherence.h:42 ",
        "a read stream is opened while a write stream or an accessor of the same tensor is open",
    ),
    (
        "Coherence.h:62 ",
        "a write stream is opened while another stream or an accessor of the same tensor is open",
    ),
    ("Coherence.h:83 ", "an accessor is opened while a stream of the same tensor is open"),
    (
        "NeuronAllocator.h:18 ",
        "a tensor does not fit the device memory heap (32 MiB and 32 blocks per core, the stack included)",
    ),
    ("utypes.hpp:37 ", "an argument has an element type that the device does not accept"),
    ("utypes.hpp:65 ", "the returned tensor has another element type than the output"),
    ("utypes.hpp:73 ", "no TCM is left to copy the returned tensor; free blocks before returning"),
    ("utypes.hpp:74 ", "no TCM is left to copy the returned tensor; free blocks before returning"),
    ("utypes.hpp:77 ", "no TCM is left to copy the returned tensor; free blocks before returning"),
    ("utypes.hpp:172 ", "a Scalar parameter is passed a tensor of more than one element"),
    ("utypes.hpp:178 ", "a Scalar parameter is passed a tensor of more than one element"),
    ("arg_parser.hpp:66 ", "the kernel takes more arguments than the call passes"),
    ("arg_extractor.hpp:16 ", "the call passes more than 10 arguments, the output included"),
    ("data_transfer.cpp:160 ", "a DMA transfer is asked for memory outside TCM"),
];

/// What functions of the C and C++ libraries mean that end the program without a word, by the start of their names.
const SILENT_ENDS: &[(&str, &str)] = &[
    (
        "std::__throw_out_of_range",
        "an index is out of range: at() would throw, and the device has no exceptions",
    ),
    (
        "std::__throw_length_error",
        "a container is to hold more than it can: it would throw, and the device has no exceptions",
    ),
    ("std::__throw_logic_error", "std::logic_error would be thrown, and the device has no exceptions"),
    (
        "std::__throw_invalid_argument",
        "std::invalid_argument would be thrown, and the device has no exceptions",
    ),
    (
        "std::__throw_bad_function_call",
        "an empty std::function is called: it would throw, and the device has no exceptions",
    ),
    (
        "std::__throw_bad_alloc",
        "no memory is left: std::bad_alloc would be thrown, and the device has no exceptions",
    ),
    (
        "std::__throw_bad_array_new_length",
        "an array is to have an impossible length, and the device has no exceptions",
    ),
    ("std::__throw_", "an exception would be thrown, and the device has none"),
    (
        "__cxa_pure_virtual",
        "a pure virtual function is called: in a constructor or destructor, or of an object that has ended",
    ),
    ("__cxa_deleted_virtual", "a deleted virtual function is called"),
    ("__cxa_throw", "an exception is thrown, and the device has none"),
    ("std::terminate", "std::terminate() was called"),
    ("exit", "exit() was called: a kernel ends by returning its tensor"),
    ("_exit", "_exit() was called: a kernel ends by returning its tensor"),
    // said by who called it, if by anyone
    ("abort", ""),
    ("quick_exit", "quick_exit() was called: a kernel ends by returning its tensor"),
];

/// What ended a program that printed nothing, by the functions that led there, innermost first.
pub fn silent_end(functions: &[String]) -> Option<&'static str> {
    let meaning = |function: &String| {
        let is_it = |name: &str| function == name || (name.contains("__") && function.starts_with(name));
        SILENT_ENDS.iter().find(|(name, _)| is_it(name)).map(|(_, meaning)| *meaning)
    };
    // the outermost tells most: a container's check calls abort(), which calls _exit()
    functions.iter().rev().find_map(meaning).filter(|meaning| !meaning.is_empty())
}

/// What ended a run that did not return 0, and which check that is.
pub fn ending(run: &Run) -> Option<(Code, String)> {
    let last_line = || {
        let text = String::from_utf8_lossy(&run.text.bytes);
        text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
    };
    match &run.ended {
        Ended::Returned(0) | Ended::Cancelled | Ended::Judged => None,
        Ended::Returned(status) => Some((Code::Abort, format!("the launcher returned {}", *status as i32))),
        Ended::Aborted if run.divided_by_zero => {
            Some((Code::DivideByZero, "an integer is divided by zero".into()))
        }
        Ended::Aborted => {
            let line = last_line().unwrap_or_else(|| WITHOUT_WORDS.to_owned());
            let code = if line.contains("Coherence.h") { Code::Coherency } else { Code::Abort };
            match RUNTIME_ASSERTIONS.iter().find(|(place, _)| line.contains(place)) {
                Some((_, meaning)) => Some((code, format!("{meaning} ({line})"))),
                None => Some((code, line)),
            }
        }
        Ended::Budget => {
            Some((Code::Runaway, format!("still running after {} instructions", run.counters.instructions)))
        }
        Ended::Idle(count) => {
            let message = format!(
                "still running: for {} million instructions nothing new was read, written, copied or printed",
                count / 1_000_000
            );
            Some((Code::Runaway, message))
        }
        Ended::Fault(Fault { pc, kind: FaultKind::Fetch { .. } }) if *pc < FIRST_PAGE => Some((
            Code::Fault,
            "a null function pointer is called; in a constructor or destructor that is a pure virtual function, elsewhere an object or pointer that was not set"
                .to_owned(),
        )),
        Ended::Fault(Fault { kind, .. }) => Some(fault(kind)),
    }
}

/// What the C++ library checked in vain when it aborted: its own function, called by the author's.
pub fn library_check(frames: &[Frame]) -> Option<(Code, String)> {
    let own = frames.iter().take_while(|frame| frame.is_runtime());
    let Frame { function, .. } = own.filter(|frame| frame.function.starts_with("std::")).last()?;
    let (code, what) = match function.rsplit("::").next()? {
        "operator[]" => (Code::ArrayIndex, "an index is out of bounds"),
        "front" | "back" | "pop_back" | "pop_front" | "top" | "pop" => (Code::ArrayIndex, "nothing is in it"),
        "operator*" | "operator->" => (Code::Null, "it points to nothing"),
        _ => (Code::InvalidBuiltin, "an argument is not allowed"),
    };
    Some((code, format!("in `{function}`: {what}")))
}

/// Addresses below it are a null pointer and an offset.
const FIRST_PAGE: u32 = 0x1000;

fn fault(kind: &FaultKind) -> (Code, String) {
    let message = kind.to_string();
    match kind {
        FaultKind::StackLimit { .. } => (Code::StackOverflow, message),
        FaultKind::DivideByZero => (Code::DivideByZero, message),
        FaultKind::Flix { .. } => (Code::Flix, message),
        FaultKind::Bus { access, fault: BusFault::Unmapped | BusFault::Denied, .. } => match access {
            xtensa_iss::Access::Load | xtensa_iss::Access::Fill => (Code::ReadOutside, message),
            xtensa_iss::Access::Store | xtensa_iss::Access::Spill => (Code::WriteOutside, message),
        },
        _ => (Code::Fault, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::dtype::Dtype;
    use crate::call::shared::Role;
    use crate::call::tensor::Tensor;
    use crate::call::wire::Location;
    use crate::memory::heap::Kind;

    #[test]
    fn sentences() {
        let mut shared = SharedMemory::default();
        let x = Tensor::new(Dtype::Float32, [2, 5], vec![0; 40]).unwrap();
        shared.place("x", x, Role::Input, Location::Hbm, 1 << 20).unwrap();
        let names = Names { shared: &shared, variables: &[] };
        let tensor = |offset| Near::Tensor { region: 0, offset };
        let block = |offset| Near::Block { heap: Kind::Tcm, len: 100, offset, hit: None };
        use Actor::{Cpu, Dma};
        let rows = [
            (
                (What::Outside, false, Cpu, tensor(40)),
                "reads 4 bytes right past the end of `x` (element 10 of 10)",
            ),
            (
                (What::Outside, true, Dma, tensor(-4)),
                "a transfer writes 4 bytes starting 4 bytes before `x` (element -1 of 10)",
            ),
            (
                (What::Input, true, Cpu, tensor(28)),
                "writes 4 bytes at element [1, 2] of `x`, which is an input",
            ),
            (
                (What::Freed, false, Cpu, block(8)),
                "reads 4 bytes at byte 8 of a TCM block of 100 bytes after it was freed",
            ),
            ((What::Null, true, Cpu, Near::Nx { addr: 8 }), "writes 4 bytes 0x8 bytes from a null pointer"),
        ];
        for ((what, write, actor, near), want) in rows {
            assert_eq!(names.incident(&Incident { what, write, actor, near, len: 4 }, ""), want);
        }
    }

    #[test]
    fn ranges() {
        let spec = TensorSpec::new(Dtype::Int8, [3, 4]);
        assert_eq!(range(&spec, 5, 5, 1), "[1, 1]");
        assert_eq!(range(&spec, 5, 11, 7), "[1, 1] to [2, 3]");
        assert_eq!(range(&spec, 0, 11, 2), "[0, 0] to [2, 3], with gaps");
    }
}
