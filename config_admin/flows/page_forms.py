"""The forms of the page that edits a flow: one of the flow, and cards of its fields, refusals and questions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from config_admin.editing.condition_fields import FACTS, find_kind
from config_admin.flows.choices import list_choice_values
from config_admin.flows.dependencies import DECIDING
from config_admin.flows.document import FlowKind, Values, get_flow_schema
from config_admin.flows.field_kinds import get_field_kind
from config_admin.flows.forms import (
    LONGEST_PHRASE,
    MOST_PHRASES,
    TEXTS,
    TEXTS_OF_FIELD,
    FieldForms,
    FlowForm,
    QuestionForms,
    RefusalForms,
    name_apart,
    strip_article,
)
from config_admin.flows.schema_form import split_lines
from convengine.engine.rules.conditions.operators import ComparedKind
from convengine.engine.text.compare import code
from convengine.engine.text.whole_numbers import BIG_INTEGER, parse_whole_number

#: The code of a flow that has no valid one yet, and the answer of one whose answer does not matter.
_NO_CODE, _NO_ANSWER = "THIS_FLOW", "–"


class SavingProblem(NamedTuple):
    """What prevents saving, with the input that it is about."""

    text: str
    anchor: str = ""


class CardList(NamedTuple):
    """A list of the document, whose items are cards of the page."""

    prefix: str
    formset: Any
    #: What problems call a card, and the list.
    name: str
    heading: str
    #: The texts of a card that may name fields.
    texts: tuple[str, ...] = ()

    @property
    def add_button(self) -> str:
        return f"_add_{self.prefix}"


CARD_LISTS = (
    CardList("field", FieldForms, "Field", "Fields", TEXTS_OF_FIELD),
    CardList("refusal", RefusalForms, "Not allowed", "Refusals"),
    CardList("question", QuestionForms, "Question", "Questions", ("answer",)),
)


class PageForms(NamedTuple):
    """The forms of the page, and what they hold, whether it is valid or not."""

    flow: FlowForm
    fields: Any
    refusals: Any
    questions: Any

    @classmethod
    def show(cls, values: Values, cards_given: Sequence[list[Values]], added: str = "", **options: Any) -> Self:
        """Forms with values of the flow and of each list of cards. `added`: the prefix of a list with one more card."""
        own = {"form_kwargs": {"languages": options["languages"]}}
        forms = cls(
            FlowForm(initial=values, **options),
            *(
                cards.formset(initial=given, prefix=cards.prefix, **own)
                for cards, given in zip(CARD_LISTS, cards_given, strict=True)
            ),
        )
        for cards, formset in forms.list_cards():
            formset.extra = int(cards.prefix == added)
        return forms

    @classmethod
    def bind(cls, sent: Any, **options: Any) -> Self:
        own = {"form_kwargs": {"languages": options["languages"]}}
        cards = (each.formset(sent, prefix=each.prefix, **own) for each in CARD_LISTS)
        return cls(FlowForm(sent, **options), *cards)

    def are_valid(self) -> bool:
        """True when all of them are; all are checked."""
        return all([form.is_valid() for form in self])  # noqa: C419 (all of them are checked)

    def list_cards(self) -> Iterator[tuple[CardList, Any]]:
        return zip(CARD_LISTS, (self.fields, self.refusals, self.questions), strict=True)

    def list_problems(self) -> Iterator[SavingProblem]:
        """The errors of the inputs; those of a card name it by its number."""
        yield from _describe_form_errors(self.flow, "")
        for cards, formset in self.list_cards():
            remaining = [form for form in sort_forms(formset) if form not in formset.deleted_forms]
            for number, form in enumerate(remaining, 1):
                yield from _describe_form_errors(form, f"{cards.name} {number}, ")
            if formset.non_form_errors():
                text = f"at most {formset.max_num} are possible. If there are fewer, open the page again."
                yield SavingProblem(f"{cards.heading}: {text}", f"{cards.heading.lower()}-title")

    def list_texts(self) -> Iterator[Any]:
        """The inputs of texts that may name fields."""
        texts = [(self.flow, name) for name in TEXTS]
        for cards, formset in self.list_cards():
            texts += [(form, name) for form in _list_remaining(formset) for name in cards.texts]
        for form, name in texts:
            yield form[name]
            yield from (spoken for _, spoken in form[name].spoken)

    def list_spoken(self) -> Iterator[tuple[Any, str, Any]]:
        """The inputs of other languages: that of the first one, the language, and its own."""
        for form in (self.flow, *(form for _, formset in self.list_cards() for form in formset.forms)):
            yield from ((form[name], *spoken) for name in form.texts for spoken in form[name].spoken)

    def list_questions(self) -> list[Any]:
        return [form for form in _list_remaining(self.questions) if str(form["questions"].value() or "").strip()]

    def list_phones_without_country(self) -> list[Any]:
        """The forms of the phone fields that name no country."""
        listed = _list_remaining(self.fields)
        return [form for form in listed if form["type"].value() == "phone" and not form["country"].value()]

    def list_fields(self, kind: str) -> list[Any]:
        return [form for form in _list_remaining(self.fields) if (form["type"].value() or "text") == kind]

    def list_named_fields(self) -> list[Values]:
        """The fields of the page, by their names and titles."""
        return list(name_apart(_read_title(form) for form in self._list_titled()))

    def _list_titled(self) -> list[Any]:
        return [form for form in _list_remaining(self.fields) if _read_title(form)["title"]]

    def list_deciders(self) -> list[str]:
        """The titles of the fields that can decide whether another one is asked."""
        return [_read_title(form)["title"] for form in self._list_titled() if form["type"].value() in DECIDING]

    def list_condition_fields(self) -> Iterator[Mapping[str, Any]]:
        """What conditions can test: the fields of the page, then the facts of a turn."""
        for form, field in zip(self._list_titled(), self.list_named_fields(), strict=True):
            field_type = str(form["type"].value() or "text")
            yield {
                "name": field["name"],
                "label": field["title"],
                "kind": ComparedKind.CHOICE
                if field_type == "choice"
                else find_kind(get_field_kind(field_type).property),
                "values": list_choice_values(str(form["options"].value() or "")) if field_type == "choice" else [],
            }
        yield from FACTS

    def read_phrases(self, stored: Values) -> Values:
        """The stored flow, or one with nothing else, with the phrases of the page, whatever its other inputs hold."""
        title, typed = (str(self.flow[name].value() or "").strip() for name in ("title", "code"))
        is_code = re.fullmatch(get_flow_schema()["properties"]["code"]["pattern"], code(typed))
        questions = (split_lines(str(form["questions"].value())) for form in self.list_questions())
        lines = [line[:LONGEST_PHRASE] for line in split_lines(str(self.flow["phrases"].value() or ""))]
        return {
            "kind": FlowKind.answer.value,
            "answer": _NO_ANSWER,
            **stored,
            "code": stored.get("code") or (code(typed) if is_code else _NO_CODE),
            "title": title[:200] or "This flow",
            "phrases": lines[:MOST_PHRASES],
            "questions_and_answers": [{"questions": lines, "answer": _NO_ANSWER} for lines in questions],
        }


def _read_title(form: Any) -> Values:
    return {"name": str(form["name"].value() or ""), "title": strip_article(str(form["title"].value() or ""))}


def list_values(formset: Any) -> list[Values]:
    """The inputs of the forms that are neither removed nor empty, as they are."""
    return [
        {name: form[name].value() for name in form.fields if name not in ("ORDER", "DELETE")}
        for form in sort_forms(formset)
        if form.has_changed() and not form["DELETE"].value()
    ]


def sort_forms(formset: Any) -> list[Any]:
    forms = list(formset.forms)
    if not formset.is_bound or "ORDER" not in formset.empty_form.fields:
        return forms
    return sorted(forms, key=_read_position)


def _read_position(form: Any) -> int:
    position = parse_whole_number(str(form["ORDER"].value()))
    return BIG_INTEGER if position is None else position


def _list_remaining(formset: Any) -> list[Any]:
    """The forms of the page without those to remove."""
    return [form for form in sort_forms(formset) if not form["DELETE"].value()]


def _describe_form_errors(form: Any, prefix: str) -> Iterator[SavingProblem]:
    """The first error of each input, with the label of the input after the prefix."""
    for name, errors in form.errors.as_data().items():
        label = f"{prefix}“{form[name].label}”"
        is_missing = errors[0].code == "required"
        yield SavingProblem(
            f"{label} is required." if is_missing else f"{label}: {errors[0].messages[0]}", form[name].id_for_label
        )
