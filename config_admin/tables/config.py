"""`ce_config`: live settings."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import models
from django.db.models.functions import Lower

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.tables.base_model import ControlPlaneRow, SpokenRow
from config_admin.tables.model_fields import make_enabled_field
from config_admin.validation import common, programs
from config_admin.validation.columns import ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.settings import canonical_key, find_setting, upper_key
from config_admin.validation.world import World
from convengine.engine.llm import settings as llm
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.steps.intents import settings as intents
from convengine.engine.steps.interaction import step as interaction
from convengine.engine.steps.tools import settings as tools
from convengine.engine.text.compare import blank, shorten
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn import audit_settings as audit
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.live_settings import ALIASES, CATALOGUE, Setting, UnreadableSetting
from convengine.engine.turn.releases import INTENTS
from convengine.engine.turn.scope import ANY
from convengine.engine.understanding.phrases import settings as phrases
from convengine.server.deployment.environment import suggest_variable

Config = Draft[rows.Config]
ValueCheck = Callable[[Config, Any], Iterator[Finding]]
#: Names from other systems, and the message about each.
REPLACED: Mapping[tuple[str, str], str] = {
    ("RESPONSERESOLUTIONSTEP", "FALLBACK_ENABLED"): "ResponseResolutionStep / ON_MISSING",
    ("RESETCONVERSATIONSTEP", "ACK_TEXT"): "Session / FRESH_START_TEXT",
}
_SECRET_KEY = re.compile(r"PASSWORD|PASSWD|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|(^|_)TOKEN$")


def _get_plain_key(row: rows.Config) -> tuple[str, str]:
    family, key = upper_key(row)
    return family, key.partition(".")[0]


_check_duplicates = common.make_unique_check(
    canonical_key,
    "config_key",
    "{row.config_type} / {row.config_key} already has a value (row {other.pk}). Change that row.",
)


def _check_secrets(draft: Config) -> Iterator[Finding]:
    # A known setting holds no secret, whatever its name is.
    named = find_setting(draft.row) is None and _SECRET_KEY.search(_get_plain_key(draft.row)[1])
    if named or common.SECRET_VALUE.search(draft.row.config_value or ""):
        yield draft.error(
            "SECRET_IN_CONFIG",
            "config_key" if named else "config_value",
            "Do not store secrets here. Put them into the environment of the deployment.",
        )


def _check_value(draft: Config) -> Iterator[Finding]:
    setting, text = find_setting(draft.row), draft.row.config_value or ""
    if setting is None or (setting.kind.blank_is_absent and blank(text)):
        return
    findings = list(_CHECK_OF_KIND.get(setting.kind.name, _check_readable)(draft, setting))
    yield from findings
    judge = _CHECK_OF_SETTING.get(setting.name)
    if judge and not any(finding.is_error for finding in findings):
        yield from judge(draft, setting.kind.read(text))


def _check_readable(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    try:
        setting.kind.read(draft.row.config_value or "")
    except UnreadableSetting as problem:
        code = "CHOICE_UNKNOWN" if setting.kind.name in ("bool", "enum") else "SHAPE_INVALID"
        yield draft.error(code, "config_value", f"“{setting.label}” {problem}")


def _check_number(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    kind = setting.kind
    low, high = kind.minimum or 0, kind.maximum or 0
    try:
        kind.read(draft.row.config_value or "")
        within = low <= float(draft.row.config_value) <= high
    except ValueError:
        within = False
    if not within:
        noun, bounds = ("whole number", "d") if kind.name == "int" else ("number", "g")
        text = f"“{setting.label}” must be a {noun} from {low:{bounds}} to {high:{bounds}}."
        yield draft.error("OUT_OF_RANGE", "config_value", text)


def _check_regex(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    return programs.check_regex(draft, "config_value", draft.row.config_value)


def _check_patterns(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    for pattern in setting.kind.read(draft.row.config_value or ""):
        for finding in programs.check_regex(draft, "config_value", pattern):
            yield replace(finding, message=f"“{setting.label}”, line “{shorten(pattern, 80)}”: {finding.message}")


def _check_json(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    findings = list(programs.check_json_text(draft, "config_value", draft.row.config_value))
    yield from findings or _check_readable(draft, setting)


def _check_template(draft: Config, setting: Setting[Any]) -> Iterator[Finding]:
    strict = setting.kind.name == "prompt"
    return programs.check_template(draft, "config_value", draft.row.config_value, intent=ANY, strict=strict)


_CHECK_OF_KIND: Mapping[str, Callable[[Config, Setting[Any]], Iterator[Finding]]] = {
    "int": _check_number,
    "decimal": _check_number,
    "regex": _check_regex,
    "patterns": _check_patterns,
    "json": _check_json,
    "prompt": _check_template,
    "template": _check_template,
}


def _check_matrix(draft: Config, matrix: Mapping[str, Any]) -> Iterator[Finding]:
    pairs = {f"{subject}:{act}" for subject in interaction.SUBJECTS for act in DialogueAct}
    for key, value in matrix.items():
        if key.strip().upper() not in pairs:
            yield draft.error("SHAPE_INVALID", "config_value", f"{key} must have the form PENDING_ACTION:AFFIRM.")
        if value != "" and str(value).strip().upper() not in interaction.DECISIONS:
            yield draft.error(
                "CHOICE_UNKNOWN",
                "config_value",
                f"{json.dumps(value, ensure_ascii=False)} is not a decision. Choose one of "
                f"{', '.join(interaction.DECISIONS)}.",
            )


def _check_allowed_next(draft: Config, allowed: Mapping[str, Any]) -> Iterator[Finding]:
    for key, codes in allowed.items():
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            yield draft.error("SHAPE_INVALID", "config_value", f"{key} must be a list of tool codes.")


def _check_reset_codes(draft: Config, codes: tuple[str, ...]) -> Iterator[Finding]:
    for text in _list_unknown_intents(draft, codes):
        yield draft.warning("RESET_CODES_UNKNOWN", "config_value", text)


def _check_intents_of_channel(draft: Config, codes: tuple[str, ...]) -> Iterator[Finding]:
    for text in _list_unknown_intents(draft, codes):
        yield draft.warning("INTENT_UNKNOWN", "config_value", text)


def _list_unknown_intents(draft: Config, codes: tuple[str, ...]) -> Iterator[str]:
    known = draft.snapshot.table(rows.Intent).by_pk
    for code in codes:
        if code not in known:
            yield f"The intent {code} does not exist.{did_you_mean(code, map(str, known))}"


#: Characters of JSON, of regular expressions and of paths; as a name they would mask nothing.
_NO_NAME = re.compile(r"""[\[\]{}()"“”`*?;:=|\\^$/<>]|^'|'$""")


