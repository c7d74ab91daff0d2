"""Settings: defaults, round trip, and one error for each bad value that names its option."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neuronet.errors import SpecError
from neuronet.train.settings import Settings


def test_round_trip_through_json() -> None:
    settings = Settings(task="direction", features="returns, time", max_gap="1.5h", clip_norm=1, lr=0.01)
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert settings.features == ("returns", "time")
    assert settings.max_gap_ns == 5_400 * 10**9


@pytest.mark.parametrize(
    ("text", "seconds"), [("90min", 5_400), ("36h", 129_600), ("4d", 345_600), (" 30 s ", 30)]
)
def test_max_gap_units(text: str, seconds: int) -> None:
    assert Settings(max_gap=text).max_gap_ns == seconds * 10**9


def test_outputs_and_loss_follow_the_task() -> None:
    assert (Settings(horizon=7).outputs, Settings().loss) == (7, "huber")
    assert (Settings(task="direction").outputs, Settings(task="direction").loss) == (3, "cross_entropy")
    assert (Settings(task="action").outputs, Settings(task="action").loss) == (5, "action")
    assert Settings(task="action", horizon=7).ahead == 7
    assert Settings(task="action").classes == ("sell", "flat", "buy")
    assert Settings(task="policy").classes == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task", "guess"),
        ("features", "magic"),
        ("features", []),
        ("history", 0),
        ("horizon", -1),
        ("epochs", 0),
        ("batch", 0),
        ("every", 0),
        ("patience", 0),
        ("lr", 0.0),
        ("lr", float("inf")),
        ("lr", float("nan")),
        ("l2", -0.1),
        ("seed", -1),
        ("clip_norm", 0.0),
        ("clip_norm", "much"),
        ("validation", 1.0),
        ("test", -0.1),
        ("test_from", "yesterday"),
        ("test_from", "today"),
        ("max_gap", "3 weeks"),
        ("max_gap", 36),
        ("threshold", -1.0),
    ],
)
def test_a_bad_value_names_its_option(field: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"--{field.replace('_', '-')}: {field} cannot be"):
        Settings.from_dict({field: value})


def test_shares_must_leave_something_to_train_on() -> None:
    with pytest.raises(SpecError, match="leave a share for training"):
        Settings(validation=0.5, test=0.5)


def test_wrong_type_and_unknown_field() -> None:
    with pytest.raises(SpecError, match="history must be a whole number"):
        Settings.from_dict({"history": 1.5})
    with pytest.raises(SpecError, match="unknown setting 'windw'"):
        Settings.from_dict({"windw": 3})


@pytest.mark.parametrize("year", ["9999-12-31", "1500-01-01", "2262-06-01"])
def test_a_date_that_int64_ns_cannot_hold_is_refused(year: str) -> None:
    """As ns it would wrap around to another century."""
    with pytest.raises(SpecError, match="--test-from: test_from cannot be"):
        Settings(test_from=year)
    assert Settings(test_from="2261-12-31").test_from == "2261-12-31"
