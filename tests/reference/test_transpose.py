from __future__ import annotations

import numpy as np

from neuronet.reference.transpose import Transpose


def test_rows_become_columns_of_each_sample() -> None:
    out = np.empty((2, 3, 2))
    Transpose(matrix_in=np.arange(12.0).reshape(2, 2, 3), matrix_out=out)
    np.testing.assert_array_equal(out, [[[0, 3], [1, 4], [2, 5]], [[6, 9], [7, 10], [8, 11]]])
