"""A change that names a field: with a new text behind the name, with what answers its question, or as wrong."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from convengine.engine.understanding.assign import is_text
from convengine.engine.understanding.decide import CORRECTION
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.labels import FieldLabel, find_labels_by_kind, says_wrong
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading, Taken
from convengine.engine.understanding.text_words import PARTING
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

_JOINTS, _COURTESIES = ("label_joint", "correction", "lead_in"), ("courtesy", "lead_out")
#: Cues of a value that is not the one that was meant.
_WRONG = ("correction", "rejection", "denial")
#: Signs between the name and the value, and at the end of the message.
_SIGNS, _ENDS = frozenset({":", "=", '"', "“", "„"}), frozenset({".", "!", ",", '"', "”", "“"})


def read_named_change(
    understanding: Understanding, form: OpenForm, read_as_asked: Callable[[str], Reading], *, only_texts: bool
) -> Reading | None:
    """What a message changes that names a field: the field alone, or a text with its new text.

    The new text of a long one is the rest of the message, as typed; of a short one, what answers its question. Nothing
    in it sets another field. `only_texts`: other values were found by their own form. Returns None for others.
    """
    labels = find_labels_by_kind(understanding, form)
    # "The time is right now, but the name is still wrong."
    clauses = [(label, understanding.find_clause(label.start)) for label in labels if label.is_whole]
    wrong = {label.field for label, clause in clauses if clause and any(map(clause.has, _WRONG))}
    end = _find_end_of_name(understanding, form, labels)
    named = wrong or {label.field for label, _ in clauses}
    begins = bool(end) and wrong <= {labels[0].field}
    item = form.field(labels[0].field if begins else named.pop() if len(named) == 1 else "")
    if item is None or (only_texts and not is_text(item)):
        return None
    if begins:
        return _read_begun(understanding, form, item, labels, end, read_as_asked)
    return _read_short(understanding, form, item, read_as_asked)


def _read_begun(
    understanding: Understanding,
    form: OpenForm,
    item: FormField,
    labels: Sequence[FieldLabel],
    end: int,
    read_as_asked: Callable[[str], Reading],
) -> Reading | None:
    """What a message changes that begins with the name of a field, up to a word."""
    start = _find_text_start(understanding, end)
    is_wrong = start < end + 2 and not understanding.words[start - 1].is_sign and says_wrong(understanding, start)
    if is_wrong:  # "What happened is still wrong. He was drilling." Behind ":" or "should be", it is the new text.
        start = min((begin for begin in understanding.begins if begin > start), default=start)
    last = _strip_end(understanding, start)
    if start >= last:
        return Reading(named=(item.path,)) if form.asks_what_to_change else None
    if (is_wrong and says_wrong(understanding, start)) or not _is_whole(understanding, item, start, last):
        return _read_short(understanding, form, item, read_as_asked)
    if start == end or any(label.field != item.path and label.start >= start for label in labels):
        return None
    position = understanding.find_position(start, last)
    return Reading(taken=(Taken(item.path, understanding.quote(start, last), *position, CORRECTION, is_echoed=True),))


def _is_whole(understanding: Understanding, item: FormField, at: int, end: int) -> bool:
    """True where these words are the new text: all of a long one, a short one in one piece without a denial."""
    denies = says_wrong(understanding, at) or at in {cue.start for cue in understanding.cues if cue.name == "denial"}
    is_one = all(word.key not in PARTING for word in understanding.words[at:end])
    is_one = is_one and understanding.begins.isdisjoint(range(at + 1, end))
    return is_text(item) and (is_long_text(item.spec, understanding.learned) or (is_one and not denies))


def _read_short(
    understanding: Understanding, form: OpenForm, item: FormField, read_as_asked: Callable[[str], Reading]
) -> Reading | None:
    """A field that is named with what answers its question; a text alone where it is wrong or was asked for."""
    if is_long_text(item.spec, understanding.learned):
        return None
    texts = [text for text in read_as_asked(item.path).taken if text.field == item.path]
    if texts:
        return Reading(taken=(replace(texts[0], by=CORRECTION, is_echoed=True),))
    if not is_text(item):
        return None
    is_wrong = any(cue.name in _WRONG for cue in understanding.cues) or understanding.find_move(MoveKind.NEGATE)
    return Reading(named=(item.path,)) if is_wrong or form.asks_what_to_change else None


def _find_end_of_name(understanding: Understanding, form: OpenForm, labels: tuple[FieldLabel, ...]) -> int:
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
        tried = ((at, understanding.chart.match_exactly(name, at)) for at in range(start, end) for name in _COURTESIES)
        ends = (at for at, match in tried if match is not None and match.end == end)
        shorter = next(ends, end - (understanding.words[end - 1].key in _ENDS))
        if shorter == end:
            break
        end = shorter
    return end
