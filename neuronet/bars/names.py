"""Column names in many languages and spellings -> the role of a column."""

from __future__ import annotations

import re
import unicodedata

# Names are compared as lower-case letters and digits without accents, brackets, spaces.
# The first text of a role is sure; the second is taken only if no column has a sure name.
ROLES: dict[str, tuple[str, str]] = {
    "time": (
        "time date datetime timestamp dt t gmttime localtime opentime unix unixtime unixtimestamp epoch "
        "begin ts dtyyyymmdd yyyymmdd datum zeit uhrzeit data hora fecha horario heure jour дата время 时间 "
        "日期 交易日期 交易时间 日付 日付け 日時 時間 날짜 일자 시간 tarih saat czas giorno ora tid",
        "day index start",
    ),
    "open": (
        "open o openprice first opening pxopen eröffnung eröffn eröffnungskurs erster abertura apertura "
        "ouverture ouv otwarcie откр открытие ценаоткрытия 开盘 开盘价 开 始値 시가 acilis öppen öppning",
        "",
    ),
    "high": (
        "high h highprice max pxhigh hoch höchst höchstkurs tageshoch máxima máximo maximum haut plushaut "
        "najwyższy massimo макс максимум ценамакс 最高 最高价 高 高値 고가 yüksek alto hoog högst",
        "",
    ),
    "low": (
        "low l lowprice min pxlow tief tiefst tiefstkurs tageslow tagestief mínima mínimo minimum bas "
        "plusbas najniższy мин минимум ценамин 最低 最低价 低 安値 저가 düşük baixo bajo basso laag lägst",
        "",
    ),
    "close": (
        "close c closeprice closing closingprice closelast pxlast pxclose schluss schlusskurs fechamento "
        "cierre clôture clôt zamknięcie chiusura закр закрытие ценазакрытия 收盘 收盘价 终值 終値 종가 "
        "kapanis slutkurs slot",
        "last price último dernier letzter zuletzt ultimo цена ostatnio şimdi laatste senaste 现价",
    ),
    "adj_close": ("adjclose adjustedclose closeadj adjustedcloseprice adjcloseprice", ""),
    "tick_volume": ("tickvol tickvolume tickqty ticks", ""),
    "real_volume": (
        "volume vol v realvol realvolume pxvolume volumen stücke stück umsatz quantidade wolumen wol объём "
        "объ 成交量 交易量 出来高 거래량 hacim hac volym",
        "qty amount turnover 成交额",
    ),
    "symbol": ("symbol ticker stock instrument code secid ric тикер", ""),
}
OTHER = "adj adjusted ask prev previous change chg closetime openinterest openint interest"
_SINGLE = {"o": "open", "h": "high", "l": "low", "c": "close"}  # mid.o, bid.c
_PARTS = ("open", "high", "low", "close", "volume")
_NO_ACCENT = str.maketrans({"\u0131": "i", "ł": "l", "ø": "o", "ß": "ss"})


def words_of(name: str) -> list[str]:
    """Return a name's words as they are compared: 'Máxima (BTC)' -> ['maxima', 'btc']."""
    folded = unicodedata.normalize("NFKD", name.lower())
    letters = "".join(c for c in folded if not unicodedata.combining(c)).translate(_NO_ACCENT)
    return re.findall(r"[^\W_]+", letters)


def plain(name: str) -> str:
    """Return a name as it is compared: 'Máxima ' -> 'maxima', '<TICKVOL>' -> 'tickvol'."""
    return "".join(words_of(name))


_SURE = {plain(name): role for role, (sure, _) in ROLES.items() for name in sure.split()}
_WEAK = {plain(name): role for role, (_, weak) in ROLES.items() for name in weak.split()}


def role_of(name: str) -> tuple[str, int] | None:
    """Return (role, weakness) of a column by its name, or None: 0 a sure name, 1 weak, 2 one word, 3 a part.

    'Volume BTC', 'AAPL.Open' and 'mid.o' have the role in one word, 'bidopen' in a part.
    """
    words = words_of(name)
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
    if len(words) == 2 and words[0] in ("mid", "bid") and words[1] in _SINGLE:
        return _SINGLE[words[1]], 2
    for part in _PARTS:
        if whole.endswith(part):
            return "real_volume" if part == "volume" else part, 3
    return None


def label_of(name: str) -> str:
    """Return what a name says besides the role: 'AAPL.Open' and 'Open_AAPL' -> 'AAPL'; '' if nothing."""
    parts = re.findall(r"[^\W_]+", name)
    rest = [part for part in parts if plain(part) not in _SURE]
    if len(rest) == len(parts):
        return re.sub(rf"({'|'.join(_PARTS)})$", "", name, flags=re.IGNORECASE).strip(" ._")
    return " ".join(rest)
