"""The console: the options that every command has, messages on stderr, and characters that always print."""

from __future__ import annotations

import codecs
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import click

TRACEBACK = "neuronet.traceback"  # key in a context's meta
_ASCII = {  # by code point, for some look like ASCII
    0xB0: " deg",
    0xB1: "+-",
    0xB2: "2",
    0xB5: "u",  # micro
    0xB7: "-",  # middle dot
    0xD7: "x",  # times
    0x2013: "-",
    0x2014: "-",
    0x2026: "...",
    0x2192: "->",
    0x2212: "-",
    0x2264: "<=",
    0x2265: ">=",
    0x2588: "#",  # full block
    0x2591: ".",  # light shade
}
_root = logging.getLogger("neuronet")


# --- characters --------------------------------------------------------------------------


def never_fail_to_encode() -> None:
    """Print what the console's encoding lacks in ASCII, instead of raising UnicodeEncodeError."""
    codecs.register_error("neuronet", _replace)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            reconfigure(encoding=_own_ascii() if is_ascii else None, errors="neuronet")


@cache
def _own_ascii() -> str:
    """Register ASCII under another name: click takes an ASCII stream for a mistake and prints UTF-8."""
    name, ascii_ = "neuronet_ascii", codecs.lookup("ascii")
    own = codecs.CodecInfo(
        ascii_.encode,
        ascii_.decode,
        ascii_.streamreader,
        ascii_.streamwriter,
        ascii_.incrementalencoder,
        ascii_.incrementaldecoder,
        name,
    )
    codecs.register(lambda wanted: own if wanted == name else None)
    return name


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_ASCII.get(ord(character), "?") for character in wrong), error.end


# --- messages ----------------------------------------------------------------------------


class _Stderr(logging.Handler):
    """One plain line a message: "warning: ..."; information has no prefix."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            prefix = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
            click.echo(f"{prefix}{record.getMessage()}", err=True)
        except Exception:
            self.handleError(record)


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Show the library's warnings and errors meanwhile; the options below change how much."""
    before, handlers = _root.level, list(_root.handlers)
    stderr = _Stderr(logging.WARNING)
    _root.addHandler(stderr)
    _root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for handler in [h for h in _root.handlers if h not in handlers]:
            _root.removeHandler(handler)
            handler.close()
        _root.setLevel(before)


@contextmanager
def held_back(logger: str) -> Iterator[None]:
    """Show no warning of one logger meanwhile, for the result has them; all of them if there is no result."""
    held: list[logging.LogRecord] = []

    def show(record: logging.LogRecord) -> bool:
        if record.name != logger or record.levelno != logging.WARNING:
            return True
        held.append(record)
        return False

    stderr = next((handler for handler in _root.handlers if isinstance(handler, _Stderr)), None)
    if stderr is None:
        yield
        return
    stderr.addFilter(show)
    try:
        yield
    except BaseException:
        for record in held:
            stderr.emit(record)
        raise
    finally:
        stderr.removeFilter(show)


def is_quiet() -> bool:
    """Whether --quiet was given: then no progress is shown either."""
    return not any(isinstance(h, _Stderr) and h.level <= logging.WARNING for h in _root.handlers)


def is_verbose() -> bool:
    """Whether --verbose was given."""
    return any(isinstance(h, _Stderr) and h.level <= logging.INFO for h in _root.handlers)


def _set_level(level: int) -> None:
    for handler in _root.handlers:
        if isinstance(handler, _Stderr):
            handler.setLevel(level)
    _root.setLevel(min(level, *(h.level for h in _root.handlers)))


# --- options of every command ------------------------------------------------------------


def _verbose(_ctx: click.Context, _option: click.Parameter, times: int) -> None:
    if times:
        _set_level(logging.INFO if times == 1 else logging.DEBUG)


def _quiet(_ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        _set_level(logging.ERROR)


def _traceback(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[TRACEBACK] = True


def _log_file(ctx: click.Context, option: click.Parameter, path: str | None) -> None:
    if path:
        try:
            handler = logging.FileHandler(path, encoding="utf-8")
        except OSError as error:
            raise click.BadParameter(f"{path}: {error.strerror}", ctx, option) from error
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        handler.setLevel(logging.DEBUG)
        _root.addHandler(handler)
        _root.setLevel(logging.DEBUG)


def _option(*names: str, callback: Any, **extra: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=callback, **extra)


OPTIONS = (
    _option("-v", "--verbose", count=True, callback=_verbose, help="Say more; -vv says everything."),
    _option("-q", "--quiet", is_flag=True, callback=_quiet, help="Say nothing but errors and results."),
    _option("--traceback", is_flag=True, callback=_traceback, help="Show where an error came from."),
    _option(
        "--log-file",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        callback=_log_file,
        help="Add every message to FILE.",
    ),
)
