"""online: one chronological pass over bars; at each bar first a prediction, then a step of learning."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.bars import Bars, Floats, counted, stamp
from neuronet.bars.targets import forecast_targets, policy_targets
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.errors import SpecError
from neuronet.market.rules import CENTS, Rules, cents
from neuronet.market.simulator import simulate
from neuronet.market.state import ACCOUNT, time_vectors
from neuronet.storage.atomic import replace_file
from neuronet.storage.hdf5 import read_model, write_test
from neuronet.storage.model import ModelFile
from neuronet.study import targets
from neuronet.study.file import Studied
from neuronet.study.latents import latents_of
from neuronet.study.live import Columns, Live
from neuronet.train.contract import Contract, fingerprint
from neuronet.train.positions import row_from, unseen_by
from neuronet.train.prepare import known_rows
from neuronet.train.second_input import second_input

log = logging.getLogger(__name__)

HEADER = "time,close,forecast,error,said,position,balance,equity\n"


@dataclass(frozen=True, kw_only=True)
class OnlineSettings:
    """How an online pass learns. SpecError names a bad one."""

    lots: float | None = None  # of a position of 1; None: as in the experience
    cash: float = 10_000.0
    shadows: int = 30  # random agents beside the actor, whose experience it learns from
    memory: int = 500  # bars back that are learned from
    updates: int = 1  # steps of learning a bar
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("shadows", 1), ("memory", 2), ("updates", 0), ("seed", 0)):
            if getattr(self, name) < least:
                what = f"{name} cannot be {getattr(self, name)}"
                raise SpecError(what, where=f"--{name}", fix=f"choose {least} or more")
        if self.lots is not None and not self.lots > 0.0:
            raise SpecError(f"lots cannot be {self.lots:g}", where="--lots", fix="choose more than 0")


@dataclass(frozen=True, eq=False)
class Pass:
    """What came of a pass, [bars] each: see Live; balance, equity in money. ``stopped``: before its end."""

    bars: Bars
    forecast: Floats
    error: Floats
    said: Floats
    position: Floats
    balance: Floats
    equity: Floats
    stopped: bool

    def csv(self) -> Iterator[str]:
        """A header and a line a bar; numbers have 10 digits, those that are not there are empty cells."""
        yield HEADER
        names = ("forecast", "error", "said", "position", "balance", "equity")
        columns = [self.bars.close, *(getattr(self, name) for name in names)]
        cells = [np.where(np.isnan(c), "", np.char.mod("%.10g", c)) for c in columns]
        for time, *row in zip(map(stamp, self.bars.time), *cells, strict=True):
            yield ",".join([time, *row]) + "\n"

    def summary(self) -> dict[str, Any]:
        """Numbers of the pass: mean absolute error of the forecasts and of 'no change', profit, exposure."""
        moves = np.diff(np.log(self.bars.close), prepend=np.nan)
        known = ~np.isnan(self.error)
        start = float(self.equity[0])
        return {
            "bars": len(self.bars),
            "first": stamp(self.bars.time[0]),
            "last": stamp(self.bars.time[-1]),
            "mae": float(np.abs(self.error[known]).mean()) if known.any() else None,
            "mae_no_change": float(np.abs(moves[known]).mean()) if known.any() else None,
            "profit": float(self.equity[-1]) - start,
            "exposure": float(np.abs(self.position).mean()),
        }


class _StopError(Exception):
    """Ends a simulation from inside."""


def online(
    model: str | Path,
    bars: Bars,
    output: str | Path,
    rules: Rules,
    settings: OnlineSettings | None = None,
    *,
    log_file: str | Path | None = None,
    since: str | None = None,
    every: int = 500,
    resume: bool = False,
    device: Device | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Pass:
    """Trade and learn bar by bar, from the first bar that the model never saw, or from the date ``since``.

    output   model file: what has been learned, written every ``every`` bars and at the end
    log_file CSV with a line a bar, written at the same moments
    resume   go on with the pass in ``output``, bit for bit; the file of bars may have grown
    stop     asked after each bar; True ends the pass with everything saved

    What is held at the end is marked, not closed. Raises SpecError when the pass to resume is another one,
    and as ``simulate``, ``read_model`` and ``write_model`` do.
    """
    write_test(output)
    settings, device = settings or OnlineSettings(), device or find_device()
    if every < 1:
        raise SpecError(f"every cannot be {every}", where="--every", fix="choose 1 or more")
    file = read_model(model)
    began, about_bars = _mark(file, model), file.bars
    studied = Studied.read(output, device) if resume else Studied.of(file, device, str(model))
    del file  # its arrays would stay as long as the pass
    if resume:
        _check_model(studied.progress, began, str(output))
    lots = studied.units.lots if settings.lots is None else settings.lots
    if settings.lots is not None:
        rules.check_lots(lots)
    if since is None and resume and "begins" in studied.progress:
        begins = studied.progress["begins"]
    else:
        begins = unseen_by(Contract.from_dict(about_bars, str(model)), since)
    columns = _columns(studied, bars, begins, rules)
    identity = {
        "begins": begins, "settings": asdict(settings), "rules": rules.to_dict(), "model": began,
    }  # fmt: skip
    kept = _resumed(studied, identity, columns.bars, str(output)) if resume else {}

    def after(t: int) -> None:
        on_progress(t + 1, len(columns.bars))
        asked = stop()
        if (t + 1) % every == 0 or asked or t + 1 == len(columns.bars):
            _save(studied, live, identity, Path(output), log_file)
        if asked and t + 1 < len(columns.bars):
            raise _StopError

    live = Live(
        studied.networks, studied.units, columns, rules, lots=lots, shadows=settings.shadows,
        memory=settings.memory, updates=settings.updates, seed=settings.seed, cash=cents(settings.cash),
        trust=float(studied.progress.get("first_trust", studied.contract.blend)), kept=kept, after=after,
    )  # fmt: skip
    stopped = False
    try:
        simulate(
            columns.bars, rules, live, agents=live.agents, cash=settings.cash,
            close_at_end=False, record=False,
        )  # fmt: skip
    except _StopError:
        stopped = True
    return _pass_of(live, stopped)


def _columns(studied: Studied, bars: Bars, begins: int, rules: Rules) -> Columns:
    """What is known of the bars from ``begins`` on; their windows reach back before it."""
    contract, networks = studied.contract, studied.networks
    contract.compare(bars)
    settings = networks.settings
    whole, values = known_rows(bars, contract.settings, contract.features)
    latents = latents_of(networks.encoder, values, settings.history, second_input(networks.encoder, whole))
    returns = policy_targets(whole)[:, 0]
    ahead = forecast_targets(whole, settings.horizon, differences=contract.settings.differences)
    row = row_from(whole, begins)
    traded, times, scaler = whole[row:], time_vectors(whole)[row:], studied.units.state
    cost = targets.change_cost(rules, float(traded.close[0]))
    scaled = (times - scaler.mean[len(ACCOUNT) :]) / scaler.scale[len(ACCOUNT) :]
    return Columns(
        bars=traded,
        latents=latents[row:],
        times=scaled.astype(np.float32),
        returns=returns[row:],
        ideal=targets.ideal_positions(returns[row:], cost, settings.horizon),
        ahead=studied.units.forecast.transform(ahead[row:]),
    )


def _mark(file: ModelFile, where: str | Path) -> dict[str, str]:
    """What a pass remembers of the model that it began with: the file's name and what it holds."""
    digest = hashlib.sha256(json.dumps([file.spec, file.training, file.bars], sort_keys=True).encode())
    for name, array in sorted(file.arrays.items()):
        digest.update(name.encode() + array.tobytes())
    return {"file": Path(where).name, "sha256": digest.hexdigest()}


