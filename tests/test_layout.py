"""The tree keeps its promises: one guess finds a file, imports go one way, files stay short."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import neuronet
from neuronet.device.kernel import all_kernels
from neuronet.layers.base import LAYERS

ROOT = Path(neuronet.__file__).parent
TESTS = Path(__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
VARIANTS = ("CPU", "GPU", "Tensor")  # suffixes of forms of one kernel; the plain one has the twin
STEMS = sorted({spec.stem for spec in all_kernels().values() if not spec.name.endswith(VARIANTS)})

# Each package or module may import only those to its left, and itself.
ORDER = [
    *("errors", "activations", "declared", "nanoseconds", "reference", "device", "ops", "layers"),
    *("optim", "losses"),
    *(
        "storage",
        "net",
        "testing",
        "fitting",
        "bars",
        "series",
        "prior",
        "market",
        "anomaly",
        "models",
        "train",
        "study",
        "cases",
        "cli",
    ),
]


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_file_is_short_documented_and_imports_leftwards(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 400, "more than 400 lines: one concept a file"
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "no module docstring"
    own = package(path)
    for node in ast.walk(tree):
        for name in imported(node):
            parts = name.split(".")
            if parts[0] == "pyopencl":
                assert own == "device", "only device/ imports pyopencl"
            if parts[0] == "pandas":
                assert own in ("bars", "series"), "only bars/ and series/ import pandas"
            if parts[0] == "neuronet" and len(parts) > 1 and own in ORDER:
                assert ORDER.index(parts[1]) <= ORDER.index(own), f"{own} imports {name}"


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        if node.module == "neuronet":
            return [f"neuronet.{alias.name}" for alias in node.names]
        return [node.module]
    return []


@pytest.mark.parametrize("path", sorted((ROOT / "kernels").glob("*.cl*")), ids=lambda p: p.name)
def test_kernel_file_is_short_and_portable(path: Path) -> None:
    text = path.read_text("utf-8")
    limit = 600 if path.stem == "conv" else 400  # conv.cl: three forms of four kernels side by side
    assert len(text.splitlines()) <= limit
    code = re.sub(r"//[^\n]*", "", text)
    assert not re.search(r"\bdouble\b|cl_khr_fp64|\bhalf\b", code), "float32 only"
    assert not re.search(r"(?<![\w.])\d+\.\d*(?:e[+-]?\d+)?(?![\w.])", code), (
        "a literal without f is a double"
    )
    assert not re.search(r"\bfma\s*\(|\bmad\s*\(|float16|atomic_", code), "slow, unsafe or not deterministic"


@pytest.mark.parametrize("stem", STEMS)
def test_stem_is_the_same_everywhere(stem: str) -> None:
    for folder, suffix in (("reference", ".py"), ("ops", ".py"), ("cases", ".py")):
        assert (ROOT / folder / f"{stem}{suffix}").is_file(), f"no {folder}/{stem}{suffix}"
    assert (TESTS / "ops" / f"test_{stem}.py").is_file()


@pytest.mark.parametrize("spec", all_kernels().values(), ids=lambda s: s.name)
def test_kernel_has_a_twin_with_the_same_arguments(spec: object) -> None:
    name = spec.name  # type: ignore[attr-defined]
    plain = next((name.removesuffix(v) for v in VARIANTS if name.endswith(v)), name)
    expected = {a.name for a in spec.args if a.dims is not None} | set(spec.scalars)  # type: ignore[attr-defined]
    if plain != name:
        kernels = all_kernels()
        assert plain in kernels, f"{name} is a form of no kernel"
        other = kernels[plain]
        assert expected == {a.name for a in other.args if a.dims is not None} | set(other.scalars)
        return
    twin = getattr(import_module(f"neuronet.reference.{spec.stem}"), name)  # type: ignore[attr-defined]
    assert set(inspect.signature(twin).parameters) == expected


def stem_of(name: str) -> str:
    """CNeuronMLMHAttentionOCL -> mlmh_attention"""
    core = re.sub(r"^CNeuron|^C(?=[A-Z])", "", name).removesuffix("OCL")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", core).lower()


@pytest.mark.parametrize("cls", LAYERS.values(), ids=lambda c: c.__name__)
def test_layer_lives_where_its_name_says_and_is_public(cls: type) -> None:
    assert cls.__module__ == f"neuronet.layers.{stem_of(cls.__name__)}"
    assert cls.__doc__
    if cls.__name__ != "CNeuronInputOCL":  # made by CNet
        assert getattr(neuronet, cls.__name__) is cls


def test_stems() -> None:
    names = ["CNeuronMLMHAttentionOCL", "CNeuronConvOCL", "CNeuronBatchNormOCL", "CNeuronRevINDenormOCL"]
    assert [stem_of(n) for n in [*names, "CResidualConv", "CNeuronPositionEncoder"]] == [
        "mlmh_attention",
        "conv",
        "batch_norm",
        "rev_in_denorm",
        "residual_conv",
        "position_encoder",
    ]


def test_public_names_exist() -> None:
    assert len(set(neuronet.__all__)) == len(neuronet.__all__)
    for name in neuronet.__all__:
        assert hasattr(neuronet, name), name


def test_versions_agree() -> None:
    project = (ROOT.parent / "pyproject.toml").read_text("utf-8")
    assert f'version = "{neuronet.__version__}"' in project
    changelog = (ROOT.parent / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{neuronet.__version__}]" in changelog


def test_importing_touches_no_opencl_and_no_pandas() -> None:
    import subprocess
    import sys

    code = (
        "import sys, neuronet; print([m for m in ('pyopencl', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
