"""Column names in many languages and spellings -> the role of a column."""

from __future__ import annotations

import re
import unicodedata

# Names are compared as lower-case letters and digits without accents, brackets, spaces.
# The first line of a role is sure; the second is taken only if no column has a sure name.
ROLES: dict[str, tuple[str, str]] = {
    "time": (
        "time date datetime timestamp dt gmttime localtime opentime unix unixtime unixtimestamp epoch "
        "datum zeit data hora fecha horario heure jour дата время 时间 日期 交易日期 日付 日時 時間 "
        "tarih saat czas giorno ora",
        "day index",
    ),
    "open": (
        "open o openprice first opening pxopen eroffnung eroffnungskurs erster abertura apertura ouverture "
        "otwarcie откр открытие ценаоткрытия 开盘 开盘价 始値 acilis",
        "",
    ),
    "high": (
        "high h highprice max pxhigh hoch hochst tageshoch maxima maximo maximum haut plushaut najwyzszy "
        "massimo макс максимум ценамакс 最高 最高价 高値 yuksek alto",
        "",
    ),
    "low": (
        "low l lowprice min pxlow tief tageslow tagestief minima minimo minimum bas plusbas najnizszy minimo "
        "мин минимум ценамин 最低 最低价 安値 dusuk baixo bajo",
        "",
    ),
    "close": (
        "close c closeprice closing closingprice closelast pxlast schluss schlusskurs fechamento cierre "
        "cloture zamkniecie chiusura закр закрытие ценазакрытия 收盘 收盘价 終値 kapanis",
        "last price ultimo dernier letzter zuletzt цена",
    ),
    "tick_volume": ("tickvol tickvolume tickqty ticks", ""),
    "real_volume": (
        "volume vol v realvol realvolume pxvolume volumen stuecke stuck umsatz quantidade wolumen объем объ "
        "成交量 出来高 hacim",
        "qty amount turnover",
    ),
    "symbol": ("symbol ticker stock instrument code secid тикер", ""),
}
OTHER = "adj adjusted ask prev previous change chg closetime openinterest openint interest"
_SURE = {name: role for role, (sure, _) in ROLES.items() for name in sure.split()}
_WEAK = {name: role for role, (_, weak) in ROLES.items() for name in weak.split()}
_PARTS = ("open", "high", "low", "close", "volume")


def plain(name: str) -> str:
    """Return a name as it is compared: 'Máxima ' -> 'maxima', '<TICKVOL>' -> 'tickvol'."""
    return "".join(_words(name))


def role_of(name: str) -> tuple[str, int] | None:
    """Return (role, weakness) of a column by its name, or None: 0 a sure name, 1 weak, 2 one word, 3 a part.

    'Volume BTC' and 'AAPL.Open' have the role in one word, 'bidopen' in a part.
    """
    words = _words(name)
    whole = "".join(words)
    if whole in _SURE:
        return _SURE[whole], 0
    if whole in _WEAK:
        return _WEAK[whole], 1
    if any(word in OTHER.split() for word in (*words, whole)) or whole.startswith(("adj", "ask")):
        return None
    for word in words:
        if len(word) > 2 and word in _SURE:
            return _SURE[word], 2
    for part in _PARTS:
        if whole.endswith(part):
            return "real_volume" if part == "volume" else part, 3
    return None


def _words(name: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", name.lower())
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", letters)
