"""Model files: what is written is what is read, and what other programs wrote is read or refused clearly."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from neuronet.errors import FileFormatError
from neuronet.storage.hdf5 import ModelFile, read_model, write_model

V1 = Path(__file__).parent / "data" / "model_v1.h5"


def refusal(path: Path) -> str:
    with pytest.raises(FileFormatError) as error:
        read_model(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\nFix: " in str(error.value)
    return error.value.what


def test_round_trip_is_exact(saved: Path, model: ModelFile, same: Callable[..., bool]) -> None:
    assert same(read_model(saved), model)


def test_same_model_same_bytes(saved: Path, model: ModelFile, tmp_path: Path) -> None:
    write_model(tmp_path / "again.h5", model)
    assert (tmp_path / "again.h5").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("name", ["mit leer zeichen.h5", "größe-模型.h5", "[a]+.h5", "no_suffix"])
def test_file_names(tmp_path: Path, name: str, model: ModelFile, same: Callable[..., bool]) -> None:
    write_model(str(tmp_path / name), model)
    assert same(read_model(str(tmp_path / name)), model)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_empty_model(tmp_path: Path, same: Callable[..., bool]) -> None:
    write_model(tmp_path / "m.h5", ModelFile(spec={}))
    assert same(read_model(tmp_path / "m.h5"), ModelFile(spec={}))


def test_documents_may_be_longer_than_an_attribute(tmp_path: Path, same: Callable[..., bool]) -> None:
    long = ModelFile(spec={"names": ["ß" * 50] * 2000}, training={"history": list(range(20000))})
    write_model(tmp_path / "m.h5", long)
    assert same(read_model(tmp_path / "m.h5"), long)


def test_large_arrays_in_any_memory_order(tmp_path: Path) -> None:
    w = np.asfortranarray(np.random.default_rng(0).normal(size=(1001, 703)).astype(np.float32))
    write_model(
        tmp_path / "m.h5", ModelFile(spec={}, arrays={"parameters/w": w, "state/every_second": w[::2, ::-3]})
    )
    read = read_model(tmp_path / "m.h5").arrays
    np.testing.assert_array_equal(read["parameters/w"], w)
    np.testing.assert_array_equal(read["state/every_second"], w[::2, ::-3])
    assert (tmp_path / "m.h5").stat().st_size < 1.1 * 4 * (w.size + w[::2, ::-3].size)


def test_layout(saved: Path, model: ModelFile) -> None:
    """The layout that docs/file-format.md promises, seen with plain h5py."""
    assert saved.read_bytes()[8] == 0  # the earliest superblock, for old readers
    with h5py.File(saved) as file:
        assert file.attrs["format"] == "neuronet"
        assert file.attrs["format_version"] == 1
        assert isinstance(file.attrs["neuronet"], str)
        assert sorted(file) == sorted(
            ["spec", "training_json", "bars", "parameters", "state", "optimizer", "training"]
        )
        assert json.loads(file["spec"][()]) == model.spec
        assert json.loads(file["training_json"][()]) == model.training
        for name, array in model.arrays.items():
            assert file[name].fletcher32 == (array.size > 0 and array.ndim > 0), name


def test_a_file_of_version_1_loads_for_ever() -> None:
    model = read_model(V1)
    assert model.spec == {
        "input_shape": [2, 3],
        "layers": [{"class": "CNeuronDenseOCL", "version": 1, "neurons": 2, "activation": "TANH"}],
        "loss": "mse",
    }
    assert model.training == {"epoch": 2, "history": [0.5, 0.25]}
    assert model.bars == {"features": ["open", "close", "größe"]}
    expected = {
        "parameters/0/w": np.arange(12, dtype=np.float32).reshape(2, 6) / 8,
        "parameters/0/b": np.array([0.5, -0.5], np.float32),
        "state/0/count": np.array(7, np.int32),
        "optimizer/m": np.linspace(-1, 1, 14, dtype=np.float64),
        "optimizer/step": np.array([200], np.int64),
    }
    assert model.arrays.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(model.arrays[name], array, strict=True)


# what other programs write


def test_a_changed_file_without_seal_is_read(
    saved: Path, model: ModelFile, edit: Callable[..., Any], same: Callable[..., bool]
) -> None:
    with edit(saved) as file:
        file.attrs["note"] = "best of ten"
    assert same(read_model(saved), model)


@pytest.mark.parametrize("version", [np.int32(1), np.array([1], np.uint8), "1", np.bytes_(b"1")])
def test_attributes_of_any_type(
    saved: Path, model: ModelFile, edit: Callable[..., Any], same: Callable[..., bool], version: object
) -> None:
    with edit(saved) as file:
        for name in ("format", "neuronet"):
            file.attrs[name] = np.bytes_(file.attrs[name].encode())
        file.attrs["format_version"] = version
    assert same(read_model(saved), model)


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">f4"])
def test_byte_order_and_precision_are_converted(
    saved: Path, model: ModelFile, edit: Callable[..., Any], same: Callable[..., bool], dtype: str
) -> None:
    with edit(saved) as file:
        for name, array in model.arrays.items():
            del file[name]
            kind = dtype if name.startswith("parameters/") else array.dtype.newbyteorder(">")
            file.create_dataset(name, data=array.astype(kind))
        assert file["parameters/0/w"].dtype.str == dtype
    assert same(read_model(saved), model)


def test_documents_as_strings_of_variable_length(
    saved: Path, model: ModelFile, edit: Callable[..., Any], same: Callable[..., bool]
) -> None:
    with edit(saved) as file:
        del file["bars"]
        file["bars"] = json.dumps(model.bars, ensure_ascii=False)
    assert same(read_model(saved), model)


def test_files_of_new_hdf5_libraries(
    saved: Path, model: ModelFile, tmp_path: Path, same: Callable[..., bool]
) -> None:
    new = tmp_path / "latest.h5"
    with h5py.File(saved) as old, h5py.File(new, "w", libver="latest") as file:
        file.attrs.update(old.attrs)
        for name in old:
            old.copy(name, file)
    data = new.read_bytes()
    assert data[8] == 3  # the newest superblock
    assert same(read_model(new), model)
    new.write_bytes(data[:-1])
    assert f"{len(data) - 1:,} of {len(data):,} bytes" in refusal(new)


# what is refused


def test_newer_format(saved: Path, edit: Callable[..., Any]) -> None:
    with edit(saved) as file:
        file.attrs.update(format_version=99, neuronet="7.1.0")
    assert "format 99 by neuronet 7.1.0" in refusal(saved)
    with pytest.raises(FileFormatError, match="Fix: update neuronet"):
        read_model(saved)
    with edit(saved) as file:  # a later format may call it otherwise
        del file.attrs["format_version"], file.attrs["neuronet"]
        file.attrs["version"] = 99
    assert "format 99 by neuronet of a later version" in refusal(saved)


@pytest.mark.parametrize("version", [0, -1, "one", b"\xff"])
def test_impossible_format(saved: Path, edit: Callable[..., Any], version: object) -> None:
    with edit(saved) as file:
        file.attrs["format_version"] = version
    assert "is damaged" in refusal(saved)


def test_hdf5_of_another_program(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["model_weights"] = np.ones(3)
    what = refusal(tmp_path / "other.h5")
    assert "no neuronet model inside" in what
    assert "model_weights" in what


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
def test_parameters_that_are_not_finite(saved: Path, edit: Callable[..., Any], bad: float) -> None:
    with edit(saved) as file:
        del file["parameters/0/w"]
        w = np.ones((3, 5))
        w[1, 2:4] = bad
        file["parameters/0/w"] = w
    assert "parameters/0/w has 2 of 15 values that are not finite, first at (1, 2)" in refusal(saved)


@pytest.mark.parametrize(
    "name", ["spec", "training_json", "bars", "parameters", "state", "optimizer", "training"]
)
def test_missing_parts_are_named(saved: Path, edit: Callable[..., Any], name: str) -> None:
    with edit(saved) as file:
        del file[name]
    assert f"/{name} is missing" in refusal(saved)


@pytest.mark.parametrize("text", [b"[1]", b"{", b"\xff{}", 3.5, b"[" * 100_000])
def test_documents_that_are_no_json_object(saved: Path, edit: Callable[..., Any], text: object) -> None:
    with edit(saved) as file:
        del file["spec"]
        file["spec"] = np.bytes_(text) if isinstance(text, bytes) else text
    assert "is damaged" in refusal(saved)


@pytest.mark.parametrize(
    "data", [np.ones(3, np.float16), np.array([b"text"]), np.ones(2, bool), np.ones(2, "c8")]
)
def test_other_dtypes(saved: Path, edit: Callable[..., Any], data: np.ndarray) -> None:
    with edit(saved) as file:
        file["state/x"] = data
    assert "/state/x is not a group or an array of float32" in refusal(saved)


@pytest.mark.parametrize("chunks", [None, (10**6,)])
def test_claimed_sizes_allocate_nothing(
    saved: Path, edit: Callable[..., Any], chunks: tuple[int] | None
) -> None:
    with edit(saved) as file:
        file.create_dataset("state/huge", shape=(10**12,), dtype=np.float64, chunks=chunks)
    tracemalloc.start()
    assert "/state/huge claims 8,000,000,000,000 bytes" in refusal(saved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


def test_a_missing_chunk_is_not_read_as_zeros(saved: Path, edit: Callable[..., Any]) -> None:
    with edit(saved) as file:
        data = file.create_dataset("state/x", shape=(100,), dtype=np.float32, chunks=(50,))
        data[:50] = 1
    assert "/state/x claims 400 bytes" in refusal(saved)


def test_nothing_outside_the_file_is_read(saved: Path, edit: Callable[..., Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(np.ones(4, np.float32).tobytes())

    def soft(file: h5py.File) -> None:
        file["state/x"] = h5py.SoftLink("/parameters/0/w")

    def external(file: h5py.File) -> None:
        file["state/x"] = h5py.ExternalLink(str(secret), "/")

    def external_root(file: h5py.File) -> None:
        del file["state"]
        file["state"] = h5py.ExternalLink(str(secret), "/")

    def external_data(file: h5py.File) -> None:
        file.create_dataset("state/x", (4,), np.float32, external=[(str(secret), 0, 16)])

    def virtual(file: h5py.File) -> None:
        layout = h5py.VirtualLayout((4,), np.float32)
        layout[:] = h5py.VirtualSource(str(secret), "x", (4,))
        file.create_virtual_dataset("state/x", layout)

    def cycle(file: h5py.File) -> None:
        file["state/x"] = file["/"]

    def compressed(file: h5py.File) -> None:
        file.create_dataset("state/x", data=np.zeros(1000), compression="gzip")

    good = saved.read_bytes()
    for change, expected in [
        (soft, "/state/x is a link"),
        (external, "/state/x is a link"),
        (external_root, "/state is a link"),
        (external_data, "/state/x is compressed or stored in another file"),
        (virtual, "/state/x is compressed or stored in another file"),
        (cycle, "/state/x is stored twice"),
        (compressed, "/state/x is compressed or stored in another file"),
    ]:
        saved.write_bytes(good)
        with edit(saved) as file:
            change(file)
        assert expected in refusal(saved), change.__name__


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.h5")
    assert "no such file" in refusal(tmp_path / "none" / "none.h5")
    assert "is a folder" in refusal(tmp_path)


# what is not written


@pytest.mark.parametrize(
    ("document", "expected"),
    [({"x": np.float32(1)}, "float32"), ({"x": {1, 2}}, "set"), ({("a", "b"): 1}, "keys must be")],
)
def test_documents_must_be_json(tmp_path: Path, document: dict[str, object], expected: str) -> None:
    with pytest.raises(FileFormatError, match=f"training cannot be stored as JSON.*{expected}"):
        write_model(tmp_path / "m.h5", ModelFile(spec={}, training=document))
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_could_not_be_loaded_does_not_replace_a_good_one(
    saved: Path, model: ModelFile, same: Callable[..., bool]
) -> None:
    bad = ModelFile(spec={}, arrays={"parameters/w": np.array([1, np.nan], np.float32)})
    with pytest.raises(FileFormatError, match="1 of 2 values that are not finite"):
        write_model(saved, bad)
    assert same(read_model(saved), model)