def _check_redact_keys(draft: Config, names: tuple[str, ...]) -> Iterator[Finding]:
    for name in names:
        if match := _NO_NAME.search(name):
            yield draft.error(
                "SHAPE_INVALID",
                "config_value",
                f"“{audit.REDACT_KEYS.label}” cannot read “{shorten(name, 80)}”: {match.group()} is not part of a "
                "name. Write names with commas between, such as password, card_number. "
                f"Regular expressions belong to “{audit.REDACT_PATTERNS.label}”.",
            )


def _check_redact_patterns(draft: Config, patterns: tuple[str, ...]) -> Iterator[Finding]:
    for pattern in patterns:
        if compile_pattern(pattern).occurs_in(""):
            yield draft.error(
                "REGEX_INVALID",
                "config_value",
                f"“{shorten(pattern, 80)}” also matches an empty text, so it would mask every text. "
                "Use + instead of *, or a number of repetitions such as {16}.",
            )


def _check_model(list_known: Callable[[World], frozenset[str]], draft: Config, name: str) -> Iterator[Finding]:
    known = list_known(draft.world)
    if draft.world.is_deployed and name.strip() not in known:
        yield draft.error(
            "NOT_REGISTERED",
            "config_value",
            f"There is no model {name}.{did_you_mean(name, known)} Allowed: {join_names(known)}. "
            f"{suggest_variable('CE_LLM_ALLOWED_MODELS')}",
        )


