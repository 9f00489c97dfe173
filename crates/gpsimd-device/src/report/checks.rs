//! Every check of a run: its code, how bad it is, what causes it and what to do.
//!
//! Unaware of any particular run. The documentation table is made from the same rows.

use std::fmt;

/// How bad a finding is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "RunSeverity")]
pub enum Severity {
    /// Wrong on hardware, or will be.
    Error,
    /// Works by luck or wastes something.
    Warning,
    /// Worth knowing.
    Note,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// Which check.
    pub code: Code,
    /// Stable name, as `--allow` takes it.
    pub name: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Why it happens.
    pub cause: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $code:ident $name:literal $severity:ident $title:literal $cause:literal $remedy:literal;)+) => {
        /// A check.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $code,)+ }

        /// All checks, in the order findings are listed.
        pub const CHECKS: &[Check] = &[$(Check {
            code: Code::$code,
            name: concat!("run::", $name),
            severity: Severity::$severity,
            title: $title,
            cause: $cause,
            remedy: $remedy,
        },)+];
    };
}

checks! {
    /// The program ended itself.
    Abort "abort" Error "the kernel aborted"
        "an assertion or a runtime check failed, or the program called abort()"
        "read the text the kernel printed; it names the failed condition";
    /// Accessors that exclude each other were open at once.
    Coherency "coherency" Error "accessors of one tensor conflict"
        "a stream buffers elements, so another accessor of the same tensor would see old ones"
        "close the stream before opening the other accessor, or set a policy that allows it";
    /// A stream was closed before.
    ClosedStream "closed_stream" Error "a stream accessor is used after it was closed"
        "after close() a read gives 0 and a write has no effect, without a word"
        "close the stream behind its last use, and mind how often the loop runs";
    /// An instruction could not be executed.
    Fault "fault" Error "the core stopped at an instruction"
        "a jump through a bad pointer, an unaligned access, or code for another core"
        "check function pointers and casts; build with the device toolchain";
    /// Vendor-compiled code.
    Flix "flix" Error "the image holds vector bundles"
        "the image was compiled by the vendor's compiler; this model executes scalar Xtensa code only"
        "build the kernel with the open toolchain to run it here";
    /// Division by zero.
    DivideByZero "divide_by_zero" Error "integer division by zero"
        "the divisor is zero; the core has no result for that"
        "check the divisor first";
    /// An array's index, against its declared bounds.
    ArrayIndex "array_index" Error "an array is indexed outside its bounds"
        "an index is negative, or not below the declared length"
        "check the index, or clamp it, before it is used";
    /// Beyond a local variable.
    StackOverrun "stack_overrun" Error "an access beside a local variable"
        "an index or a length is too large for the local array, or a string in it has no end"
        "check the bounds of the last iteration against the array's length";
    /// Beyond a global.
    GlobalOverrun "global_overrun" Error "an access beside a global"
        "an index or a length is too large for the global, or a string literal is read past its end"
        "check the bounds of the last iteration against the array's length";
    /// A local variable of a block that was left.
    UseAfterScope "use_after_scope" Error "a local variable is used after its scope has ended"
        "a pointer or reference outlives the block that declares the variable"
        "declare the variable where the pointer is declared, or copy its value";
    /// Ranges of memcpy and its kin.
    MemoryOverlap "memory_overlap" Error "a copy's ranges overlap"
        "memcpy, strcpy and their kin may copy in any order, so overlapping ranges are undefined"
        "use memmove";
    /// Integer overflow.
    Overflow "overflow" Error "a signed integer overflows"
        "the mathematical result does not fit the type; the compiler may assume that this never happens"
        "calculate in a wider type (int64_t), or in an unsigned one where wrapping is meant";
    /// Shifts.
    Shift "shift" Error "a shift is not defined"
        "the exponent is negative or not below the width of the type, or the value does not fit"
        "check the exponent, or shift a wider or unsigned type";
    /// Float to integer.
    FloatCast "float_cast" Error "a floating-point value does not fit the integer it is converted to"
        "the value is NaN, infinite or outside the range of the type"
        "clamp the value before the conversion";
    /// Alignment.
    Misaligned "misaligned" Error "a pointer is not aligned for its type"
        "a pointer to bytes is used as a pointer to wider elements"
        "copy the bytes with memcpy, or align the buffer";
    /// Less memory than the type.
    ObjectSize "object_size" Error "an object is accessed through a pointer to a larger type"
        "a pointer was cast to a type with more bytes than there are"
        "check the cast";
    /// bool and enum.
    InvalidValue "invalid_value" Error "a bool or an enum holds a value that its type has not"
        "memory of another type or that nothing wrote is read as bool or enum"
        "read it as an integer and compare";
    /// Arithmetic on pointers.
    PointerOverflow "pointer_overflow" Error "pointer arithmetic overflows"
        "an offset leads outside the address space, or a null pointer is moved"
        "check the offset, and the pointer for null";
    /// Unrelated pointers.
    PointerPair "pointer_pair" Error "pointers into different objects are compared or subtracted"
        "only pointers into one array have an order and a distance"
        "compare indices instead";
    /// An attribute says that an argument or a result is never null.
    NullArgument "null_argument" Error "a null pointer is passed or returned where it must not be"
        "a function that is declared never to take, or to return, null does so"
        "check for null before the call, even if the length is 0";
    /// Arguments of builtins.
    InvalidBuiltin "invalid_builtin" Error "a compiler builtin gets an argument it is not defined for"
        "__builtin_clz and __builtin_ctz have no result for 0"
        "check for 0 first";
    /// Lengths of arrays.
    VlaBound "vla_bound" Error "a variable-length array has no positive length"
        "the length is zero or negative"
        "check the length, or use a fixed array or std::vector";
    /// A function without result.
    MissingReturn "missing_return" Error "a function ends without returning a value"
        "a path through the function has no return"
        "return a value on every path";
    /// A place said to be unreachable.
    Unreachable "unreachable" Error "a place is reached that was declared unreachable"
        "__builtin_unreachable() was reached"
        "handle the case, or abort()";
    /// The stack limit was crossed.
    StackOverflow "stack_overflow" Error "the stack is too small"
        "local arrays or recursion need more than the local stack or the requested STACK_SIZE"
        "build with a larger STACK_SIZE, or move arrays to tcm_malloc";
    /// The instruction budget was used up.
    Runaway "runaway" Error "the kernel does not end"
        "an endless loop, or a wait for another core: cores cannot see each other's writes while they run"
        "check the loop condition, or raise the budget if the work is that large";
    /// Output elements nobody wrote.
    Unwritten "unwritten_output" Error "output elements are never written"
        "the loop bounds or the split between cores leave elements out"
        "cover every element: round the share per core up and clip it at the end";
    /// Output elements several cores wrote.
    Overlap "overlapping_writes" Error "several cores write the same output element"
        "nothing orders writes of different cores, so the result depends on timing"
        "give every core its own elements";
    /// A core reads what another writes.
    Race "race" Error "a core reads what another core writes"
        "nothing orders the cores, so the value is the old or the new one, depending on timing"
        "let every core compute what it needs from the inputs, or read it in a second call";
    /// What one call leaves for the next.
    StateKept "state_kept" Error "a call depends on the calls before it"
        "a static or global variable keeps its value from call to call"
        "let every call start from its inputs; initialise what it uses";
    /// A result that all cores copy to the output.
    FreshTensor "fresh_tensor" Error "a new tensor is returned on several cores"
        "every core would copy its own tensor over the whole output"
        "write to get_dst_tensor() instead";
    /// Element accessors on several cores.
    ElementOnCores "accessor_on_cores" Error "an element accessor is used on several cores"
        "with several cores only TCM accessors give defined results"
        "copy blocks with tcm_accessor() and work on them in TCM";
    /// Stream accessors on several cores.
    StreamOnCores "stream_on_cores" Error "a stream accessor is used on several cores"
        "with several cores only TCM accessors give defined results"
        "copy blocks with tcm_accessor() and work on them in TCM";
    /// Another element type.
    ScalarType "scalar_type" Error "a tensor is accessed as another element type"
        "the device does not check it: bytes of one type are taken for another"
        "use the element type of the tensor, or switch over scalar_type()";
    /// A larger extent than the guides allow.
    LargeExtent "large_extent" Error "a tensor has a larger extent than the guides allow"
        "the guides allow extents of up to 65,535"
        "give the tensor more dimensions; if your release takes four dimensions of 32 bits, allow it";
    /// Null plus an index.
    Null "null_access" Error "a null pointer is dereferenced"
        "tcm_malloc, malloc or another allocator returned null and the result was not checked"
        "check for null; free blocks earlier or use smaller ones (TCM holds 16 KiB)";
    /// A block that was given back.
    UseAfterFree "use_after_free" Error "memory is used after it was freed"
        "the block was given back before this access"
        "free it after the last use";
    /// A block that is given back twice.
    DoubleFree "double_free" Error "a block is freed twice"
        "on the device the second call is ignored, or frees another block that has the place by then"
        "free every block once; set the pointer to null afterwards";
    /// Something is given back that is no block of that heap.
    WrongFree "wrong_free" Error "memory is freed the wrong way"
        "tcm_free, free, delete, delete[] and neuron_hbm_deallocate take back only what their own counterpart handed out"
        "free each block by the counterpart of what allocated it, with the pointer it returned";
    /// Writes outside.
    WriteOutside "write_outside" Error "a write outside any tensor, block or stack"
        "an index or a length is too large"
        "check the bounds of the last iteration";
    /// Reads outside.
    ReadOutside "read_outside" Error "a read outside any tensor, block or stack"
        "an index or a length is too large"
        "check the bounds of the last iteration";
    /// Code overwritten.
    CodeWritten "code_written" Error "the kernel writes to its own code or constants"
        "a pointer to a function or constant is written through"
        "check the pointer's origin";
    /// An input overwritten.
    InputWritten "input_written" Error "an input tensor is written"
        "inputs belong to the model and may be shared with other operators"
        "write to the output, or copy the input first";
    /// Memory nobody wrote is read.
    Uninitialised "uninitialised_read" Error "something is decided on memory that nothing wrote"
        "empty(), the allocators and the stack give memory with arbitrary contents"
        "write every element before reading it";
    /// Memory nobody wrote is copied to the output.
    UninitialisedOutput "uninitialised_output" Error "memory that nothing wrote is copied to the output"
        "the copied block is only partly filled"
        "copy only the elements that were computed";
    /// A scalar of another width.
    ScalarWidth "scalar_width" Error "a scalar is read with another width than it was passed with"
        "the schema's type and the kernel's parameter type differ; bytes are reinterpreted unchecked"
        "make the two types agree";
    /// A window nobody programmed.
    WindowUnset "window_unset" Error "an address window is used before it is set"
        "the pointer was made by hand or belongs to another core"
        "get device pointers from neuron_translate just before use";
    /// DMA stopped.
    DmaStopped "dma_stopped" Error "the DMA queues stopped"
        "the descriptor rings were overwritten or the doorbell was rung too often"
        "leave the runtime's scratch memory alone";
    /// Accessors that core 0 alone uses.
    AccessorOnCoreZero "accessor_on_core_zero" Warning "an element or stream accessor is used on core 0 of several"
        "with several cores the guides allow TCM accessors only"
        "copy blocks with tcm_accessor(), or build the op for one core";
    /// TCM blocks left at return.
    TcmLeak "tcm_leak" Warning "TCM blocks are still allocated at the end"
        "tcm_free was not reached; the next launch starts with an empty heap, but returning a tensor needs free TCM"
        "free every block before returning";
    /// Blocks of other heaps left at return.
    Leak "leak" Warning "blocks of the C heap or of device memory are still allocated at the end"
        "free, delete or the last tensor's end was not reached; the next launch starts with empty heaps, so a pointer that was kept dangles"
        "free every block before returning; let containers and smart pointers own what they hold";
    /// The stack went to device memory.
    HbmStack "hbm_stack" Note "the stack is in device memory"
        "the requested STACK_SIZE does not fit the local stack"
        "every local variable now costs a device memory access; use TCM blocks for arrays and the default stack";
    /// Element accessors dominate.
    ElementCost "element_accessor" Note "most of the time goes into element accessors"
        "every element read or written is a round trip to device memory"
        "copy blocks with tcm_accessor() and work on them in TCM";
    /// Heaps could not be followed.
    HeapsUnknown "heaps_unknown" Note "the runtime's heaps could not be followed"
        "the image was linked with another runtime, whose bookkeeping is elsewhere"
        "block bounds, leaks and use after free are not checked for this image";
    /// More text than the device keeps.
    TextLost "text_lost" Note "more text is printed than the device keeps"
        "the device's buffer holds 128 KiB; what is printed later overwrites what came first"
        "print less, or only what differs from what is expected";
    /// Blocks that lie close together.
    Crowded "crowded" Note "blocks lie close together"
        "the heaps are nearly full, and the model has no room left to keep blocks apart"
        "an overrun into a neighbouring block may not be noticed here; use fewer or smaller blocks at a time";
    /// Output that hardware drops.
    PrintOnCores "print_on_cores" Note "cores other than 0 print"
        "on the device only core 0's output is delivered"
        "print on core 0 only: if (get_cpu_id() == 0)";
}

impl Code {
    /// The check's row.
    pub fn entry(self) -> &'static Check {
        // Rows and variants come from one list, in one order.
        &CHECKS[self as usize]
    }

    /// Stable name: `run::…`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The check with this name.
    pub fn from_name(name: &str) -> Option<Code> {
        CHECKS.iter().find(|entry| entry.name == name).map(|entry| entry.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RunCheck".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<String> = CHECKS.iter().map(|check| check.name.to_owned()).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_names_unique() {
        for (index, entry) in CHECKS.iter().enumerate() {
            assert_eq!(entry.code as usize, index);
            assert_eq!(Code::from_name(entry.name), Some(entry.code));
            assert!(!entry.cause.is_empty() && !entry.remedy.is_empty());
        }
        assert!(CHECKS.is_sorted_by_key(|entry| entry.severity));
    }
}
