"""A change that begins with the name of a field: "what happened", "the names should be Tom and Jerry"."""

from convengine.engine.understanding.decide import CORRECTION
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.labels import Label, find_labels
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading, Taken
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

_JOINTS, _COURTESIES = ("label_joint", "correction", "lead_in"), ("courtesy", "lead_out")
#: Signs between the name and the value, and at the end of the message.
_SIGNS, _ENDS = frozenset({":", "=", '"', "“", "„"}), frozenset({".", "!", ",", '"', "”", "“"})


def read_named_change(understanding: Understanding, form: OpenForm) -> Reading | None:
    """What a message changes that begins with the name of a field: the field alone, or a text with its new text.

    The new text is the rest of the message, as typed. Nothing in it sets another field. Returns None for others.
    """
    labels = find_labels(understanding, form)
    end = _find_end_of_name(understanding, form, labels)
    if not end:
        return None
    path, start = labels[0].field, _find_text_start(understanding, end)
    last = _strip_end(understanding, start)
    if start >= last:
        return Reading(named=(path,)) if form.asks_what_to_change else None
    item = form.field(path)
    is_text = item is not None and item.spec.kind in (Kind.TEXT, Kind.PERSON)
    names_others = any(label.field != path and label.is_whole and label.start >= start for label in labels)
    if start == end or not is_text or names_others:
        return None
    position = understanding.find_position(start, last)
    return Reading(taken=(Taken(path, understanding.quote(start, last), *position, CORRECTION, is_echoed=True),))


def _find_end_of_name(understanding: Understanding, form: OpenForm, labels: tuple[Label, ...]) -> int:
    """The word behind the name that the message begins with, but for small words and those of its question; 0 for none.

    "The names of my pets" may be said for "Pets", whose question is "What are the names of your pets?".
    """
    moves = [move for move in understanding.moves if move.kind in (MoveKind.NEGATE, MoveKind.CORRECT)]
    small = cover(understanding.cues) | cover(moves)
    item = form.field(labels[0].field) if labels else None
    question_words = item.question if item else frozenset()
    typed = [understanding.quote(index, index + 1).casefold() for index, _ in enumerate(understanding.words)]
    small |= {index for index, word in enumerate(understanding.words) if word.is_sign or typed[index] in question_words}
    if not labels or not small.issuperset(range(labels[0].start)):
        return 0
    end = labels[0].end
    for label in labels[1:]:
        if label.field != labels[0].field or not small.issuperset(range(end, label.start)):
            break
        end = label.end
    return end


def _find_text_start(understanding: Understanding, at: int) -> int:
    """The word behind the joint that follows a name: "should be:"."""
    while at < len(understanding.words):
        matches = [match for name in _JOINTS if (match := understanding.chart.match_exactly(name, at))]
        end = max((match.end for match in matches), default=at + (understanding.words[at].key in _SIGNS))
        if end == at:
            break
        at = end
    return at


def _strip_end(understanding: Understanding, start: int) -> int:
    """The end of the text without courtesies and signs behind it."""
    end = len(understanding.words)
    while end > start:
        ends = (at for at in range(start, end) for name in _COURTESIES if _matches(understanding, name, at, end))
        shorter = next(ends, end - (understanding.words[end - 1].key in _ENDS))
        if shorter == end:
            break
        end = shorter
    return end


def _matches(understanding: Understanding, name: str, at: int, end: int) -> bool:
    match = understanding.chart.match_exactly(name, at)
    return match is not None and match.end == end
