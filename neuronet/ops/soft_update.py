"""A target network follows another one. Kernel: kernels/soft_update.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import SpecError


def soft_update(target: DeviceArray, source: DeviceArray, *, tau: float) -> None:
    """target += tau * (source - target), over arrays of equal size: whole parameter pools, in one launch.

    tau  from above 0 to 1; SpecError otherwise. NeuroNet's WeightsUpdate does nothing above 1 and says so
         to nobody
    """
    if not 0.0 < tau <= 1.0:
        raise SpecError(f"tau cannot be {tau:g}", where="--tau", fix="choose more than 0 and at most 1")
    n = target.size
    target.device.kernel("SoftUpdate")(target=target.view(n), source=source.view(n), tau=float(tau))
