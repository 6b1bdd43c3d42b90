"""The forms of the page *Start a flow*: a flow document as inputs, and back (dialogue 10)."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory

from config_admin.flows.bounds import BoundInvalid, format_bound, is_in_order, read_bound
from config_admin.flows.choices import ChoicesInvalid, format_choices, read_choices
from config_admin.flows.document import ASKING, Document, FlowKind, Json, Values, write_condition
from config_admin.flows.field_kinds import FIELD_KINDS, OWN_INPUTS, has_input
from config_admin.validation.installation import describe_installation
from convengine.engine.forms.asking import get_texts
from convengine.engine.rules.conditions.rows import ConditionError, parse_condition
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import find_language

#: The most characters of a phrase, and the most phrases.
LONGEST_PHRASE, MOST_PHRASES = 500, 500
LOCALES: Mapping[str, str] = {
    "": "As the conversation",
    "en-GB": "English (United Kingdom)",
    "en-US": "English (United States)",
    "de-DE": "German (Germany)",
    "de-AT": "German (Austria)",
    "de-CH": "German (Switzerland)",
}
_ASK_MODES = {"ONE": "One by one", "ALL": "All that are missing at once"}
_ON_NO = {"ASK_WHAT_TO_CHANGE": "Ask what to change", "RESTART": "Start again", "CANCEL": "Cancel"}
_ON_LEAVE = {"ASK": "Ask first, if values were given", "LEAVE": "Leave at once", "STAY": "Stay until it is done"}
#: Words before the title of a field that do not belong to it.
_ARTICLE = re.compile(r"^(the|a|an|your)\s+", re.IGNORECASE)
#: Names that belong to the engine.
_RESERVED = ("clock", "dialogue")
_PLAIN_TEXTS = ("question", "again", "invalid")


def _text(
    label: str, help: str = "", *, flows: str = "", lines: int = 1, required: bool = False, length: int = 4000
) -> forms.CharField:
    attrs = {"data-flows": flows} if flows else {}
    widget = forms.Textarea(attrs={**attrs, "rows": lines}) if lines > 1 else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, help_text=help, required=required, widget=widget, max_length=length)


def _choice(label: str, choices: Mapping[str, str], help: str = "", *, flows: str = "") -> forms.ChoiceField:
    widget = forms.Select(attrs={"data-flows": flows} if flows else {})
    return forms.ChoiceField(
        label=label, help_text=help, required=False, choices=list(choices.items()), widget=widget,
        initial=next(iter(choices)),
    )  # fmt: skip


class FlowForm(forms.Form):
    """Everything of a flow but its fields and questions."""

    use_required_attribute = False
    kind = forms.ChoiceField(
        label="Type of flow", choices=FlowKind.choices, widget=forms.RadioSelect, initial=FlowKind.answer
    )
    code = _text("Code", "Capital letters, digits and underscores, such as BOOK_TABLE.", required=True, length=60)
    title = _text("Name", "Shown to users when they choose between intents.", required=True, length=200)
    description = _text(
        "What users want here",
        "One sentence, for a language model that chooses between intents. If empty, the name is used.",
        length=1000,
    )
    phrases = _text(
        "Phrases",
        "Examples of what users write, one per line, as they type it. "
        "The order of the words does not matter, and small words such as “the” do not count.",
        lines=6,
        required=True,
        length=100_000,
    )
    ask_mode = _choice("How to ask", _ASK_MODES)
    locale = _choice(
        "Language", LOCALES, "The language of default texts. Dates and numbers are read in this language first."
    )
    confirmation = _text(
        "Confirmation",
        "The question for a yes or no. All values are repeated before it, unless it names fields itself with {{ }}.",
        flows=FlowKind.collect,
        lines=2,
        length=2000,
    )
    on_leave = _choice(
        "When the user wants to leave",
        _ON_LEAVE,
        "By “cancel” or another subject. A wish for a person always leaves.",
        flows=" ".join(ASKING),
    )
    on_no = _choice("After a no", _ON_NO, "What happens when the user does not confirm.", flows=FlowKind.collect)
    task = forms.ChoiceField(
        label="Task",
        required=False,
        help_text="Code that runs after the yes. Your developers register it; it reads the fields from the context.",
    )
    task_failed = _text(
        "Answer if the task fails",
        "If empty, the built-in text says that nothing was done.",
        flows=FlowKind.collect,
        lines=2,
        length=2000,
    )
    tool = forms.ChoiceField(label="Tool", required=False, help_text="The tool receives the fields above by name.")
    answer = _text("Answer", "The final answer to the user.", lines=3)
    max_misses = forms.IntegerField(
        label="Give up after", required=False, min_value=1, max_value=100,
        help_text="Answers in a row that are not understood. If empty, 3, or what is set for all flows.",
    )  # fmt: skip
    hand_over = _text(
        "Text when the form is given up",
        "Whom to contact. If empty, the built-in text refers the user to your staff.",
        lines=2,
        length=2000,
    )

    def __init__(self, *args: Any, snapshot: Snapshot, flow_code: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self._snapshot, self._flow_code = snapshot, flow_code
        tools = {tool.tool_code: tool for tool in snapshot.enabled_rows(rows.Tool)}
        tool: Any = self.fields["tool"]
        tool.choices = [
            ("", "Choose a tool"),
            *((tool_code, f"{tool_code} · {tools[tool_code].description or ''}") for tool_code in tools),
        ]
        tool.widget.attrs["data-flows"] = FlowKind.lookup
        task: Any = self.fields["task"]
        task.choices = [("", "None"), *((name, name) for name in _list_tasks(self.initial.get("task")))]
        task.widget.attrs["data-flows"] = FlowKind.collect
        locale: Any = self.fields["locale"]
        if (stored := self.initial.get("locale")) and stored not in LOCALES:
            locale.choices = [*LOCALES.items(), (stored, stored)]
        if flow_code:
            self.fields["code"].disabled = True
            self.fields["code"].help_text = "A flow keeps its code. Rename it on its workspace."

    def clean_code(self) -> str:
        """A code that no intent has yet."""
        intent_code = code(self.cleaned_data["code"])
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", intent_code):
            raise forms.ValidationError("Use capital letters, digits and underscores, and begin with a letter.")
        if not self._flow_code and self._snapshot.row(rows.Intent, intent_code):
            raise forms.ValidationError(f"The intent {intent_code} already exists. Choose another code.")
        return intent_code

    def clean_phrases(self) -> str:
        """Some phrases, none of them too long."""
        lines = split_lines(self.cleaned_data["phrases"])
        if len(lines) > MOST_PHRASES:
            raise forms.ValidationError(f"There are {len(lines)} phrases. Enter at most {MOST_PHRASES}.")
        if too_long := next((line for line in lines if len(line) > LONGEST_PHRASE), None):
            raise forms.ValidationError(f"“{too_long[:40]}…” is longer than {LONGEST_PHRASE} characters. Shorten it.")
        return "\n".join(lines)

    def clean(self) -> dict[str, Any]:
        """Inputs that only some flows need."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("kind") == FlowKind.answer and not cleaned.get("answer"):
            self.add_error("answer", "Enter the answer.")
        if cleaned.get("kind") == FlowKind.lookup and not cleaned.get("tool"):
            self.add_error("tool", "Choose a tool.")
        return cleaned


