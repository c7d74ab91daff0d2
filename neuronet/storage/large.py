"""Large arrays into HDF5 without a copy in memory: HDF5 writes the skeleton, the arrays are put into it.

HDF5 does not survive a full disk, so it never writes to one (see hdf5.py); an image of hundreds of MB in
memory would double what the arrays take. Contiguous datasets that HDF5 has placed but not written have a
known offset, so the file is the skeleton's bytes with the arrays' own bytes between them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np

from neuronet.storage.atomic import replace_file
from neuronet.storage.seal import seal_line

Array = np.ndarray


def write_large(
    path: str | Path,
    *,
    attributes: Mapping[str, str | int],
    documents: Mapping[str, str],
    arrays: Mapping[str, Sequence[Array]],
) -> None:
    """Write one HDF5 file with a seal: all of it, or, on any failure, the name keeps what it had.

    documents  dataset -> text in ASCII
    arrays     dataset -> pieces of one dtype and row shape, one behind the other; at least one row in all

    Raises FileFormatError for what the file system refuses.
    """
    skeleton = _Skeleton()
    places: list[tuple[int, Sequence[Array]]] = []
    with h5py.File(skeleton, "w", libver="earliest") as root:
        root.attrs.update(attributes)
        for name, text in documents.items():
            root.create_dataset(name, data=np.bytes_(text.encode("ascii")))
        for name, pieces in arrays.items():
            places.append((_place(root, name, pieces), pieces))
    replace_file(Path(path), _sealed(skeleton, sorted(places, key=lambda place: place[0])))


def _place(root: h5py.File, name: str, pieces: Sequence[Array]) -> int:
    """Create a contiguous dataset without its data; return where in the file the data belong."""
    shape = (sum(map(len, pieces)), *pieces[0].shape[1:])
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    settings.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    settings.set_obj_track_times(False)  # the same arrays give the same bytes
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    kind, space = h5py.h5t.py_create(pieces[0].dtype, logical=True), h5py.h5s.create_simple(shape)
    dataset = h5py.h5d.create(root.id, None, kind, space, settings)
    h5py.h5o.link(dataset, root.id, name.encode("ascii"), lcpl=links)
    offset: int = dataset.get_offset()
    return offset


def _sealed(skeleton: _Skeleton, places: list[tuple[int, Sequence[Array]]]) -> Iterator[bytes | memoryview]:
    digest = hashlib.sha256()
    for part in _parts(skeleton, places):
        digest.update(part)
        yield part
    yield seal_line(digest.hexdigest())


def _parts(skeleton: _Skeleton, places: list[tuple[int, Sequence[Array]]]) -> Iterator[bytes | memoryview]:
    """The file from its first to its last byte."""
    at = 0
    for offset, pieces in places:
        yield skeleton.between(at, offset)
        at = offset
        for piece in pieces:
            whole = np.ascontiguousarray(piece)
            at += whole.nbytes
            if whole.nbytes:
                yield whole.data.cast("B")
    yield skeleton.between(at, max(at, skeleton.size))


class _Skeleton:
    """A file for HDF5 that holds only what is written; the rest reads as zeros."""

    def __init__(self) -> None:
        self.size = self.at = 0
        self.written: list[tuple[int, bytes]] = []

    def between(self, begin: int, end: int) -> bytes:
        """Bytes from begin to end; later writes win."""
        found = bytearray(end - begin)
        for offset, data in self.written:
            first, last = max(offset, begin), min(offset + len(data), end)
            if first < last:
                found[first - begin : last - begin] = data[first - offset : last - offset]
        return bytes(found)

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def read(self, size: int) -> bytes:
        found = self.between(self.at, self.at + size)
        self.at += size
        return found

    def readinto(self, room: memoryview) -> int:
        room[:] = self.read(len(room))
        return len(room)

    def write(self, data: memoryview) -> int:
        self.written.append((self.at, bytes(data)))
        self.at += len(data)
        self.size = max(self.size, self.at)
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        self.size = self.at if size is None else size
        return self.size

    def flush(self) -> None:
        """Nothing waits."""
