"""JSON for storage and the API: fast, and always accepted by a database."""

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import UUID

import orjson

from convengine.engine.text.compare import storable

#: Maximum nesting of values from outside: far more than anybody sends, and far less than recursion allows.
MAX_DEPTH = 64
TOO_DEEP = f"Lists and objects are nested more than {MAX_DEPTH} deep."
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
_IN_ORDER = _OPTIONS | orjson.OPT_SORT_KEYS
#: Numbers that a database may return as another text: a minus before zero, or a whole number with an exponent that fits
#: into 64 bits. The first is a cheap test for the second.
_MAYBE_ODD = {b"-0.0": re.compile(rb"-0\.0[,\]}]"), b"e+1": re.compile(rb"e\+1[6-9][,\]}]")}


def _convert_to_json(value: Any) -> Any:
    """Convert values that JSON can represent but orjson does not know. Raises TypeError for the rest."""
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, (UUID, date, datetime)):
        return str(value)
    raise TypeError(f"A {type(value).__name__} is not a JSON value.")


def _convert_any(value: Any) -> Any:
    try:
        return _convert_to_json(value)
    except TypeError:
        return f"<unserializable {type(value).__name__}>"


def clean_texts(value: Any) -> Any:
    """The value with storable texts, and without numbers that JSON does not have."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {storable(str(key)): clean_texts(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_texts(item) for item in value]
    if is_dataclass(value):
        return {field.name: clean_texts(getattr(value, field.name)) for field in fields(value)}
    return value


def dumps(value: Any) -> str:
    """Compact JSON text; of a dataclass, its fields.

    NUL and lone surrogates become U+FFFD; what JSON cannot represent becomes a marker text.
    """
    try:
        text = orjson.dumps(value, default=_convert_any, option=_OPTIONS)
        # Only a string can contain NUL; this test is cheaper than cleaning every value.
        if b"\\u0000" not in text:
            return text.decode()
        return orjson.dumps(clean_texts(orjson.loads(text))).decode()
    except TypeError:
        # Lone surrogates, and whole numbers beyond 64 bits, which orjson does not accept.
        return json.dumps(clean_texts(value), default=_convert_any, separators=(",", ":"), ensure_ascii=False)


def dump_unchanged(value: Any) -> bytes:
    """As `dumps`, in bytes. Raises TypeError for a value with texts or numbers that `dumps` would write otherwise."""
    text = orjson.dumps(value, default=_convert_any, option=_OPTIONS)
    if b"\\u0000" in text:
        raise TypeError("A text contains NUL.")
    return text


def dump_in_order(values: Sequence[Any]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """JSON texts of objects with sorted keys, otherwise as `dumps`: to be stored, and to be hashed.

    They differ only in numbers whose text databases change.
    """
    try:
        texts = [orjson.dumps(value, default=_convert_any, option=_IN_ORDER) for value in values]
    except TypeError:
        texts = []
    whole = b"\n".join(texts)
    if not texts or b"\\u0000" in whole:
        plain = (json.loads(dumps(value)) for value in values)
        slowly = (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for value in plain)
        texts = [text.encode() for text in slowly]
        return texts, list(map(_dump_as_read_back, texts))
    if any(sign in whole and odd.search(whole) for sign, odd in _MAYBE_ODD.items()):
        return texts, list(map(_dump_as_read_back, texts))
    return texts, texts


def _dump_as_read_back(text: bytes) -> bytes:
    return orjson.dumps(_normalize_numbers(orjson.loads(text)), option=orjson.OPT_SORT_KEYS)


def _normalize_numbers(value: Any) -> Any:
    """The value with numbers in the form of every database."""
    if isinstance(value, float):
        if value == 0:
            return 0.0
        limit = 2**64 if value > 0 else 2**63
        return int(value) if 1e16 <= abs(value) < limit else value
    if isinstance(value, dict):
        return {key: _normalize_numbers(item) for key, item in value.items()}
    return [_normalize_numbers(item) for item in value] if isinstance(value, list) else value


def loads(text: str | bytes) -> Any:
    """Parse a JSON text. Raises ValueError."""
    return orjson.loads(text)


#: In a JSON text: a pair of surrogates, a lone one, or another escape.
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)


def load_mended(text: bytes) -> Any:
    """Parse a JSON text from outside, with U+FFFD for bytes and escapes that are no Unicode. Raises ValueError."""
    try:
        return orjson.loads(text)
    except ValueError:
        unicode_text = text.decode("utf-8", "replace").encode()
        return orjson.loads(_ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], unicode_text))


def load_column(value: Any) -> Any:
    """The value of a JSON column from a raw cursor, where it is parsed on one database and a text on the other.

    Raises ValueError for a text that is not JSON.
    """
    return orjson.loads(value) if isinstance(value, (str, bytes)) else value


def to_plain(value: Any) -> Any:
    """The value as storage returns it: lists for tuples, texts for keys."""
    return orjson.loads(dumps(value))


def to_strict(value: Any) -> Any:
    """As `to_plain`. Raises TypeError for values that JSON cannot represent, or that are nested too deeply."""
    try:
        json.dumps(value, default=_convert_to_json)
        plain = to_plain(value)
    except RecursionError:
        raise TypeError(TOO_DEEP) from None
    if is_too_deep(plain):
        raise TypeError(TOO_DEEP)
    return plain


def is_too_deep(value: Any, depth: int = MAX_DEPTH) -> bool:
    """True when lists and objects are nested deeper. Works level by level, without recursion."""
    level = [value]
    for _ in range(depth + 1):
        # Each object once: code may return a value that contains itself, or the same object many times.
        nested = {id(item): item for item in level if isinstance(item, (dict, list, tuple))}.values()
        if not nested:
            return False
        level = [inner for item in nested for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def compress(text: str, words: bytes) -> bytes:
    """Compress a JSON text. `words` is common text of such documents, which is not stored."""
    press = zlib.compressobj(level=1, zdict=words)
    return press.compress(text.encode()) + press.flush()


def decompress(data: bytes | memoryview, words: bytes) -> Any:
    """The document of bytes that were compressed with the same words. Raises ValueError for damaged ones."""
    try:
        return orjson.loads(zlib.decompressobj(zdict=words).decompress(bytes(data)))
    except (TypeError, zlib.error) as damage:
        raise ValueError(f"These bytes cannot be decompressed: {damage}.") from damage


def sort_keys(value: Any) -> Any:
    """A JSON value with the keys of all objects in order."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(item) for item in value] if isinstance(value, list) else value
