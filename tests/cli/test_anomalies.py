"""``neuronet train --model catch`` and ``neuronet anomalies``: tables, bars, wrong files, pictures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click.testing
import numpy as np
import pytest

from neuronet.anomaly.scores import total
from neuronet.anomaly.synthetic import make_planted
from neuronet.bars.bars import stamp
from neuronet.bars.synthetic import write_mt5
from neuronet.cli import main
from neuronet.device.numpy import NumpyDevice
from neuronet.models.catch import Catch
from neuronet.storage.hdf5 import read_model
from neuronet.train.channels_contract import ChannelsContract

SMALL = ["--history", "16", "--epochs", "3", "--lr", "0.01", "--device", "numpy"]
ROWS, STRANGE = 900, slice(820, 832)  # rows of a table, and those in which it is not as ever
QUANTILE = ("--method", "quantile")
START = np.datetime64("2024-01-01T00:00")


@dataclass
class Trained:
    """A table, the model of its first 85 %, and what the training said."""

    table: Path
    model: Path
    result: click.testing.Result


def values(rows: int = ROWS, *, strange: slice | None = STRANGE, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    t = np.arange(rows)
    made = np.stack([np.sin(2 * np.pi * (t + 3 * c) / 12) for c in range(3)], axis=1)
    made += 0.1 * rng.standard_normal(made.shape)
    if strange:
        made[strange, 1] = 1.5 * rng.standard_normal(made[strange, 1].shape)
    return made


def write_table(path: Path, made: np.ndarray, names: str = "load,wind,sun", *, timed: bool = True) -> Path:
    lines = [("time," if timed else "") + names]
    for i, row in enumerate(made):
        when = str(START + i * np.timedelta64(1, "h")).replace("T", " ") + ","
        lines.append((when if timed else "") + ",".join(f"{v:.5f}" for v in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def call(*arguments: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(autouse=True)
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONET_DEVICE", "numpy")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("catch")
    table, model = write_table(folder / "plant ü.csv", values()), folder / "m.h5"
    return Trained(table, model, call("train", table, "-o", model, "--model", "catch", *SMALL))


@pytest.fixture(scope="module")
def symbols(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("bars")
    one, other = (folder / f"{bars.symbol}_H1.csv" for bars in make_planted(700, seed=1, episodes=0).bars())
    for bars, path in zip(make_planted(700, seed=1, episodes=0).bars(), (one, other), strict=True):
        write_mt5(bars, path)
    return one, other


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# --- training -----------------------------------------------------------------------------------------


def test_training_says_what_it_learned_and_what_it_found(trained: Trained) -> None:
    result = trained.result
    assert result.exit_code == 0, result.output
    said = result.stderr.splitlines()
    assert said[0] == "900 rows from 2024-01-01 00:00:00 to 2024-02-07 11:00:00, 3 channels: load, wind, sun"
    assert "parameters on numpy" in said[1]
    assert "windows of 16 rows" in said[1]
    assert said[2].startswith("epoch   1/3  loss ")
    assert said[-1] == f"saved {trained.model}: epoch 3 of 3, seed 0"
    printed = [line.split() for line in result.stdout.splitlines()]
    assert printed[1][:3] == ["held", "back", "153"]
    assert printed[2][:2] == ["test", "135"]
    assert float(printed[2][3]) > float(printed[1][4])  # the highest score of the test part
    assert f"{trained.model}: no threshold for a rate of 0.001: 153 scores are too few" in result.stdout
    assert "Fix: give --method quantile with --rate 0.0065 or more, or train on more rows" in result.stdout


def test_the_file_knows_its_channels(trained: Trained) -> None:
    file = read_model(trained.model)
    kept = ChannelsContract.from_dict(file.bars, "m.h5")
    assert kept.names == ("load", "wind", "sun")
    assert (kept.rows, kept.timed, kept.step) == (765, True, 3_600 * 10**9)
    assert stamp(kept.last) == "2024-02-01 20:00:00"
    assert (kept.settings.signal, kept.settings.history, kept.settings.epochs) == ("levels", 16, 3)
    assert Catch.load(trained.model, NumpyDevice()).context == 16
    shown = call("info", trained.model)
    assert shown.exit_code == 0, shown.output
    assert "CNeuronCATCH(" in shown.stdout
    assert "load, wind, sun" in shown.stdout


def test_training_as_json(trained: Trained, tmp_path: Path) -> None:
    options = (*SMALL, "--json", "-q", "--channels", "sun,load", "--test", 0)
    result = call("train", trained.table, "-o", tmp_path / "m.h5", "--model", "catch", *options)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    data = json.loads(result.stdout)
    assert data["channels"] == ["sun", "load"]
    assert [one["name"] for one in data["parts"]] == ["held back"]
    assert data["settings"]["signal"] == "levels"
    assert len(data["training"]["history"]) == 3


def test_interrupted_and_resumed_gives_the_same_bytes(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.h5"
    with monkeypatch.context() as patch:
        # after the first epoch, which writes the file
        patch.setattr("neuronet.cli.interrupt.Interrupt.__call__", lambda _: path.exists())
        result = call("train", trained.table, "-o", path, "--model", "catch", *SMALL)
    assert result.exit_code == 130, result.output
    assert f"saved {path} after 1 epoch; go on with:" in result.stderr
    early = call("anomalies", path, trained.table)
    assert early.exit_code == 2
    assert "its training has not ended\nFix: go on with 'neuronet train --resume'" in early.stderr
    changed = call("train", trained.table, "-o", path, "--resume", "--epochs", 9, "--device", "numpy")
    assert changed.exit_code == 2
    assert f"--resume takes the settings from {path}: leave out --epochs" in changed.stderr
    shorter = write_table(tmp_path / "other.csv", values(890, seed=1))
    other = call("train", shorter, "-o", path, "--resume", "--device", "numpy")
    assert other.exit_code == 2
    assert "is another training: it has 765 other rows of load, wind, sun" in other.stderr
    result = call("train", trained.table, "-o", path, "--resume", *SMALL)
    assert result.exit_code == 0, result.output
    want, got = (read_model(one).arrays for one in (trained.model, path))
    assert {name: a.tobytes() for name, a in got.items()} == {name: a.tobytes() for name, a in want.items()}
    again = call("train", trained.table, "-o", path, "--resume", "--device", "numpy")
    assert again.exit_code == 2
    assert "has come to its end after 3 epochs" in again.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--horizon", 3), "--horizon does not go with --model catch"),
        (("--features", "time"), "--features does not go with --model catch"),
        (("--force",), "--force does not go with --model catch"),
        (("--print-config",), "--print-config does not go with --model catch"),
        (
            ("--columns", "time=time"),
            "--columns does not go with --model catch; name channels with --channels",
        ),
        (("--history", 3), "--history: history cannot be 3\nFix: choose 4 or more"),
        (("--test-from", "2020-01-01"), "no row is before 2020-01-01"),
        (("--channels", "wind,moon,mars"), "no column 'moon' and 'mars'\nFix: choose from load, wind, sun"),
        (("--test", 0.97), "--history: 27 rows are too few for windows of 16"),
        (("--tz", "UTC"), "tz can be chosen for bars only"),
    ],
)
def test_options_that_do_not_apply(
    trained: Trained, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    args = ("-o", tmp_path / "m.h5", "--model", "catch", "--device", "numpy")
    result = call("train", trained.table, *args, *SMALL[:2], *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_other_models_refuse_what_is_for_channels(bars_file: Path, tmp_path: Path) -> None:
    for options, message in {
        ("--stride", "3"): "--stride is for --model catch",
        ("--channels", "close"): "--channels is for --model catch",
        (str(bars_file),): "got 2 files; several are for --model catch",
    }.items():
        result = call("train", bars_file, "-o", tmp_path / "m.h5", *options)
        assert result.exit_code == 2
        assert message in result.stderr


def test_resume_of_another_kind_of_training(model_file: Path, bars_file: Path) -> None:
    before = model_file.read_bytes()
    result = call("train", bars_file, "-o", model_file, "--model", "catch", "--resume", "--device", "numpy")
    assert result.exit_code == 2
    assert "is no training of --model catch" in result.stderr
    assert model_file.read_bytes() == before


def test_variables_for_other_models_do_not_disturb(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONET_HORIZON", "5")
    monkeypatch.setenv("NEURONET_MODEL", "catch")
    monkeypatch.setenv("NEURONET_EPOCHS", "1")
    small = [*SMALL[:2], *SMALL[-2:]]
    result = call("train", trained.table, "-o", tmp_path / "m.h5", *small)
    assert result.exit_code == 0, result.output
    assert "epoch 1 of 1" in result.stderr


# --- anomalies ----------------------------------------------------------------------------------------


def test_the_strange_rows_raise_the_alarm(trained: Trained) -> None:
    result = call(
        "anomalies", trained.model, trained.table, "--rate", 0.02, "--method", "quantile", "--join", 6
    )
    assert result.exit_code == 0, result.output
    found = rows(result.stdout)
    assert list(found[0]) == ["start", "end", "rows", "peak", "peak_score", "threshold", "channels"]
    best = max(found, key=lambda row: float(row["peak_score"]))
    first, last = (START + np.timedelta64(h, "h") for h in (800, 848))  # the windows of 16 that hold them
    assert str(first) <= best["start"].replace(" ", "T")
    assert best["end"].replace(" ", "T") <= str(last)
    assert best["channels"].startswith("wind ")
    said = result.stderr.splitlines()
    assert said[0] == (
        "135 rows from 2024-02-01 21:00:00 to 2024-02-07 11:00:00, without the 765 up to the end of training"
    )
    assert said[1].startswith("threshold ")
    assert "about 1 normal row in 50 is above it, by the order of 153 scores" in said[1]
    assert said[2].endswith("of normal ones about 2.7 would be")


def test_scores_are_those_of_the_model(trained: Trained, tmp_path: Path) -> None:
    out, scores = tmp_path / "alarms.csv", tmp_path / "scores.csv"
    how = ("--rate", 0.02, "--method", "quantile")
    result = call("anomalies", trained.model, trained.table, "-o", out, "--scores", scores, "--all", *how)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    found = rows(scores.read_text("utf-8"))
    assert list(found[0]) == ["time", "score", "alarm", "load", "wind", "sun"]
    assert len(found) == ROWS
    model = Catch.load(trained.model, NumpyDevice())
    made = model.contributions(values().round(5))
    np.testing.assert_allclose([float(row["score"]) for row in found], total(made), rtol=1e-5)
    np.testing.assert_allclose([float(row["wind"]) for row in found], made[:, 1], rtol=1e-5)
    above = total(made) > model.threshold(0.02, "quantile").value
    assert [row["alarm"] == "1" for row in found] == above.tolist()
    assert sum(int(row["rows"]) for row in rows(out.read_text("utf-8"))) == above.sum()
    assert "without the" not in result.stderr


def test_json_with_labels(trained: Trained, tmp_path: Path) -> None:
    made = values()
    marked = np.zeros((ROWS, 1))
    marked[STRANGE] = 1.0
    table = write_table(tmp_path / "t.csv", np.hstack([made, marked]), "load,wind,sun,bad")
    how = ("--rate", 0.02, "--method", "quantile")
    result = call("anomalies", trained.model, table, "--labels", "bad", "--json", *how)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["channels"] == ["load", "wind", "sun"]
    assert (data["rows"], data["left_out"]) == (135, 765)
    assert data["expected_above"] == pytest.approx(2.7)
    assert data["evaluation"]["anomalies"] == 12
    assert data["evaluation"]["auc_roc"] > 0.9
    assert data["alarms"][0]["channels"][0]["name"] in data["channels"]
    labels = write_table(tmp_path / "labels.csv", marked, "bad")
    printed = call("anomalies", trained.model, trained.table, "--labels", labels, *how)
    assert printed.exit_code == 0, printed.output
    lines = printed.stdout.splitlines()
    assert lines[0] == "135 rows, 12 of them labelled, in 1 run"
    auc = next(line.split() for line in lines if line.startswith("AUC-ROC"))
    assert float(auc[1]) == pytest.approx(data["evaluation"]["auc_roc"], abs=1e-4)
    assert float(auc[2]) == pytest.approx(0.5, abs=0.1)


def test_labels_need_no_threshold(trained: Trained, tmp_path: Path) -> None:
    """153 scores give none for one row in 1,000; AUC and the like are of the scores alone."""
    labels = write_table(tmp_path / "l.csv", np.isin(np.arange(ROWS), np.arange(820, 832))[:, None], "bad")
    result = call("anomalies", trained.model, trained.table, "--labels", labels)
    assert result.exit_code == 0, result.output
    names = [line.split("  ")[0] for line in result.stdout.splitlines()[2:]]
    assert names[:2] == ["AUC-ROC", "AUC-PR"]
    assert not {"precision", "F1", "affiliation F1"} & set(names)
    assert "no threshold for a rate of 0.001: 153 scores are too few" in result.stderr
    assert "give --method quantile with --rate 0.0065 or more" in result.stderr
    data = json.loads(call("anomalies", trained.model, trained.table, "--labels", labels, "--json").stdout)
    assert (data["threshold"], data["rows_above"], data["alarms"]) == (None, None, [])
    assert data["why"].startswith("no threshold for a rate of 0.001")
    assert data["evaluation"]["f1"] is data["evaluation"]["affiliation"] is None
    how = ("--method", "quantile", "--rate", 0.0065, "--json")
    with_one = json.loads(call("anomalies", trained.model, trained.table, "--labels", labels, *how).stdout)
    assert with_one["evaluation"]["auc_roc"] == data["evaluation"]["auc_roc"]
    assert with_one["evaluation"]["f1"] is not None
    for option in ("-o", "--scores"):  # files of alarms need one
        path = tmp_path / "out.csv"
        refused = call("anomalies", trained.model, trained.table, "--labels", labels, option, path)
        assert (refused.exit_code, path.exists()) == (2, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", 0), "--rate: the rate is 0\n"),
        (("--rate", 0.02), "153 scores are too few: the highest 10% are 15"),
        (("--method", "median"), "is not one of"),
        (("--join", -1), "is not in the range"),
        (
            ("--labels", "moon", "--rate", 0.02, *QUANTILE),
            "--labels moon: is no file, and no column of plant ü.csv\nFix: give the name of",
        ),
        (
            QUANTILE,
            "Fix: give --rate 0.0065 or more, or train on more rows (153 are held back",
        ),
        (("--labels", "wind", "--rate", 0.02, *QUANTILE), "--labels wind: there is a -"),
        (("--columns", "time=time"), "--columns does not go with channels"),
        (("-o", "none/a.csv"), "there is no folder"),
    ],
)
def test_wrong_options(trained: Trained, options: tuple[object, ...], message: str) -> None:
    result = call("anomalies", trained.model, trained.table, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


Change = Callable[[Path], Path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda p: write_table(p, values()[:, :2], "load,wind"),
            "give files with the model's channels: load, w",
        ),
        (lambda p: write_table(p, values(765)), "training may have seen all 765 rows"),
        (
            lambda p: write_table(p, values(12), timed=False),
            "t.csv: 12 rows are fewer than the 16 of a",
        ),
        (lambda p: write_table(p, values(1), timed=False), "t.csv: 1 row is fewer than the 16 of a"),
        (lambda p: write_table(p, np.where(np.arange(900)[:, None] == 3, np.nan, values())), "1 of 900 rows"),
    ],
)
def test_files_that_do_not_fit(trained: Trained, tmp_path: Path, change: Change, message: str) -> None:
    result = call("anomalies", trained.model, change(tmp_path / "t.csv"), "--rate", 0.02, *QUANTILE)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("command", ["train", "anomalies"])
def test_times_without_a_step_name_no_option_of_other_commands(
    trained: Trained, tmp_path: Path, command: str
) -> None:
    """--frequency is for forecast alone."""
    odd = write_table(tmp_path / "odd.csv", values(5))
    stamps = ["2024-01-01", "2024-01-02", "2024-01-04", "2024-01-09", "2024-01-19"]
    head, *rows = odd.read_text("utf-8").splitlines()
    odd.write_text(
        "\n".join([head, *(f"{t},{row.partition(',')[2]}" for t, row in zip(stamps, rows, strict=True))]),
        "utf-8",
    )
    one = write_table(tmp_path / "one.csv", values(1))
    for path, fix in ((odd, "bring the rows to regular steps of whole seconds"), (one, "give at least two")):
        options = ("-o", tmp_path / "m.h5", "--model", "catch") if command == "train" else ()
        files = (path,) if command == "train" else (trained.model, path)
        result = call(command, *files, *options)
        assert result.exit_code == 2
        assert result.stderr.endswith(f"\nFix: {fix}\n")


def test_a_value_beyond_float32_is_named_by_its_time(trained: Trained, tmp_path: Path) -> None:
    """Row 850 is 35 days and 10 hours after START."""
    made = values()
    made[850, 2] = 1e200
    result = call(
        "anomalies", trained.model, write_table(tmp_path / "far.csv", made), *QUANTILE, "--rate", 0.05
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert "far.csv: 1 of 135 rows have a value too far from those of" in result.stderr
    assert "scored: 2024-02-05 10:00:00 in sun\n" in result.stderr


def test_columns_in_another_order_and_more_of_them(trained: Trained, tmp_path: Path) -> None:
    made = values()
    table = write_table(tmp_path / "t.csv", made[:, [2, 0, 0, 1]], "sun,moon,load,wind")
    how = ("--rate", 0.02, "--method", "quantile")
    want, got = (call("anomalies", trained.model, path, *how).stdout for path in (trained.table, table))
    assert got == want != ""


def test_rows_without_times_are_known_by_their_values(tmp_path: Path) -> None:
    table, model = write_table(tmp_path / "t.csv", values(), timed=False), tmp_path / "m.h5"
    assert call("train", table, "-o", model, "--model", "catch", *SMALL).exit_code == 0
    how = ("--rate", 0.02, "--method", "quantile", "--json", "-q")
    same = json.loads(call("anomalies", model, table, *how).stdout)
    assert (same["rows"], same["left_out"], same["first"]) == (135, 765, "765")
    other = write_table(tmp_path / "o.csv", values(seed=4), timed=False)
    data = json.loads(call("anomalies", model, other, *how).stdout)
    assert (data["rows"], data["left_out"], data["first"]) == (900, 0, "0")


def test_bars_of_several_symbols(symbols: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = symbols
    model = tmp_path / "m.h5"
    result = call("train", one, other, "-o", model, "--model", "catch", *SMALL)
    assert result.exit_code == 0, result.output
    assert "log changes of SYMA, SYMB" in result.stderr
    kept = ChannelsContract.from_dict(read_model(model).bars, "m.h5")
    assert (kept.names, kept.settings.signal) == (("SYMA", "SYMB"), "changes")
    how = ("--rate", 0.05, "--method", "quantile", "--json", "-q")
    data, turned = (
        json.loads(call("anomalies", model, *f, *how).stdout) for f in ((one, other), (other, one))
    )
    assert (data["rows"], data["left_out"]) == (104, 595)
    assert data["alarms"] == turned["alarms"]
    alone = call("anomalies", model, one)
    assert alone.exit_code == 2
    assert "SYMA_H1.csv: the file of 'SYMB' is missing: training had several" in alone.stderr
    wrong = call("anomalies", model, other, one.with_name("none.csv"))
    assert "none.csv: cannot be read" in wrong.stderr
    few = one.with_name("few.csv")
    few.write_text("".join(one.read_text("utf-8").splitlines(keepends=True)[:8]), "utf-8")
    for files, lacking in (((other,), "SYMA"), ((other, few), "SYMA")):
        told = call("anomalies", model, *files)
        assert f"the file of '{lacking}' is missing" in told.stderr
    bars = tmp_path / "one.h5"
    assert call("train", one, "-o", bars, "--model", "catch", *SMALL).exit_code == 0
    short = call("anomalies", bars, few, "--all")
    assert short.exit_code == 2
    assert "few.csv: 6 rows of changes are fewer than the 16 of a window" in short.stderr
    assert "Fix: give at least 17 rows" in short.stderr


def test_an_unknown_channel_of_bars_is_named(symbols: tuple[Path, Path], tmp_path: Path) -> None:
    """Not the known one, which the header calls <CLOSE>."""
    out = ("-o", tmp_path / "m.h5", "--model", "catch", *SMALL)
    result = call("train", symbols[0], *out, "--channels", "close,foo")
    assert result.exit_code == 2
    assert "SYMA_H1.csv: no column 'foo'\nFix: choose from open, high, low, close\n" in result.stderr
    mixed = call("train", symbols[0], *out, "--channels", "close,<SPREAD>")
    assert "no column 'close'; the columns are <DATE>" in mixed.stderr
    assert "Fix: name all channels as the header does" in mixed.stderr
    hole = write_table(tmp_path / "hole.csv", np.where(np.arange(900)[:, None] == 3, np.nan, values()))
    assert "with --missing drop of 'neuronet train'" in call("train", hole, *out).stderr


@pytest.mark.parametrize("command", ["predict", "evaluate", "backtest"])
def test_other_commands_name_this_one(trained: Trained, bars_file: Path, command: str) -> None:
    result = call(command, trained.model, bars_file, "--device", "numpy")
    assert result.exit_code == 2
    assert f"finds anomalies in channels; it says nothing about the bars ahead\nFix: neuronet anomalies {trained.model}" in result.stderr  # fmt: skip  # noqa: E501


def test_other_models_find_no_anomalies(
    model_file: Path, forecaster_file: Path, bars_file: Path, trained: Trained, tmp_path: Path
) -> None:
    Catch.load(trained.model, NumpyDevice()).save(tmp_path / "python.h5")
    for path in (model_file, forecaster_file, tmp_path / "python.h5"):
        result = call("anomalies", path, bars_file)
        assert result.exit_code == 2
        assert (
            "says nothing about the channels that it was trained on\nFix: use a model that" in result.stderr
        )


@pytest.mark.parametrize("rate", [0.02, 0.006])
def test_a_picture(trained: Trained, tmp_path: Path, rate: float) -> None:
    """With alarms, and with at most one."""
    pytest.importorskip("matplotlib", reason='no matplotlib: pip install "neuronet[plot]"')
    path = tmp_path / "p.png"
    how = ("--rate", rate, "--method", "quantile", "--plot", path, "-o", tmp_path / "a.csv")
    result = call("anomalies", trained.model, trained.table, *how)
    assert result.exit_code == (0 if rate == 0.02 else 2), result.output
    if rate == 0.02:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(data) > 20_000
    else:
        assert "153 scores are too few for a rate of 0.006" in result.stderr
        assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_read_is_never_written(trained: Trained) -> None:
    for option in ("-o", "--plot", "--scores"):
        before = trained.table.read_bytes()
        result = call("anomalies", trained.model, trained.table, option, trained.table)
        assert result.exit_code == 2
        assert "is a file to read" in result.stderr
        assert trained.table.read_bytes() == before