def _check_model(progress: dict[str, Any], began: dict[str, str], where: str) -> None:
    """SpecError when the pass to resume began with another model than the one that is given."""
    if "done" not in progress:
        raise SpecError("holds no online pass", where=f"--resume {where}", fix="start without --resume")
    if "model" not in progress:  # a file of before the model was kept
        log.warning("%s does not say which model its pass began with: is it %s?", where, began["file"])
        return
    then = progress["model"]
    if then["sha256"] != began["sha256"]:
        other = f"the {began['file']} that is given"
        if then["file"] == began["file"]:
            other = f"one of the same name that holds something else: {other}"
        raise SpecError(
            f"its pass began with {then['file']}, not with {other}",
            where=f"--resume {where}",
            fix=f"give the {then['file']} of then, or start without --resume",
        )


def _resumed(studied: Studied, identity: dict[str, Any], bars: Bars, where: str) -> dict[str, Any]:
    """What the pass in a file has said so far. SpecError when it is another pass."""
    progress = studied.progress
    done = int(progress["done"])
    had = _other_options(progress, identity)
    other = [f"it had {', '.join(had)}"] if had else []
    if progress["begins"] != identity["begins"]:
        other.append("it began at another bar than --from says")
    elif done > len(bars) or fingerprint(bars[:done]) != progress["fingerprint"]:
        other.append(f"its {counted(done, 'bar')} cannot be found in the bars that are given")
    if other:
        raise SpecError(
            f"is another pass: {'; '.join(other)}",
            where=f"--resume {where}",
            fix="give the options and the bars of then (bars may follow, --from may be left out), or start "
            "without --resume",
        )
    return dict(studied.arrays)


