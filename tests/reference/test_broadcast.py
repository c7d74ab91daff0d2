from __future__ import annotations

import numpy as np

from neuronet.reference.broadcast import SumTable


def test_every_sample_gets_the_table() -> None:
    y = np.empty((2, 2))
    SumTable(x=np.array([[1.0, 2], [3, 4]]), table=np.array([10.0, 20]), y=y)
    np.testing.assert_array_equal(y, [[11, 22], [13, 24]])
