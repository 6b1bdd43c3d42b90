"""JSON for storage and the wire: fast, and never refused by a database for what a text holds."""

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson

from convengine.domain.text import storable

#: How deep what comes from outside may be nested: far beyond what anybody sends, far below what recursion bears.
MAX_DEPTH = 64
TOO_DEEP = f"Lists and objects are nested more than {MAX_DEPTH} deep."
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
_IN_ORDER = _OPTIONS | orjson.OPT_SORT_KEYS
#: A number that a database may give back as another text: a minus before zero, a whole one with an exponent that fits
#: into 64 bits. The first are looked for everywhere, which is cheap, and only then the second.
_MAYBE_ODD = {b"-0.0": re.compile(rb"-0\.0[,\]}]"), b"e+1": re.compile(rb"e\+1[6-9][,\]}]")}


def _known(value: Any) -> Any:
    """What orjson does not know and JSON can say all the same. Raises TypeError for the rest."""
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (UUID, date, datetime)):
        return str(value)
    raise TypeError(f"A {type(value).__name__} is no JSON value.")


def _plain(value: Any) -> Any:
    try:
        return _known(value)
    except TypeError:
        return f"<unserializable {type(value).__name__}>"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    if is_dataclass(value):
        return {field.name: _cleaned(getattr(value, field.name)) for field in fields(value)}
    return value


def dumps(value: Any) -> str:
    """Compact JSON text; of a dataclass, its fields.

    NUL and lone surrogates become U+FFFD; what JSON cannot say becomes a marker text.
    """
    try:
        text = orjson.dumps(value, default=_plain, option=_OPTIONS)
        # A NUL can only come from a string that holds one; the check costs less than cleaning every value.
        if b"\\u0000" not in text:
            return text.decode()
        return orjson.dumps(_cleaned(orjson.loads(text))).decode()
    except TypeError:
        # Lone surrogates, and whole numbers beyond 64 bits, which orjson does not take.
        return json.dumps(_cleaned(value), default=_plain, separators=(",", ":"), ensure_ascii=False)


def in_order(values: Sequence[Any]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """JSON texts of objects with the keys in order, as `dumps` otherwise: to be stored, and to be hashed.

    Both are the same but for numbers of which databases change the text.
    """
    try:
        texts = [orjson.dumps(value, default=_plain, option=_IN_ORDER) for value in values]
    except TypeError:
        texts = []
    whole = b"\n".join(texts)
    if not texts or b"\\u0000" in whole:
        texts = [_slowly(value) for value in values]
        return texts, list(map(_as_read_back, texts))
    if any(sign in whole and odd.search(whole) for sign, odd in _MAYBE_ODD.items()):
        return texts, list(map(_as_read_back, texts))
    return texts, texts


def _slowly(value: Any) -> bytes:
    return json.dumps(json.loads(dumps(value)), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _as_read_back(text: bytes) -> bytes:
    return orjson.dumps(_settled(orjson.loads(text)), option=orjson.OPT_SORT_KEYS)


def _settled(value: Any) -> Any:
    """The value with numbers as every database tells them."""
    if isinstance(value, float):
        if value == 0:
            return 0.0
        return int(value) if 1e16 <= abs(value) < (2**64 if value > 0 else 2**63) else value
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items()}
    return [_settled(item) for item in value] if isinstance(value, list) else value


def loads(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError."""
    return orjson.loads(text)


def loaded(value: Any) -> Any:
    """A JSON column's value as a raw cursor gives it: parsed already on one database, text on the other."""
    return orjson.loads(value) if isinstance(value, (str, bytes)) else value


def plain(value: Any) -> Any:
    """The value as it comes back from storage: tuples are lists, keys are texts."""
    return orjson.loads(dumps(value))


def strict(value: Any) -> Any:
    """The value as `plain` gives it. Raises TypeError for what JSON cannot say, or says too deep."""
    try:
        json.dumps(value, default=_known)
        found = plain(value)
    except RecursionError:
        raise TypeError(TOO_DEEP) from None
    if too_deep(found):
        raise TypeError(TOO_DEEP)
    return found


def too_deep(value: Any) -> bool:
    """True when lists and objects stand in one another beyond MAX_DEPTH; looks level by level, never by recursion."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        # Each once: code may return what holds itself, or the same thing in many places.
        nested = {id(item): item for item in level if isinstance(item, (dict, list, tuple))}.values()
        if not nested:
            return False
        level = [inner for item in nested for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def packed(text: str, words: bytes) -> bytes:
    """A JSON text as compressed bytes. `words` is what such texts have in common: it is not stored in any of them."""
    press = zlib.compressobj(level=1, zdict=words)
    return press.compress(text.encode()) + press.flush()


def unpacked(data: bytes | memoryview, words: bytes) -> Any:
    """The document of `packed` bytes, with the same words."""
    return orjson.loads(zlib.decompressobj(zdict=words).decompress(bytes(data)))
