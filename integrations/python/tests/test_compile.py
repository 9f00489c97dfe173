"""``build_custom_op.compile``: what the reference accepts is accepted, what it returns is returned."""

import os
import pathlib
import pickle
import uuid
import warnings

import pytest

from gpsimd_build import CompilerWarning, GpsimdBuildError, build_custom_op

ADD = """#include <torch/torch.h>
torch::Tensor add(const torch::Tensor& a, const torch::Tensor& b) {
  torch::Tensor out = torch::zeros(a.sizes(), torch::kFloat);
  auto x = a.accessor<float, 1>();
  auto y = b.accessor<float, 1>();
  auto z = out.accessor<float, 1>();
  for (int i = 0; i < a.numel(); ++i) z[i] = x[i] + FACTOR * y[i];
  return out;
}
"""
SCHEMA = "my::add(Tensor a, Tensor b) -> Tensor"


@pytest.fixture
def project(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The current directory: a kernel that needs FACTOR, and headers in a directory with an awkward name."""
    (tmp_path / "add.cpp").write_text(ADD)
    (tmp_path / "factor.cpp").write_text('#include "factor.h"\n' + ADD)
    headers = tmp_path / "it's; a dir"
    headers.mkdir()
    (headers / "factor.h").write_text("#define FACTOR 2\n")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "factor.h").write_text("#define FACTOR 3\n")
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "add.cpp").write_text("int twin() { return 1; }\n")
    (tmp_path / "wrapper.cpp").write_text("int twin();\nint wrapped() { return twin(); }\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exists_beside(images: list, *endings: str) -> bool:
    return all(os.path.isfile(image.replace(".stripped.so", ending)) for image in images for ending in endings)


def test_a_name_without_extension_and_tuples_for_lists(project: pathlib.Path) -> None:
    images = build_custom_op.compile("add", ("add",), ("add.cpp",), (SCHEMA,), "out", (), ("-DFACTOR=1",))
    assert images == ["out/add.stripped.so"]
    assert exists_beside(images, ".so", ".stripped.so", ".packed.so")


def test_only_the_last_extension_of_the_name_goes(project: pathlib.Path) -> None:
    with pytest.warns(UserWarning, match="replaced"):
        images = build_custom_op.compile("lib.v1.bar", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-DFACTOR=1"])
    assert images == ["out/lib.v1.stripped.so"]


def test_an_element_of_several_words_is_split_as_the_shell_did(project: pathlib.Path) -> None:
    images = build_custom_op.compile(
        "add.so", ["add"], ["factor.cpp"], [SCHEMA], "out", ["-I inc -DNOTE='a b'"], ["-O2 -Wno-error"]
    )
    assert exists_beside(images, ".so")


def test_debug_as_part_of_an_element_still_strips(project: pathlib.Path) -> None:
    images = build_custom_op.compile("add.so", ["add"], ["add.cpp"], [SCHEMA], "out", [], ["-O0 -g", "-DFACTOR=1"])
    assert images == ["out/add.stripped.so"]


def test_debug_as_an_element_does_not_strip(project: pathlib.Path) -> None:
    images = build_custom_op.compile(
        "add.so", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-g", "-DFACTOR=1"], multicore=True
    )
    assert images == [f"out/add_cpu{core}.so" for core in range(8)]
    assert not any("stripped" in name or "packed" in name for name in os.listdir("out"))


def test_directories_may_have_any_name(project: pathlib.Path) -> None:
    out = project / "out $HOME `x` \"q\""
    images = build_custom_op.compile("add.so", ["add"], ["factor.cpp"], [SCHEMA], out, [project / "it's; a dir"])
    assert images == [f"{out}/add.stripped.so"]
    assert os.path.isfile(images[0])


def test_sources_of_one_stem_and_one_called_wrapper(project: pathlib.Path) -> None:
    sources = [pathlib.Path("add.cpp"), "twin/add.cpp", "./wrapper.cpp"]
    images = build_custom_op.compile("add.so", ["add"], sources, [SCHEMA], "out", cflags=["-DFACTOR=1"])
    assert os.path.isfile(images[0])


def test_kernels_and_schemas_pair_by_position(project: pathlib.Path) -> None:
    (project / "two.cpp").write_text(
        "#include <torch/torch.h>\n"
        "torch::Tensor first(const torch::Tensor& a) { return a; }\n"
        "torch::Tensor second(const torch::Tensor& a) { return a; }\n"
    )
    schemas = ["my::b(Tensor a) -> (Tensor r)", "my::a(Tensor a) -> Tensor"]
    images = build_custom_op.compile("two.so", ["first", "second"], ["two.cpp"], schemas, "out", multicore=True)
    assert images == [f"out/two_cpu{core}.stripped.so" for core in range(8)]


def test_the_last_of_two_flags_counts(project: pathlib.Path) -> None:
    flags = ["-DFACTOR=1", "-Werror", "-Wno-error", "-DUNUSED"]
    (project / "warns.cpp").write_text(ADD.replace("return out;", "int unused; return out;"))
    with pytest.warns(CompilerWarning, match="unused variable 'unused'"):
        images = build_custom_op.compile("add.so", ["add"], ["warns.cpp"], [SCHEMA], "out", [], flags)
    assert os.path.isfile(images[0])


def test_the_process_is_left_as_it_was(project: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = dict(os.environ)
    for _ in range(2):
        build_custom_op.compile("add.so", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-DFACTOR=1"])
    assert dict(os.environ) == before
    assert capfd.readouterr().out == ""
    # never built before, so that nothing can be taken from a cache
    mark = f"-DMARK_{uuid.uuid4().hex}"
    build_custom_op.compile("add.so", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-DFACTOR=1", mark], verbose=True)
    assert mark in capfd.readouterr().err


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"fn_names": ["add", "sub"]}, "python::op_count"),
        ({"cflags": "-O2"}, "python::not_a_list"),
        ({"src_files": "add.cpp"}, "python::not_a_list"),
        ({"cflags": ["-DX='"]}, "python::quotes"),
        ({"cflags": [2]}, "python::not_text"),
        ({"src_files": ["none.cpp"]}, "engine::source_missing"),
        ({"src_files": []}, "cli::usage"),
        ({"includes": ["nowhere"]}, "engine::include_missing"),
        ({"schema": ["add(Tensor a) -> Tensor"]}, "schema::no_namespace"),
        ({"name": "builtin.so"}, "engine::name"),
        ({"cflags": ["-DFACTOR=missing"]}, "engine::command_failed"),
    ],
)
def test_a_refusal_has_a_code(project: pathlib.Path, change: dict, code: str) -> None:
    arguments = {
        "name": "add.so",
        "fn_names": ["add"],
        "src_files": ["add.cpp"],
        "schema": [SCHEMA],
        "build_directory": "out",
        "cflags": ["-DFACTOR=1"],
        **change,
    }
    with pytest.raises(GpsimdBuildError) as caught:
        build_custom_op.compile(**arguments)
    assert code in caught.value.codes
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.codes) == (str(caught.value), caught.value.codes)


def test_all_problems_are_in_one_exception(project: pathlib.Path) -> None:
    with pytest.raises(GpsimdBuildError) as caught:
        build_custom_op.compile("add.so", ["add"], ["none.cpp"], ["my::add(Tensor? a) -> Tensor"], "out", ["nowhere"])
    assert {"engine::source_missing", "engine::include_missing", "schema::optional"} <= set(caught.value.codes)
    assert not os.path.exists("out")


def test_the_compiler_s_words_are_in_the_text(project: pathlib.Path) -> None:
    with pytest.raises(GpsimdBuildError, match="'missing' was not declared") as caught:
        build_custom_op.compile("add.so", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-DFACTOR=missing"])
    assert "-DFACTOR=missing" in str(caught.value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_custom_op.compile("add.so", ["add"], ["add.cpp"], [SCHEMA], "out", cflags=["-DFACTOR=1"])