def _list_tasks(stored: str | None) -> list[str]:
    """The registered tasks with their methods, and the one that the flow has."""
    registered = {f"{name}:{method}" for name, methods in describe_installation().tasks.items() for method in methods}
    return sorted(registered | ({stored} if stored else set()))


class FieldForm(forms.Form):
    """One field to collect."""

    use_required_attribute = False
    name = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput)
    title = _text("Field", required=True, length=80)
    type = _choice("Type", {name: kind.label for name, kind in FIELD_KINDS.items()})
    required = _choice(
        "Needed",
        {"yes": "Required", "no": "Optional"},
        "An optional field is asked once, and only if it has a question. Users may skip it.",
    )
    question = _text("Question", length=1000)
    options = _text(
        "Choices",
        "One choice per line. After a colon, other words for it: “window: by the window, outside view”. "
        "To store another value than users see, write “value = label”.",
        lines=4,
        length=20_000,
    )
    min = _text("From", "Both ends are allowed.", length=40)
    max = _text("To", length=40)
    after = _text(
        "Not before",
        "The name of an earlier field with a date. A day before that one is refused: a return before the pick-up.",
        length=80,
    )
    currency = _text("Currency", "Three letters, such as EUR.", length=3)
    country = _text("Country", "For numbers without a country code: two letters, such as GB.", length=2)
    pattern = _text("Pattern", "A regular expression for the whole value, such as [A-Z]{2}[0-9]{4}.", length=500)
    again = _text(
        "Question if the answer was not understood", "If empty, the question is repeated with an apology.", length=1000
    )
    invalid = _text(
        "Text if the value is not allowed",
        "If empty, it gives the reason and asks again. May use {{ value }}, {{ reason }}.",
        length=1000,
    )  # fmt: skip

    def has_changed(self) -> bool:
        """False for a field that only has a position."""
        return not set(self.changed_data) <= {"ORDER"}

    def clean_title(self) -> str:
        """The title without an article."""
        return strip_article(self.cleaned_data["title"])

    def clean_currency(self) -> str:
        """Three capital letters, or nothing."""
        return self._clean_letters("currency", 3, "three letters, such as EUR")

    def clean_country(self) -> str:
        """Two capital letters, or nothing."""
        return self._clean_letters("country", 2, "two letters, such as GB")

    def _clean_letters(self, name: str, size: int, form: str) -> str:
        value = str(self.cleaned_data[name]).strip().upper()
        if value and not (len(value) == size and value.isascii() and value.isalpha()):
            raise forms.ValidationError(f"Use {form}.")
        return value

    def clean(self) -> dict[str, Any]:
        """Inputs that the type needs, and values that it allows."""
        cleaned = super().clean() or self.cleaned_data
        field_type = cleaned["type"] = cleaned.get("type") or "text"
        for name in OWN_INPUTS:
            if not has_input(field_type, name) and name in cleaned:
                cleaned[name] = ""
                self.errors.pop(name, None)
        if has_input(field_type, "min"):
            self._clean_bounds(cleaned, field_type)
        if field_type == "choice" and "options" in cleaned:
            self._check_choices(cleaned["options"])
        if field_type == "pattern":
            self._check_pattern(cleaned.get("pattern", ""))
        return cleaned

    def _clean_bounds(self, cleaned: dict[str, Any], field_type: str) -> None:
        for name in ("min", "max"):
            try:
                cleaned[name] = read_bound(field_type, cleaned.get(name) or "")
            except BoundInvalid as error:
                self.add_error(name, str(error))
        if "min" in cleaned and "max" in cleaned and not is_in_order(field_type, cleaned["min"], cleaned["max"]):
            self.add_error("max", "“To” comes before “From”.")

    def _check_choices(self, text: str) -> None:
        try:
            if not read_choices(text):
                self.add_error("options", "Enter the choices, one per line.")
        except ChoicesInvalid as error:
            self.add_error("options", str(error))

    def _check_pattern(self, text: str) -> None:
        if not text:
            self.add_error("pattern", "Enter the pattern.")
            return
        try:
            compile_pattern(text)
        except PatternError as error:
            self.add_error("pattern", str(error))


