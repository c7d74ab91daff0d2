"""Names of columns -> roles."""

from __future__ import annotations

import pytest

from neuronet.bars.names import role_of
from neuronet.bars.read import symbol_of


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("<DATE> Date Time DATETIME timestamp Datum Zeit Data Fecha 时间 日期 Дата Время unix", "time"),
        ("<OPEN> open O Eröffnung Abertura Ouverture Apertura Otwarcie Откр. 开盘 开盘价", "open"),
        ("HIGH h Hoch Máxima Haut Máximo Najwyższy Макс. 最高", "high"),
        ("low L Tief Mínima Bas Mínimo Najniższy Мин. 最低", "low"),
        ("Close c Schluss Fechamento Clôture Cierre Zamknięcie Закр. 收盘", "close"),
        ("<TICKVOL> tick_volume TickVolume tickqty", "tick_volume"),
        ("<VOL> Volume Vol. real_volume Volumen Wolumen Объём 成交量", "real_volume"),
        ("<TICKER> Symbol Stock", "symbol"),
    ],
)
def test_sure_names(names: str, role: str) -> None:
    assert {role_of(name) for name in names.split()} == {(role, 0)}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Gmt time", ("time", 0)),
        ("Open time", ("time", 0)),
        ("Price", ("close", 1)),
        ("Last", ("close", 1)),
        ("AAPL.Open", ("open", 2)),
        ("BTC:low", ("low", 2)),
        ("Volume BTC", ("real_volume", 2)),
        ("bidclose", ("close", 3)),
        ("askclose", None),
        ("Adj Close", ("adj_close", 0)),
        ("adjusted close", ("adj_close", 0)),
        ("Adj Open", None),
        ("mid.o", ("open", 2)),
        ("Change %", None),
        ("<OPENINT>", None),
        ("open_interest", None),
        ("Close time", None),
        ("spread", None),
        ("", None),
    ],
)
def test_names_that_are_less_sure(name: str, role: tuple[str, int] | None) -> None:
    assert role_of(name) == role


@pytest.mark.parametrize(
    ("stem", "symbol"),
    [
        ("EURUSD_H1", "EURUSD"),
        ("EURUSD60", "EURUSD"),
        ("GBPUSDM5", "GBPUSD"),
        ("US30_M15_202401012000_202509082000", "US30"),
        ("H1_XAUUSD", "XAUUSD"),
        ("my bars", "my bars"),
    ],
)
def test_symbol_of_a_file_name(stem: str, symbol: str) -> None:
    assert symbol_of(stem) == symbol
