"""Lines of an FAQ are found by what they answer, as their one or two questions are too few to learn from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from convengine.engine.rules.row_names import strip_statements
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ResponseType
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.classifier import round_share
from convengine.engine.understanding.phrases.encoders import Encoder

#: An intent with as many phrases is learned.
LEARNED_FROM = 5
#: A line is as sure as its share beside all lines and one that means nothing: how sharp the shares are, and which sum
#: of three cosines means nothing. Chosen on blind sets (docs/understanding.md).
_SHARPNESS, _NOTHING = 1 / 0.17, 0.84
#: An FAQ of fewer lines has as many others beside them, and what each of these shares: else the best of two lines would
#: mean every message.
_LINES, _SHARE = 30, 0.15
#: The phrase of another intent that is nearest to the message counts as a line whose sum is so many times its cosine:
#: of many phrases, one is soon near.
_OTHER = 2


class AnsweredLine(NamedTuple):
    """The questions of an intent, and the text that answers them. `intent` is a code in capitals."""

    intent: str
    questions: tuple[str, ...]
    answer: str

    def list_compared(self, question: str) -> tuple[str, str, str]:
        """What a message is compared with: a question, the question with the answer, and the answer."""
        return question, f"{question} {self.answer}", self.answer

    def list_texts(self) -> list[str]:
        """All that messages are compared with."""
        return [*dict.fromkeys(text for question in self.questions for text in self.list_compared(question))]


class FoundLine(NamedTuple):
    """A line that a message may ask for."""

    intent: str
    #: From 0 to 1, comparable with that of a learned intent.
    confidence: float
    #: The nearest question, and the cosines to question, question with answer, and answer.
    question: str
    cosines: tuple[float, ...]


def list_lines(snapshot: Snapshot, phrases: Iterable[tuple[str, str]]) -> tuple[AnsweredLine, ...]:
    """The intents of few phrases that answer and return, with the first text that they say. `phrases`: with intents."""
    questions: dict[str, list[str]] = {}
    for intent, text in phrases:
        questions.setdefault(intent, []).append(text)
    answers = snapshot.table(rows.Response).memo.get("answers", lambda: _list_answers(snapshot))
    return tuple(
        AnsweredLine(intent, tuple(texts), answers[intent])
        for intent, texts in questions.items()
        if len(texts) < LEARNED_FROM and intent in snapshot.returning_intents and intent in answers
    )


def _list_answers(snapshot: Snapshot) -> Mapping[str, str]:
    """The first fixed text of each intent, without the statements of templates."""
    answers: dict[str, str] = {}
    for row in sorted(snapshot.enabled_rows(rows.Response), key=lambda row: (row.priority, row.response_id)):
        if code(row.response_type) == ResponseType.EXACT and code(row.intent_code) != ANY:
            text = " ".join(strip_statements(row.exact_text).split())
            if not blank(text):
                answers.setdefault(code(row.intent_code), text)
    return answers


class LineFinder:
    """Finds the lines that a message asks for, by its cosines to question, question with answer, and answer."""

    def __init__(
        self, lines: Sequence[AnsweredLine], others: Sequence[str], encoder: Encoder, vectors: Mapping[str, Vector]
    ) -> None:
        """`others`: phrases of other intents. `vectors`: those of all these texts, by this encoder."""
        self.intents: Collection[str] = frozenset(line.intent for line in lines)
        self._encoder = encoder
        self._questions = [(line.intent, question) for line in lines for question in line.questions]
        texts = [line.list_compared(question) for line in lines for question in line.questions]
        #: For each question those of itself, of it with the answer, and of the answer.
        self._vectors: Vector = np.stack([[vectors[text] for text in each] for each in texts]).astype(np.float32)
        self._others: Vector = np.array([vectors[text] for text in others], np.float32)

    def find(self, text: str, most: int) -> tuple[FoundLine, ...]:
        """The lines that a message may ask for, the likeliest first, at most `most`."""
        vector = self._encoder.encode(text)
        cosines = self._vectors @ vector
        scores = cosines.sum(axis=1)
        best: dict[str, int] = {}
        for each in np.argsort(-scores, kind="stable"):
            best.setdefault(self._questions[each][0], each)
        compared = [*scores[[*best.values()]], *([_OTHER * (self._others @ vector).max()] if self._others.size else ())]
        powers = np.exp(_SHARPNESS * (np.array(compared) - _NOTHING))
        nothing = 1 + _SHARE * max(0, _LINES - len(best))
        shares = (powers / (nothing + powers.sum()))[: len(best)]
        return tuple(
            FoundLine(intent, round_share(share), self._questions[each][1], tuple(map(round_share, cosines[each])))
            for (intent, each), share in islice(zip(best.items(), shares, strict=True), most)
        )
