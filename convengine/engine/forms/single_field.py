"""Read a text for one field alone, or the user's message for one question with options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from convengine.engine.forms.asking import find_conversation_locale
from convengine.engine.forms.message import MOST_CHARACTERS, understand_message
from convengine.engine.turn.local_time import TIME_ZONE
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import FieldSpec, Kind, Option
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, make_lexicon
from convengine.engine.understanding.language import get_tables, list_own_languages
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Reading
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand


def read_value(text: str, spec: FieldSpec, situation: Situation) -> Reading:
    """What a text is for one field alone, as an answer to its question."""
    tables = get_tables(situation.locale, situation.fallback_locale)
    item = FormField(spec, True, ())
    lexicon = make_lexicon((item,), tables.lexicon)
    understanding = understand(text[:MOST_CHARACTERS], tables, FINDERS, [spec], lexicon)
    return read_into_form(understanding, OpenForm((item,), asked_path=item.path), FINDERS, replace(situation, held={}))


def choose_option(session: Session, turn: Turn, labels: Mapping[str, str], listed: Sequence[str]) -> str | None:
    """The key of the option that the message chooses from a question's options. Returns None if it chooses none.

    `labels`: the label of each option, by key. `listed`: the keys of those that the question lists, in its order.
    """
    spec = FieldSpec("", Kind.CHOICE, options=tuple(Option(key, label) for key, label in labels.items()))
    locale = find_conversation_locale(session, turn)
    situation = Situation(turn.ports.clock.now(), turn.config(session, TIME_ZONE), locale, listed_options=tuple(listed))
    text = session.user_text or ""
    readings = (
        read_value(text, spec, replace(situation, locale=name)) for name in (locale, *list_own_languages(turn.snapshot))
    )
    taken = next(filter(None, ([item for item in each.taken if not item.is_echoed] for each in readings)), [])
    # What is chosen may run at once, so that a slip, a denial or a second thought chooses nothing.
    understanding = understand_message(session, turn)
    is_doubtful = understanding.find_move(MoveKind.NEGATE, MoveKind.CORRECT, MoveKind.WAIT) is not None or any(
        clause.force in (Force.DENIES, Force.SUPPOSES) for clause in understanding.clauses
    )
    return str(taken[0].value) if taken and not is_doubtful else None
