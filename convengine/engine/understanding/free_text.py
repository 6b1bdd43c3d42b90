"""Free text of an asked text field: the message as typed, without what stands around it (docs/forms.md)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from convengine.engine.understanding.asked_names import take_name
from convengine.engine.understanding.assign import FieldClaim, is_text
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.form import MOST_SHORT, FormField, list_held_words
from convengine.engine.understanding.labels import STREET, asks_for_name, list_relations, takes_only_name
from convengine.engine.understanding.left_over import LeftOver, LeftOverPiece
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Doubt, Offered, RefusedText, Taken
from convengine.engine.understanding.text_words import PARTING, TextWords
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover, has_same_letters

TEXT, RELATION = "TEXT", "RELATION"
#: A yes or no of more words tells something.
_MOST_OF_YES_OR_NO = 2


def read_free_text(
    explained: Explained, claims: Sequence[FieldClaim], *, is_phrase: bool
) -> Taken | Offered | RefusedText | None:
    """The text that the asked field takes. Returns None where the message says something else.

    `is_phrase`: a phrase of another intent matches the whole message.
    """
    understanding, item = explained.understanding, explained.form.asked_field
    if item is None or not understanding.words or _says_something_else(understanding, item, is_phrase):
        return None
    if is_long_text(item.spec, understanding.learned):
        return _take_told(item, explained, claims)
    is_longer = len(understanding.chart.content) > _MOST_OF_YES_OR_NO and holds(Principle.ASKED_NAMES)
    if is_longer and asks_for_name(item, understanding.chart.grammar) and (name := take_name(item, explained, claims)):
        return name
    return _take_short(item, explained, claims) or _take_rest(item, explained, claims)


def _take_told(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> Taken | None:
    """The answer as typed, without sentences around it that say nothing: "Well, yes. A shelf fell. How many more?".

    Returns None for one that is all values of other fields, corrections and questions.
    """
    understanding = explained.understanding
    stating = [clause for clause in understanding.clauses if clause.force is not Force.ASKS]
    says_more = any(map(explained.list_unexplained if claims else explained.list_content, stating))
    if all(map(explained.asks_more, understanding.clauses)) or not (item.spec.long or says_more):
        return None
    sentences = [*pairwise(sorted({0, *understanding.begins, len(understanding.words)}))]
    telling: list[tuple[int, int]] = []
    for start, end in sentences:
        clause = understanding.find_clause(start)
        # A question says something with others than words of talk.
        nothing = explained.talk if clause is not None and clause.force is Force.ASKS else frozenset[int]()
        if not explained.content.intersection(range(start, end)) <= nothing:
            telling.append((start, end))
    telling = telling or sentences
    first, last = understanding.words[telling[0][0]].start, understanding.words[telling[-1][1] - 1].end
    return Taken(item.path, understanding.text[first:last].strip(), first, last, TEXT)


def _take_short(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> Taken | Offered | None:
    """An answer of a few words, without the frame before it and the courtesies behind it: "it's head of sales".

    The text ends where the message begins to tell something else. Where only a comma is between, the text is offered.
    Returns None for one that says more, denies, supposes, asks, or has a value of another field.
    """
    understanding, words = explained.understanding, TextWords(explained.understanding)
    if not holds(Principle.SHORT_ANSWERS):
        return None
    relations = list_relations(item, understanding.chart.grammar)
    is_name = takes_only_name(item, understanding.chart.grammar)
    start = words.skip_frame(relations, is_name=is_name)
    answer_end = words.find_answer_end()
    if _may_correct(understanding, answer_end) or any(word.is_number for word in understanding.words[answer_end:]):
        return None
    end = words.strip_end(start, answer_end)
    if not words.are_short(start, end) or (is_name and not words.are_name(start, end)):
        return None
    if (relations and _has_relation(explained, item, start + 1, end)) or not _is_stated(explained, claims, start, end):
        return None
    first, last = understanding.find_position(start, end)
    text, is_whole = understanding.text[first:last], answer_end == len(understanding.words)
    if is_whole or answer_end in understanding.begins:
        return Taken(item.path, text, first, last, TEXT, is_echoed=not is_whole)
    return Offered(item.path, text, first, last, Doubt.UNCLEAR)


def _has_relation(explained: Explained, item: FormField, start: int, end: int) -> bool:
    """True for a word of relation among some words; in a title only where another text of the form has relations."""
    chart = explained.understanding.chart
    others = (other for other in explained.form.fields if other is not item and is_text(other))
    is_title = TextWords(explained.understanding).are_title(start - 1, end)
    is_one_of_two = any(list_relations(other, chart.grammar) for other in others)
    return (is_one_of_two or not is_title) and any(chart.match("relation", at) for at in range(start, end))


def _may_correct(understanding: Understanding, start: int) -> bool:
    """True for the end of "Ann Hill, no, Ann Hall": words of correction and no value that they correct."""
    has_value = any(span.start >= start and not span.is_weak for span in understanding.spans)
    names = ("correction", "denial", "rejection")
    return not has_value and any(cue.start >= start and cue.name in names for cue in understanding.cues)


def _is_stated(explained: Explained, claims: Sequence[FieldClaim], start: int, end: int) -> bool:
    """True for words of clauses that state, without a value of another field."""
    clauses = [clause for clause in explained.understanding.clauses if clause.start < end and start < clause.end]
    states = all(clause.force is Force.STATES for clause in clauses)
    has_value = any(claim.span.start in range(start, end) for claim in claims)
    return states and not has_value and _begins_and_ends(explained, start, end)


def _begins_and_ends(explained: Explained, start: int, end: int) -> bool:
    """True where the first and the last word may belong to a name: not in "looking in Fremont" and "Fremont is best".

    A single word may be any; words of talk belong to it beside a small word of names ("head of sales").
    """
    content = [index for index in range(start, end) if not explained.understanding.words[index].is_sign]
    nothing, chart = explained.list_saying_nothing(with_question=False), explained.understanding.chart
    if len(content) == 1:
        return content[0] not in nothing - explained.talk or chart.text[chart.words[start].start].isupper()
    if _is_one_thing(explained, start, end):
        return True
    nothing -= {at for at in content if chart.is_abbreviation(at)}
    is_joined = chart.match("name_joint", content[1]), chart.match("name_joint", content[-2])
    return all(
        index not in nothing or (joined and index in explained.talk)
        for index, joined in zip((content[0], content[-1]), is_joined, strict=True)
    )


def _is_one_thing(explained: Explained, start: int, end: int) -> bool:
    """True for a title, an address, and words with no small ones: "oak table", and not "Fremont is best"."""
    words, chart = TextWords(explained.understanding), explained.understanding.chart
    if words.are_title(start, end) or words.has_street():
        return True
    content = [index for index in range(start, end) if not chart.words[index].is_sign]
    is_plain = all(index in explained.content or chart.match("article", index) for index in content)
    return is_plain and not explained.talk.issuperset(content)


def _take_rest(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> Taken | Offered | None:
    """Take the names of a sentence, from the first to the last one: nothing is cut out of the middle.

    A part that a word of relation marks for the field is all of it. What is not all of its sentence, or of several, is
    offered, and so is a short sentence without a name as a whole. Returns None if nothing is left.
    """
    understanding = explained.understanding
    relations = list_relations(item, understanding.chart.grammar)
    meant = _list_meant(item, explained, claims, relations)
    valued = cover(claim.span for claim in claims)
    pieces = _list_marked(understanding, valued, meant, relations)
    if meant and not pieces:
        is_other = bool(claims) or takes_only_name(item, understanding.chart.grammar)
        return None if is_other else _offer_sentence(item, understanding)
    related = [piece for piece in pieces if piece.relations & relations]
    if address := _list_address(explained, meant) if STREET in relations else []:
        return _make_text(item, explained, address, valued, is_part=len(address) < len(meant))
    if len(related) == 1 and holds(Principle.RELATIONS):
        return _make_text(item, explained, related, valued, is_part=len(pieces) > 1)
    parts = _choose_parts(item, understanding, pieces)
    if not parts:
        return None
    text = _make_text(item, explained, [*parts[0], *parts[-1]], valued, is_part=len(pieces) > 1)
    is_sure = len(parts) == 1 and not _is_cut(understanding, parts[-1][-1], text.end, meant)
    return text if is_sure else Offered(item.path, text.value, text.start, text.end, Doubt.UNCLEAR)


def _is_cut(understanding: Understanding, last: LeftOverPiece, end: int, pieces: Sequence[LeftOverPiece]) -> bool:
    """True where a piece of the sentence follows a text that ends with its last piece."""
    behind = range(last.end + 1, _find_sentence_end(understanding, last))
    return any(piece.start in behind and understanding.words[piece.start].start >= end for piece in pieces)


def _list_address(explained: Explained, pieces: Sequence[LeftOverPiece]) -> list[LeftOverPiece]:
    """The parts of "Park House, Park Street 4 in York, third floor": those beside the first number, and the rest."""
    understanding, words = explained.understanding, explained.understanding.words
    if not holds(Principle.WHOLE_TEXTS):
        return []
    parts = _group_by_sentence(understanding, pieces)
    part = next((part for part in parts if any(has_number(understanding, piece) for piece in part)), [])
    start = next((at for at, piece in enumerate(part) if has_number(understanding, piece)), 0)
    while start and all(
        words[at].key in PARTING if words[at].is_sign else at in explained.content
        for at in range(part[start - 1].end, part[start].start)
    ):
        start -= 1
    for end in range(start + 1, len(part)):
        between = range(part[end - 1].end, part[end].start)
        # Small words begin to tell something else: the "my name is" of "5 Oak Court, my name is Ann".
        if sum(not (words[at].is_sign or at in explained.content) for at in between) > 1:
            return part[start:end]
    return part[start:]


def has_number(understanding: Understanding, piece: LeftOverPiece) -> bool:
    """True for a part of a message with a number: of a street, of a bus."""
    return any(word.is_number for word in understanding.words[piece.start : piece.end])


def _offer_sentence(item: FormField, understanding: Understanding) -> Offered | None:
    """All of a short sentence that states: "we keep bees"."""
    end = TextWords(understanding).strip_end(0, len(understanding.words))
    states = all(clause.force is Force.STATES for clause in understanding.clauses)
    if not states or end > 2 * MOST_SHORT or len(understanding.begins) > 1:
        return None
    first, last = understanding.find_position(0, end)
    return Offered(item.path, understanding.text[first:last], first, last, Doubt.UNCLEAR)


def _list_meant(
    item: FormField, explained: Explained, claims: Sequence[FieldClaim], relations: frozenset[str]
) -> Sequence[LeftOverPiece]:
    """The pieces that may be the text: without names that are held, and of clauses that state where there are any.

    "I used to live in Bath, now it's York."
    """
    held = list_held_words({path: value for path, value in explained.form.held.items() if path != item.path})
    new = {at for at, word in enumerate(explained.understanding.words) if not (word.is_sign or word.key in held)}
    pieces = [piece for piece in LeftOver(explained, claims).pieces if _may_be_meant(piece, relations)]
    pieces = [piece for piece in pieces if not new.isdisjoint(range(piece.start, piece.end))]
    return [piece for piece in pieces if piece.clause is None or piece.clause.force is not Force.SUPPOSES] or pieces


def _list_marked(
    understanding: Understanding, valued: set[int], pieces: Sequence[LeftOverPiece], relations: frozenset[str]
) -> Sequence[LeftOverPiece]:
    """The pieces that are written as a name, have a number, stand behind a frame or a relation, or are a sentence.

    Other words of a sentence rather tell something: the "broken" of "the heating is broken" is no address.
    """
    if not holds(Principle.MARKED_TEXTS):
        return pieces
    words, marked = TextWords(understanding), list[LeftOverPiece]()
    for piece in pieces:
        is_name = piece.is_capital or has_number(understanding, piece) or words.are_title(piece.start, piece.end)
        is_behind = bool(piece.relations & relations) or words.is_framed(piece.start)
        # All of its sentence besides values: "Yes. Maria's Little Kitchen, at 4".
        end = _find_sentence_end(understanding, piece) if piece.start in understanding.begins else piece.start
        rest = range(piece.end, end)
        is_all = end > piece.start and all(understanding.words[at].is_sign or at in valued for at in rest)
        if is_name or is_behind or is_all:
            marked.append(piece)
    return marked


def _choose_parts(
    item: FormField, understanding: Understanding, pieces: Sequence[LeftOverPiece]
) -> list[list[LeftOverPiece]]:
    """The sentences that may give the text, as their pieces: the one that begins with a frame if there is one."""
    words = TextWords(understanding)
    parts = [*_group_by_sentence(understanding, pieces)]
    if takes_only_name(item, understanding.chart.grammar):
        parts = [part for part in parts if words.are_name(part[0].start, part[-1].end)] or [
            [piece] for piece in pieces if words.are_name(piece.start, piece.end) and piece.is_capital
        ]
    numbered = [part for part in parts if any(has_number(understanding, piece) for piece in part)]
    framed = [part for part in parts if words.is_framed(part[0].start)]
    return next((chosen for chosen in (numbered, framed) if len(chosen) == 1), parts)


def _find_sentence_end(understanding: Understanding, piece: LeftOverPiece) -> int:
    return min((at for at in understanding.begins if at > piece.start), default=len(understanding.words))


def _group_by_sentence(understanding: Understanding, pieces: Sequence[LeftOverPiece]) -> Iterator[list[LeftOverPiece]]:
    """The pieces of each sentence, up to a comma with more words behind it than a part of a name or an address has."""
    sentence: list[LeftOverPiece] = []
    is_over = False
    for piece in pieces:
        between = range(sentence[-1].end, piece.start) if sentence else range(0)
        if sentence and not understanding.begins.isdisjoint(range(between.start, piece.start + 1)):
            yield sentence
            sentence, is_over = [], False
        elif any(understanding.words[at].key in PARTING for at in between):
            is_over |= _count_behind(understanding, piece.start) > MOST_SHORT
        if not is_over:
            sentence.append(piece)
    if sentence:
        yield sentence


def _count_behind(understanding: Understanding, at: int) -> int:
    """The words from a comma before a word up to the next sign that parts."""
    words, start, end = understanding.words, at, at
    while start and words[start - 1].key not in PARTING:
        start -= 1
    while end < len(words) and words[end].key not in PARTING and (end == at or end not in understanding.begins):
        end += 1
    return sum(not word.is_sign for word in words[start:end])


def _make_text(
    item: FormField, explained: Explained, pieces: Sequence[LeftOverPiece], valued: set[int], *, is_part: bool
) -> Taken | Offered:
    """The text from the first to the last of some pieces. `is_part`: the message has more."""
    understanding, words = explained.understanding, TextWords(explained.understanding)
    start, end = pieces[0].start, pieces[-1].end
    if holds(Principle.WHOLE_TEXTS):
        start, end = words.widen(start, end, valued | _list_bounds(explained, item, start, end))
    first, last = understanding.find_position(start, words.strip_end(start, end))
    text, clause = understanding.text[first:last], pieces[0].clause
    if clause is not None and clause.force is Force.SUPPOSES:
        return Offered(item.path, text, first, last, Doubt.SUPPOSED)
    is_echoed = is_part or any(map(explained.list_talk, understanding.clauses))
    return Taken(item.path, text, first, last, RELATION if is_part else TEXT, is_echoed)


def _list_bounds(explained: Explained, item: FormField, start: int, end: int) -> set[int]:
    """The words that no text of a field goes over: those of other clauses, of talk, and relations of other fields.

    Before the text, also those of its own: it stands behind "in", and "to" leads to another one.
    """
    understanding, grammar = explained.understanding, explained.understanding.chart.grammar
    own = list_relations(item, grammar)
    texts = (other for other in explained.form.fields if other is not item and is_text(other))
    others = {relation for other in texts for relation in list_relations(other, grammar)} - own
    others |= set() if STREET in own else {"who"}
    first, stop = understanding.find_clause(start), _find_stop(understanding, end)
    begin = first.start if first else start
    bounds = {*range(begin), *range(stop, len(understanding.words))} | _list_said(explained, item)
    for at in range(begin, stop):
        values = {str(match.value) for match in understanding.chart.match("relation", at)}
        if values & (others if at >= end else others | own):
            bounds.add(at)
    return bounds


def _find_stop(understanding: Understanding, end: int) -> int:
    """The end of the clause of a text, with one that denies behind it: "third floor, no lift"."""
    last = understanding.find_clause(end - 1)
    stop = last.end if last else end
    without = understanding.find_clause(stop) or understanding.find_clause(stop + 1)
    return without.end if without and without.force is Force.DENIES else stop


def _list_said(explained: Explained, item: FormField) -> set[int]:
    """The words of talk and of the field's name, but for those before a number: "Park Street 4"."""
    words, names = explained.understanding.words, {word for label in item.labels for word in label}
    leads = {at - 1 for at, word in enumerate(words) if word.is_number and not word.is_glued}
    return {at for at, word in enumerate(words) if at in explained.talk or word.key in names} - leads


def _may_be_meant(piece: LeftOverPiece, relations: frozenset[str]) -> bool:
    """False for the dog of "can I bring my dog?": a question gives names, or what its relation marks."""
    asks = piece.clause is not None and piece.clause.force is Force.ASKS
    return not asks or piece.is_capital or bool(piece.relations & relations)


def _says_something_else(understanding: Understanding, item: FormField, is_phrase: bool) -> bool:
    """True for a move alone, and, unless `x-long` is set, for a question, a phrase, or a wish for a person.

    To a question for a long text, "I never got it" is more than a no.
    """
    words, text = understanding.words, understanding.text
    if understanding.is_bare_move and all(has_same_letters(word, text) for word in words if word.is_mended):
        is_answer = all(move.kind in (MoveKind.AFFIRM, MoveKind.NEGATE) for move in understanding.moves)
        is_told = is_answer and len(understanding.chart.content) > _MOST_OF_YES_OR_NO
        return not (is_told and is_long_text(item.spec, understanding.learned))
    is_other = is_phrase or understanding.find_move(MoveKind.PERSON) is not None
    only_asks = all(clause.force is Force.ASKS and not clause.is_wish for clause in understanding.clauses)
    return (is_other or only_asks) and not item.spec.long
