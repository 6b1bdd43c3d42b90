"""The setting of a `ce_config` row, and settings and values in words."""

import json
from collections.abc import Mapping
from typing import Any

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.live_settings import CATALOGUE, Setting, ValueKind


def upper_key(row: Any) -> tuple[str, str]:
    """Family and key of a row in upper case, for comparison."""
    return (row.config_type or "").strip().upper(), (row.config_key or "").strip().upper()


def canonical_key(row: Any) -> tuple[str, str, str]:
    """Type, present key, and qualifier: the identity of a setting."""
    return live_settings.canonical_key(row.config_type, row.config_key)


def find_setting(row: rows.Config) -> Setting[Any] | None:
    """The setting of a row, also under an older name. Returns None if there is none."""
    return get_setting(row.config_type, row.config_key)


def get_setting(config_type: str | None, config_key: str | None) -> Setting[Any] | None:
    """The setting of this type and key, also under an older name. Returns None if there is none."""
    return CATALOGUE.get(live_settings.canonical_key(config_type, config_key)[:2])


def describe_setting(setting: Setting[Any]) -> str:
    """The help of a setting, with its allowed values and its default."""
    parts = [
        setting.help,
        f"Allowed: {describe_allowed_values(setting.kind)}.",
        f"Default: {describe_default(setting)}.",
    ]
    if setting.qualifier:
        parts.append(f"Can be set per {setting.qualifier}: {setting.key}.<{setting.qualifier}>.")
    return " ".join(parts)


def describe_allowed_values(kind: ValueKind[Any]) -> str:
    if kind.values:
        return ", ".join(kind.values)
    if kind.minimum is not None and kind.maximum is not None:
        noun = "a whole number" if kind.name == "int" else "a number"
        bound = "on" if kind.maximum >= _UNBOUNDED else f"to {kind.maximum:.10g}"
        return f"{noun} from {kind.minimum:.10g} {bound}"
    return _KINDS.get(kind.name, f"a {kind.name}")


#: Larger limits come from the machine and are not worth showing.
_UNBOUNDED = 2**31 - 1


_KINDS = {
    "bool": "true or false",
    "json": "JSON",
    "country": "the two letters of a country, such as GB, or ZZ",
    "time zone": "a time zone, such as Europe/Berlin",
    "list": "words separated by commas",
    "codes": "codes separated by commas",
    "lines": "one entry per line",
    "patterns": "one regular expression per line",
    "regex": "a regular expression",
}


def describe_default(setting: Setting[Any]) -> str:
    """The built-in default as text, shortened."""
    value = setting.default
    if isinstance(value, bool):
        return str(value).lower()
    text = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str("" if value is None else value)
    return shorten_line(text, 120) or "blank"


def format_value(kind: ValueKind[Any], value: Any) -> str:
    """A value as the text of a row; blank for one that is not set."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return ("\n" if kind.name in ("lines", "patterns") else ", ").join(map(str, value))
    if isinstance(value, Mapping):
        return json.dumps(dict(value), indent=2, ensure_ascii=False)
    return f"{value:g}" if isinstance(value, float) else str(value)