def _other_options(progress: dict[str, Any], identity: dict[str, Any]) -> list[str]:
    """The options of the pass in a file that are other ones now: '--seed 0 (now 1)'."""
    found = []
    for part in ("settings", "rules"):
        then, now = _as_options(progress[part]), _as_options(identity[part])
        for name in dict.fromkeys([*then, *now]):
            old, new = then.get(name, "none"), now.get(name, "none")
            if old != new:
                found.append(f"{name} {old} (now {new})")
    return found


def _as_options(values: dict[str, Any]) -> dict[str, str]:
    """Settings, or rules, as they are written on the command line."""
    if "spread" in values:  # in points; the option is in units of price
        values = {**values, "spread": values["spread"] * values["point"]}
    if "commission" in values:
        values = {**values, "commission_lot": values["commission"]}
        del values["commission"]
    return {
        f"--{name.replace('_', '-')}": f"{value:.10g}" if isinstance(value, float) else f"{value}"
        for name, value in values.items()
        if value is not None
    }


def _save(
    studied: Studied, live: Live, identity: dict[str, Any], output: Path, log_file: str | Path | None
) -> None:
    seen = live.columns.bars[: live.done]
    studied.progress = {
        **identity,
        "done": live.done,
        "first_trust": live.first_trust,
        "fingerprint": fingerprint(seen),
    }
    studied.arrays = live.kept()
    contract = studied.contract
    studied.contract = replace(contract, blend=live.trust, test_begins=int(seen.time[-1]) + 1)
    studied.write(output)
    if log_file is not None:
        replace_file(Path(log_file), map(str.encode, _pass_of(live, False).csv()))


def _pass_of(live: Live, stopped: bool) -> Pass:
    part = slice(0, live.done)
    bars = live.columns.bars[part]
    moves = np.diff(np.log(bars.close))
    return Pass(
        bars=bars,
        forecast=live.forecast[part],
        error=np.concatenate([[np.nan], live.forecast[part][:-1] - moves]),
        said=live.said[part],
        position=live.position[part],
        balance=live.records.balance[0, part] / CENTS,
        equity=live.records.equity[0, part] / CENTS,
        stopped=stopped,
    )
