"""Write and read model files. The layout is described in docs/file-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from neuronet.errors import FileFormatError
from neuronet.storage import migrate
from neuronet.storage.atomic import replace_file, write_test
from neuronet.storage.diagnose import COPY_AGAIN, check_bytes
from neuronet.storage.model import DTYPES, GROUPS, ModelFile, checked_arrays
from neuronet.storage.seal import seal

__all__ = ["ModelFile", "read_model", "write_model", "write_test"]

_DOCUMENTS = {"spec": "spec", "training": "training_json", "bars": "bars"}  # field -> dataset


def write_model(path: str | os.PathLike[str], model: ModelFile) -> None:
    """Save `model`: `path` then holds all of it, or, on any failure, what it held before.

    Parameters are stored as float32. Raises FileFormatError when the file system refuses, a parameter is not
    finite, or a name, dtype or document cannot be stored.
    """
    # HDF5 writes to memory and Python to the disk: HDF5 does not survive a full disk.
    data = _encode(model, str(path))
    replace_file(Path(path), [data, seal(data)])


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Load a model and check all of it; nothing in the file is executed.

    Raises FileFormatError that says what the file is, when it is missing, damaged, foreign or too new.
    """
    where = str(path)
    try:
        with Path(path).open(
            "rb"
        ) as file:  # one handle for all: another process may replace the file meanwhile
            check_bytes(file, where)
            return _decode(file, where)
    except FileNotFoundError as error:
        raise FileFormatError(
            f"no such file (looked in {Path(path).absolute().parent})",
            where=where,
            fix="check the name and the folder",
        ) from error
    except (OSError, ValueError) as error:
        if Path(path).is_dir():
            raise FileFormatError("is a folder", where=where, fix="name the model file in it") from error
        raise FileFormatError(
            f"cannot be read: {error}", where=where, fix="check its permissions and disk"
        ) from error


def _encode(model: ModelFile, where: str) -> bytes:
    arrays = checked_arrays(model.arrays, where)
    documents = {dataset: _json(model, field, where) for field, dataset in _DOCUMENTS.items()}
    with h5py.File("model", "w", driver="core", backing_store=False, libver="earliest") as root:
        root.attrs.update(format="neuronet", format_version=migrate.FORMAT_VERSION, neuronet=_own_version())
        for name, text in documents.items():  # datasets, because HDF5 attributes end at 64 KiB
            root.create_dataset(name, data=np.bytes_(text))
        for group in GROUPS:
            root.create_group(group)
        for name, array in arrays.items():
            # fletcher32 needs chunks, and neither a scalar nor an empty array can have them
            root.create_dataset(name, data=array, fletcher32=array.size > 0 and array.ndim > 0)
        root.flush()
        image: bytes = root.id.get_file_image()
    return image


def _json(model: ModelFile, field: str, where: str) -> bytes:
    try:
        return json.dumps(getattr(model, field)).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{field} cannot be stored as JSON: {error}",
            where=where,
            fix="use dict, list, str, int, float, bool, None",
        ) from error


def _own_version() -> str:
    try:
        return metadata.version("neuronet")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "unknown"


def _decode(file: BinaryIO, where: str) -> ModelFile:
    try:
        with h5py.File(file, "r") as root:
            version = _format_version(root, where)
            reader = _Reader(root, where, size=file.seek(0, os.SEEK_END))
            documents = {field: reader.document(dataset) for field, dataset in _DOCUMENTS.items()}
            model = ModelFile(arrays=dict(reader.arrays()), **documents)
        model = migrate.migrate(model, version)
        model.arrays = checked_arrays(model.arrays, where)
    except FileFormatError:
        raise
    except Exception as error:  # on damaged metadata h5py raises OSError, KeyError, RuntimeError and more
        raise FileFormatError(f"is damaged: {error}", where=where, fix=COPY_AGAIN) from error
    return model


