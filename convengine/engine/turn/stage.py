"""An audit stage: its name and its description, declared once beside the code that writes it.

The catalogue, the manual, the narration of a turn, the API and the search index read these declarations;
`convengine.engine.stages` lists them all.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from convengine.engine.turn.labels import in_words
from convengine.json_value import Json

#: Endings of stages about model calls, in words.
_MODEL_CALL_LABELS = {"_LLM_INPUT": "model asked", "_LLM_OUTPUT": "model answered", "_LLM_ERROR": "model failed"}


class Family(StrEnum):
    """The part of a turn that a stage belongs to."""

    FRAME = "FRAME"
    OPENING = "OPENING"
    POLICY = "POLICY"
    DIALOGUE = "DIALOGUE"
    INTENT = "INTENT"
    DATA = "DATA"
    ACTION = "ACTION"
    TOOL = "TOOL"
    RULE = "RULE"
    RESPONSE = "RESPONSE"
    SESSION = "SESSION"


class Tone(StrEnum):
    """The tone of a sentence."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class SentenceTemplate:
    """A sentence of the narration about an event: words with payload keys in braces (`audit/narration/wording.py`)."""

    template: str
    #: Payload keys and their required values; a set allows each of its members.
    when: Mapping[str, Json] = field(default_factory=dict)
    tone: Tone = Tone.PLAIN
    #: With one of these stages in the turn there is no sentence: their sentences say it better.
    unless: tuple[str, ...] = ()
    #: The sentence is only for turns with this stage.
    given: str = ""

    def fits(self, payload: Mapping[str, Json], stages: Collection[str] = ()) -> bool:
        if (self.given and self.given not in stages) or not set(self.unless).isdisjoint(stages):
            return False
        return all(
            payload.get(key) in value if isinstance(value, frozenset) else payload.get(key) == value
            for key, value in self.when.items()
        )


class Stage(str):
    """A stage of audit events. It is its name; only `declare_stage` makes one."""

    family: Family
    #: The meaning of an event of this stage, in one sentence.
    help: str
    #: The name in words.
    label: str
    #: Classes of the steps that write it; none if any step does, or none is running.
    steps: tuple[str, ...]
    #: Possible keys of its payload, besides `_meta`.
    keys: tuple[str, ...]
    #: The narration of an event: the first template that fits its payload; without templates there is no sentence.
    sentences: tuple[SentenceTemplate, ...]
    #: No audit setting excludes it.
    always_recorded: bool
    #: Most turns reach it, so the index of stages leaves it out.
    common: bool
    #: `_meta` of its events has params, context and session in full.
    whole_meta: bool
    #: Written after a committed turn, about a model's summaries; a replay does not repeat it.
    after_answer: bool


_DECLARED: dict[str, Stage] = {}


def declare_stage(
    name: str,
    family: Family,
    help: str,
    *,
    steps: str = "",
    keys: str | Iterable[str] = "",
    sentences: Sequence[SentenceTemplate] = (),
    always_recorded: bool = False,
    common: bool = False,
    whole_meta: bool = False,
    after_answer: bool = False,
) -> Stage:
    """Declare a stage. `steps` and `keys` are names with blanks between. Raises ValueError if the name is taken."""
    if name in _DECLARED:
        raise ValueError(f"The stage {name} is declared twice.")
    stage = _DECLARED[name] = Stage(name)
    # `INTENT_AGENT_LLM_INPUT` is "Intent agent: model asked".
    ending = next((ending for ending in _MODEL_CALL_LABELS if name.endswith(ending)), "")
    suffix = f": {_MODEL_CALL_LABELS[ending]}" if ending else ""
    stage.family, stage.help, stage.label = family, help, in_words(name.removesuffix(ending)) + suffix
    stage.steps = tuple(steps.split())
    stage.keys = tuple(keys.split() if isinstance(keys, str) else keys)
    stage.sentences = tuple(sentences)
    stage.always_recorded, stage.common = always_recorded, common
    stage.whole_meta, stage.after_answer = whole_meta, after_answer
    return stage


def find_stage(name: str) -> Stage:
    """The declared stage of this name. Raises ValueError for an unknown name."""
    try:
        return _DECLARED[name]
    except KeyError:
        raise ValueError(f"{name} is not a declared stage.") from None


def declared_stages() -> tuple[Stage, ...]:
    """All declared stages, grouped by family."""
    families = list(Family)
    return tuple(sorted(_DECLARED.values(), key=lambda stage: families.index(stage.family)))


def is_error(stage: str) -> bool:
    """True for a stage that the audit level ERROR_ONLY writes."""
    return "ERROR" in stage or "FAIL" in stage or "REJECTED" in stage


def stage_label(stored: str) -> str:
    """A stored stage in words: `RULE_MATCH (RulesStep)` is "Rule match"; one that is not declared stays unchanged."""
    stage = _DECLARED.get(stored.partition(" (")[0])
    return stage.label if stage else stored
