"""How the question of a form is written, with what the answer says of the form before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from convengine.engine.cached_property import cached_property
from convengine.engine.dialogue.hand_over import find_hand_over_intent
from convengine.engine.forms.asking import (
    ASK,
    ASK_AGAIN,
    DONE,
    INVALID,
    fill_text,
    find_form_locale,
    get_texts,
    join_texts,
    write_needed,
    write_question,
    write_question_for_all,
    write_refusal,
    write_why,
)
from convengine.engine.forms.example import find_example
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.message import describe_situation, read_message
from convengine.engine.forms.offers import write_changes, write_offer
from convengine.engine.forms.settings import ASK as ASK_MODE
from convengine.engine.forms.settings import COUNTRY, ECHO
from convengine.engine.forms.user_answer import leaves_question_open, says, says_only
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.rules.actions.refuse_value import NOT_ALLOWED
from convengine.engine.steps.responses.not_understood import lacks_model
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.rows import Response
from convengine.engine.turn.scope import ANY, HAND_OVER
from convengine.engine.turn.session import RefusedValue, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.kinds.days import find_now
from convengine.engine.understanding.language import find_language
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json

#: Reasons that refuse a value which was surely meant for its field.
SURE_REFUSALS = (
    RefusalReason.OUT_OF_BOUNDS,
    RefusalReason.INVALID_DATE,
    RefusalReason.INVALID_TIME,
    RefusalReason.WEEKDAY_MISMATCH,
    NOT_ALLOWED,
)


def asks_for_all(session: Session, turn: Turn, form: Form) -> bool:
    """True for a form that asks for all open fields in one question (`x-ask-mode`, else a setting)."""
    return str(form.schema.get("x-ask-mode") or turn.config(session, ASK_MODE)) == "ALL"


def list_echoed(session: Session, turn: Turn, form: Form) -> list[Field]:
    """The fields whose new values the answer repeats (`Form/ECHO`)."""
    read, mode = session.fields_read, turn.config(session, ECHO)
    paths = {"NONE": (), "ALL": read.read}.get(mode, read.echoed)
    fields = [field for path in paths if (field := form.field(path)) and not field.texts(DONE)]
    return [field for field in fields if session.context.get(field.path) is not None]


@dataclass(frozen=True)
class FormQuestion:
    session: Session
    turn: Turn
    form: Form
    field: Field
    #: All open fields, the asked one among them.
    open_fields: Sequence[Field]

    def write(self) -> str:
        """What the answer says of the form: what was given, what was refused, the question."""
        given = [field for path in self.session.fields_read.read if (field := self.form.field(path))]
        done = [self._render(DONE, field) for field in given if field.texts(DONE)] or [self._write_values()]
        unanswered = self._texts["unanswered"] if self._leaves_question_open else ""
        parts = (*done, *self._list_other_refusals(), unanswered, self._write_question())
        return " ".join(filter(None, parts))

    @cached_property
    def _locale(self) -> str:
        return find_form_locale(self.session, self.turn, self.form)

    @cached_property
    def _language(self) -> str:
        return find_language(self._locale)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return get_texts(self._language)

    @cached_property
    def _state(self) -> DialogueState:
        return DialogueState.of(self.session)

    @cached_property
    def _refusal(self) -> RefusedValue | None:
        return self.session.fields_read.find_refusal(self.field.path)

    @cached_property
    def _misses(self) -> int:
        """How often the question was missed. After a question in between, it is asked as if for the first time."""
        return 0 if self.session.only_digresses else self._state.misses

    @cached_property
    def _is_missed(self) -> bool:
        """True when this message missed the question: not for thanks, a greeting, a wish to wait or to leave."""
        if not self._misses or self.session.form.form_leave or lacks_model(self.turn):
            return False
        if self.session.fields_read.said_again:
            return False
        return not says_only(self.session, self.turn, MoveKind.GREET, MoveKind.THANK, MoveKind.WAIT)

    @cached_property
    def _asks_about(self) -> bool:
        """True when the message asks about the asked field: what it is for, or what there is."""
        row = self.session.resolved_schema
        if row is None or self._state.asked_field != self.field.path or self.session.digression:
            return False
        return read_message(self.session, self.turn, row).asks_about_asked

    @cached_property
    def _leaves_question_open(self) -> bool:
        """True when the message asks something that nothing answers."""
        row, session = self.session.resolved_schema, self.session
        is_taken = self._asks_about or session.digression or session.intent_source or session.form.form_leave
        if row is None or is_taken or lacks_model(self.turn):
            return False
        return leaves_question_open(self.session, self.turn, row)

    @cached_property
    def _is_unknown(self) -> bool:
        """True when the user does not know the value that was asked for, or has none."""
        if says(self.session, self.turn, MoveKind.SKIP):
            return True
        row = self.session.resolved_schema
        return row is not None and self.field.path in read_message(self.session, self.turn, row).cleared

    def _write_question(self) -> str:
        """The question, as this message leads to it: an offer, a refusal, an explanation, once more, or plain."""
        if offer := write_offer(self.session, self.turn, self.form):
            return offer
        if refusal := self._refusal:
            invalid = "" if refusal.reason == NOT_ALLOWED else self._render(INVALID)
            reason = self._refuse(self.field, refusal)
            return self._add_help(invalid or self._texts["invalid"].format(reason=reason, question=self._ask))
        if self._asks_about:
            why = self._ask if self.field.spec.options else write_why(self.field, self._language, self._ask)
            return self._render(ASK_AGAIN) or why
        if (listed := self._offer_again()) and not self._is_unknown:
            return self._add_help(self._texts["invalid"].format(reason=listed, question=self._ask))
        if self._leaves_question_open:
            return self._ask
        if self._is_missed:
            return self._add_help(self._render(ASK_AGAIN) or self._write_again())
        return self._ask

    def _add_help(self, text: str) -> str:
        """The question with what helps to answer it, so that nobody reads the same words twice.

        First an example, unless the text has a reason or is the author's. Then also another way: to leave it out, to
        ask for a person, or to say it in other words.
        """
        is_last, other_way = self._misses > 1, ""
        shows_example = is_last or not (self._refusal or self._offer_again() or self.field.texts(ASK_AGAIN))
        if is_last and not self.field.required:
            other_way = self._texts["may_skip"]
        elif is_last and not self._is_unknown:  # To whom does not know it, the text says it already.
            other_way = self._texts["needed_person" if self._has_person else "say_otherwise"]
        return " ".join(filter(None, [text, self._write_example(text) if shows_example else "", other_way]))

    def _write_example(self, text: str) -> str:
        """How an answer looks: one of the offered values, else an example; blank where the text has it, or options."""
        candidates = self._refusal.data.get("candidates") if self._refusal else self._state.listed_options
        now = find_now(describe_situation(self.session, self.turn, self.form))
        value = candidates[-1] if candidates else find_example(self.field, now, self.turn.config(self.session, COUNTRY))
        example = say_value(self.field.spec, value, self._locale)
        is_helpful = example and not (self._is_unknown or self.field.spec.options) and example not in text
        return self._texts["example"].format(value=example) if is_helpful else ""

    @cached_property
    def _ask(self) -> str:
        """The question in the form's own words, else in general ones."""
        if len(self.open_fields) > 1 and not self._refusal and asks_for_all(self.session, self.turn, self.form):
            own = write_question_for_all(self.open_fields, self._language)
        else:
            own = self._render(ASK)
        repeats = self._refusal or self._is_missed or self._asks_about
        options, shown = self.field.spec.options, own.casefold()
        hides_options = bool(options) and not any(option.label.casefold() in shown for option in options)
        is_plain = not own or (repeats and hides_options) or self.field.lacks_options
        return write_question(self.field, self._language) if is_plain else own

    def _write_again(self) -> str:
        """The question once more; to somebody who does not know the value, that it is needed, and who can help."""
        if self.field.required and self._is_unknown:
            return f"{write_needed(self.field, self._language, has_person=self._has_person)} {self._ask}"
        return self._texts["ask_again" if self._misses == 1 else "ask_once_more"].format(question=self._ask)

    @cached_property
    def _has_person(self) -> bool:
        """True where somebody can be asked for."""
        snapshot = self.turn.snapshot
        has_answer = any(snapshot.has_scope(Response, intent, HAND_OVER) for intent in (self.session.intent, ANY))
        return has_answer or find_hand_over_intent(snapshot) is not None

    def _offer_again(self) -> str:
        """Which of the offered values is meant, once more; blank for none."""
        offered = () if self.field.spec.options else self._state.listed_options
        data: dict[str, Json] = {"candidates": offered}
        return write_refusal(self.field, "", RefusalReason.AMBIGUOUS, data, self._locale) if offered else ""

    def _list_other_refusals(self) -> list[str]:
        """Why values of fields that are not asked for now were refused."""
        refusals = [refusal for refusal in self.session.fields_read.refused if refusal.reason in SURE_REFUSALS]
        listed = [(self.form.field(refusal.field), refusal) for refusal in refusals]
        return [
            self._refuse(field, refusal)
            for field, refusal in listed
            if field is not None and field.path != self.field.path and field.path not in self.session.fields_read.read
        ]

    def _refuse(self, field: Field, refusal: RefusedValue) -> str:
        return write_refusal(field, refusal.text, refusal.reason, refusal.data, self._locale)

    def _write_values(self) -> str:
        """What a correction changed, in full, because the question that follows is about something else.

        Else the values that the message did not say in full: "Thursday 26 November 2026."; else those that it said
        again: "Friday 27 November 2026 is noted.".
        """
        read = self.session.fields_read
        is_corrected = self.session.routing.correction_applied is True
        if is_corrected and (changes := write_changes(self.session, self.turn, self.form, read.read)):
            return changes
        if values := [self._say(field) for field in list_echoed(self.session, self.turn, self.form)]:
            return fill_text("{values}.", values=", ".join(values))
        fields = [field for path in read.said_again if (field := self.form.field(path))]
        noted = join_texts([self._say(field) for field in fields], self._texts["and"])
        return self._texts["noted" if len(fields) == 1 else "all_noted"].format(values=noted) if fields else ""

    def _say(self, field: Field) -> str:
        return say_value(field.spec, self.session.context.get(field.path), self._locale)

    def _render(self, key: str, field: Field | None = None) -> str:
        """A text of the field, else of the asked one; blank for none, and for one that cannot be filled in."""
        template = (field or self.field).declared.get(key)
        if not isinstance(template, str) or not template.strip():
            return ""
        text = choose_text(self.session, self.turn, template, field=(field or self.field).path)
        return render_lenient(text, build_variables(self.session, self.turn, **self._names)).text.strip()

    @cached_property
    def _names(self) -> Mapping[str, Json]:
        """What the texts of a field may name besides the variables of all texts."""
        spec, refusal = self.field.spec, self._refusal
        limits = refusal.data if refusal else {}
        return {
            "value": refusal.text if refusal else None,
            "reason": self._refuse(self.field, refusal) if refusal else None,
            "options": [option.label for option in spec.options],
            "min": limits.get("min", spec.minimum),
            "max": limits.get("max", spec.maximum),
            "misses": self._misses,
        }
