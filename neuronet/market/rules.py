"""Rules: what a broker charges and allows, as a trader writes it, and the same in whole numbers.

Decimals become fractions by their shortest text (0.1 is one tenth), so every amount below is exact; only what
is booked on the balance is rounded, to whole cents, half away from zero.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.errors import SpecError

Ints = NDArray[np.int64]

CENTS = 100  # money units in one unit of the account's currency
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DIGITS = 8  # most decimals of a price
SAMPLE = 1_000  # bars that decide the decimals of the prices: the first ones, so that a cut changes nothing
LIMIT = 2**62  # sums of money and points stay below, so that int64 holds twice as much


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A broker's rules for one instrument.

    point        size of one point in units of price: 0.00001 for EURUSD with five decimals
    contract     units of the instrument in one lot
    lot_step     volumes are multiples of it, in lots
    min_lot      a smaller volume is no position
    max_lot      a larger volume becomes this
    spread       ask - bid in points, the same for every bar; bars are bids
    commission   money for each lot of each fill: a round turn pays twice
    swap_long    points for each lot and night, added to the balance: negative is paid
    swap_short   the same for short positions
    triple_day   day whose night counts three times, for the weekend; 0 is Monday
    leverage     margin of a position = its value at entry / leverage
    margin_call  percent: no order may add that would leave equity below this share of the margin
    stop_out     percent: at this share of the margin the position is closed by the broker
    stops_level  points that take-profit and stop-loss must be further away than
    stops_required  an action without take-profit or stop-loss closes its direction, as in the articles
    max_tp       points of a take-profit of 1 in an action; max_sl of a stop-loss of 1
    quote_value  account currency for one unit of the quote currency, fixed: 1 for EURUSD in USD

    Raises SpecError for values that cannot be.
    """

    point: float = 0.00001
    contract: float = 100_000.0
    lot_step: float = 0.01
    min_lot: float = 0.01
    max_lot: float = 100.0
    spread: int = 0
    commission: float = 0.0
    swap_long: float = 0.0
    swap_short: float = 0.0
    triple_day: int = 2
    leverage: float = 100.0
    margin_call: int = 100
    stop_out: int = 50
    stops_level: int = 0
    stops_required: bool = False
    max_tp: int = 1_000
    max_sl: int = 1_000
    quote_value: float = 1.0

    def __post_init__(self) -> None:
        for name in ("point", "contract", "lot_step", "min_lot", "max_lot", "quote_value"):
            _check(name, getattr(self, name), 0.0 < getattr(self, name) < np.inf, "more than 0")
        for name in ("spread", "stops_level", "stop_out", "margin_call"):
            value = getattr(self, name)
            _check(name, value, isinstance(value, int) and value >= 0, "a whole number from 0 on")
        for name in ("max_tp", "max_sl"):
            value = getattr(self, name)
            _check(name, value, isinstance(value, int) and value > 0, "a whole number from 1 on")
        _check("commission", self.commission, 0.0 <= self.commission < np.inf, "0 or more")
        for name in ("swap_long", "swap_short"):
            _check(name, getattr(self, name), bool(np.isfinite(getattr(self, name))), "a number")
        _check("triple_day", self.triple_day, self.triple_day in range(7), "0 for Monday to 6 for Sunday")
        _check("leverage", self.leverage, 1.0 <= self.leverage < np.inf, "1 or more")
        for name in ("min_lot", "max_lot"):
            steps = exact(getattr(self, name)) / exact(self.lot_step)
            _check(name, getattr(self, name), steps.denominator == 1, f"a multiple of {self.lot_step:g}")
        _check("max_lot", self.max_lot, self.max_lot >= self.min_lot, f"{self.min_lot:g} or more")

    @cached_property
    def min_steps(self) -> int:
        """The least volume, in steps."""
        return int(exact(self.min_lot) / exact(self.lot_step))

    @cached_property
    def max_steps(self) -> int:
        """The largest volume, in steps."""
        return int(exact(self.max_lot) / exact(self.lot_step))

    @cached_property
    def step_point(self) -> Fraction:
        """Cents of one point of one lot step."""
        size = exact(self.contract) * exact(self.lot_step) * exact(self.point)
        return size * exact(self.quote_value) * CENTS

    @cached_property
    def margin_rate(self) -> Fraction:
        """Cents of margin for one step point of a position's value at entry."""
        return self.step_point / exact(self.leverage)

    @cached_property
    def step_commission(self) -> Fraction:
        """Cents of commission for one lot step of one fill."""
        return exact(self.commission) * exact(self.lot_step) * CENTS

    def swap(self, side: int) -> Fraction:
        """Cents of one lot step for one night; ``side`` 1 long, -1 short."""
        return exact(self.swap_long if side > 0 else self.swap_short) * self.step_point

    def lots(self, steps: Any) -> Any:
        """Volumes in lots from steps."""
        return np.asarray(steps, np.float64) * self.lot_step

    def check_lots(self, lots: float) -> None:
        """SpecError when ``lots`` of a position of 1 are no volume that can be traded."""
        if not self.min_lot <= lots <= self.max_lot:
            fix = f"choose {self.min_lot:g} to {self.max_lot:g}, or other --min-lot and --max-lot"
            raise SpecError(f"lots cannot be {lots:g}", where="--lots", fix=fix)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Rules:
        """Rules from JSON data; fields that a later version added are left out."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


def exact(value: float) -> Fraction:
    """The decimal that a float is written as: 0.1 is 1/10."""
    return Fraction(repr(float(value)))


def rounded(amount: Ints, by: Fraction) -> Ints:
    """amount * by in whole numbers, half away from zero; amount [any] int64."""
    if by.denominator == 1:
        return amount * by.numerator
    product = amount * by.numerator
    half: Ints = np.sign(product) * ((2 * np.abs(product) + by.denominator) // (2 * by.denominator))
    return half


def cents(money: float, option: str = "--cash") -> int:
    """Whole cents of an amount of money. SpecError for parts of a cent, and for what is not above 0."""
    if not (0.0 < money < np.inf) or (exact(money) * CENTS).denominator != 1:
        fix = "give more than 0, with at most two decimals"
        raise SpecError(f"the start capital cannot be {money!r}", where=option, fix=fix)
    return int(exact(money) * CENTS)


def find_point(bars: Bars) -> float:
    """The point of prices: the fewest decimals that write the first 1,000 bars. SpecError for more than 8."""
    rows = bars[:SAMPLE]
    prices = np.concatenate([rows.open, rows.high, rows.low, rows.close])
    for digits in range(DIGITS + 1):
        scaled = prices * 10**digits
        if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))):
            return float(f"1e-{digits}")
    raise SpecError(
        f"the prices have more than {DIGITS} decimals, such as {prices[0]!r}",
        where="--point",
        fix="say what one point is, such as --point 0.00001; prices are rounded to it",
    )


def _check(name: str, value: Any, fits: bool, wanted: str) -> None:
    if not fits:
        fix = f"choose {wanted}"
        raise SpecError(f"{name} cannot be {value!r}", where=f"--{name.replace('_', '-')}", fix=fix)
