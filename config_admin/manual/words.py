"""Chapters of words: phases, actions, kinds and standings, steps, events and stages, as code explains them."""

from collections.abc import Iterator
from importlib import import_module

from config_admin.manual.entry import Chapter, Choice, Entry, in_words, plain
from config_admin.validation.world import DETERMINANTS, PARTS
from convengine.domain import enums
from convengine.domain.enums import PHASE_ALIASES, RulePhase, Word
from convengine.domain.stage_facts import FACTS, label
from convengine.domain.stage_help import HELP
from convengine.domain.stages import NEVER_FILTERED, Stage
from convengine.pipeline.order import DEFAULT_PIPELINE
from convengine.rules import vocabulary

WORDS, TURNS = "Words that rows use", "What happens in a turn"


def chapters() -> Iterator[Chapter]:
    """Phases, actions, all other words; then steps, events and stages."""
    yield Chapter("phases", "Phases of rules", plain(RulePhase.__doc__), tuple(_phases()), WORDS)
    about = "What a rule does when its condition holds, and what each needs as its value."
    yield Chapter("actions", "Actions of rules", about, tuple(_actions()), WORDS)
    yield Chapter("words", "Kinds, modes and standings", "Words that columns hold.", tuple(_words()), WORDS)
    yield Chapter("steps", "Steps", "The steps of a turn, in their order.", tuple(_steps()), TURNS)
    about = "What progress texts may be said at. ANY stands for every one of them."
    yield Chapter("events", "Events of progress texts", about, tuple(_events()), TURNS)
    about = "What the record of a turn is made of: each event is one of these."
    yield Chapter("stages", "Stages of the record", about, tuple(_stages()), TURNS)


def vocabularies() -> list[type[Word]]:
    """Every closed vocabulary, in the order of their module."""
    found = [one for one in vars(enums).values() if isinstance(one, type) and issubclass(one, Word)]
    return [one for one in found if one is not Word]


def _phases() -> Iterator[Entry]:
    for phase in RulePhase:
        older = [name for name, now in PHASE_ALIASES.items() if now is phase]
        facts = (("Older names", ", ".join(older)),) if older else ()
        yield Entry(f"phase.{phase.value}", phase.label, phase.help, phase.value, facts)


def _actions() -> Iterator[Entry]:
    for action in vocabulary.actions().values():
        needed = action.value if action.value_required else f"{action.value}; may be left out"
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
        yield Entry(f"step.{name}", in_words(name.removesuffix("Step")), plain(step.__doc__), name)


def _events() -> Iterator[Entry]:
    for name in sorted(DETERMINANTS):
        yield Entry(f"event.{name}", in_words(name), PARTS.get(name) or HELP.get(Stage(name), ""), name)


def _stages() -> Iterator[Entry]:
    for stage in Stage:
        told = FACTS[stage]
        facts = [("Part of the turn", stage.family.value.lower())]
        if told.steps:
            facts.append(("Written by", ", ".join(told.steps)))
        if told.keys:
            facts.append(("Its payload may have", ", ".join(told.keys)))
        if stage in NEVER_FILTERED:
            facts.append(("Always written", "No audit setting leaves it out."))
        yield Entry(f"stage.{stage.value}", label(stage), HELP.get(stage, ""), stage.value, tuple(facts))
