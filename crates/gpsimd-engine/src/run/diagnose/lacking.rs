//! What PyTorch has and a device kernel has not, each with the way that the documents give.
//!
//! A kernel that compiles here must compile with the vendor's headers, too, so none of these is quietly added. Unaware of
//! compilers. Facts: user-api.md §2-§7, §10.

use crate::run::diagnose::meaning::Meant;

/// The code of all these mistakes.
pub(super) const CODE: &str = "compile::lacking";

/// How a thing that is not there is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// `x.NAME(…)`, of a tensor.
    Member(&'static str),
    /// `torch::NAME(…)`, `at::NAME`, `c10::NAME`.
    Free(&'static str),
    /// `x * y`, of tensors; a unary one is written alike.
    Operator(&'static str),
    /// `NAME`, a macro or keyword; one that ends with `*` stands for all that begin so.
    Name(&'static str),
    /// `x.sizes().NAME()`.
    Shape(&'static str),
    /// `options.NAME(…)`, of TensorOptions.
    Options(&'static str),
    /// `a.NAME(…)`, of an accessor.
    Accessor(&'static str),
    /// `#include <NAME…>`.
    Header(&'static str),
    /// `#pragma NAME`.
    Pragma(&'static str),
}

/// Things that are not there for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// What a PyTorch author writes.
    pub written: &'static [Written],
    /// What the documents have instead.
    pub instead: &'static str,
}

use Written::{Accessor, Free, Header, Member, Name, Operator, Options, Pragma, Shape};

/// The table.
pub const LACKING: &[Lack] = &[
    Lack {
        written: &[
            Member("data_ptr"),
            Member("mutable_data_ptr"),
            Member("const_data_ptr"),
            Member("data"),
            Member("packed_accessor32"),
            Member("packed_accessor64"),
            Member("packed_accessor"),
            Accessor("data"),
        ],
        instead: "tensors lie in device memory, which no pointer reaches: read and write elements by `auto a = x.accessor<float, 1>();`, or copy blocks by x.tcm_accessor()",
    },
    Lack {
        written: &[Member("contiguous")],
        instead: "leave it out: every tensor that a kernel gets or makes is contiguous",
    },
    Lack {
        written: &[Member("item")],
        instead: "read the element, `auto a = x.accessor<float, 1>(); float v = a[0];`, or let the kernel take a number: double or int64_t",
    },
    Lack {
        written: &[
            Operator("*"),
            Operator("+"),
            Operator("-"),
            Operator("/"),
            Member("mul"),
            Member("add"),
            Member("sub"),
            Member("div"),
        ],
        instead: "operators on whole tensors are functions: torch::mul(x, y), torch::add(x, y), torch::sub(x, y), torch::div(x, y); y may be a number, and -x is torch::mul(x, -1)",
    },
    Lack {
        written: &[
            Operator("*="),
            Operator("+="),
            Operator("-="),
            Operator("/="),
            Member("mul_"),
            Member("add_"),
            Member("sub_"),
            Member("div_"),
        ],
        instead: "in place is the function's _out form, with the tensor first: torch::add_out(y, y, x), torch::mul_out(y, y, x)",
    },
    Lack {
        written: &[
            Member("abs"),
            Member("ceil"),
            Member("floor"),
            Member("sin"),
            Member("cos"),
            Member("tan"),
            Member("log"),
            Member("log2"),
            Member("log10"),
            Member("exp"),
            Member("pow"),
            Member("clamp"),
            Member("bitwise_and"),
            Member("bitwise_or"),
            Member("bitwise_not"),
        ],
        instead: "operators are functions, not members: torch::exp(x), torch::pow(x, 2), torch::clamp(x, low, high)",
    },
    Lack {
        written: &[
            Member("exp_"),
            Member("abs_"),
            Member("clamp_"),
            Member("pow_"),
            Member("floor_"),
            Member("ceil_"),
        ],
        instead: "in place is the function's _out form, with the tensor first: torch::exp_out(x, x), torch::clamp_out(x, x, low, high)",
    },
    Lack {
        written: &[
            Operator("<"),
            Operator(">"),
            Operator("<="),
            Operator(">="),
            Operator("=="),
            Operator("!="),
            Member("eq"),
            Member("ne"),
            Member("gt"),
            Member("lt"),
            Member("ge"),
            Member("le"),
            Member("equal"),
            Free("where"),
            Member("where"),
            Member("masked_fill"),
            Member("masked_fill_"),
            Free("maximum"),
            Free("minimum"),
            Free("isnan"),
        ],
        instead: "tensors are not compared as a whole: loop over the elements of an accessor and compare these",
    },
    Lack {
        written: &[
            Operator("[]"),
            Member("index"),
            Member("index_put_"),
            Member("index_select"),
            Member("gather"),
            Member("scatter_"),
            Member("select"),
            Member("slice"),
            Member("narrow"),
            Name("indexing"),
        ],
        instead: "elements are reached through an accessor of the tensor's rank: `auto a = x.accessor<float, 2>(); a[i][j]`",
    },
    Lack {
        written: &[
            Member("sum"),
            Member("mean"),
            Member("prod"),
            Member("max"),
            Member("min"),
            Member("amax"),
            Member("amin"),
            Member("argmax"),
            Member("argmin"),
            Member("var"),
            Member("std"),
            Member("norm"),
            Member("any"),
            Member("all"),
            Member("cumsum"),
            Member("sort"),
            Member("topk"),
            Free("sum"),
            Free("mean"),
            Free("prod"),
            Free("max"),
            Free("min"),
            Free("argmax"),
            Free("cumsum"),
            Free("sort"),
            Free("norm"),
        ],
        instead: "there are no reductions: loop over the elements, read by x.accessor or, faster, in blocks by x.tcm_accessor()",
    },
    Lack {
        written: &[
            Member("sqrt"),
            Member("rsqrt"),
            Member("square"),
            Member("reciprocal"),
            Free("sqrt"),
            Free("rsqrt"),
            Free("square"),
            Free("reciprocal"),
        ],
        instead: "a root or a square is a power: torch::pow(x, 0.5), torch::pow(x, -0.5), torch::pow(x, 2)",
    },
    Lack {
        written: &[
            Member("relu"),
            Member("sigmoid"),
            Member("tanh"),
            Member("softmax"),
            Free("relu"),
            Free("sigmoid"),
            Free("tanh"),
            Free("softmax"),
            Free("log_softmax"),
            Free("gelu"),
            Free("nn"),
            Free("special"),
        ],
        instead: "compute it from what there is (abs, exp, log, pow, clamp, add, sub, mul, div, sin, cos, tan), or element by element with <math.h>; <gpsimd/fast.hpp> has fast forms",
    },
    Lack {
        written: &[
            Free("erf"),
            Free("sinh"),
            Free("cosh"),
            Free("atan"),
            Free("round"),
            Free("trunc"),
            Free("sign"),
            Free("neg"),
            Free("log1p"),
            Free("expm1"),
            Member("round"),
            Member("sign"),
            Member("neg"),
        ],
        instead: "there are abs, ceil, floor, sin, cos, tan, log, log2, log10, exp, pow and clamp; for others loop over the elements with <math.h>",
    },
    Lack {
        written: &[
            Member("matmul"),
            Member("mm"),
            Member("bmm"),
            Member("dot"),
            Member("mv"),
            Free("matmul"),
            Free("mm"),
            Free("bmm"),
            Free("dot"),
            Free("einsum"),
            Free("conv2d"),
            Free("linear"),
        ],
        instead: "there are no matrix products: loop over rows and columns, with blocks copied by x.tcm_accessor()",
    },
    Lack {
        written: &[
            Member("view"),
            Member("reshape"),
            Member("flatten"),
            Member("transpose"),
            Member("permute"),
            Member("t"),
            Member("unsqueeze"),
            Member("squeeze"),
            Member("expand"),
            Member("repeat"),
            Member("view_as"),
            Member("unbind"),
            Member("chunk"),
            Member("split"),
            Free("transpose"),
            Free("flip"),
            Free("roll"),
        ],
        instead: "tensors have no views: make one of the wanted shape with torch::empty({n, m}, torch::kFloat) and write its elements; x.tcm_accessor() counts elements as if flat",
    },
    Lack {
        written: &[Free("cat"), Free("stack"), Free("concat"), Free("split"), Free("chunk")],
        instead: "make the result with torch::empty({n, m}, torch::kFloat) and copy each part to its place",
    },
    Lack { written: &[Member("clone"), Free("clone")], instead: "torch::add(x, 0) is a copy" },
    Lack {
        written: &[Member("copy_")],
        instead: "torch::add_out(y, x, 0) copies x to y of the same shape and type",
    },
    Lack {
        written: &[
            Member("zero_"),
            Member("ones_"),
            Member("set_"),
            Member("resize_"),
            Member("random_"),
            Member("uniform_"),
            Member("normal_"),
        ],
        instead: "y.fill_(0) sets every element to a number; for others loop over the elements",
    },
    Lack {
        written: &[Member("to"), Member("type"), Member("toType"), Member("type_as")],
        instead: "types are not converted as a whole: make a tensor with torch::empty(x.sizes(), torch::kFloat) and convert each element",
    },
    Lack {
        written: &[
            Member("cpu"),
            Member("cuda"),
            Member("device"),
            Member("is_cuda"),
            Member("is_cpu"),
            Member("get_device"),
            Member("is_pinned"),
            Free("kCPU"),
            Free("kCUDA"),
            Free("Device"),
            Free("cuda"),
            Options("device"),
            Options("layout"),
            Options("memory_format"),
            Free("MemoryFormat"),
            Member("suggest_memory_format"),
        ],
        instead: "leave it out: a kernel's tensors are all in this device's memory, contiguous; options are an element type alone, torch::kFloat",
    },
    Lack {
        written: &[
            Member("detach"),
            Member("requires_grad"),
            Member("set_requires_grad"),
            Member("grad"),
            Member("backward"),
            Free("NoGradGuard"),
            Free("AutoGradMode"),
            Free("autograd"),
        ],
        instead: "leave it out: kernels run without autograd; gradients are an op of their own, tied to this one in Python",
    },
    Lack {
        written: &[Name("AT_DISPATCH_*"), Name("scalar_t"), Name("AT_PRIVATE_CASE_TYPE")],
        instead: "switch over x.scalar_type() and call a template: `case torch::kFloat: body<float>(x); break;`; gpsimd::dispatch of <gpsimd/dispatch.hpp> does so",
    },
    Lack {
        written: &[Free("optional"), Free("nullopt"), Free("make_optional")],
        instead: "arguments are not optional: a kernel takes tensors, double and int64_t; make two ops, or pass a number that says so",
    },
    Lack {
        written: &[
            Free("TensorList"),
            Free("ITensorListRef"),
            Free("List"),
            Free("IntList"),
            Free("OptionalIntArrayRef"),
            Free("SymInt"),
            Free("string_view"),
            Free("Generator"),
        ],
        instead: "a kernel takes tensors, double and int64_t, each by itself, and returns one tensor",
    },
    Lack {
        written: &[
            Free("parallel_for"),
            Free("get_num_threads"),
            Free("set_num_threads"),
            Free("get_thread_num"),
            Free("launch"),
            Pragma("omp"),
        ],
        instead: "loop plainly; to use all eight cores compile with --multicore and let each take its part by get_cpu_id() and get_cpu_count()",
    },
    Lack {
        written: &[Shape("vec"), Shape("to_vec")],
        instead: "use the shape as it is, `auto s = x.sizes(); s[0]`, or copy it: std::vector<int64_t>(s.begin(), s.end())",
    },
    Lack {
        written: &[
            Free("arange"),
            Free("linspace"),
            Free("rand"),
            Free("randn"),
            Free("randint"),
            Free("randperm"),
            Free("tensor"),
            Free("from_blob"),
            Free("scalar_tensor"),
            Free("ones_like"),
            Free("full_like"),
            Free("rand_like"),
            Free("empty_strided"),
        ],
        instead: "tensors are made by torch::empty, zeros, ones, full and eye, each with a shape and an element type; write other values element by element",
    },
    Lack {
        written: &[Member("print"), Member("toString")],
        instead: "print elements with printf: printf(\"%f\\n\", (float)a[i])",
    },
    Lack {
        written: &[
            Free("kComplexFloat"),
            Free("kComplexDouble"),
            Free("kQInt8"),
            Free("kQUInt8"),
            Free("kUInt16"),
            Free("kUInt32"),
            Free("kUInt64"),
            Free("kFloat8_e4m3fn"),
        ],
        instead: "element types are kFloat, kBFloat16, kHalf, kInt, kShort, kChar and kByte",
    },
    Lack {
        written: &[
            Name("AT_ERROR"),
            Name("AT_ASSERT"),
            Name("AT_ASSERTM"),
            Name("AT_CHECK"),
            Name("CHECK_INPUT"),
            Name("CHECK_CONTIGUOUS"),
            Name("CHECK_CUDA"),
        ],
        instead: "use TORCH_CHECK(condition, \"words\", value): it prints and ends the kernel; a tensor is contiguous and in device memory anyway",
    },
    Lack {
        written: &[
            Name("__global__"),
            Name("__device__"),
            Name("__host__"),
            Name("__shared__"),
            Name("blockIdx"),
            Name("threadIdx"),
            Name("blockDim"),
            Name("gridDim"),
            Name("__syncthreads"),
            Name("atomicAdd"),
            Header("cuda"),
            Header("ATen/cuda/"),
            Header("c10/cuda/"),
        ],
        instead: "this is no GPU: a kernel is one C++ function that loops; with --multicore eight cores run it, each told its number by get_cpu_id()",
    },
    Lack {
        written: &[
            Header("ATen/Dispatch"),
            Header("ATen/Parallel"),
            Header("ATen/native/"),
            Header("ATen/TensorIterator"),
            Header("ATen/ops/"),
            Header("ATen/core/"),
            Header("torch/csrc/"),
            Header("torch/script"),
            Header("torch/library"),
            Header("torch/nn"),
            Header("c10/util/"),
            Header("c10/core/"),
        ],
        instead: "include <torch/torch.h>: it has all that a kernel can use of PyTorch",
    },
    Lack {
        written: &[Header("pybind11/"), Header("Python.h"), Header("numpy/")],
        instead: "there is no Python on the device: kernels are called through the library that this tool builds, see docs/integrations.md",
    },
    Lack {
        written: &[
            Header("immintrin.h"),
            Header("xmmintrin.h"),
            Header("emmintrin.h"),
            Header("arm_neon.h"),
            Header("x86intrin.h"),
            Header("xtensa/"),
            Header("omp.h"),
        ],
        instead: "write plain C++: this compiler has no vector instructions, and those of other processors do not exist on the device",
    },
];

/// What is said about a subject that the table has, or that only it can have; none where the subject is something else.
pub(super) fn said(meant: Meant<'_>) -> Option<(String, String)> {
    let (headline, row) = match meant {
        Meant::Member { class, name } if is_tensor(class) => {
            let unary = row(|written| matches!(written, Member(known) if known == name));
            let instead = "a tensor's members are accessor, read_stream_accessor, write_stream_accessor, tcm_accessor, fill_, numel, sizes, size, dim, dtype and scalar_type";
            (format!("tensors have no member `{name}` on the device"), unary.unwrap_or(instead))
        }
        Meant::Member { class, name } if class.contains("ArrayRef<") || class.contains("IntArrayRef") => {
            let known = row(|written| matches!(written, Shape(known) if known == name));
            let instead = "a shape has size(), begin(), end() and [i]";
            (format!("a shape (IntArrayRef) has no member `{name}` on the device"), known.unwrap_or(instead))
        }
        Meant::Member { class, name } if class.contains("TensorAccessor") => {
            let known = row(|written| matches!(written, Accessor(known) if known == name));
            let instead = "an accessor has [i], size(d) and sizes()";
            (format!("an accessor has no member `{name}` on the device"), known.unwrap_or(instead))
        }
        Meant::Member { class, name } if class.contains("TensorOptions") => {
            let known = row(|written| matches!(written, Options(known) if known == name));
            let instead = "options are an element type alone: torch::kFloat";
            (format!("TensorOptions have no member `{name}` on the device"), known.unwrap_or(instead))
        }
        Meant::Qualified { scope, name } if is_torch(scope) => {
            let known = row(|written| matches!(written, Free(known) | Name(known) if known == name));
            let instead = "docs/spec/user-api.md lists what there is: factories, tensors' members and operators; for anything else loop over the elements";
            (format!("`{}::{name}` does not exist on the device", plain(scope)), known.unwrap_or(instead))
        }
        Meant::Undeclared { name } => {
            let known = row(|written| match written {
                Name(known) => match known.strip_suffix('*') {
                    Some(head) => name.starts_with(head),
                    None => known == name,
                },
                _ => false,
            })?;
            (format!("`{name}` does not exist on the device"), known)
        }
        Meant::Operator { sign, operands } if is_tensor(operands) => {
            let known = row(|written| matches!(written, Operator(known) if known == sign));
            if sign == "<<" {
                return Some((
                    "tensors are not printed as a whole on the device".to_owned(),
                    "print elements with printf: printf(\"%f\\n\", (float)a[i])".to_owned(),
                ));
            }
            let instead = "operators on whole tensors are functions: torch::add, sub, mul, div, pow, bitwise_and, bitwise_or; for others loop over the elements";
            (format!("tensors have no operator `{sign}` on the device"), known.unwrap_or(instead))
        }
        Meant::Header { name } => {
            let known = row(|written| matches!(written, Header(head) if name.starts_with(head)))?;
            (format!("<{name}> does not exist on the device"), known)
        }
        Meant::Pragma { name } => {
            let known = row(|written| matches!(written, Pragma(known) if known == name))?;
            (format!("`#pragma {name}` does nothing on the device"), known)
        }
        _ => return None,
    };
    Some((headline, row.to_owned()))
}

/// The first row with something written so.
fn row(is_so: impl Fn(Written) -> bool) -> Option<&'static str> {
    LACKING.iter().find(|lack| lack.written.iter().any(|written| is_so(*written))).map(|lack| lack.instead)
}

/// Whether a type, or one of several operands, is a tensor.
fn is_tensor(text: &str) -> bool {
    ["at::Tensor'", "torch::Tensor'", "at::Tensor&", "at::TensorBase'"]
        .iter()
        .any(|class| text.contains(class))
        || matches!(
            text,
            "at::Tensor" | "torch::Tensor" | "const at::Tensor" | "const torch::Tensor" | "at::TensorBase"
        )
}

fn is_torch(scope: &str) -> bool {
    matches!(plain(scope), "torch" | "at" | "c10" | "torch::neuron" | "at::neuron")
}

/// `torch` of `::torch`.
fn plain(scope: &str) -> &str {
    scope.trim_start_matches("::")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn nothing_is_listed_twice() {
        let mut seen = HashSet::new();
        for written in LACKING.iter().flat_map(|lack| lack.written) {
            assert!(seen.insert(format!("{written:?}")), "{written:?}");
        }
        assert!(seen.len() >= 200, "{} things", seen.len());
    }

    #[test]
    fn what_is_not_pytorchs_is_not_the_tables_to_tell() {
        let other = [
            Meant::Member { class: "'struct Mine'", name: "mul" },
            Meant::Qualified { scope: "std", name: "sum" },
            Meant::Undeclared { name: "sum" },
            Meant::Operator { sign: "*", operands: " (operand types are 'Mine' and 'int')" },
            Meant::Header { name: "Eigen/Dense" },
            Meant::Other,
        ];
        for meant in other {
            assert_eq!(said(meant), None, "{meant:?}");
        }
    }
}