def _format_version(root: h5py.File, where: str) -> int:
    if _attribute(root, "format") == "neuronet bars":
        raise FileFormatError(
            "holds bars, not a model",
            where=where,
            fix="give the model that 'neuronet train' wrote, and the bars where the command wants bars",
        )
    stated = next((name for name in ("format_version", "version") if name in root.attrs), None)
    if _attribute(root, "format") != "neuronet" or stated is None:
        inside = ", ".join(list(root)[:5]) or "nothing"
        raise FileFormatError(
            f"is HDF5, but there is no neuronet model inside (it holds: {inside})",
            where=where,
            fix="give the .h5 file that neuronet saved",
        )
    version = int(_attribute(root, stated))
    if version > migrate.FORMAT_VERSION:
        writer = _attribute(root, "neuronet") or "of a later version"
        raise FileFormatError(
            f"was written in format {version} by neuronet {writer}; "
            f"this neuronet {_own_version()} reads formats up to {migrate.FORMAT_VERSION}",
            where=where,
            fix="update neuronet: pip install --upgrade neuronet",
        )
    if version < 1:
        raise FileFormatError(f"is damaged: it states format {version}", where=where, fix=COPY_AGAIN)
    return version


def _attribute(root: h5py.File, name: str) -> str:
    """Return an attribute as text, whichever way another program or an older h5py stored it."""
    value = root.attrs.get(name, "")
    if isinstance(value, np.ndarray):
        value = value.item()
    return value.decode() if isinstance(value, bytes) else str(value)


class _Reader:
    """Reads the datasets of one open file, each looked at before it may allocate memory."""

    def __init__(self, root: h5py.File, where: str, size: int) -> None:
        self.root, self.where = root, where
        self.room = size  # bytes that datasets may still claim: all of them together fit into the file
        self.seen = {h5py.h5o.get_info(root.id).addr}  # objects met, against groups that hold themselves

    def document(self, name: str) -> dict[str, Any]:
        """Return the JSON document in a scalar string dataset."""
        dataset = self._open(self.root, name, name)
        text = self._read(dataset, name) if isinstance(dataset, h5py.Dataset) else None
        if not isinstance(text, bytes | str):
            raise self._damaged(f"/{name} is not a string")
        document = json.loads(text)
        if not isinstance(document, dict):
            raise self._damaged(f"/{name} holds a JSON {type(document).__name__}, expected an object")
        return document

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield every array under GROUPS with its name."""
        for name in GROUPS:
            yield from self._walk(self._open(self.root, name, name), name)

    def _walk(self, item: h5py.Group | h5py.Dataset, name: str) -> Iterator[tuple[str, np.ndarray]]:
        if isinstance(item, h5py.Group):
            for key in item:
                yield from self._walk(self._open(item, key, f"{name}/{key}"), f"{name}/{key}")
        elif isinstance(item, h5py.Dataset) and item.dtype.newbyteorder("=").name in DTYPES:
            yield name, np.asarray(self._read(item, name))
        else:
            raise self._damaged(f"/{name} is not a group or an array of {', '.join(DTYPES)}")

    def _open(self, group: h5py.Group, key: str, name: str) -> h5py.Group | h5py.Dataset:
        """Open what is stored here: a link might lead to any other file of this machine."""
        if key not in group:
            raise self._damaged(f"/{name} is missing")
        if not isinstance(group.get(key, getlink=True), h5py.HardLink):
            raise self._damaged(f"/{name} is a link, which model files never hold")
        item = group[key]
        address = h5py.h5o.get_info(item.id).addr
        if address in self.seen:
            raise self._damaged(f"/{name} is stored twice")
        self.seen.add(address)
        return item

    def _read(self, dataset: h5py.Dataset, name: str) -> Any:
        settings = dataset.id.get_create_plist()
        filters = {settings.get_filter(i)[0] for i in range(settings.get_nfilters())}
        if dataset.is_virtual or dataset.external or filters - {h5py.h5z.FILTER_FLETCHER32}:
            raise self._damaged(
                f"/{name} is compressed or stored in another file, which model files never are"
            )
        # without compression a dataset takes at least its own size; HDF5 reads a missing chunk as zeros
        if dataset.nbytes > min(self.room, dataset.id.get_storage_size()):
            raise self._damaged(f"/{name} claims {dataset.nbytes:,} bytes, more than the file holds for it")
        self.room -= dataset.nbytes
        try:
            return dataset[()]
        except Exception as error:  # a wrong checksum is an OSError, other damage may be anything
            raise self._damaged(f"the checksum or data of /{name} are wrong ({error})") from error

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"is damaged: {what}", where=self.where, fix=COPY_AGAIN)