class QuestionForm(forms.Form):
    """Questions that are answered beside the flow."""

    use_required_attribute = False
    questions = _text("Questions", "What users ask, one phrasing per line.", lines=3, required=True, length=20_000)
    answer = _text("Answer", lines=3, required=True)


class RefusalForm(forms.Form):
    """A combination of values that the flow does not allow."""

    use_required_attribute = False
    when = forms.CharField(
        label="When", max_length=10_000, widget=forms.Textarea(attrs={"rows": 3, "data-condition": ""})
    )
    text = _text(
        "Text", "Why not, and what is possible instead. It is sent before the question.", required=True, length=1000
    )
    field = _text("Ask again for", "The field whose value is dropped and asked again.", required=True, length=80)
    field.widget.attrs["list"] = "flow-fields"

    def clean_when(self) -> Json:
        """The condition as JSON."""
        try:
            parse_condition(self.cleaned_data["when"])
        except ConditionError as error:
            raise forms.ValidationError(f"{error}") from None
        return json.loads(self.cleaned_data["when"])


#: The labels of the page by the keys of a flow document, and those of a field.
FLOW_LABELS: Mapping[str, str] = {name: str(field.label) for name, field in FlowForm.base_fields.items()}
FIELD_LABELS: Mapping[str, str] = {
    name: "Name" if name == "title" else str(field.label)
    for name, field in FieldForm.base_fields.items()
    if name != "name"
}
#: The labels of the values that are chosen; the first is the default.
FLOW_VALUES: Mapping[str, Mapping[str, str]] = {
    "ask_mode": _ASK_MODES, "on_no": _ON_NO, "on_leave": _ON_LEAVE, "locale": LOCALES,
}  # fmt: skip


