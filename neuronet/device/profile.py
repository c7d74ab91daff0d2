"""Profile: time per kernel, from OpenCL events or the host's clock. On under NEURONET_PROFILE=1."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any


class Profile:
    """Seconds and launches per kernel name. OpenCL events are turned into seconds in batches."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._launches: dict[str, int] = defaultdict(int)
        self._events: list[tuple[str, Any]] = []

    @staticmethod
    def wanted() -> bool:
        return os.environ.get("NEURONET_PROFILE", "0") == "1"

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] += seconds
        self._launches[name] += 1

    def add_event(self, name: str, event: Any) -> None:
        self._events.append((name, event))
        if len(self._events) >= 4096:  # events hold driver memory
            self._drain()

    def _drain(self) -> None:
        for name, event in self._events:
            event.wait()
            self.add(name, 1e-9 * (event.profile.end - event.profile.start))
        self._events.clear()

    def rows(self) -> list[tuple[str, int, float]]:
        """(kernel, launches, seconds), most seconds first."""
        self._drain()
        return sorted(((n, self._launches[n], s) for n, s in self._seconds.items()), key=lambda row: -row[2])

    def table(self) -> str:
        rows = self.rows()
        total = sum(seconds for _, _, seconds in rows) or 1.0
        lines = [f"{'kernel':32} {'launches':>9} {'ms':>10} {'µs each':>9} {'share':>6}"]
        for name, launches, seconds in rows:
            share = f"{100 * seconds / total:.1f}%"
            lines.append(
                f"{name:32} {launches:>9,} {1e3 * seconds:>10.2f} {1e6 * seconds / launches:>9.1f} {share:>6}"
            )
        return "\n".join(lines)
