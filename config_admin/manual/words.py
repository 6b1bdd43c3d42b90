"""Chapters of words: phases, actions, vocabularies, steps, events and stages."""

from collections.abc import Iterator
from importlib import import_module

from config_admin.manual.entry import Chapter, Choice, Entry, plain
from config_admin.validation.world import DETERMINANTS, PARTS
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.rules import vocabulary
from convengine.engine.stages import STAGES
from convengine.engine.turn import enums
from convengine.engine.turn.enums import PHASE_ALIASES, RulePhase, Word
from convengine.engine.turn.labels import in_words, step_label

WORDS, TURNS = "Values used in rows", "What happens in a turn"


def chapters() -> Iterator[Chapter]:
    """Phases, actions, all other words; then steps, events and stages."""
    yield Chapter("phases", "Phases of rules", plain(RulePhase.__doc__), tuple(_phases()), WORDS)
    about = "What a rule does when its condition is met, and the value that each action needs."
    yield Chapter("actions", "Actions of rules", about, tuple(_actions()), WORDS)
    yield Chapter("words", "Types, modes and statuses", "The allowed values of columns.", tuple(_words()), WORDS)
    yield Chapter("steps", "Steps", "The steps of a turn, in their order.", tuple(_steps()), TURNS)
    about = "The events that progress texts can use. ANY stands for all of them."
    yield Chapter("events", "Events of progress texts", about, tuple(_events()), TURNS)
    about = "Every event of the audit trail has one of these stages."
    yield Chapter("stages", "Stages of the audit trail", about, tuple(_stages()), TURNS)


def vocabularies() -> list[type[Word]]:
    """Every vocabulary, in the order of its module."""
    found = [one for one in vars(enums).values() if isinstance(one, type) and issubclass(one, Word)]
    return [one for one in found if one is not Word]


def _phases() -> Iterator[Entry]:
    for phase in RulePhase:
        older = [name for name, now in PHASE_ALIASES.items() if now is phase]
        facts = (("Older names", ", ".join(older)),) if older else ()
        yield Entry(f"phase.{phase.value}", phase.label, phase.help, phase.value, facts)


def _actions() -> Iterator[Entry]:
    for action in vocabulary.list_actions().values():
        needed = action.value if action.value_required else f"{action.value} (optional)"
        yield Entry(f"action.{action.name}", action.label, action.help, action.name, (("Value", needed),))


def _words() -> Iterator[Entry]:
    for one in vocabularies():
        if one not in (RulePhase, enums.RuleAction):
            choices = tuple(Choice(word.value, word.label, word.help) for word in one)
            yield Entry(f"word.{one.__name__}", in_words(one.__name__), plain(one.__doc__), "", (), choices)


def _steps() -> Iterator[Entry]:
    for path in DEFAULT_PIPELINE:
        module, _, name = path.rpartition(".")
        step = getattr(import_module(module), name)
        yield Entry(f"step.{name}", step_label(name), plain(step.__doc__), name)


def _events() -> Iterator[Entry]:
    for name in sorted(DETERMINANTS):
        yield Entry(f"event.{name}", in_words(name), PARTS.get(name) or STAGES[name].help, name)


def _stages() -> Iterator[Entry]:
    for stage in STAGES.values():
        facts = [("Part of the turn", stage.family.value.lower())]
        if stage.steps:
            facts.append(("Written by", ", ".join(stage.steps)))
        if stage.keys:
            facts.append(("Payload keys", ", ".join(stage.keys)))
        if stage.always_recorded:
            facts.append(("Always recorded", "No audit setting excludes it."))
        yield Entry(f"stage.{stage}", stage.label, stage.help, str(stage), tuple(facts))
