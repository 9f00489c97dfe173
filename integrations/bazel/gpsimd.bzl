"""Custom ops under Bazel: images as outputs of sandboxed actions, with Bazel's own caches and remote execution.

    load("@gpsimd_build//:gpsimd.bzl", "gpsimd_custom_op", "gpsimd_toolchain")

    gpsimd_toolchain(
        name = "toolchain",
        archive = "toolchain.tar.xz",       # of `gpsimd-build toolchain export`
        tool = "gpsimd-build",              # gpsimd-build-x86_64-linux of a release
    )

    gpsimd_custom_op(
        name = "relu",
        srcs = ["relu.cpp"],
        shape_srcs = ["relu_shape.cpp"],    # or schemas = ["my::relu_forward(Tensor x) -> Tensor", …]
        toolchain = ":toolchain",
    )

An action sees its declared inputs and nothing else: the tool is one static file, the toolchain brings its loader and
libraries, and no variable but the data directory is set. Unaware of what the tool does.
"""

GpsimdToolchainInfo = provider(
    doc = "A tool and the data directory in which it has a toolchain.",
    fields = {"tool": "the program", "home": "the data directory"},
)

# The shell is Bazel's; what it calls is in every system. Outputs of the tool are links into its own directory.
_INSTALL = """
export GPSIMD_BUILD_HOME="$PWD/$2"
"$1" toolchain install --from "$3" > /dev/null
# the device SDK's archives too: no action makes them again
"$1" compile "$4" --no-cache --no-precompile --out-dir "$5" > /dev/null
rm -rf "$5" "$GPSIMD_BUILD_HOME/cache" "$GPSIMD_BUILD_HOME/versions.json"
"""

_COMPILE = """
tool=$1 home=$2 name=$3 out=$4; shift 4
export GPSIMD_BUILD_HOME="$PWD/$home"
work=$(mktemp -d "$PWD/work.XXXXXX")
"$tool" compile "$@" --name "$name" --no-cache --no-precompile --out-dir "$work" > /dev/null
for file in "$work/$name".manifest.json "$work/$name"*.so; do cp -L "$file" "$out/"; done
rm -rf "$work"
"""

def _toolchain_impl(ctx):
    home = ctx.actions.declare_directory(ctx.label.name + ".home")
    warm = ctx.actions.declare_file(ctx.label.name + ".cpp")
    ctx.actions.write(warm, """
#include <torch/torch.h>
torch::Tensor warm(const torch::Tensor &t) { return t; }
""")
    ctx.actions.run_shell(
        mnemonic = "GpsimdToolchain",
        progress_message = "Unpacking the toolchain %s" % ctx.label.name,
        inputs = [ctx.file.archive, warm],
        tools = [ctx.file.tool],
        outputs = [home],
        command = _INSTALL,
        arguments = [ctx.file.tool.path, home.path, ctx.file.archive.path, warm.path, home.path + "/warm"],
        use_default_shell_env = False,
    )
    return [DefaultInfo(files = depset([home])), GpsimdToolchainInfo(tool = ctx.file.tool, home = home)]

gpsimd_toolchain = rule(
    implementation = _toolchain_impl,
    doc = "Unpacks an exported toolchain; an output like any other, so that caches hold it.",
    attrs = {
        "archive": attr.label(allow_single_file = [".tar.xz"], mandatory = True),
        "tool": attr.label(allow_single_file = True, mandatory = True),
    },
)

def _suffixes(multicore):
    cores = ["_cpu%d" % core for core in range(8)] if multicore else [""]
    return [core + kind for core in cores for kind in [".so", ".stripped.so", ".packed.so"]]

def _custom_op_impl(ctx):
    name = ctx.attr.library or ctx.label.name
    info = ctx.attr.toolchain[GpsimdToolchainInfo]
    names = [name + ".manifest.json"] + [name + suffix for suffix in _suffixes(ctx.attr.multicore)]
    outputs = [ctx.actions.declare_file("%s/%s" % (ctx.label.name, file)) for file in names]

    arguments = ctx.actions.args()
    arguments.add_all([info.tool.path, info.home.path, name, outputs[0].dirname])
    arguments.add_all(ctx.files.srcs)
    arguments.add_all(ctx.files.shape_srcs, before_each = "--shape-src")
    arguments.add_all(ctx.attr.schemas, before_each = "--schema")
    arguments.add_all(ctx.attr.includes, before_each = "-I")
    if ctx.attr.multicore:
        arguments.add("--multicore")
    if ctx.attr.copts:
        arguments.add("--")
        arguments.add_all(ctx.attr.copts)
    ctx.actions.run_shell(
        mnemonic = "GpsimdCustomOp",
        progress_message = "Building custom ops %s" % name,
        inputs = ctx.files.srcs + ctx.files.shape_srcs + ctx.files.hdrs + [info.home],
        tools = [info.tool],
        outputs = outputs,
        command = _COMPILE,
        arguments = [arguments],
        use_default_shell_env = False,
    )
    return [DefaultInfo(files = depset(outputs))]

gpsimd_custom_op = rule(
    implementation = _custom_op_impl,
    doc = "A library of custom ops: images, linked, stripped and packed, and their manifest.",
    attrs = {
        "srcs": attr.label_list(allow_files = [".cpp", ".cc", ".cxx"], mandatory = True),
        "hdrs": attr.label_list(allow_files = True, doc = "Everything that a source includes and the toolchain has not."),
        "shape_srcs": attr.label_list(allow_files = [".cpp", ".cc", ".cxx"]),
        "schemas": attr.string_list(doc = "In PyTorch's language, one an op; what is not given is found in the sources."),
        "includes": attr.string_list(doc = "Include directories, relative to the workspace."),
        "copts": attr.string_list(),
        "multicore": attr.bool(default = True),
        "library": attr.string(doc = "The library's name, if it is not the target's."),
        "toolchain": attr.label(providers = [GpsimdToolchainInfo], mandatory = True),
    },
)
