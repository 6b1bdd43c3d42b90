"""The user's message of a turn: understood once, and read once into each form (docs/forms.md)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from convengine.engine.forms.asking import find_conversation_locale, find_form_locale
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.life import is_final_state, schema_order
from convengine.engine.forms.session_form import (
    find_asked_field,
    find_earlier_days,
    find_known_schema,
    find_schema,
    get_current_form,
    list_held,
)
from convengine.engine.forms.settings import BARE_ANSWER, COUNTRY
from convengine.engine.forms.stages import FINDER_ERROR, MESSAGE_UNDERSTOOD
from convengine.engine.text.compare import code
from convengine.engine.text.several_texts import split_texts
from convengine.engine.turn import rows
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.finder_port import FoundSpan
from convengine.engine.turn.local_time import TIME_ZONE
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import intent_key
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn, once_per_moment
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.finders import FINDERS, FoundSpans, add_found_spans
from convengine.engine.understanding.form import FormField, OpenForm, fold_label, list_labels, make_lexicon
from convengine.engine.understanding.kinds.days import find_now
from convengine.engine.understanding.language import Tables, get_tables, list_own_languages
from convengine.engine.understanding.moves import Move, MoveKind
from convengine.engine.understanding.phrases.force import has_request
from convengine.engine.understanding.phrases.matching import find_same_phrases
from convengine.engine.understanding.phrases.recorded import match_user_message
from convengine.engine.understanding.phrases.settings import VERY_SURE
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Reading
from convengine.engine.understanding.span import Finder, Situation, Sort
from convengine.engine.understanding.understand import Understanding, add_learned_moves, understand
from convengine.engine.understanding.words import cover
from convengine.json_value import Json

#: A bare answer has at most this many words, and none of these moves.
_MOST_BARE_WORDS = 4
_WANTING = (
    MoveKind.ASK, MoveKind.PERSON, MoveKind.LEAVE, MoveKind.RESTART, MoveKind.HELP, MoveKind.MORE, MoveKind.REPEAT,
)  # fmt: skip
#: Readers see this many characters. Longer text is only taken as free text of an asked text field.
MOST_CHARACTERS = 1_000


@once_per_moment
def find_open_schema(session: Session, turn: Turn) -> OutputSchema | None:
    """The schema of the intent and state, else the one that later states of the intent know.

    Returns None if there is none.
    """
    return find_schema(turn.snapshot, session.intent, session.state) or find_known_schema(session, turn)


@once_per_moment
def find_open_form(session: Session, turn: Turn) -> Form | None:
    """The form of the open schema. Returns None if there is none, or if it is unusable."""
    row = find_open_schema(session, turn)
    form = get_current_form(session, turn, row) if row else None
    return form if form is not None and not form.problem else None


@once_per_moment
def understand_message(session: Session, turn: Turn, form: Form | None = None) -> Understanding:
    """What the message says, with the words of a form; without one, of the open form."""
    form = form or find_open_form(session, turn)
    text, tables = session.user_text or "", _find_tables(session, turn, form)
    by_tables = turn.memo.get(
        ("by tables", text, form, tables), lambda: _understand_by_tables(session, turn, form, tables, text)
    )
    # An intent that takes the message goes before what is learned; beside a form, only a phrase as a whole does.
    is_taken = bool(session.intent_source) or is_same_phrase(session, turn) or _asks_for_text(session, form)
    is_taken = is_taken or (form is None and bool(match_user_message(session, turn).hits))
    key = "understanding", by_tables, is_taken
    return turn.memo.get(key, lambda: _complete(session, turn, by_tables, is_taken=is_taken))


def _asks_for_text(session: Session, form: Form | None) -> bool:
    """True where the last answer asked for a text, which is no move that is only likely: "manager"."""
    field = form.field(DialogueState.of(session).asked_field or "") if form else None
    return field is not None and field.spec.kind in (Kind.TEXT, Kind.PERSON) and holds(Principle.ASKED_TEXTS)


def _complete(session: Session, turn: Turn, by_tables: Understanding, *, is_taken: bool) -> Understanding:
    """The understanding by the tables with what is learned, unless something takes the message.

    Recorded once, with positions in the message instead of words, so that there is nothing to mask.
    """
    understanding = by_tables if is_taken else add_learned_moves(by_tables)
    if not session.user_text:
        return understanding
    words, spans, cues = understanding.words, list[dict[str, Json]](), list[dict[str, Json]]()
    for span in understanding.spans:
        position = {"sort": span.sort.value, "start": words[span.start].start, "end": words[span.end - 1].end}
        clause = None if span.is_weak else understanding.find_clause(span.start)
        denies = clause is not None and clause.force is Force.DENIES  # Then the value is not taken.
        spans.append(position | ({"clause": Force.DENIES.value} if denies else {}))
    for cue in understanding.cues:
        cues.append({"cue": cue.name, "start": words[cue.start].start, "end": words[cue.end - 1].end})
    moves = [_describe_move(understanding, move) for move in understanding.moves]
    doubtful = [_describe_move(understanding, move) for move in understanding.doubtful_moves]
    described = {"moves": moves, "spans": spans, "cues": cues} | ({"doubtfulMoves": doubtful} if doubtful else {})
    size = len(session.user_text)
    turn.audit_once(session, MESSAGE_UNDERSTOOD, str(MESSAGE_UNDERSTOOD), **described, size=size)
    return understanding


def _understand_by_tables(session: Session, turn: Turn, form: Form | None, tables: Tables, text: str) -> Understanding:
    """Understand the message by the tables, and by the sentences that tell a question from a wish."""
    fields = _get_fields(turn, form) if form else ()
    fillers, specs = list_fillers(form), [field.spec for field in fields]
    finders = _find_finders(session, turn, form)

    def understand_by(tables: Tables) -> Understanding:
        lexicon = turn.snapshot.memo.get(
            ("lexicon", form, tables),
            lambda: make_lexicon(fields, tables.lexicon, fillers, frozenset().union(*_get_own_words(turn).values())),
        )
        return understand(text[:MOST_CHARACTERS], tables, finders, specs, lexicon, fillers, learned=turn.ports.learned)

    own = understand_by(tables)
    if _count_words(own) > _MOST_BARE_WORDS or own.moves or any(span.sort is not Sort.PERSON for span in own.spans):
        return own
    others = (other for name in list_own_languages(turn.snapshot) if (other := get_tables(name)).name != tables.name)
    knowing = (other for other in others if other.grammar.words.issuperset(fold_label(text)))
    return next(filter(_is_move_or_option, map(understand_by, knowing)), own)


def _count_words(understanding: Understanding) -> int:
    return sum(not word.is_sign for word in understanding.words)


def _is_move_or_option(understanding: Understanding) -> bool:
    """True for a message that is nothing but moves, or an option of a form by its number: "ja", "die zweite"."""
    options = [span for span in understanding.spans if span.sort is Sort.OPTION]
    named = cover(options) | cover(understanding.cues)
    return understanding.is_bare_move or (bool(options) and named.issuperset(understanding.chart.content))


def _find_finders(session: Session, turn: Turn, form: Form | None) -> Mapping[Sort, Finder]:
    """The finders of a message, with what those of the deployment found in it: each is asked once."""
    text = (session.user_text or "")[:MOST_CHARACTERS]
    if form is None or not text.strip() or not turn.ports.finders.kinds:
        return FINDERS
    return turn.memo.get(
        ("finders", text, form), lambda: add_found_spans(FINDERS, _ask_finders(session, turn, form, text))
    )


def _ask_finders(session: Session, turn: Turn, form: Form, text: str) -> FoundSpans:
    """What the finders of the deployment find for the fields of their kinds. Writes FINDER_ERROR for one that fails."""
    by_kind: dict[str, dict[str, Json]] = {}
    for field in _list_readable(form):
        if field.spec.kind_name in turn.ports.finders.kinds:
            by_kind.setdefault(field.spec.kind_name, {})[field.path] = field.declared
    seen = describe_situation(session, turn, form) if by_kind else None
    situation = seen and {
        "now": seen.now,
        "time_zone": seen.time_zone,
        "locale": seen.locale or seen.fallback_locale,
        "asked_field": DialogueState.of(session).asked_field,
        "held": seen.held,
    }
    spans: dict[str, Sequence[FoundSpan]] = {}
    for kind, fields in sorted(by_kind.items()):
        answer = turn.ports.finders.find(kind, text, fields, to_plain(situation))
        spans[kind] = answer.spans
        if answer.error_type is not None:
            turn.audit(session, FINDER_ERROR, kind=kind, errorType=answer.error_type, errorMessage=answer.error_message)
    return spans


def _describe_move(understanding: Understanding, move: Move) -> dict[str, Json]:
    start, end = understanding.find_position(move.start, move.end)
    learned = {} if move.probability == 1 else {"probability": move.probability, "needed": move.needed}
    return {"move": move.kind.value, "start": start, "end": end, **learned}


def read_message(session: Session, turn: Turn, row: OutputSchema, *, is_opener: bool | None = None) -> Reading:
    """What of the message goes into a form. `is_opener`: the message begins it; by default, if it gave the intent.

    It is read once, into the form as it is then: what the reading itself stores, and which question that leads to, does
    not change what the message says.
    """
    form = get_current_form(session, turn, row)
    opens = bool(session.intent_source) if is_opener is None else is_opener
    key = "reading", session.user_text, form, opens, session.digression is None
    return turn.memo.get(key, lambda: _read(session, turn, row, form, is_opener=opens))


def _read(session: Session, turn: Turn, row: OutputSchema, form: Form, *, is_opener: bool) -> Reading:
    """Read the message into the form; `read_message` keeps the result for the turn."""
    understanding = understand_message(session, turn, form)
    open_form = make_open_form(session, turn, row, form, is_opener=is_opener)
    asked_field = open_form.asked_field
    takes_text = asked_field is not None and asked_field.spec.kind in (Kind.TEXT, Kind.PERSON)
    return read_into_form(
        understanding,
        open_form,
        _find_finders(session, turn, form),
        describe_situation(session, turn, form),
        is_phrase=takes_text and _is_phrase(session, turn),
    )


def read_as_open(
    session: Session, turn: Turn, row: OutputSchema, paths: Collection[str], *, asked_path: str | None = None
) -> Reading:
    """What the message says if the form did not hold the values of these fields, or asked for `asked_path`."""
    form = get_current_form(session, turn, row)
    held = {path: value for path, value in list_held(session, form).items() if path not in paths}
    open_form = replace(make_open_form(session, turn, row, form, is_opener=False), held=held)
    if asked_path is not None and (item := open_form.field(asked_path)):
        open_form = replace(open_form, asked_path=asked_path, last_answer=item.question)
        open_form = replace(open_form, is_confirming=False, asks_what_to_change=False)
    situation = replace(describe_situation(session, turn, form), held=held)
    finders = _find_finders(session, turn, form)
    return read_into_form(understand_message(session, turn, form), open_form, finders, situation)


def read_held_again(session: Session, turn: Turn, row: OutputSchema) -> Reading:
    """What a message that gives nothing says of fields that hold a value: it is read as if they held none."""
    form = get_current_form(session, turn, row)
    held, understanding = list_held(session, form), understand_message(session, turn, form)
    says_else = understanding.is_bare_move or understanding.find_move(MoveKind.ASK) is not None
    if not held or says_else or is_same_phrase(session, turn):
        return Reading()
    again = read_as_open(session, turn, row, held)
    return replace(again, taken=tuple(item for item in again.taken if item.field in held))


def _is_phrase(session: Session, turn: Turn) -> bool:
    """True when the message is a phrase, or surely means another intent, so that it is no text for a field."""
    if session.digression is not None:
        return True
    if is_bare_answer(session, turn):
        return False
    hits = match_user_message(session, turn).hits
    return any(
        match.is_identical or (match.confidence >= VERY_SURE and match.intent != code(session.intent)) for match in hits
    )


@once_per_moment
def is_same_phrase(session: Session, turn: Turn) -> bool:
    """True when the message is a phrase of an intent, so that nothing that is only likely counts against it."""
    text = session.user_text
    return turn.memo.get(("same phrase", text), lambda: bool(find_same_phrases(turn.snapshot, text)))


@once_per_moment
def is_bare_answer(session: Session, turn: Turn) -> bool:
    """True for a few words that want nothing, while a field is asked for: the field has them before any intent."""
    if find_asked_field(session, turn) is None or is_same_phrase(session, turn):
        return False
    understanding = understand_message(session, turn)
    size = _count_words(understanding)
    wants_something = understanding.find_move(*_WANTING) is not None or has_request(
        session.user_text or "", list_own_languages(turn.snapshot)
    )
    return 0 < size <= _MOST_BARE_WORDS and not wants_something


def is_more_than_values(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True for a phrase as a whole that is not only values of the form: its intent takes the message."""
    reading = read_message(session, turn, row)
    return is_same_phrase(session, turn) and (bool(reading.unexplained) or not reading.taken)