class _FieldForms(BaseFormSet):  # type: ignore[type-arg]
    """The fields of a flow, which may refer to each other."""

    def clean(self) -> None:
        """A field that an input names stands before it, and has a date."""
        dates: set[str] = set()
        for form in list_filled(self):
            after = form.cleaned_data.get("after", "")
            if after and _fold(after) not in dates:
                form.add_error("after", f"“{after}” is no earlier field with a date. Enter the name of one.")
            if has_input(form.cleaned_data.get("type", ""), "after"):
                dates |= {_fold(form.cleaned_data.get(key) or "") for key in ("title", "name")}


def _fold(title: str) -> str:
    return strip_article(title).casefold()


FieldForms = formset_factory(
    FieldForm,
    formset=_FieldForms,
    extra=1,
    max_num=50,
    absolute_max=1000,
    validate_max=True,
    can_order=True,
    can_delete=True,
)
QuestionForms = formset_factory(
    QuestionForm, extra=1, max_num=200, absolute_max=1000, validate_max=True, can_delete=True
)


RefusalForms = formset_factory(RefusalForm, extra=1, max_num=50, absolute_max=1000, validate_max=True, can_delete=True)


# --- documents ----------------------------------------------------------------------------------------------------


def list_initial(flow: Document) -> tuple[Values, list[Values], list[Values], list[Values]]:
    """The values of the form, of its fields, refusals and questions, for a document."""
    values = {**flow, "phrases": "\n".join(flow["phrases"])}
    titles = {field["name"]: field["title"] for field in flow.get("fields", ())}
    fields = [
        {
            **field,
            "required": "yes" if field.get("required", True) else "no",
            "options": format_choices(field.get("options", ())),
            **({"after": titles.get(field["after"], field["after"])} if field.get("after") else {}),
            **{name: format_bound(field["type"], field[name]) for name in ("min", "max") if name in field},
        }
        for field in flow.get("fields", ())
    ]
    refusals = [
        {**item, "when": write_condition(item["when"]), "field": titles.get(item["field"], item["field"])}
        for item in flow.get("not_allowed", ())
    ]
    questions = [{**item, "questions": "\n".join(item["questions"])} for item in flow.get("questions_and_answers", ())]
    return values, fields, refusals, questions


def read_document(
    form: FlowForm,
    fields: "BaseFormSet[Any]",
    refusals: "BaseFormSet[Any]",
    questions: "BaseFormSet[Any]",
    stored: Document,
) -> Values:
    """The flow document of valid forms. `stored`: the document that is edited, or an empty one."""
    given = form.cleaned_data
    texts = get_texts(find_language(given["locale"]))
    flow: Values = {
        **{name: given[name] for name in ("code", "title", "description", "kind")},
        "phrases": split_lines(given["phrases"]),
        "answer": given["answer"] or texts[f"answer_{given['kind']}"],
    }
    if given["kind"] in ASKING:
        known = {field["name"]: field for field in stored.get("fields", ())}
        named = name_apart(_read_field(row.cleaned_data, known) for row in list_filled(fields))
        flow["fields"] = list(_name_earlier_dates(named))
        titled = {_fold(field["title"]): field["name"] for field in flow["fields"]}
        flow["not_allowed"] = [_read_refusal(row.cleaned_data, titled) for row in list_filled(refusals)]
        names = ("ask_mode", "locale", "on_no", "on_leave", "max_misses", "hand_over")
        flow |= {name: given[name] for name in names if given[name]}
    if given["kind"] == FlowKind.lookup:
        flow["tool"] = given["tool"]
    if given["kind"] == FlowKind.collect:
        flow |= {name: given[name] for name in ("confirmation", "task", "task_failed") if given[name]}
    if items := [_read_question(row.cleaned_data) for row in list_filled(questions)]:
        flow["questions_and_answers"] = items
    return flow


