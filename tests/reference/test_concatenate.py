from __future__ import annotations

import numpy as np

from neuronet.reference.concatenate import ConcatenateBuffers, DeconcatenateBuffers, DeconcatenateOne


def test_rows_side_by_side_and_apart_again() -> None:
    a, b, out = np.array([[1.0, 2], [3, 4]]), np.array([[5.0], [6]]), np.empty((2, 3))
    ConcatenateBuffers(input1=a, input2=b, output=out)
    np.testing.assert_array_equal(out, [[1, 2, 5], [3, 4, 6]])
    da, db, one = np.empty_like(a), np.empty_like(b), np.empty_like(b)
    DeconcatenateBuffers(input=out, output1=da, output2=db)
    DeconcatenateOne(input=out, output=one, offset=2)
    for got, expected in ((da, a), (db, b), (one, b)):
        np.testing.assert_array_equal(got, expected)
