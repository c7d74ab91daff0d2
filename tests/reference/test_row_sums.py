from __future__ import annotations

import numpy as np

from neuronet.reference import row_sums


def test_rows_are_added() -> None:
    target = np.array([1.0, 2.0])
    row_sums.AddRowSums(matrix=np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), target=target)
    np.testing.assert_array_equal(target, [7, 62])
