"""Save checks of `ce_config`, by the catalogue of settings (tables 5.1, settings 1)."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import convengine.domain.catalogue  # noqa: F401  (completes the catalogue)
from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean, listed
from convengine.domain import rows
from convengine.domain.catalogue import intents, interaction, llm, tools
from convengine.domain.enums import DialogueAct
from convengine.domain.scope import ANY
from convengine.domain.settings import ALIASES, CATALOGUE, Setting, Unreadable
from convengine.domain.text import blank

Config = Draft[rows.Config]
Judge = Callable[[Config, Any], Iterator[Finding]]
#: Names that imports of other systems bring, and what is said here instead (R19, R38, R48).
REPLACED: Mapping[tuple[str, str], str] = {
    ("RESPONSERESOLUTIONSTEP", "FALLBACK_ENABLED"): "ResponseResolutionStep / ON_MISSING",
    ("RESETCONVERSATIONSTEP", "ACK_TEXT"): "Session / FRESH_START_TEXT",
}
_SECRET_KEY = re.compile(r"PASSWORD|PASSWD|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|(^|_)TOKEN$")
_SECRET_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\beyJ[A-Za-z0-9_-]{10,}\.eyJ|\b(?:Bearer|Basic) [A-Za-z0-9+/=._-]{16,}"
    r"|://[^/\s:@]+:[^/\s:@]+@"
)


def _key(row: Any) -> tuple[str, str]:
    return (row.config_type or "").strip().upper(), (row.config_key or "").strip().upper()


def _canonical_key(row: Any) -> tuple[str, str, str]:
    """Family, key under its present name, and qualifier: what one row may stand for."""
    family, key = _key(row)
    plain, _, qualifier = key.partition(".")
    return family, ALIASES.get((family, plain), plain), qualifier


def _plain_key(row: rows.Config) -> tuple[str, str]:
    family, key = _key(row)
    return family, key.partition(".")[0]


def setting_of(row: rows.Config) -> Setting[Any] | None:
    """The setting that a row gives a value to, also under an older name; null when nothing reads it."""
    return CATALOGUE.get(_canonical_key(row)[:2])


def _filled(draft: Config) -> Iterator[Finding]:
    yield from common.required(draft, "config_type", "Choose who reads the setting.")
    yield from common.required(draft, "config_key", "Choose the setting.")


def _duplicate(draft: Config) -> Iterator[Finding]:
    same = relations.all_by(draft.snapshot, rows.Config, _canonical_key)
    for other in draft.others(same.get(_canonical_key(draft.row), ())):
        yield draft.error(
            "DUPLICATE",
            "config_key",
            f"There is already a row for {draft.row.config_type} / {draft.row.config_key} (row {other.pk}).",
        )


def _secret(draft: Config) -> Iterator[Finding]:
    # A key of the catalogue is known to hold no secret, whatever it is called.
    named = setting_of(draft.row) is None and _SECRET_KEY.search(_plain_key(draft.row)[1])
    if named or _SECRET_VALUE.search(draft.row.config_value or ""):
        yield draft.error(
            "SECRET_IN_CONFIG",
            "config_key" if named else "config_value",
            "Secrets belong in the deployment's environment.",
        )


def _value(draft: Config) -> Iterator[Finding]:
    setting, text = setting_of(draft.row), draft.row.config_value or ""
    if setting is None or (setting.kind.blank_is_absent and blank(text)):
        return
    findings = list(_BY_KIND.get(setting.kind.name, _readable)(draft, setting))
    yield from findings
    judge = _BY_NAME.get(setting.name)
    if judge and not any(finding.is_error for finding in findings):
        yield from judge(draft, setting.kind.read(text))


def _readable(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    try:
        setting.kind.read(draft.row.config_value or "")
    except Unreadable as problem:
        code = "CHOICE_UNKNOWN" if setting.kind.name in ("bool", "enum") else "SHAPE_INVALID"
        yield draft.error(code, "config_value", f"{setting.key} {problem}")


def _number(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    kind = setting.kind
    low, high = kind.minimum or 0, kind.maximum or 0
    try:
        kind.read(draft.row.config_value or "")
        within = low <= float(draft.row.config_value) <= high
    except ValueError:
        within = False
    if not within:
        noun, bounds = ("whole number", "d") if kind.name == "int" else ("number", "g")
        text = f"{setting.key} must be a {noun} from {low:{bounds}} to {high:{bounds}}."
        yield draft.error("OUT_OF_RANGE", "config_value", text)


def _regex(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    return programs.regex(draft, "config_value", draft.row.config_value)


def _patterns(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    for pattern in setting.kind.read(draft.row.config_value or ""):
        yield from programs.regex(draft, "config_value", pattern)


def _json(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    found = list(programs.json_text(draft, "config_value", draft.row.config_value))
    yield from found or _readable(draft, setting)


def _template(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    strict = setting.kind.name == "prompt"
    return programs.template(draft, "config_value", draft.row.config_value, intent=ANY, strict=strict)


_BY_KIND: Mapping[str, Callable[[Config, Setting[Any]], Iterator[Finding]]] = {
    "int": _number,
    "decimal": _number,
    "regex": _regex,
    "patterns": _patterns,
    "json": _json,
    "prompt": _template,
    "template": _template,
}


def _matrix(draft: Config, matrix: Mapping[str, Any]) -> Iterator[Finding]:
    pairs = {f"{subject}:{act}" for subject in interaction.SUBJECTS for act in DialogueAct}
    for key, value in matrix.items():
        if key.strip().upper() not in pairs:
            yield draft.error("SHAPE_INVALID", "config_value", f"{key} must look like PENDING_ACTION:AFFIRM.")
        if value != "" and str(value).strip().upper() not in interaction.DECISIONS:
            yield draft.error(
                "CHOICE_UNKNOWN",
                "config_value",
                f"{json.dumps(value, ensure_ascii=False)} is not a decision. Choose one of "
                f"{', '.join(interaction.DECISIONS)}.",
            )


def _allowed_next(draft: Config, allowed: Mapping[str, Any]) -> Iterator[Finding]:
    for key, codes in allowed.items():
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            yield draft.error("SHAPE_INVALID", "config_value", f"{key} must have a list of tool codes.")


def _reset_codes(draft: Config, codes: tuple[str, ...]) -> Iterator[Finding]:
    known = draft.snapshot.table(rows.Intent).by_pk
    for code in codes:
        if code not in known:
            hint = did_you_mean(code, map(str, known))
            yield draft.warning("RESET_CODES_UNKNOWN", "config_value", f"There is no intent {code}.{hint}")


def _model(draft: Config, name: str) -> Iterator[Finding]:
    if name.strip() not in draft.world.models:
        known = draft.world.models
        yield draft.error(
            "NOT_REGISTERED",
            "config_value",
            f"There is no model {name}.{did_you_mean(name, known)} Allowed: {listed(known)}.",
        )


_BY_NAME: Mapping[str, Judge] = {
    interaction.MATRIX.name: _matrix,
    tools.ALLOWED_NEXT.name: _allowed_next,
    intents.RESET_INTENT_CODES.name: _reset_codes,
    llm.MODEL.name: _model,
}


def _known(draft: Config) -> Iterator[Finding]:
    setting, (family, key) = setting_of(draft.row), _plain_key(draft.row)
    written = f"{draft.row.config_type} / {draft.row.config_key}"
    if setting is None:
        names = (f"{each.type} / {each.key}" for each in CATALOGUE.values())
        here = REPLACED.get((family, key))
        hint = f" Use {here} instead." if here else did_you_mean(written, names)
        yield draft.warning("CONFIG_KEY_UNKNOWN", "config_key", f"Nothing reads {written}.{hint}")
    elif (family, key) in ALIASES:
        yield draft.warning(
            "CONFIG_KEY_RENAMED", "config_key", f"{key} is an older name; it is stored as {setting.key}."
        )


def _qualifier(draft: Config) -> Iterator[Finding]:
    setting, (_, _, qualifier) = setting_of(draft.row), _canonical_key(draft.row)
    if setting is None or not qualifier:
        return
    if setting.qualifier is None:
        yield draft.warning(
            "CONFIG_KEY_UNKNOWN", "config_key", f"{setting.key} has one value for all; nothing reads .{qualifier}."
        )
    elif setting.qualifier == "purpose" and qualifier not in llm.PURPOSES:
        yield draft.warning(
            "CONFIG_KEY_UNKNOWN",
            "config_key",
            f"No model call has the purpose {qualifier}.{did_you_mean(qualifier, llm.PURPOSES)}",
        )


FORM: tuple[Check, ...] = (_filled, _duplicate, _secret, _value)
FIT: tuple[Check, ...] = (_known, _qualifier)