_CHECK_OF_SETTING: Mapping[str, ValueCheck] = {
    interaction.MATRIX.name: _check_matrix,
    tools.ALLOWED_NEXT.name: _check_allowed_next,
    intents.RESET_INTENT_CODES.name: _check_reset_codes,
    INTENTS.name: _check_intents_of_channel,
    llm.MODEL.name: partial(_check_model, lambda world: world.models),
    phrases.EMBEDDING_MODEL.name: partial(_check_model, lambda world: world.embedding_models),
    audit.REDACT_KEYS.name: _check_redact_keys,
    audit.REDACT_PATTERNS.name: _check_redact_patterns,
    llm.REDACT_PATTERNS.name: _check_redact_patterns,
}


def _check_key(draft: Config) -> Iterator[Finding]:
    setting, (family, key) = find_setting(draft.row), _get_plain_key(draft.row)
    written = f"{draft.row.config_type} / {draft.row.config_key}"
    if setting is None:
        names = (f"{each.type} / {each.key}" for each in CATALOGUE.values())
        replacement = REPLACED.get((family, key))
        hint = f" Use {replacement} instead." if replacement else did_you_mean(written, names)
        yield draft.warning("CONFIG_KEY_UNKNOWN", "config_key", f"Nothing reads {written}.{hint}")
    elif (family, key) in ALIASES:
        yield draft.warning(
            "CONFIG_KEY_RENAMED", "config_key", f"{key} is an older name. It is stored as {setting.key}."
        )


def _check_qualifier(draft: Config) -> Iterator[Finding]:
    setting, (_, _, qualifier) = find_setting(draft.row), canonical_key(draft.row)
    if setting is None or not qualifier:
        return
    if setting.qualifier is None:
        yield draft.warning(
            "CONFIG_KEY_UNKNOWN",
            "config_key",
            f"“{setting.label}” has one value for everything. Remove the qualifier .{qualifier}.",
        )
    elif setting.qualifier == "purpose" and qualifier not in llm.PURPOSES:
        yield draft.warning(
            "CONFIG_KEY_UNKNOWN",
            "config_key",
            f"No model call has the purpose {qualifier}.{did_you_mean(qualifier, llm.PURPOSES)}",
        )


class CeConfig(SpokenRow, ControlPlaneRow):
    """One setting. Look-ups ignore case; the value's type is that of the settings catalogue."""

    save_checks = SaveChecks(form=(_check_duplicates, _check_secrets, _check_value), fit=(_check_key, _check_qualifier))
    natural_key = NaturalKey(("config_type", "config_key"), is_unique=True, ignores_case=True)

    config_id = models.BigAutoField("id", primary_key=True)
    config_type = declare_column(
        models.CharField(
            "type", help_text="The part of the engine that reads the setting, for example DialogueActStep or Session."
        ),
        required=ColumnProblem("FIELD_REQUIRED", "Choose the part of the engine that reads the setting."),
        reference=Reference.SETTING_TYPE,
    )
    config_key = declare_column(
        models.CharField(
            "key", help_text="The name of the setting, for example SYSTEM_PROMPT. A qualifier may follow after a dot."
        ),
        required=ColumnProblem("FIELD_REQUIRED", "Choose the setting."),
        reference=Reference.SETTING_KEY,
        depends_on="config_type",
    )
    config_value = declare_column(
        models.TextField("value"),
        is_code=True,
        help="The value of the setting. An empty value counts as not set.",
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_config"
        verbose_name = "setting"
        constraints = [
            models.UniqueConstraint(
                Lower("config_type"),
                Lower("config_key"),
                name="ce_config_name_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="A value for this type and key already exists.",
            )
        ]
