"""Options that the answer to a choice means, and says in other words: "games" for Sports (docs/forms.md)."""

import hashlib
import itertools
import json
from collections.abc import Iterator

import numpy as np

from convengine.engine.turn.ports import LearnedPort, LearnedSubject
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.encoder import encode, encode_text
from convengine.engine.understanding.field import Option
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Doubt, Offered, RefusedText
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json

#: The least cosine of an option that is offered, and how near a second one is that is offered, too.
_LEAST, _MARGIN = 0.45, 0.1
#: More options are not compared.
_MOST_OPTIONS = 50
#: More pieces of a message are not compared, either.
_MOST_PIECES = 12
_MOST_NEAR = 2
_DIGITS = 3


def offer_meant_option(explained: Explained) -> list[Offered | RefusedText]:
    """The option of the asked choice that what is left of the message means; two near ones as a choice.

    Where more are near, the piece is a sibling of all of them: purple, where there are red, green and blue. Nothing is
    offered twice in a row.
    """
    understanding, asked_field = explained.understanding, explained.form.asked_field
    learned, options = understanding.learned, asked_field.spec.options if asked_field else ()
    if asked_field is None or learned is None or not 1 < len(options) <= _MOST_OPTIONS:
        return []
    if explained.form.is_asked_again or not holds(Principle.MEANT_OPTIONS):
        return []
    compared = itertools.islice(_list_pieces(explained), _MOST_PIECES)
    pieces = [(_compare(learned, understanding.quote(*piece), options), piece) for piece in compared]
    likeness, piece = max(pieces, key=lambda item: item[0][0][1], default=([(0, 0.0)], (0, 0)))
    best = likeness[0][1]
    near = [options[index] for index, own in sorted(likeness) if own >= round(best - _MARGIN, _DIGITS)]
    if best < _LEAST or len(near) > _MOST_NEAR:
        return []
    position = understanding.find_position(*piece)
    if len(near) == 1:
        return [Offered(asked_field.path, near[0].value, *position, Doubt.MEANING)]
    candidates = {"candidates": [option.value for option in near]}
    return [RefusedText(asked_field.path, understanding.quote(*piece), RefusalReason.AMBIGUOUS, candidates, *position)]


def _list_pieces(explained: Explained) -> Iterator[tuple[int, int]]:
    """The words of statements that nothing explains, each with what stands right beside it."""
    for clause in explained.understanding.clauses:
        if clause.force is Force.STATES and not any(map(clause.overlaps, explained.understanding.moves)):
            words = enumerate(explained.list_unexplained(clause) or explained.list_talk(clause))
            for _, group in itertools.groupby(words, lambda item: item[1] - item[0]):
                piece = [index for _, index in group]
                yield piece[0], piece[-1] + 1


def _compare(learned: LearnedPort, text: str, options: tuple[Option, ...]) -> list[tuple[int, float]]:
    """The positions of the nearest options, each with its cosine, by the most similar of its words."""

    def compute() -> Json:
        vector = encode_text(text)
        cosines = [round(float(np.max(encode(option.spellings) @ vector)), _DIGITS) for option in options]
        # One more than are offered says that too many are near.
        nearest = sorted(range(len(options)), key=lambda index: -cosines[index])[: _MOST_NEAR + 1]
        return [[index, cosines[index]] for index in nearest]

    spellings = json.dumps([option.spellings for option in options])
    request = {"text": text, "options": hashlib.sha256(spellings.encode()).hexdigest()[:16]}
    return [(int(index), float(cosine)) for index, cosine in learned.decide(LearnedSubject.OPTIONS, request, compute)]
