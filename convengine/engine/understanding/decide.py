"""Taken, offered, refused, or left: what becomes of a value (docs/forms.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from convengine.engine.understanding.assign import ASKED_TIE, FieldClaim
from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.kinds.choices import NEAR, PART
from convengine.engine.understanding.kinds.heads import PERSON
from convengine.engine.understanding.labels import FieldLabel
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Doubt, Offered, RefusedText, Taken
from convengine.engine.understanding.span import RefusalReason, Resolved, Sort
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

#: Values of these sorts are taken letter by letter, so that no word of them is mended.
_AS_TYPED = (Sort.EMAIL, Sort.PHONE, Sort.POSTCODE, Sort.IBAN, Sort.PATTERN, Sort.OWN)
ASKED, LABEL, KIND, CORRECTION = "ASKED", "LABEL", "KIND", "CORRECTION"
#: The message said yes to an offer.
OFFER = "OFFER"
#: An earlier message said it, before the user chose what that message means.
EARLIER = "EARLIER"


class Explained:
    """Which words of a message something explains: a value, a name of a field, a cue, a move, the question."""

    def __init__(
        self, understanding: Understanding, form: OpenForm, labels: Sequence[FieldLabel], claims: Sequence[FieldClaim]
    ) -> None:
        self.understanding = understanding
        self.form = form
        small, named = cover(understanding.cues), cover(labels)
        moves = cover(move for move in understanding.moves if move.is_whole)
        typed = (span for span in understanding.spans if span.sort is not Sort.PERSON)  # Any new word may be a name.
        valued = cover(claim.span for claim in claims) | cover(typed)
        self.content = understanding.chart.content - small
        self._named = named
        self.talk = understanding.talk - valued - named if holds(Principle.TALK) else frozenset[int]()
        self._own = self._list_own()
        self._asked_words = named | self._own
        self._unexplained = self.content - (moves | valued | self.talk | self._asked_words)
        mended = {index for index, word in enumerate(understanding.words) if word.is_mended}
        self._saying = (self.content - named) | mended

    def _list_own(self) -> set[int]:
        """The words of the question and of the names of fields, with any ending; in the message that began the form
        those of its intent.
        """
        asked_field, form = self.form.asked_field, self.form
        words = set(asked_field.question) if asked_field else set()
        words |= form.last_answer if holds(Principle.TALK) else set()
        words |= {word for item in form.fields for label in item.labels for word in label}
        grammar, own_words = self.understanding.chart.grammar, form.own_words if form.is_opener else ()
        stems = {stem(word, grammar) for word in words}
        keys = {index: self.understanding.words[index].key for index in self.content}
        return {index for index, key in keys.items() if key in own_words or stem(key, grammar) in stems}

    def says_more(self, start: int, end: int) -> bool:
        """True when words of this part say something besides names of fields: "same name" is no name, but "Dave" is.

        A mended word counts as one that says something.
        """
        return not self._saying.isdisjoint(range(start, end))

    def list_saying_nothing(self, *, with_question: bool) -> set[int]:
        """The words that say nothing: small words, talk and signs.

        `with_question`: the words of the question, the last answer, and the names of fields, too.
        """
        nothing = {index for index, _ in enumerate(self.understanding.words) if index not in self.content}
        return nothing | self.talk | (self._named | self._own if with_question else set())

    def list_talk(self, clause: Clause) -> list[int]:
        """The words of a clause that say nothing of a value."""
        return [index for index in range(clause.start, clause.end) if index in self.talk]

    def list_unexplained(self, clause: Clause) -> list[int]:
        return [index for index in range(clause.start, clause.end) if index in self._unexplained]

    def is_about_asked(self, clause: Clause) -> bool:
        """True for "why?" and "which ones are there?": words of the question, and names of fields."""
        asked_field = self.form.asked_field
        if asked_field is None or not (clause.has("why") or asked_field.spec.options):
            return False
        return self.list_content(clause) <= self._asked_words

    def is_conditional(self, clause: Clause) -> bool:
        """True if the clause, or the one after it, states a condition."""
        if clause.force is Force.SUPPOSES:
            return True
        following = next((other for other in self.understanding.clauses if other.start >= clause.end), None)
        return following is not None and following.doubts and bool(self.list_unexplained(following))

    def says_again(self, clause: Clause) -> bool:
        """True for a clause that has words of the question, and no others that say something."""
        content = self.list_content(clause)
        return bool(content) and content <= self._asked_words

    def list_content(self, clause: Clause) -> frozenset[int]:
        """The words of a clause but for small ones."""
        return self.content.intersection(range(clause.start, clause.end))

    def asks_for_value(self, clause: Clause, claims: Sequence[FieldClaim]) -> bool:
        """True for "6pm?": a clause that asks, and has nothing but a value of an open field and words of request.

        In a message that begins the form, for each clause that does not begin with a word such as "when".
        """
        if self.form.is_opener and not self.asks_more(clause):
            return True
        own = (claim for claim in claims if claim.clause is clause)
        is_meant = any(claim.field is self.form.asked_field or not claim.is_correction for claim in own)
        is_wish = self.form.is_opener or (is_meant and not self.asks_more(clause))
        return is_wish and not self.list_unexplained(clause)

    def asks_more(self, clause: Clause) -> bool:
        """True for a question that begins with a word such as "when"."""
        return (clause.has("question") or clause.has("why")) and not clause.has("request")


def decide(claims: Sequence[FieldClaim], explained: Explained) -> Iterator[Taken | Offered | RefusedText]:
    """What becomes of each claim; nothing for one that is left."""
    for claim in (_ask_which(claim, explained) for claim in claims):
        is_asked_about = claim.span.sort is Sort.YES_NO or not explained.asks_for_value(claim.clause, claims)
        if (claim.clause.force is Force.ASKS and is_asked_about) or _tells_of_part(claim, explained):
            continue
        if not claim.resolved.is_value:
            yield from _refuse(claim, explained)
        elif (doubt := _find_doubt(claim, explained)) is None:
            yield _take(claim, explained)
        else:
            position = explained.understanding.find_position(claim.span.start, claim.span.end)
            yield Offered(claim.field.path, claim.resolved.value, *position, doubt)


def _tells_of_part(claim: FieldClaim, explained: Explained) -> bool:
    """True if the message says something else about these people: "one of us is vegan" does not count the group."""
    if not str(claim.span.phrase.slots.get("counter", "")).startswith(PERSON):
        return False
    understanding = explained.understanding
    if (match := understanding.chart.match_longest("predicate", claim.span.end)) is None:
        return False
    clause = understanding.find_clause(match.end)
    return clause is not None and any(at >= match.end for at in explained.list_unexplained(clause))


def _ask_which(claim: FieldClaim, explained: Explained) -> FieldClaim:
    """The claim with both values where a clause that is as plain has a second one; doubtful where another one has."""
    others = [
        other for other in claim.rivals if other.clause is claim.clause or not explained.list_unexplained(other.clause)
    ]
    values = tuple(dict.fromkeys(value for item in (claim, *others) for value in item.resolved.values))
    if others:
        return replace(claim, resolved=Resolved(values))
    return replace(claim, is_doubtful=claim.is_doubtful or bool(claim.rivals))


def _find_doubt(claim: FieldClaim, explained: Explained) -> Doubt | None:
    """Why a value is not taken at once. Returns None for one that is."""
    is_certain = claim.label is not None and claim.clause.only_limits
    is_certain |= claim.span.sort is Sort.YES_NO and claim.clause.force is Force.SUPPOSES and not claim.clause.doubts
    if explained.is_conditional(claim.clause) and not is_certain:
        return Doubt.SUPPOSED
    if _is_similar(claim):
        return Doubt.SIMILAR
    if claim.is_doubtful or _names_unknown_zone(claim, explained):
        return Doubt.UNCLEAR
    if claim.label is None and _may_be_talk(claim, explained):
        return Doubt.UNEXPLAINED
    if not explained.list_unexplained(claim.clause):
        return None
    return None if holds(Principle.SURE_VALUES) and not claim.span.is_weak else Doubt.UNEXPLAINED


def _names_unknown_zone(claim: FieldClaim, explained: Explained) -> bool:
    """True if the words after a time look like the name of a zone that the tables do not have."""
    if claim.span.sort not in (Sort.CLOCK, Sort.MOMENT):
        return False
    understanding, end = explained.understanding, claim.span.end
    unexplained = set(explained.list_unexplained(claim.clause))
    while end in unexplained:
        end += 1
    name = understanding.quote(claim.span.end, end)
    is_abbreviation = name.isupper() and name.isalpha() and not understanding.text.isupper()
    return bool(name) and (is_abbreviation or bool(understanding.chart.match("zone_word", end)))


def _is_similar(claim: FieldClaim) -> bool:
    """True for a word that is nearly spelled like an option, and for a word of one beside a single word of the field's
    name: "check my account balance".
    """
    is_named = claim.label is None or claim.label.is_whole or bool(claim.score & ASKED_TIE)
    return claim.span.phrase.means == NEAR or (claim.span.phrase.means == PART and not is_named)


def _may_be_talk(claim: FieldClaim, explained: Explained) -> bool:
    """True for a weak value, or a day beside more words, in a message that answers no question and begins no form; and
    for a weak value among words of talk in a message that leaves.
    """
    talk = explained.list_talk(claim.clause)
    if claim.span.is_weak and talk and explained.understanding.find_move(MoveKind.LEAVE):
        return True
    if explained.form.is_expected or claim.is_meant or not holds(Principle.EXPECTED):
        return False
    counts_from_now = claim.span.phrase.means == "relative_day"
    return claim.span.is_weak or (counts_from_now and bool(talk or explained.list_unexplained(claim.clause)))


def _take(claim: FieldClaim, explained: Explained) -> Taken:
    """The value as taken: by what it was recognised, whether the answer repeats it, and what was assumed."""
    understanding = explained.understanding
    by = CORRECTION if claim.is_correction else LABEL if claim.label else ASKED if claim.score >= ASKED_TIE else KIND
    start, end = claim.span.start, claim.span.end
    is_mended = claim.span.sort not in _AS_TYPED and understanding.chart.is_mended(start, end)
    is_echoed = (
        is_mended
        or not explained.form.is_open(claim.field.path)
        or bool(claim.resolved.supplied)
        or bool(explained.list_unexplained(claim.clause))
        or (claim.span.is_weak and bool(explained.list_talk(claim.clause)))
        or claim.clause.has("least")
        or claim.clause.has("limit")
    )
    assumed = (*sorted(claim.resolved.supplied), *(["spelling"] if is_mended else []))
    return Taken(
        claim.field.path, claim.resolved.value, *understanding.find_position(start, end), by, is_echoed, assumed
    )


def _refuse(claim: FieldClaim, explained: Explained) -> Iterator[RefusedText]:
    """A refusal is said where the value was surely meant for this field: the asked one, a plain one, or a named one."""
    understanding, resolved = explained.understanding, claim.resolved
    is_named = claim.label is not None and not explained.list_unexplained(claim.clause)
    if claim.field is explained.form.asked_field or is_named or not claim.span.is_weak:
        start, end = claim.span.start, claim.span.end
        text, position = understanding.quote(start, end), understanding.find_position(start, end)
        data = dict(resolved.data) | ({"candidates": list(resolved.values)} if len(resolved.values) > 1 else {})
        yield RefusedText(claim.field.path, text, resolved.reason or RefusalReason.AMBIGUOUS, data, *position)
