"""What every command shares: help, options, messages, exit codes, consoles."""

from __future__ import annotations

import logging
import re
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from neuronet import cli, errors
from neuronet.bars.features import FEATURE_SETS
from neuronet.train.settings import MODELS

log = logging.getLogger("neuronet.test")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a function in the place of the command ``devices``."""

    def replace(function: Any) -> None:
        made = click.Command("devices", callback=function)
        monkeypatch.setattr(cli, "import_module", lambda name: SimpleNamespace(command=made))

    return replace


def fail(error: BaseException) -> Any:
    def function() -> None:
        raise error

    return function


def test_help_lists_every_command(run: Any) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name, summary in cli.COMMANDS.items():
        assert f"  {name}" in result.stdout
        assert summary in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("neuronet con", ["convert"]),
        ("neuronet inspect --bad-bars ", ["keep", "fix", "drop", "error"]),
        ("neuronet train --max", ["--max-gap"]),
    ],
)
def test_shell_completion(python: Any, words: str, expected: list[str]) -> None:
    done = python(
        "-m",
        "neuronet",
        _NEURONET_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(words.count(" ")),
    )
    assert [line.split(",")[1] for line in done.stdout.splitlines()] == expected, done.stderr


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_has_help_with_the_common_options(run: Any, name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert import_module(f"neuronet.cli.{name}").command.help
    for option in ("--verbose", "--quiet", "--traceback", "--log-file"):
        assert result.stdout.count(option) == 1


@pytest.mark.parametrize("name", ["train", "study"])
def test_help_lists_every_feature_set_and_model(run: Any, name: str) -> None:
    said = " ".join(run(name, "--help").stdout.split())
    features = re.search(r"--features TEXT feature sets: ([\w, ]+)\. Default", said, re.IGNORECASE)
    assert features is not None
    assert set(features[1].split(", ")) == set(FEATURE_SETS) >= {"diff", "neuronet9", "returns", "time"}
    models = re.search(r"--model TEXT (.*?) Default", said)
    assert models is not None
    assert all(re.search(rf"\b{model}\b", models[1]) for model in MODELS)


def test_help_is_fast_and_loads_no_library(python: Any) -> None:
    code = (
        "import sys; from neuronet.cli import main; main(['--help'], standalone_mode=False); "
        "print([m for m in ('pyopencl', 'numpy', 'h5py', 'pandas') if m in sys.modules])"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "[]"
    times = []
    for _ in range(3):
        start = time.perf_counter()
        assert python("-m", "neuronet", "--help").returncode == 0
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5, times


def test_version_names_libraries_and_device(run: Any) -> None:
    result = run("--version")
    assert result.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["device"] == "NumPy / float32"
    assert lines["neuronet"] == "0.1.0"
    assert {"Python", "numpy", "pyopencl", "h5py"} <= lines.keys()


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.SpecError("it is wrong", where="lr", fix="make it right"), 2),
        (errors.DataError("it is wrong", where="bars.csv"), 2),
        (errors.FileFormatError("it is wrong", fix="make it right"), 2),
        (errors.ShapeError("it is wrong"), 2),
        (errors.DeviceError("it is wrong", where="gpu", fix="make it right"), 1),
        (errors.KernelError("it is wrong"), 1),
        (errors.TrainingError("it is wrong"), 1),
        (OSError(28, "No space left on device", "model.h5"), 1),
        (caused(errors.FileFormatError("it is full"), OSError(28, "No space left on device")), 1),
        (caused(errors.FileFormatError("it is forbidden"), OSError(13, "Permission denied")), 2),
    ],
)
def test_an_error_is_one_message_with_its_fix_and_an_exit_code(
    run: Any, command: Any, error: Exception, code: int
) -> None:
    command(fail(error))
    result = run("devices")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"error: {error}\n")


def test_an_unknown_error_is_one_line_that_asks_for_a_report(run: Any, command: Any) -> None:
    command(fail(ZeroDivisionError("division by zero")))
    result = run("devices")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: internal error: ZeroDivisionError: division by zero (use --traceback and report it)\n"
    )


@pytest.mark.parametrize("arguments", [("--traceback", "devices"), ("devices", "--traceback")])
def test_traceback_shows_where_before_the_message(run: Any, command: Any, arguments: tuple[str, ...]) -> None:
    command(fail(errors.DataError("it is wrong")))
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last)")
    assert "test_main.py" in result.stderr
    assert result.stderr.endswith("error: it is wrong\n")


def test_ctrl_c_ends_with_130_and_no_traceback(run: Any, command: Any) -> None:
    command(fail(KeyboardInterrupt()))
    result = run("devices")
    assert (result.exit_code, result.stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("arguments", [("nonsense",), ("devices", "--nonsense"), ("info",)])
def test_wrong_usage_ends_with_2(run: Any, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert result.stdout == ""


def talk() -> None:
    log.debug("a detail")
    log.info("a note")
    log.warning("a warning of %d words", 5)
    log.error("an error")
    click.echo("the result")


@pytest.mark.parametrize(
    ("options", "stderr"),
    [
        ([], "warning: a warning of 5 words\nerror: an error\n"),
        (["-q"], "error: an error\n"),
        (["-v"], "a note\nwarning: a warning of 5 words\nerror: an error\n"),
        (["-vv"], "a detail\na note\nwarning: a warning of 5 words\nerror: an error\n"),
    ],
)
def test_messages_go_to_stderr_as_plain_lines(
    run: Any, command: Any, options: list[str], stderr: str
) -> None:
    command(talk)
    level, handlers = logging.getLogger("neuronet").level, list(logging.getLogger("neuronet").handlers)
    for arguments in ([*options, "devices"], ["devices", *options]):
        result = run(*arguments)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "the result\n", stderr)
    assert logging.getLogger("neuronet").level == level
    assert logging.getLogger("neuronet").handlers == handlers


def test_errors_say_where_on_the_command_line(run: Any, command: Any) -> None:
    """The library names its functions, the command line its options."""
    for where, shown in {"find_device": "--device", "Frequency": "--frequency", "m.h5": "m.h5"}.items():
        command(fail(errors.DataError("is wrong", where=where, fix="choose another")))
        assert run("devices").stderr == f"error: {shown}: is wrong\nFix: choose another\n"


def test_the_log_file_gets_every_message(run: Any, command: Any, tmp_path: Path) -> None:
    command(talk)
    file = tmp_path / "Протокол.log"
    result = run("-q", "devices", "--log-file", file)
    assert result.stderr == "error: an error\n"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines] == [
        "DEBUG neuronet.test: a detail",
        "INFO neuronet.test: a note",
        "WARNING neuronet.test: a warning of 5 words",
        "ERROR neuronet.test: an error",
    ]
    result = run("--log-file", tmp_path / "missing" / "file", "devices")
    assert result.exit_code == 2
    assert "Invalid value for '--log-file': " in result.stderr


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", "5 us +-3 <= 1... ## .. ? ->"),
        ("cp1252", "5 µs ±3 <= 1… ## .. ? ->"),
        ("utf-8", "5 µs ±3 ≤ 1… ██ ░░ 日 →"),
    ],
)
def test_a_console_that_lacks_a_character_shows_another(python: Any, encoding: str, expected: str) -> None:
    code = (
        "import sys; from neuronet.cli import console; console.never_fail_to_encode(); "
        "text = '5 µs ±3 ≤ 1… ██ ░░ 日 →'; sys.stderr.write(text); print(text)"
    )
    done = python("-X", "utf8=0", "-c", code, PYTHONIOENCODING=encoding)
    for stream in (done.stdout, done.stderr):
        wanted = expected.encode(encoding).decode("utf-8", "replace")
        assert stream.strip() == wanted, (stream, done.returncode)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "arguments", [["--help"], ["devices"], ["selfcheck", "--device", "numpy"], ["info", "отсутствует.h5"]]
)
def test_commands_run_on_old_consoles(python: Any, encoding: str, arguments: list[str]) -> None:
    done = python("-m", "neuronet", *arguments, PYTHONIOENCODING=encoding, NO_COLOR="1")
    assert "UnicodeEncodeError" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.returncode == (2 if arguments[0] == "info" else 0), done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert encoding != "ascii" or (done.stdout + done.stderr).isascii()
