"""Which fields of a form are still open, and the default texts of its questions (docs/forms.md).

`ask_next_field` of `steps/responses/form_question.py` chooses the one that an answer asks for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convengine.engine.forms.form import Field, Form
from convengine.engine.rules.actions.refuse_value import NOT_ALLOWED
from convengine.engine.text.compare import split_name
from convengine.engine.text.wording import drop_second_stop
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.local_time import LANGUAGES, LOCALE, LOCALE_TEXT, find_language_code
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.language import find_language, get_tables
from convengine.engine.understanding.say import say_value, say_values
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json

ASK, ASK_AGAIN, INVALID, DONE = "x-ask", "x-ask-again", "x-invalid", "x-done"
#: The input param by which a caller names the language of a conversation.
_LOCALE_PARAM = "locale"
#: Signs around a question or an order.
_SENTENCE_SIGNS = " ?!¿¡"
#: Kinds of values that are chosen, not owned: "Which day?"
_WHICH = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)


def find_open_fields(form: Form, context: Mapping[str, Json]) -> list[Field]:
    """The fields that the form still asks for, in its order: `x-order`, else the order of the properties.

    These are the required fields without a valid value, and the optional ones with a question of their own that were
    never answered: a null in the context is an answer.
    """
    status = form.status(context)
    open_paths = {*status.missing, *status.unanswered}
    # A missing object is asked for by its required fields.
    return [
        field
        for field in form.leaves
        if field.path in open_paths
        or (field.required and any(field.path.startswith(f"{path}.") for path in open_paths))
    ]


def find_form_locale(session: Session, turn: Turn, form: Form | None = None) -> str:
    """The locale of a form (`x-locale`), else of the conversation."""
    own = form.schema.get("x-locale") if form and isinstance(form.schema, Mapping) else None
    locale = find_conversation_locale(session, turn)
    if not isinstance(own, str) or not own:
        return locale
    # A form of a conversation in several languages has texts in them; then its locale only tells the country.
    has_many = len(turn.config(session, LANGUAGES)) > 1
    return locale if has_many and find_language_code(own) != find_language_code(locale) else own


def find_conversation_locale(session: Session, turn: Turn) -> str:
    """The locale that the caller gave the conversation (`inputParams.locale`), else that of the setting."""
    given = session.params.get(_LOCALE_PARAM)
    return given if isinstance(given, str) and LOCALE_TEXT.fullmatch(given) else turn.config(session, LOCALE)


def find_form_language(session: Session, turn: Turn, form: Form | None = None) -> str:
    """The language of default texts: of the form, else of the conversation; never that of another form."""
    return find_language(find_form_locale(session, turn, form))


def read_text_setting(session: Session, turn: Turn, setting: Setting[str]) -> str:
    """The text of a setting; where it is the default, in the language of the conversation."""
    text = turn.config(session, setting)
    if text != setting.default:
        return text
    return str(get_texts(find_form_language(session, turn))["settings"].get(setting.name, text))


def quote_sentence(name: str, texts: Mapping[str, Any]) -> str:
    """Put a name in quotation marks if signs of a sentence stand around it, and drop these signs."""
    plain = name.strip(_SENTENCE_SIGNS)
    return plain if plain == name.strip() else str(texts["quoted"]).format(name=plain)


def get_texts(language: str) -> Mapping[str, Any]:
    """The default texts of questions in a language."""
    texts: Mapping[str, Any] = get_tables(language).say["texts"]
    return texts


def write_question(field: Field, language: str) -> str:
    """The default question for a field, from its title, its type and its choices. A title may be the question."""
    texts, title = get_texts(language), write_title(field, language)
    if field.lacks_options:
        return fill_text(texts["ask_no_choice"], title=write_title(field, ""))
    if (written := str(field.declared.get("title") or "").strip()).endswith("?"):
        return written
    if field.type == "boolean":
        return fill_text(texts["ask_yes_no"], title=title[:1].upper() + title[1:])
    options = [option.label for option in field.spec.options]
    if options:
        return fill_text(texts["ask_choice"], title=title, options=join_texts(options, texts["or"]))
    return fill_text(texts["ask_which" if field.spec.kind in _WHICH else "ask"], title=title)


def write_needed(field: Field, language: str, *, has_person: bool) -> str:
    """That the form cannot go on without the value of a field, to somebody who does not know it.

    `has_person`: somebody can be asked for.
    """
    texts = get_texts(language)
    needed = fill_text(texts["needed"], title=write_title(field, ""))
    return f"{needed} {texts['needed_person']}" if has_person else needed


def write_why(field: Field, language: str, question: str) -> str:
    """What somebody hears who asks what a field is for: that it is needed, or may be left out."""
    return fill_text(get_texts(language)["why_required" if field.required else "why_optional"], question=question)


def write_question_for_all(fields: Sequence[Field], language: str) -> str:
    """The default question for several fields at once."""
    texts = get_texts(language)
    titles = join_texts([write_title(field, language) for field in fields], texts["and"])
    return fill_text(texts["ask_all"], titles=titles)


def write_change_question(fields: Iterable[Field], language: str) -> str:
    """The question which of these fields to change, after a "no" to the confirmation."""
    texts = get_texts(language)
    titles = [write_title(field, language) for field in fields]
    return fill_text(texts["ask_change"], titles=join_texts(titles, texts["or"]))


def list_filled_fields(form: Form, context: Mapping[str, Json]) -> list[Field]:
    """The fields with a value, in the order of the form."""
    return [field for field in form.fields if context.get(field.path) is not None]


def write_refusal(field: Field, value: str, reason: str, data: Mapping[str, Json], locale: str) -> str:
    """Why a value was refused, as a sentence: the text that the refusal brings, else a default text.

    If several values are possible, the sentence asks which of them is meant.
    """
    if reason == NOT_ALLOWED or data.get("text"):
        return str(data.get("text", ""))
    texts = get_texts(find_language(locale))
    if reason == RefusalReason.WRONG_UNIT and field.spec.currency:
        names = get_tables(locale).say.get("currencies", {})
        return fill_text(texts["wrong_currency"], currency=names.get(field.spec.currency, field.spec.currency))
    if candidates := data.get("candidates"):
        listed = say_values(field.spec, candidates, locale)
        return fill_text(texts["candidates"], candidates=join_texts(listed, texts["or"]))
    limits = (data.get("min"), data.get("max"))
    low, high = ("" if limit is None else say_value(field.spec, limit, locale) for limit in limits)
    key = "bounds" if low and high else "bounds_min" if low else "bounds_max" if high else ""
    bounds = fill_text(texts[key], min=low, max=high) if key else ""
    template = texts["reasons"].get(reason) or texts["reasons"][""]
    return fill_text(template, value=value, bounds=bounds)


def write_title(field: Field, language: str) -> str:
    """The name of a field inside a sentence, without a question mark. A blank language leaves it as written."""
    title = field.declared.get("title")
    text = title.strip().removesuffix("?").rstrip() if isinstance(title, str) else ""
    text = text or " ".join(split_name(field.path.split(".")[-1]))
    if language and get_texts(language)["titles_in_lower_case"] and not text[:2].isupper():
        return text[:1].lower() + text[1:]
    return text


def join_texts(texts: Sequence[str], joint: str) -> str:
    """`a, b or c`."""
    return f"{', '.join(texts[:-1])} {joint} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def fill_text(template: str, **values: str) -> str:
    """A default text with its values; no full stop follows the one that a value ends with."""
    text = template.format_map(values)
    for value in filter(None, values.values()):
        before, match, after = text.rpartition(value)
        text = before + match + drop_second_stop(match, after)
    return text
