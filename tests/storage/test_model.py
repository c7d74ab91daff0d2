"""The rules for names, dtypes and values of the arrays in a model file."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import FileFormatError
from neuronet.storage.model import checked_arrays

ONE = np.ones(1, np.float32)


@pytest.mark.parametrize(
    "name",
    [
        "w",
        "parameters",
        "weights/w",
        "/parameters/w",
        "parameters//w",
        "parameters/../w",
        "parameters/.",
        "state/\0",
    ],
)
def test_bad_names(name: str) -> None:
    with pytest.raises(FileFormatError, match="is no name for an array") as error:
        checked_arrays({name: ONE}, "m.h5")
    assert repr(name) in error.value.what


def test_an_array_cannot_hold_another() -> None:
    checked_arrays({"state/0/a": ONE, "state/0/ab": ONE}, "m.h5")
    with pytest.raises(FileFormatError, match="'state/0/a' is an array, so it cannot hold 'state/0/a/b/c'"):
        checked_arrays({"state/0/a/b/c": ONE, "state/0/a": ONE}, "m.h5")


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int16", "bool", "complex64", "S3", "O"])
def test_bad_dtypes(dtype: str) -> None:
    with pytest.raises(
        FileFormatError, match=r"state/x has dtype .*, expected one of float32, float64, int32, int64"
    ):
        checked_arrays({"state/x": np.zeros(2, dtype)}, "m.h5")


def test_only_parameters_are_narrowed_and_must_be_finite() -> None:
    wide = np.array([1 / 3, np.inf])
    arrays = checked_arrays(
        {"parameters/w": wide[:1], "state/x": wide, "parameters/index": np.array([3], ">i8")}, "m.h5"
    )
    np.testing.assert_array_equal(arrays["parameters/w"], np.array([1 / 3], np.float32), strict=True)
    np.testing.assert_array_equal(arrays["state/x"], wide, strict=True)
    np.testing.assert_array_equal(arrays["parameters/index"], np.array([3], np.int64), strict=True)
    assert arrays["parameters/index"].dtype.isnative
    with pytest.raises(
        FileFormatError, match=r"parameters/w has 1 of 2 values that are not finite, first at \(1,\)"
    ):
        checked_arrays({"parameters/w": wide}, "m.h5")