def describe_situation(session: Session, turn: Turn, form: Form) -> Situation:
    """How values are read: the turn's time, the conversation's zone and languages, what the form holds."""
    state = DialogueState.of(session)
    held = list_held(session, form)
    situation = Situation(
        turn.ports.clock.now(),
        turn.config(session, TIME_ZONE),
        find_form_locale(session, turn, form),
        find_conversation_locale(session, turn),
        state.listed_options if state.asked_field else (),
        known_part=state.known_part if state.asked_field else "",
        held=held,
        country=turn.config(session, COUNTRY),
    )
    return replace(situation, earlier_days=find_earlier_days(form, held, find_now(situation).date()))


def find_pending_slot(session: Session, form: Form) -> str:
    """The field that rules or tasks named in `pending_slot`. Returns a blank text if the form has no such field."""
    slots = (session.context.get(key) for key in ("pending_slot", "pendingSlot"))
    return next((slot for slot in slots if isinstance(slot, str) and form.field(slot)), "")


def find_asked_path(session: Session, turn: Turn, row: OutputSchema, form: Form) -> str:
    """The pending slot, else the field that the last answer asked for, else the only one that is missing.

    Blank where the last answer was about something else.
    """
    slot = find_pending_slot(session, form)
    missing = form.status(session.context).missing
    only_missing = missing[0] if len(missing) == 1 else ""
    before = find_schema(turn.snapshot, session.turn_start_intent, session.turn_start_state)
    if slot or (before is not row and find_known_schema(session, turn) is not row):
        return slot
    asked_path = DialogueState.of(session).asked_field
    if asked_path is None or turn.config(session, BARE_ANSWER) == "ONLY_MISSING":
        return only_missing
    return asked_path if form.field(asked_path) else ""


