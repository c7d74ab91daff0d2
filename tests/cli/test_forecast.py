"""``neuronet forecast``: from CSV, bars and .tsf files, as text, JSON, file and picture."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.read import read_bars
from neuronet.device.numpy import NumpyDevice
from neuronet.models import mamba4cast
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.series.table import read_series

START = np.datetime64("2024-02-28T20:00")


@pytest.fixture
def series_file(tmp_path: Path) -> Path:
    """30 hours of two columns."""
    rng = np.random.default_rng(0)
    lines = ["time,load,wind"]
    for i, (a, b) in enumerate(rng.standard_normal((30, 2)).round(3)):
        lines.append(f"{str(START + i * np.timedelta64(1, 'h')).replace('T', ' ')},{100 + a:.3f},{b:.3f}")
    path = tmp_path / "load ü.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def numbers(found: list[dict[str, str]], *columns: str) -> np.ndarray:
    return np.array([[float(row[name]) for name in columns] for row in found])


def test_every_column_with_right_times_and_values(run: Any, forecaster_file: Path, series_file: Path) -> None:
    result = run("forecast", forecaster_file, series_file)
    assert result.exit_code == 0, result.output
    assert result.stderr == "2 series, 5 steps ahead\n"
    found = rows(result.stdout)
    assert list(found[0]) == ["series", "time", "forecast", "q0.1", "q0.9"]
    assert [row["series"] for row in found] == ["load"] * 5 + ["wind"] * 5
    assert [row["time"] for row in found[:5]] == [f"2024-03-01 0{h}:00:00" for h in range(2, 7)]
    model = Mamba4Cast.load(forecaster_file, NumpyDevice())
    for i, one in enumerate(read_series(series_file)):
        got = numbers(found[5 * i : 5 * i + 5], "forecast", "q0.1", "q0.9")
        want = model.forecast(one.values, one.times, 5, (0.5, 0.1, 0.9))
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7)
        assert np.all(got[:, 1] <= got[:, 0])
        assert np.all(got[:, 0] <= got[:, 2])


def test_a_file_and_one_column(run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    printed = run("forecast", forecaster_file, series_file, "--column", "wind")
    result = run("forecast", forecaster_file, series_file, "--column", "wind", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr == f"{out}: 1 series, 5 steps ahead\n"
    assert out.read_bytes() == printed.stdout.encode()
    whole = run("forecast", forecaster_file, series_file).stdout.splitlines(keepends=True)
    np.testing.assert_allclose(
        numbers(rows(printed.stdout), "forecast"), numbers(rows("".join(whole[:1] + whole[6:])), "forecast"),
        rtol=1e-5,
    )  # fmt: skip
    wrong = run("forecast", forecaster_file, series_file, "--column", "sun")
    assert wrong.exit_code == 2
    assert "no column 'sun'; the columns are time, load, wind" in wrong.stderr


def test_horizon_and_quantiles(run: Any, forecaster_file: Path, series_file: Path) -> None:
    asked = ("--horizon", 2, "--quantiles", "0.25, 0.5,0.9", "--column", "load")
    result = run("forecast", forecaster_file, series_file, *asked)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "series,time,forecast,q0.25,q0.5,q0.9"
    found = rows(result.stdout)
    assert len(found) == 2
    assert all(row["forecast"] == row["q0.5"] for row in found)
    none = run(
        "forecast", forecaster_file, series_file, "--quantiles", "", "--horizon", 2, "--column", "load"
    )
    assert none.stdout.splitlines()[0] == "series,time,forecast"
    assert [row["forecast"] for row in rows(none.stdout)] == [row["forecast"] for row in found]
    long = run("forecast", forecaster_file, series_file, "--horizon", 8)
    assert long.exit_code == 0
    assert "warning: the model was trained for 5 steps ahead, not for 8" in long.stderr
    assert len(rows(long.stdout)) == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--quantiles", "0.05"), "are not between 0.1 and 0.9"),
        (("--quantiles", "0.1;0.9"), "'0.1;0.9': write numbers with commas"),
        (("--horizon", "0"), "0 is not in the range"),
        (("--tz", "UTC"), "tz can be chosen for bars only"),
        (("-o", "none/out.csv"), "there is no folder"),
        (("--plot", "none/out.png"), "there is no folder"),
    ],
)
def test_wrong_options(
    run: Any, forecaster_file: Path, series_file: Path, options: tuple[str, ...], message: str
) -> None:
    result = run("forecast", forecaster_file, series_file, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_json(run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("forecast", forecaster_file, series_file, "--json", "-o", out)
    assert result.exit_code == 0, result.output
    found, lines = json.loads(result.stdout), rows(out.read_text("utf-8"))
    assert [one["series"] for one in found] == ["load", "wind"]
    for i, one in enumerate(found):
        part = lines[5 * i : 5 * i + 5]
        assert one["time"] == [row["time"] for row in part]
        assert list(one["quantiles"]) == ["0.1", "0.9"]
        for name, values in {
            "forecast": one["forecast"],
            **{f"q{k}": v for k, v in one["quantiles"].items()},
        }.items():
            assert values == pytest.approx([float(row[name]) for row in part], rel=1e-7)


def test_quiet_says_nothing_but_the_result(run: Any, forecaster_file: Path, series_file: Path) -> None:
    loud, quiet = (run("forecast", forecaster_file, series_file, *more) for more in ((), ("-q",)))
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout


def test_the_closes_of_bars(run: Any, forecaster_file: Path, bars_file: Path) -> None:
    result = run("forecast", forecaster_file, bars_file)
    assert result.exit_code == 0, result.output
    found, bars = rows(result.stdout), read_bars(bars_file)
    assert {row["series"] for row in found} == {bars.symbol}
    model = Mamba4Cast.load(forecaster_file, NumpyDevice())
    np.testing.assert_allclose(
        numbers(found, "forecast")[:, 0], model.forecast(bars.close, bars.time, 5), rtol=1e-7
    )
    step = np.timedelta64(bars.step, "ns")
    ahead = bars.time[-1].astype("datetime64[ns]") + step * np.arange(1, 6)
    assert [row["time"] for row in found] == [str(t)[:19].replace("T", " ") for t in ahead]
    high = run("forecast", forecaster_file, bars_file, "--column", "<HIGH>")
    assert high.exit_code == 0, high.output
    np.testing.assert_allclose(
        numbers(rows(high.stdout), "forecast")[:, 0], model.forecast(bars.high, bars.time, 5), rtol=1e-7
    )


TSF = """@relation sales
@attribute series_name string
@attribute start_timestamp date
@frequency monthly
@missing true
@equallength false
@data
T1:2020-01-31 00-00-00:27,16,?,19,30,11
"big, one":2021-11-01 00-00-00:2700,1600,1500
T3:2022-01-01 00-00-00:1,1,1,1
"""


def test_several_series_of_a_tsf_file_with_a_comma_in_a_name(
    run: Any, forecaster_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sales.tsf"
    path.write_text(TSF, encoding="utf-8")
    result = run("forecast", forecaster_file, path, "--horizon", 2)
    assert result.exit_code == 0, result.output
    found = rows(result.stdout)
    names = [one.name for one in read_series(path)]
    assert "," in names[1]
    assert [row["series"] for row in found] == [name for name in names for _ in range(2)]
    assert [row["time"][:10] for row in found] == [
        "2020-07-31", "2020-08-31", "2022-02-01", "2022-03-01", "2022-05-01", "2022-06-01",
    ]  # fmt: skip
    only = run("forecast", forecaster_file, path, "--horizon", 2, "--column", names[1])
    assert {row["series"] for row in rows(only.stdout)} == {names[1]}
    np.testing.assert_allclose(
        numbers(rows(only.stdout), "forecast"), numbers(found[2:4], "forecast"), rtol=1e-5
    )


# --- the picture --------------------------------------------------------------------------------------


def test_a_picture(run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='no matplotlib: pip install "neuronet[plot]"')
    sizes = []
    for i, options in enumerate(((), ("--column", "load"), ("--quantiles", ""))):
        path = tmp_path / f"{i}.png"
        result = run("forecast", forecaster_file, series_file, "--plot", path, *options)
        assert result.exit_code == 0, result.output
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(data) > 5_000
        sizes.append(tuple(int.from_bytes(data[at : at + 4], "big") for at in (16, 20)))
        assert len(rows(result.stdout)) == (5 if "--column" in options else 10)  # printed as well
    assert sizes[0] == sizes[2]
    assert sizes[1][0] == sizes[0][0]
    assert sizes[1][1] < sizes[0][1]  # a panel a series
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".csv", ".png", ".png", ".png"]


def test_without_matplotlib_nothing_is_written(
    run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    path, out = tmp_path / "p.png", tmp_path / "o.csv"
    result = run("forecast", forecaster_file, series_file, "--plot", path, "-o", out)
    assert result.exit_code == 2
    assert f'--plot {path}: matplotlib is not installed\nFix: pip install "neuronet[plot]"' in result.stderr
    assert not path.exists()
    assert not out.exists()


# --- which model --------------------------------------------------------------------------------------


def test_without_a_model_the_shipped_weights_are_used(
    run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mamba4cast.h5").write_bytes(forecaster_file.read_bytes())
    monkeypatch.setattr(mamba4cast, "__file__", str(tmp_path / "mamba4cast.py"))
    result = run("forecast", series_file)
    assert result.exit_code == 0, result.output
    assert result.stdout == run("forecast", forecaster_file, series_file).stdout


def test_files_that_are_no_forecaster_or_no_series(
    run: Any, forecaster_file: Path, model_file: Path, series_file: Path, tmp_path: Path
) -> None:
    for files, message in {
        (
            model_file,
            series_file,
        ): "holds no Mamba4Cast\nFix: give a file that 'neuronet pretrain mamba4cast'",
        (series_file, series_file): f"error: {series_file}: ",
        (tmp_path / "none.h5", series_file): "none.h5: no such file",
        (forecaster_file, tmp_path / "none.csv"): "none.csv",
        (series_file, forecaster_file): "where a model is wanted\nFix: ",  # the other way round
        (forecaster_file,): "this is a model, not bars\nFix: ",
    }.items():
        result = run("forecast", *files)
        assert result.exit_code == 2, files
        assert result.stdout == ""
        assert message in result.stderr
        assert "Fix: " in result.stderr
    many = run("forecast", forecaster_file, series_file, series_file)
    assert many.exit_code == 2
    assert "got 3 files: give [MODEL] SERIES" in many.stderr
    assert run("forecast").exit_code == 2


def test_times_without_a_step(run: Any, forecaster_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    for text, fix in (
        ("time,v\n2024-01-01,1\n", "give at least two"),
        (
            "time,v\n2024-01-01,1\n2024-01-02,2\n2024-01-04,3\n2024-01-09,4\n2024-01-19,5\n",
            "bring the rows to regular steps of whole seconds",
        ),
    ):
        path.write_text(text, encoding="utf-8")
        result = run("forecast", forecaster_file, path)
        assert result.exit_code == 2
        assert result.stderr.endswith(f"\nFix: {fix}, or name the step with --frequency\n")
        result = run("forecast", forecaster_file, path, "--frequency", "daily", "--horizon", 1)
        assert result.exit_code == 0
        assert result.stderr.endswith("1 series, 1 step ahead\n")


def test_a_forecaster_is_no_model_of_bars(run: Any, forecaster_file: Path, bars_file: Path) -> None:
    for command in ("predict", "evaluate"):
        result = run(command, forecaster_file, bars_file)
        assert result.exit_code == 2
        assert "use a model that 'neuronet train'" in result.stderr


def test_info_on_a_forecaster(run: Any, forecaster_file: Path) -> None:
    model = Mamba4Cast.load(forecaster_file, NumpyDevice())
    result = run("info", forecaster_file)
    assert result.exit_code == 0, result.output
    assert "CMamba4CastEmbeding(" in result.stdout
    assert f"{model.net.pool.count:,}" in result.stdout
    found = json.loads(run("info", forecaster_file, "--json").stdout)
    assert found["net"]["builder"] == model.spec()
    assert found["net"]["parameters"] == model.net.pool.count
    assert found["net"]["layers"][-1]["output_shape"] == [5, 3]


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_a_file_that_is_read_is_never_written(
    run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path, option: str
) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(series_file)
    for target in (series_file, link, forecaster_file):
        before = target.read_bytes()
        result = run("forecast", forecaster_file, series_file, option, target)
        assert result.exit_code == 2
        assert "is a file to read" in result.stderr
        assert target.read_bytes() == before


def test_two_outputs_are_two_files(
    run: Any, forecaster_file: Path, series_file: Path, tmp_path: Path
) -> None:
    one = tmp_path / "one"
    result = run("forecast", forecaster_file, series_file, "-o", one, "--plot", tmp_path / "." / "one")
    assert result.exit_code == 2
    assert "would be written twice" in result.stderr
    assert not one.exists()


@pytest.mark.parametrize("column", ["time", "0"])
def test_the_column_of_times_is_no_series(
    run: Any, forecaster_file: Path, series_file: Path, column: str
) -> None:
    result = run("forecast", forecaster_file, series_file, "--column", column)
    assert result.exit_code == 2
    assert f"column '{column}' holds the times" in result.stderr


def test_a_quantile_twice_is_refused(run: Any, forecaster_file: Path, series_file: Path) -> None:
    result = run("forecast", forecaster_file, series_file, "--quantiles", "0.1,0.9,0.1000000001")
    assert result.exit_code == 2
    assert "each number once" in result.stderr


@pytest.mark.parametrize("name", ["$x_{$", "価格"])
@pytest.mark.filterwarnings("error")
def test_any_name_can_be_drawn(run: Any, forecaster_file: Path, tmp_path: Path, name: str) -> None:
    path, picture = tmp_path / "series.csv", tmp_path / "picture.png"
    rows = [f"2024-01-{day:02d},{day}" for day in range(1, 20)]
    path.write_text("\n".join([f"time,{name}", *rows]), encoding="utf-8")
    result = run("forecast", forecaster_file, path, "--plot", picture)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
