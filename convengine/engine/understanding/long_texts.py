"""The two kinds of texts: a long one is told in sentences of the user's own, a short one is a name or a few words."""

from convengine.engine.turn.ports import LearnedPort
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.sentences import LearnedPart, decide, rate_question

_TOLD = "told"


def proposes_long_text(title: str, question: str) -> bool:
    """Whether a field with this title and this question takes a long text, by questions that are alike."""
    rated = rate_question(_describe(title, question))
    return max(rated, key=lambda name: rated[name]) == _TOLD


def is_long_text(spec: FieldSpec, learned: LearnedPort | None) -> bool:
    """Whether a field takes a long text: as its `x-long` says, else as its title and its question propose."""
    if spec.kind is not Kind.TEXT or spec.long is not None:
        return bool(spec.long)
    if learned is None:
        return proposes_long_text(spec.title, spec.asks)
    return decide(learned, LearnedPart.TEXTS, _describe(spec.title, spec.asks))[0] == _TOLD


def _describe(title: str, question: str) -> str:
    """A title and a question as the sentences write them."""
    return ". ".join(text.strip(" .?!:") for text in (title, question) if text.strip(" .?!:"))