def make_open_form(session: Session, turn: Turn, row: OutputSchema, form: Form, *, is_opener: bool) -> OpenForm:
    """The form as it stands before the message is read: what it holds and asks, and what it waits for."""
    state = DialogueState.of(session)
    asked_path = find_asked_path(session, turn, row, form)
    waits = state.last_schema == row.schema_id and not is_opener and not asked_path
    return OpenForm(
        _get_fields(turn, form),
        list_held(session, form),
        asked_path,
        frozenset(fold_label(to_spoken_text(session.last_assistant))),
        is_asked_again=bool(state.misses) and state.asked_field == asked_path,
        is_confirming=waits
        and form.status(session.context).complete
        and not is_final_state(turn.snapshot, session.intent, session.state),
        asks_what_to_change=waits and state.asks_what_to_change,
        is_opener=is_opener,
        own_words=list_own_words(turn, code(row.intent_code)) if is_opener else frozenset(),
    )


def _get_fields(turn: Turn, form: Form) -> tuple[FormField, ...]:
    return turn.snapshot.memo.get(("fields", form), lambda: make_fields(form))


def make_fields(form: Form) -> tuple[FormField, ...]:
    """The fields of a form that messages are read into, in the order in which it asks."""
    fields = []
    for field in _list_readable(form):
        questions = [text for template in field.texts("x-ask") for text in split_texts(template)]
        question = frozenset(word for text in questions for word in fold_label(text))
        labels = list_labels([" ".join(label) for label in field.labels])
        fields.append(FormField(field.spec, field.required, labels, question))
    return tuple(fields)


