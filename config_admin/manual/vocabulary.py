"""Chapters of groups, words (phases, actions, vocabularies, steps, events, stages), settings, codes and metrics."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.manual.entry import Chapter, PossibleValue, ReferenceEntry, plain
from config_admin.validation.codes import CODES, HEALTH_CODES
from config_admin.validation.settings import describe_allowed_values, format_value
from config_admin.validation.world import DETERMINANTS, PARTS
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.rules import vocabulary
from convengine.engine.stages import STAGES
from convengine.engine.tools.fault import FAULTS
from convengine.engine.turn import enums
from convengine.engine.turn.enums import PHASE_ALIASES, RulePhase, Vocabulary
from convengine.engine.turn.labels import in_words, step_label
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.server.admin_site.rights import GROUPS, groups_and_tasks
from convengine.server.api.failures import list_failures
from convengine.server.observability.metric import Counter
from convengine.server.observability.metrics import ALL as METRICS
from convengine.server.settings_catalogue import TITLES

WORDS, TURNS = "Values used in rows", "What happens in a turn"


def make_word_chapters() -> Iterator[Chapter]:
    """Phases, actions, all other words; then steps, events and stages."""
    older = {phase: ", ".join(name for name, now in PHASE_ALIASES.items() if now is phase) for phase in RulePhase}
    phases = [
        ReferenceEntry(
            f"phase.{phase.value}", phase.label, phase.help, phase.value, (("Older names", names),) if names else ()
        )
        for phase, names in older.items()
    ]
    yield Chapter("phases", "Phases of rules", plain(RulePhase.__doc__), tuple(phases), WORDS)
    about = "What a rule does when its condition is met, and the value that each action needs."
    actions = [
        ReferenceEntry(
            f"action.{action.name}",
            action.label,
            action.help,
            action.name,
            (("Value", action.value if action.value_required else f"{action.value} (optional)"),),
        )
        for action in vocabulary.list_actions().values()
    ]
    yield Chapter("actions", "Actions of rules", about, tuple(actions), WORDS)
    yield Chapter(
        "words", "Types, modes and statuses", "The allowed values of columns.", tuple(_list_word_entries()), WORDS
    )
    yield Chapter("steps", "Steps", "The steps of a turn, in their order.", tuple(_list_step_entries()), TURNS)
    about = "The events that progress texts can use. ANY stands for all of them."
    texts = {name: PARTS.get(name) or STAGES[name].help for name in DETERMINANTS}
    yield Chapter("events", "Events of progress texts", about, _list_codes("event", texts), TURNS)
    about = "Every event of the audit trail has one of these stages."
    yield Chapter("stages", "Stages of the audit trail", about, tuple(_list_stage_entries()), TURNS)


def list_vocabularies() -> list[type[Vocabulary]]:
    """Every vocabulary, in the order of its module."""
    vocabularies = [
        vocabulary
        for vocabulary in vars(enums).values()
        if isinstance(vocabulary, type) and issubclass(vocabulary, Vocabulary)
    ]
    return [vocabulary for vocabulary in vocabularies if vocabulary is not Vocabulary]


def _list_word_entries() -> Iterator[ReferenceEntry]:
    for words in list_vocabularies():
        if words not in (RulePhase, enums.RuleAction):
            choices = tuple(PossibleValue(word.value, word.label, word.help) for word in words)
            yield ReferenceEntry(
                f"word.{words.__name__}", in_words(words.__name__), plain(words.__doc__), "", (), choices
            )


def _list_step_entries() -> Iterator[ReferenceEntry]:
    for path in DEFAULT_PIPELINE:
        module, _, name = path.rpartition(".")
        step = getattr(import_module(module), name)
        yield ReferenceEntry(f"step.{name}", step_label(name), plain(step.__doc__), name)


def _list_stage_entries() -> Iterator[ReferenceEntry]:
    for stage in STAGES.values():
        facts = [("Part of the turn", stage.family.value.lower())]
        if stage.steps:
            facts.append(("Written by", ", ".join(stage.steps)))
        if stage.keys:
            facts.append(("Payload keys", ", ".join(stage.keys)))
        if stage.always_recorded:
            facts.append(("Always recorded", "No audit setting excludes it."))
        yield ReferenceEntry(f"stage.{stage}", stage.label, stage.help, str(stage), tuple(facts))


def make_group_chapters() -> Iterator[Chapter]:
    about = (
        "Permissions come from groups. Pages hide what a user is not allowed to do, and refuse it if requested "
        "directly. Administrators may do everything, and only they assign groups."
    )
    tasks = {
        name: tuple(PossibleValue("", task.title, "") for task in listed) for name, listed in groups_and_tasks().items()
    }
    groups = [
        ReferenceEntry(f"group.{each.name}", each.title, each.about, each.name, (), tasks[each.name]) for each in GROUPS
    ]
    yield Chapter("groups", "Permissions", about, tuple(groups), "People")
    about = (
        "Callers, and the calls and pages that are open to them. RW: users may open the page (GET) and send to it "
        "(POST); R: only open; W: only send. Everybody else, and every other address, gets a refusal or the sign-in "
        "page. cerule stands for all tables of the configuration except ceconfig and cemcpserver."
    )
    yield Chapter("access", "Who may call what", about, tuple(_list_access_entries()), "People")


#: Addresses by part and callers. `tests/test_access.py` calls each address as each caller, and writes the file.
_ACCESS = Path(__file__).with_name("access.json")


def _list_access_entries() -> Iterator[ReferenceEntry]:
    parts = json.loads(_ACCESS.read_text())
    rows = [(part, callers) for part, addresses in parts.items() for callers in addresses]
    for number, (part, callers) in enumerate(rows, 1):
        choices = tuple(PossibleValue("", address, "") for address in parts[part][callers])
        yield ReferenceEntry(f"access.{number}", callers, part, "", (), choices)


SETTINGS, CODES_PART = "Settings", "Codes"
#: The chapter that `help` of a failed call leads to.
ERRORS = "errors"


def make_code_chapters() -> Iterator[Chapter]:
    """A chapter for each family of settings, then the codes."""
    order = list(TITLES)
    known = sorted(
        CATALOGUE.values(), key=lambda setting: order.index(setting.type) if setting.type in order else len(order)
    )
    for family, settings in groupby(known, key=lambda setting: setting.type):
        title = TITLES.get(family, family)
        yield Chapter(
            f"settings-{family}",
            title,
            f"Settings of type {family}.",
            tuple(map(_make_setting_entry, settings)),
            SETTINGS,
        )
    about = "Messages at a field when a row is saved. Errors prevent saving. Warnings ask for confirmation once."
    yield Chapter("checks", "Codes of save checks", about, _list_codes("check", CODES), CODES_PART)
    about = "Findings of the health check, in addition to the save checks."
    yield Chapter("health", "Codes of the health check", about, _list_codes("health", HEALTH_CODES), CODES_PART)
    about = "Values of `errorCode` in the answers of failed calls and in the records of failed turns."
    yield Chapter(ERRORS, "Codes of failed turns and calls", about, tuple(_list_error_entries()), CODES_PART)
    about = "Values of `tool_result.error_type` for rules and answers. A failed tool never fails the turn."
    yield Chapter("tool-errors", "Codes of failed tools", about, _list_codes("tool-error", FAULTS), CODES_PART)
    about = "The numbers of /metrics. Times are histograms: _bucket, _sum and _count."
    yield Chapter("metrics", "Metrics", about, tuple(_list_metric_entries()), "Metrics")


def _make_setting_entry(setting: Setting[Any]) -> ReferenceEntry:
    facts = [
        ("Default", format_value(setting.kind, setting.default) or "blank"),
        ("Allowed", describe_allowed_values(setting.kind)),
    ]
    if setting.qualifier:
        facts.append(("Can be set per", setting.qualifier))
    if setting.mark == "LR":
        facts.append(("Changed by", "configuration administrators only"))
    return ReferenceEntry(f"setting.{setting.name}", setting.label, setting.help, setting.name, tuple(facts))


def _list_codes(kind: str, texts: Mapping[str, str]) -> tuple[ReferenceEntry, ...]:
    return tuple(ReferenceEntry(f"{kind}.{code}", in_words(code), text, code) for code, text in sorted(texts.items()))


def _list_error_entries() -> Iterator[ReferenceEntry]:
    for code, failures in groupby(list_failures(), key=lambda each: each.code):
        first, *others = failures
        statuses = ", ".join(str(each.status) for each in (first, *others))
        facts = [("Status", statuses), ("May succeed when tried again", "yes" if first.recoverable else "no")]
        remedy = [("What to do", first.remedy.replace("`", ""))] if first.remedy else []
        yield ReferenceEntry(f"error.{code}", in_words(code), first.meaning.replace("`", ""), code, (*remedy, *facts))


def _list_metric_entries() -> Iterator[ReferenceEntry]:
    for metric in METRICS:
        name = f"{metric.name}_total" if isinstance(metric, Counter) else metric.name
        facts = (("Labels", ", ".join(metric.labels)),) if metric.labels else ()
        yield ReferenceEntry(
            f"metric.{name}", in_words(metric.name.removeprefix("convengine_")), metric.help, name, facts
        )
