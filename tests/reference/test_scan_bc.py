from __future__ import annotations

import numpy as np

from neuronet.reference import scan_bc

# Whether the gradients are right is checked with all others of the scan in test_scan_gradient.py.


def test_groups_are_summed_behind_x() -> None:
    parts = np.arange(8.0).reshape(1, 2, 2, 2)
    dxbc = np.full((1, 2, 3), 9.0)
    scan_bc.ScanSumGroups(parts=parts, dxbc=dxbc)
    np.testing.assert_array_equal(dxbc, [[[9, 2, 4], [9, 10, 12]]])
