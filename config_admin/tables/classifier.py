"""`ce_intent_classifier`: phrases, which find an intent by text, before a model."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.model_fields import CodeField, make_enabled_field, not_blank, note, priority, word
from config_admin.validation import common, programs
from config_admin.validation.columns import REGEX, ColumnProblem, LanguageByWord, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.phrase_overlaps import choose_deciding_row, describe_phrase, quote_intent
from convengine.engine.rules import text_bank
from convengine.engine.text.compare import blank, code, norm, shorten_line
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.terms import has_words

Classifier = Draft[rows.Classifier]
#: What is no literal in a pattern: escapes, classes, group openings, counts.
_OPERATORS = re.compile(r"\\[pP]\{[^}]*\}|\\.|\[[^\]]*\]|\(\?[^:)>]*[:)>]|\{[^}]*\}")
_LITERAL = re.compile(r"[^\W_]+(?:[ '][^\W_]+)*")
#: How many overlapping rows are reported, and compared.
_MAX_REPORTED, _MAX_COMPARED = 3, 200


def _check_breadth(draft: Classifier) -> Iterator[Finding]:
    if programs.is_too_broad(draft.row.rule_type, draft.row.pattern):
        yield draft.warning(
            "PATTERN_TOO_BROAD",
            "pattern",
            "This pattern matches almost every message and will collide with other intents. Make it more specific.",
        )


def list_sample_texts(row: rows.Classifier) -> tuple[str, ...]:
    """Texts that the row probably matches: its literals one by one, and all of them together."""
    pattern = row.pattern or ""
    if code(row.rule_type) != text_bank.REGEX:
        return (pattern,)
    literals = _LITERAL.findall(_OPERATORS.sub(" ", pattern))
    return tuple(dict.fromkeys((*literals, " ".join(literals))))


def _check_overlap(draft: Classifier) -> Iterator[Finding]:
    """A text that matches both rows proves that they overlap; the samples of either side are tried.

    Where the order of match types or priorities decide, only a row that loses all its texts is reported.
    """
    if not draft.row.enabled:
        return
    colliding: list[rows.Classifier] = []
    taken: list[rows.Classifier] = []
    taking: list[rows.Classifier] = []
    for other in islice(draft.others(_find_overlapping_rows(draft.snapshot, draft.row)), _MAX_COMPARED):
        if code(other.intent_code) == code(draft.row.intent_code):
            continue
        winner = choose_deciding_row(draft.snapshot, draft.row, other)
        if winner is None:
            colliding.append(other)
        elif _takes_every_text(winner, other if winner is draft.row else draft.row):
            (taken if winner is draft.row else taking).append(other)
    if taken:
        yield draft.warning("CLASSIFIER_OVERLAP", "pattern", _describe_taken(draft, taken))
    messages = [_describe_taking(draft, other) for other in taking]
    messages += [
        f"The {describe_phrase(draft.snapshot, other)} matches some of the same messages. If both match, no intent is "
        "recognised."
        for other in colliding
    ]
    for message in messages[:_MAX_REPORTED]:
        yield draft.warning("CLASSIFIER_OVERLAP", "pattern", message)


def _describe_taken(draft: Classifier, taken: Sequence[rows.Classifier]) -> str:
    """`This takes over the phrase “where is my parcel” of “Parcels”, …`."""
    named = ", ".join(describe_phrase(draft.snapshot, other) for other in taken[:_MAX_REPORTED])
    more = f" and {len(taken) - _MAX_REPORTED} more" if len(taken) > _MAX_REPORTED else ""
    own = quote_intent(draft.snapshot, code(draft.row.intent_code))
    return f"This takes over the {named}{more}. Users who write this get {own} instead."


def _describe_taking(draft: Classifier, other: rows.Classifier) -> str:
    row = draft.row
    why = (
        f"has priority {other.priority}, this one {row.priority}"
        if other.priority < row.priority and other.is_phrase == row.is_phrase
        else "is tried earlier"
    )
    return f"The {describe_phrase(draft.snapshot, other)} matches these messages, too, and {why}. It decides instead."


def _takes_every_text(winner: rows.Classifier, loser: rows.Classifier) -> bool:
    own = [text for text in list_sample_texts(loser) if _is_match(loser, text)]
    return bool(own) and all(_is_match(winner, text) for text in own)


def _find_overlapping_rows(snapshot: Snapshot, row: rows.Classifier) -> Iterator[rows.Classifier]:
    active = [other for other in snapshot.enabled_rows(rows.Classifier) if snapshot.is_active(other.intent_code)]
    bank = text_bank.get_bank(tuple((other.pk, other.rule_type, other.pattern) for other in active))
    own = [text for text in list_sample_texts(row) if _is_match(row, text)]
    hit = frozenset().union(*(bank.hits(text) for text in own))
    for other in active:
        if row.is_phrase and other.is_phrase:
            continue
        if other.pk in hit or any(_is_match(row, text) and _is_match(other, text) for text in list_sample_texts(other)):
            yield other


def _is_match(row: rows.Classifier, text: str) -> bool:
    """True when the row matches the text; of a phrase, only its own sentence is tried."""
    if row.is_phrase:
        return norm(row.pattern) == norm(text)
    return programs.is_match(row.rule_type, row.pattern, text)


def _check_words(draft: Classifier) -> Iterator[Finding]:
    row = draft.row
    if row.is_phrase and not blank(row.pattern) and not has_words(row.pattern):
        yield draft.error(
            "PHRASE_WITHOUT_WORDS",
            "pattern",
            "This phrase has no word, so it matches no message. Write a sentence as users would type it.",
        )


def _check_same_phrase(draft: Classifier) -> Iterator[Finding]:
    """The phrase is one of another intent, too."""
    row = draft.row
    if not row.enabled or not row.is_phrase or blank(row.pattern):
        return
    by_pk = draft.snapshot.table(rows.Classifier).by_pk
    same = (by_pk[phrase.key] for phrase in get_phrase_book(draft.snapshot).find_identical(row.pattern or ""))
    for other in draft.others(same):
        if isinstance(other, rows.Classifier) and code(other.intent_code) != code(row.intent_code):
            yield draft.warning(
                "PHRASE_OF_OTHER_INTENT",
                "pattern",
                f"“{shorten_line(other.pattern, 60)}” is a phrase of "
                f"{quote_intent(draft.snapshot, code(other.intent_code))} too. Users who write this "
                "are asked which intent they mean.",
            )
            return


class CeIntentClassifier(ControlPlaneRow):
    """A pattern that means an intent. Intent and state are its result, not a filter."""

    save_checks = SaveChecks(
        fit=(
            _check_words,
            _check_same_phrase,
            _check_breadth,
            common.check_duplicate_row,
        ),
        slow=(_check_overlap,),
    )
    natural_key = NaturalKey(("intent_code", "rule_type", "pattern"))

    classifier_id = models.BigAutoField("id", primary_key=True)
    intent_code = declare_column(
        CodeField("resulting intent", help_text="The intent that this phrase leads to."),
        reference=Reference.INTENT,
        refused=ColumnProblem(
            "CLASSIFIER_INTENT", "Choose the intent of this phrase. ANY and UNKNOWN are not allowed here."
        ),
    )
    state_code = declare_column(
        CodeField(
            "resulting state",
            default="UNKNOWN",
            db_default="UNKNOWN",
            help_text="The state in which the conversation starts. ANY keeps the current state.",
        ),
        reference=Reference.STATE,
        reserved=(UNKNOWN, ANY),
    )
    rule_type = word(
        ClassifierType,
        unknown=ColumnProblem("RULE_TYPE", "Choose {one_of}.{hint}"),
        verbose_name="match type",
    )
    pattern = declare_column(
        models.TextField(
            help_text="For a phrase: a sentence as users type it. Upper and lower case are treated as equal."
        ),
        required=ColumnProblem("PATTERN_BLANK", "Enter a pattern."),
        language=LanguageByWord("rule_type", {"REGEX": REGEX}),
    )
    priority = priority(help_text="If several phrases of the intent match, the lowest number sets the state.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent_classifier"
        verbose_name = "phrase"
        indexes = [index("ce_classifier_order", "enabled", "priority")]
        constraints = not_blank("intent_code", "state_code")