def list_fillers(form: Form | None) -> tuple[tuple[str, ...], ...]:
    """The words that say nothing in the form (`x-fillers`)."""
    listed = form.schema.get("x-fillers") if form else None
    return list_labels([text for text in listed if isinstance(text, str)]) if isinstance(listed, list) else ()


def _list_readable(form: Form) -> list[Field]:
    return [field for field in form.leaves if field.type not in ("array", "object")]


def list_own_words(turn: Turn, intent: str) -> frozenset[str]:
    """The words of the intent's phrases and patterns, and of its name."""
    return _get_own_words(turn).get(intent, frozenset())


def _get_own_words(turn: Turn) -> Mapping[str, frozenset[str]]:
    return turn.snapshot.memo.get("own words", lambda: _collect_own_words(turn))


def _collect_own_words(turn: Turn) -> dict[str, frozenset[str]]:
    """For each intent, the folded words of its enabled phrases and patterns, and of its name."""
    words: dict[str, set[str]] = {}
    for row in turn.snapshot.enabled_rows(rows.Classifier):
        if row.is_phrase or row.is_pattern:
            words.setdefault(code(row.intent_code), set()).update(fold_label(row.pattern or ""))
    for intent in turn.snapshot.enabled_rows(rows.Intent):
        words.setdefault(code(intent.intent_code), set()).update(fold_label(intent.name))
    return {intent: frozenset(found_words) for intent, found_words in words.items()}


@once_per_moment
def _find_tables(session: Session, turn: Turn, form: Form | None) -> Tables:
    """The tables of the form's language, then of the conversation's, then of the forms of its intent."""
    schemas = turn.snapshot.index(OutputSchema, intent_key, schema_order).get(code(session.intent), ())
    own = (row.json_schema.get("x-locale") for row in schemas if isinstance(row.json_schema, Mapping))
    locales = (locale for locale in own if isinstance(locale, str))
    return get_tables(find_form_locale(session, turn, form), find_conversation_locale(session, turn), *locales)