def list_filled(formset: "BaseFormSet[Any]") -> list[Any]:
    """The valid forms that are not empty and not removed, in the order of the page."""
    filled = [form for form in formset.forms if form not in formset.deleted_forms and form.has_changed()]
    return sorted(filled, key=lambda form: form.cleaned_data.get("ORDER") or len(filled) + 1)


def _read_field(cleaned: Mapping[str, Any], known: Mapping[str, Document]) -> Values:
    name = cleaned.get("name") or ""
    field: Values = {"name": name, "title": cleaned["title"], "type": cleaned["type"]}
    if cleaned["required"] == "no":
        field["required"] = False
    field |= {key: cleaned[key].strip() for key in _PLAIN_TEXTS if cleaned[key].strip()}
    field |= {key: cleaned[key] for key in ("min", "max", "currency", "country", "pattern") if cleaned[key] != ""}
    if cleaned.get("after"):
        field["after"] = cleaned["after"].strip()
    if field["type"] == "choice":
        field["options"] = read_choices(cleaned["options"], known.get(name, {}).get("options", ()))
    return field


def _name_earlier_dates(fields: Iterable[Values]) -> Iterator[Values]:
    """The fields with the name of the earlier date, where the page has its title."""
    names: dict[str, str] = {}
    for field in fields:
        after = field.get("after")
        yield {**field, "after": names.get(_fold(after), after)} if after else field
        if has_input(field["type"], "after"):
            names |= {_fold(field["title"]): field["name"], _fold(field["name"]): field["name"]}


def _read_refusal(cleaned: Mapping[str, Any], titled: Mapping[str, str]) -> Values:
    """`titled`: the names of the fields by their titles, which people write instead."""
    field = cleaned["field"].strip()
    return {
        "when": _name_fields(cleaned["when"], titled),
        "text": cleaned["text"].strip(),
        "field": titled.get(_fold(field), field),
    }


def _name_fields(condition: Values, titled: Mapping[str, str]) -> Values:
    if "rules" in condition:
        return {**condition, "rules": [_name_fields(member, titled) for member in condition["rules"]]}
    return {**condition, "field": titled.get(_fold(condition["field"]), condition["field"])}


def _read_question(cleaned: Mapping[str, Any]) -> Values:
    return {"questions": split_lines(cleaned["questions"]), "answer": cleaned["answer"].strip()}


def split_lines(text: str) -> list[str]:
    """The lines that say something, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def strip_article(title: str) -> str:
    """The title of a field without an article."""
    return _ARTICLE.sub("", title.strip())


def name_apart(fields: Iterable[Values]) -> Iterator[Values]:
    """Give each new field a name of its own, from its title; existing names stay."""
    listed = list(fields)
    taken = {*_RESERVED, *(field["name"] for field in listed)}
    for field in listed:
        name = field["name"]
        if not name:
            base = make_name(field["title"])
            names = chain([base], (f"{base}{number}" for number in count(2)))
            name = next(name for name in names if name not in taken)
            taken.add(name)
        yield {**field, "name": name}


def make_name(label: str) -> str:
    """A field's name from its title: number of guests, numberOfGuests; Größe is grosse."""
    plain = unicodedata.normalize("NFKD", label.replace("ß", "ss")).encode("ascii", "ignore").decode()
    first, *rest = re.findall(r"[A-Za-z0-9]+", plain) or ["value"]
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return (name if name[0].isalpha() else f"value{name}")[:50]
