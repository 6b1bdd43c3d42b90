"""The forms of the page *Start a flow*: a flow document as inputs, and back."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory

from config_admin.editing.countries import DIFFERENT, find_country_code, name_country
from config_admin.flows.advice import write_names
from config_admin.flows.bounds import BoundInvalid, format_bound, get_bound_labels, is_in_order, read_bound
from config_admin.flows.choices import ChoicesInvalid, read_choices, read_source, split_cells, split_words
from config_admin.flows.dependencies import DECIDING, IS, IS_NOT, DependencyInvalid, format_value, read_value
from config_admin.flows.document import Document, FlowKind, Values, get_flow_schema, get_item_schema
from config_admin.flows.examples import derive_pattern, describe_pattern
from config_admin.flows.faq.sheet import make_code
from config_admin.flows.field_kinds import FIELD_KINDS, OWN_INPUTS, has_input
from config_admin.flows.languages import list_flow_languages, speak_alone, speak_flow
from config_admin.flows.mapping import list_parts
from config_admin.flows.schema_form import SchemaForm, make_form, read_values, show_values, split_lines, spoken_name
from config_admin.validation.installation import describe_installation
from config_admin.validation.relations import list_server_tools
from convengine.engine.forms.asking import get_texts
from convengine.engine.forms.options_from_data import find_source_problem
from convengine.engine.rules.conditions.rows import ConditionError, parse_condition
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_alternatives
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import MANY_COUNTRIES, find_language
from convengine.engine.understanding.long_texts import proposes_long_text
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json

#: Words before the title of a field that do not belong to it.
_ARTICLE = re.compile(r"^(the|a|an|your)\s+", re.IGNORECASE)
#: Names that belong to the engine.
_RESERVED = ("clock", "dialogue")
#: The texts of a flow and of a field that may name fields.
TEXTS = ("confirmation", "task_failed", "answer", "hand_over")
TEXTS_OF_FIELD = ("question", "again", "invalid")
_NAMING = {*TEXTS, *TEXTS_OF_FIELD}
#: The inputs of a field that are open if they hold something.
_MORE = {
    "Ask only if …": ("only_if", "only_if_operator", "only_if_value"),
    "Other names": ("labels",),
    "Texts for answers that are not understood or not allowed": ("again", "invalid"),
}
#: The most cards of a list that a request may have.
_MOST_CARDS = 1000


class FlowForm(make_form(get_flow_schema(), optional=["answer", "code"])):  # type: ignore[misc]
    """Everything of a flow but its fields and questions."""

    kind = forms.ChoiceField(
        label="Type of flow", choices=FlowKind.choices, widget=forms.RadioSelect, initial=FlowKind.answer
    )

    #: Asked once for the workspace, when a phone field names no country.
    customers_country = forms.CharField(
        label="Which country are your customers in?",
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"list": "countries-of-customers"}),
        help_text="For phone numbers without a country code. It is asked once, and is changed in the settings.",
    )

    def __init__(self, *args: Any, snapshot: Snapshot, flow_code: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self._snapshot, self._flow_code = snapshot, flow_code
        tools = {
            tool.tool_code: f"{tool.tool_code} · {tool.description or ''}" for tool in snapshot.enabled_rows(rows.Tool)
        }
        self._offer("tool", tools | {name: name for name in list_server_tools(snapshot)})
        if stored := self.initial.get("tool"):
            self._offer("tool", {stored: stored})
        tasks = {f"{name}:{method}" for name, methods in describe_installation().tasks.items() for method in methods}
        # The registered ones with their methods, and the one that the flow has.
        self._offer("task", {name: name for name in sorted(tasks | {*filter(None, [self.initial.get("task")])})})
        if stored := self.initial.get("locale"):
            self._offer("locale", {stored: stored})
        self.fields["code"].help_text += " If you leave it empty, it is made from the name."
        if flow_code:
            self.fields["code"].disabled = True
            self.fields["code"].help_text = "A flow keeps its code. Rename it on its workspace."

    def _offer(self, name: str, labels: Mapping[str, str]) -> None:
        """Let more values be chosen."""
        field: Any = self.fields[name]
        known = dict(field.choices)
        field.choices = [*field.choices, *(each for each in labels.items() if each[0] not in known)]

    def clean_code(self) -> str:
        """A code that no intent has yet; without one, it is made from the name."""
        intent_code = code(self.cleaned_data["code"]) or make_code(str(self["title"].value() or "Flow"))
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", intent_code):
            raise forms.ValidationError("Use capital letters, digits and underscores, and begin with a letter.")
        if not self._flow_code and self._snapshot.row(rows.Intent, intent_code):
            raise forms.ValidationError(f"The intent {intent_code} already exists. Choose another code.")
        return intent_code

    def clean_customers_country(self) -> str:
        """The code of the country, that of different countries, or nothing."""
        text = str(self.cleaned_data["customers_country"]).strip()
        return MANY_COUNTRIES if text.casefold() == DIFFERENT.casefold() else _read_country(text)

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
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("kind") == FlowKind.answer and not cleaned.get("answer"):
            self.add_error("answer", "Enter the answer.")
        if cleaned.get("kind") == FlowKind.lookup and not cleaned.get("tool"):
            self.add_error("tool", "Choose a tool.")
        return cleaned


def _read_country(text: str) -> str:
    country_code = find_country_code(text) if text else ""
    if country_code is None:
        raise forms.ValidationError(f"No country is called “{text}”. Choose one from the list.")
    return country_code


_PHRASES = get_flow_schema()["properties"]["phrases"]
#: The most characters of a phrase, and the most phrases.
LONGEST_PHRASE, MOST_PHRASES = _PHRASES["items"]["maxLength"], _PHRASES["maxItems"]


class FieldForm(make_form(get_item_schema("fields"), optional=["type"])):  # type: ignore[misc]
    name = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput)
    only_if_operator = forms.ChoiceField(
        label="Is or is not", choices=[(IS, "is"), (IS_NOT, "is not")], initial=IS, required=False
    )
    only_if_value = forms.CharField(label="Value", max_length=200, required=False)
    #: Belongs to the page only.
    tried = forms.CharField(label="Try a value", max_length=200, required=False)
    _named_by = "title"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["country"].widget.attrs["list"] = "countries"
        self.fields["only_if"].widget.attrs["list"] = "flow-deciders"
        self.fields["only_if_value"].widget.attrs["list"] = "flow-decider-values"
        for name, label in get_bound_labels(self["type"].value() or "").items():
            self.fields[name].label = label

    @property
    def heading(self) -> str:
        """The field and its type: “Number of guests, number”."""
        types: Any = self.fields["type"]
        label = str(dict(types.choices).get(self["type"].value(), ""))
        return ", ".join(filter(None, (super().heading, label.lower()))) if super().heading else ""

    @property
    def inputs(self) -> list[Any]:
        """The inputs that are always open."""
        shown = [field for field in super().inputs if field.name not in chain(*_MORE.values())]
        after_pattern = 1 + next(number for number, field in enumerate(shown) if field.name == "pattern")
        return [*shown[:after_pattern], self["tried"], *shown[after_pattern:]]

    @property
    def more_inputs(self) -> list[tuple[str, list[Any], bool]]:
        """The inputs that are folded under a heading, which is open if the first or the last one holds something."""
        parts = {heading: [self[name] for name in names] for heading, names in _MORE.items()}
        return [(heading, inputs, any(inputs[end].value() for end in (0, -1))) for heading, inputs in parts.items()]

    def has_changed(self) -> bool:
        """False for a field that only has a position, or an operator that belongs to nothing."""
        return not set(self.changed_data) <= {"ORDER", "only_if_operator"}

    def clean_title(self) -> str:
        """The title without an article."""
        return strip_article(self.cleaned_data["title"])

    def clean_currency(self) -> str:
        """Three capital letters, or nothing."""
        value = str(self.cleaned_data["currency"]).strip().upper()
        if value and not (len(value) == 3 and value.isascii() and value.isalpha()):
            raise forms.ValidationError("Use three letters, such as EUR.")
        return value

    def clean_country(self) -> str:
        """The code of the country, or nothing."""
        return _read_country(str(self.cleaned_data["country"]).strip())

    def clean(self) -> dict[str, Any]:
        """Clear inputs that the type does not have, and check those that it has."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        field_type = cleaned["type"] = cleaned.get("type") or "text"
        for name in OWN_INPUTS:
            if not has_input(field_type, name) and name in cleaned:
                cleaned[name] = ""
                self.errors.pop(name, None)
        if has_input(field_type, "min"):
            self._clean_bounds(cleaned, field_type)
        if field_type == "choice" and cleaned.get("options_from"):
            self._check_source(cleaned)
        elif field_type == "choice" and "options" in cleaned:
            self._check_choices(cleaned["options"])
        if field_type == "pattern":
            cleaned["pattern"] = cleaned.get("pattern") or derive_pattern(split_words(cleaned.get("examples") or ""))
            self._check_pattern(cleaned["pattern"], split_words(cleaned.get("examples") or ""))
        return cleaned

    def _clean_bounds(self, cleaned: dict[str, Any], field_type: str) -> None:
        """Replace the typed bounds by those to store, or note what is wrong with them."""
        for name in ("min", "max"):
            try:
                cleaned[name] = read_bound(field_type, cleaned.get(name) or "")
            except BoundInvalid as error:
                self.add_error(name, str(error))
        if "min" in cleaned and "max" in cleaned and not is_in_order(field_type, cleaned["min"], cleaned["max"]):
            labels = get_bound_labels(field_type)
            self.add_error("max", f"The value of “{labels['max']}” comes before that of “{labels['min']}”.")

    def _check_source(self, cleaned: Mapping[str, Any]) -> None:
        """Note an error if data cannot give the choices, or if there are others."""
        if problem := find_source_problem(read_source(cleaned["options_from"])):
            self.add_error("options_from", problem)
        if cleaned.get("options"):
            self.add_error("options", "Enter the choices, or where data have them, but not both.")

    def _check_choices(self, text: str) -> None:
        """Note an error if the choices are invalid, missing or too many."""
        try:
            options = read_choices(text)
        except ChoicesInvalid as error:
            self.add_error("options", str(error))
            return
        if not options:
            self.add_error("options", "Enter the choices.")
        elif len(options) > _MOST_CHOICES:
            self.add_error("options", f"{len(options)} choices; {_MOST_CHOICES} at most.")
        values = [str(option["value"]) for option in options]
        for name in (spoken_name("options", language) for language in self.languages):
            given = _read_spoken_choices(self.cleaned_data.get(name, ""))
            if unknown := [value for value in given if value not in values]:
                self.add_error(name, f"“{unknown[0]}” is no choice of this field. Take it out, or add the choice.")

    def _check_pattern(self, text: str, examples: Iterable[str]) -> None:
        """Note an error if the pattern is missing or invalid, or if an example does not fit it."""
        if not text:
            self.add_error("examples", "Enter examples, or a pattern.")
            return
        try:
            pattern = compile_pattern(text, ignore_case=False)
        except PatternError as error:
            self.add_error("pattern", str(error))
            return
        if other := [example for example in examples if not pattern.fits(example)]:
            self.add_error("examples", f"“{other[0]}” does not fit the pattern.")

    def advise_on_text(self) -> None:
        """Attach to the type of a text whether it is read as a short or a long one."""
        title, question = (str(self[name].value() or "").strip() for name in ("title", "question"))
        if title:
            kind = "long_text" if proposes_long_text(title, question) else "short_text"
            shown: Any = self["type"]
            label = shown.suggested_label = FIELD_KINDS[kind].label
            shown.hints = [f"Read as a {label.lower()}, as its title and question suggest. Choose one to decide it."]
            shown.suggested = kind

    def advise_on_pattern(self) -> None:
        """Attach to the pattern what it means, and the one of the examples; to the tried value whether it fits."""
        written, examples = (str(self[name].value() or "").strip() for name in ("pattern", "examples"))
        derived = derive_pattern(split_words(examples))
        pattern, tried = written or derived, str(self["tried"].value() or "").strip()
        shown: Any = self["pattern"]
        shown.hints = [f"Like this: {words}."] if (words := describe_pattern(pattern)) else []
        shown.suggested = derived if derived != written else ""
        if not (pattern and tried):
            return
        try:
            fits = compile_pattern(pattern, ignore_case=False).fits(tried)
        except PatternError:
            return
        result: Any = self["tried"]
        setattr(result, "hints" if fits else "warnings", [f"“{tried}” {'fits' if fits else 'does not fit'}."])


_MOST_CHOICES: int = get_item_schema("fields")["properties"]["options"]["maxItems"]


class QuestionForm(make_form(get_item_schema("questions_and_answers"))):  # type: ignore[misc]
    _named_by = "questions"


class RefusalForm(make_form(get_item_schema("not_allowed"))):  # type: ignore[misc]
    """A combination of values that the flow does not allow."""

    _named_by = "text"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["when"].widget.attrs["data-condition"] = ""
        self.fields["field"].widget.attrs["list"] = "flow-fields"

    def clean_when(self) -> Json:
        try:
            parse_condition(self.cleaned_data["when"])
            return read_json(self.cleaned_data["when"])
        except (ConditionError, Unreadable) as error:
            raise forms.ValidationError(f"{error}") from None


for _name, _kinds in {**OWN_INPUTS, "tried": ["pattern"]}.items():
    FieldForm.base_fields[_name].kinds = " ".join(_kinds)


class _FieldForms(BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        """Note an error where a field does not refer to an earlier one of the right type."""
        dates: set[str] = set()
        deciders: dict[str, Values] = {}
        for form in list_filled(self):
            names = {_fold(form.cleaned_data.get(key) or "") for key in ("title", "name")}
            after = form.cleaned_data.get("after", "")
            if after and _fold(after) not in dates:
                form.add_error("after", f"“{after}” is not an earlier field with a date. Enter the name of one.")
            if has_input(form.cleaned_data.get("type", ""), "after"):
                dates |= names
            _check_decider(form, deciders)
            cleaned = form.cleaned_data
            if cleaned.get("type") in DECIDING:
                is_choice = cleaned["type"] == "choice" and cleaned.get("options")
                options = read_choices(cleaned["options"]) if is_choice else []
                decider = {"title": cleaned.get("title", ""), "type": cleaned["type"], "options": options}
                deciders |= dict.fromkeys(names, decider)


def _check_decider(form: Any, deciders: Mapping[str, Values]) -> None:
    """Note what is wrong with the field and the value of *Ask only if*."""
    title, value = (form.cleaned_data.get(name) or "" for name in ("only_if", "only_if_value"))
    if not (title or value):
        return
    if (decider := deciders.get(_fold(title))) is None:
        known = join_alternatives(list(dict.fromkeys(each["title"] for each in deciders.values())) or ["one"])
        problem = "is not an earlier field with choices, a number, or yes and no" if title else "names no field"
        form.add_error("only_if", f"“{title or 'Ask only if'}” {problem}. Enter {known}.")
        return
    try:
        read_value(decider, value)
    except DependencyInvalid as error:
        form.add_error("only_if_value", str(error))


def _fold(title: str) -> str:
    return strip_article(title).casefold()


def _make_cards(form: type[forms.Form], key: str, **options: Any) -> Any:
    """The forms of a list of the document."""
    most = get_flow_schema()["properties"][key]["maxItems"]
    return formset_factory(
        form, extra=1, max_num=most, absolute_max=_MOST_CARDS, validate_max=True, can_delete=True, **options
    )


_FORMS: tuple[type[SchemaForm], ...] = (FlowForm, FieldForm, RefusalForm, QuestionForm)
FieldForms = _make_cards(FieldForm, "fields", formset=_FieldForms, can_order=True)
QuestionForms = _make_cards(QuestionForm, "questions_and_answers")
RefusalForms = _make_cards(RefusalForm, "not_allowed")


# --- documents ----------------------------------------------------------------------------------------------------


Initial = tuple[Values, list[Values], list[Values], list[Values]]


def list_spoken_initial(flow: Document, languages: Iterable[str]) -> Initial:
    """The values for a document, also those of its texts in other languages."""
    first = next(iter(list_flow_languages(flow)), "")
    initial = list_initial(speak_flow(flow, first, first))
    for language in languages:
        for form, given, spoken in zip(_FORMS, initial, list_initial(speak_alone(flow, language)), strict=True):
            pairs: Any = zip(given, spoken, strict=True) if isinstance(given, list) else [(given, spoken)]
            for values, other in pairs:
                values |= {spoken_name(name, language): other.get(name, "") for name in form.texts}
    return initial


def list_initial(flow: Document) -> Initial:
    """The values of the form, of its fields, refusals and questions, for a document."""
    titles = {field["name"]: field["title"] for field in flow.get("fields", ())}
    fields = [
        {
            **show_values(get_item_schema("fields"), {"required": True, **field}),
            **({"after": titles.get(field["after"], field["after"])} if "after" in field else {}),
            **({"country": name_country(field["country"])} if "country" in field else {}),
            **(_show_dependency(field["only_if"], titles) if "only_if" in field else {}),
            **{name: format_bound(field["type"], field[name]) for name in ("min", "max") if name in field},
        }
        for field in flow.get("fields", ())
    ]
    refusals = [
        {**show_values(get_item_schema("not_allowed"), item), "field": titles.get(item["field"], item["field"])}
        for item in flow.get("not_allowed", ())
    ]
    schema = get_item_schema("questions_and_answers")
    questions = [show_values(schema, item) for item in flow.get("questions_and_answers", ())]
    return show_values(get_flow_schema(), flow), fields, refusals, questions


def _show_dependency(only_if: Document, titles: Mapping[str, str]) -> Values:
    """What the inputs of *Ask only if* show."""
    shown = {"field": titles.get(only_if["field"], only_if["field"]), "value": format_value(only_if["value"])}
    return {f"only_if{end}": {**only_if, **shown}[key] for key, end in _DECISION.items()}


def read_document(
    form: FlowForm,
    fields: "BaseFormSet[Any]",
    refusals: "BaseFormSet[Any]",
    questions: "BaseFormSet[Any]",
    stored: Document,
) -> Values:
    """The flow document of valid forms. `stored`: the document that is edited, or an empty one."""
    flow = {"kind": form.cleaned_data["kind"], **read_values(get_flow_schema(), form.cleaned_data)}
    texts = get_texts(find_language(flow.get("locale", "")))
    flow = {"answer": texts[f"answer_{flow['kind']}"], **flow}
    known = {field["name"]: field for field in stored.get("fields", ())}
    named = name_apart(_read_field(row.cleaned_data, known) for row in list_filled(fields))
    fields_read = list(_name_earlier_fields(named))
    names = {field["title"].casefold(): field["name"] for field in fields_read}
    flow = _write_names_in(flow, TEXTS, names)
    flow["fields"] = [_write_names_in(field, TEXTS_OF_FIELD, names) for field in fields_read]
    titled = {_fold(field["title"]): field["name"] for field in flow["fields"]}
    flow["not_allowed"] = [_read_refusal(row.cleaned_data, titled) for row in list_filled(refusals)]
    schema = get_item_schema("questions_and_answers")
    items = [
        _write_names_in(read_values(schema, row.cleaned_data), ("answer",), names) for row in list_filled(questions)
    ]
    parts = {key: value for key, value in flow.items() if key in list_parts(flow["kind"])}
    if "enabled" in stored:
        parts["enabled"] = stored["enabled"]
    return {**parts, **({"questions_and_answers": items} if items else {})}


def read_translations(
    document: Document,
    form: FlowForm,
    fields: "BaseFormSet[Any]",
    refusals: "BaseFormSet[Any]",
    questions: "BaseFormSet[Any]",
    languages: Sequence[str],
) -> Values:
    """Add the texts of other languages to the document. `languages` begins with the first language of the workspace."""
    if len(languages) < 2:
        return dict(document)
    cards = {"fields": fields, "not_allowed": refusals, "questions_and_answers": questions}
    names: dict[str, str] = {}
    for card, field in zip(list_filled(fields), document.get("fields", ()), strict=False):
        titles = [field["title"], *(card.cleaned_data[spoken_name("title", code)] for code in languages[1:])]
        names |= {title.casefold(): field["name"] for title in titles if title}
    spoken = _add_languages(document, form, languages, names)
    for key in document.keys() & cards.keys():
        items = zip(document[key], list_filled(cards[key]), strict=True)
        spoken[key] = [_add_languages(item, card, languages, names) for item, card in items]
    return {key: value for key, value in spoken.items() if key in document or key in list_parts(document["kind"])}


def _add_languages(part: Document, form: SchemaForm, languages: Sequence[str], names: Mapping[str, str]) -> Values:
    """A part of a document with each of its texts in all languages, blank in those without it."""
    first, *others = languages
    added = dict(part)
    for name in form.texts:
        given: Values = {code: form.cleaned_data.get(spoken_name(name, code)) or "" for code in others}
        if name == "options":
            choices = {code: _read_spoken_choices(text) for code, text in given.items()}
            added |= {name: [_add_choice(option, first, choices) for option in part[name]]} if name in part else {}
            continue
        if name == "labels":
            given = {code: split_words(text) for code, text in given.items()}
        elif name in _NAMING:
            given = {code: write_names(text, names) for code, text in given.items()}
        if name in part or any(given.values()):
            added[name] = {first: part.get(name, ""), **given}
    return added


def _add_choice(option: Document, first: str, given: Mapping[str, Mapping[str, Document]]) -> Values:
    spoken = {code: choices.get(str(option["value"]), {}) for code, choices in given.items()}
    texts: Values = {
        key: {first: option.get(key, ""), **{code: choice.get(key, "") for code, choice in spoken.items()}}
        for key in ("label", "synonyms")
    }
    return {**option, **{key: values for key, values in texts.items() if any(values.values())}}


def _read_spoken_choices(text: str) -> dict[str, Values]:
    """The choices of lines that say more than their value, by value."""
    cells = {value: {"label": label, "synonyms": split_words(words)} for value, label, words in split_cells(text)}
    return {value: choice for value, choice in cells.items() if any(choice.values())}


def _write_names_in(part: Values, keys: Iterable[str], names: Mapping[str, str]) -> Values:
    """A part of a document whose texts have names of fields in place of their titles."""
    return {**part, **{key: write_names(part[key], names) for key in keys if part.get(key)}}


def list_filled(formset: "BaseFormSet[Any]") -> list[Any]:
    """The valid forms that are not empty and not removed, in the order of the page."""
    filled = [form for form in formset.forms if form not in formset.deleted_forms and form.has_changed()]
    return sorted(filled, key=lambda form: form.cleaned_data.get("ORDER") or len(filled) + 1)


def _read_field(cleaned: Mapping[str, Any], known: Mapping[str, Document]) -> Values:
    """The field of a document from a valid form. Stored fields in `known` keep the types of their choices."""
    name = cleaned.get("name") or ""
    field = {"name": name, **read_values(get_item_schema("fields"), cleaned)}
    if field.get("only_if"):
        field["only_if"] = {key: cleaned[f"only_if{end}"] for key, end in _DECISION.items()}
    if "options_from" in field:
        field["options_from"] = read_source(field["options_from"])
    elif field["type"] == "choice":
        field["options"] = read_choices(cleaned["options"], known.get(name, {}).get("options", ()))
    return field


#: The keys of what a field depends on, with the ends of the names of their inputs.
_DECISION = {"field": "", "operator": "_operator", "value": "_value"}


def _name_earlier_fields(fields: Iterable[Values]) -> Iterator[Values]:
    """The fields with the names of the earlier ones that they refer to, where the page has titles."""
    dates: Values = {}
    deciders: dict[str, Values] = {}
    for field in fields:
        named = dict(field)
        if after := field.get("after"):
            named["after"] = dates.get(_fold(after), after)
        if only_if := field.get("only_if"):
            decider = deciders[_fold(only_if["field"])]
            value = read_value(decider, only_if["value"])
            named["only_if"] = {**only_if, "field": decider["name"], "value": value}
        yield named
        names = (_fold(field["title"]), _fold(field["name"]))
        if has_input(field["type"], "after"):
            dates |= dict.fromkeys(names, field["name"])
        if field["type"] in DECIDING:
            deciders |= dict.fromkeys(names, field)


def _read_refusal(cleaned: Mapping[str, Any], titled: Mapping[str, str]) -> Values:
    """`titled`: the names of the fields by their titles, which people write instead."""
    item = read_values(get_item_schema("not_allowed"), cleaned)
    field = titled.get(_fold(item["field"]), item["field"])
    return {**item, "when": _name_fields(item["when"], titled), "field": field}


def _name_fields(condition: Values, titled: Mapping[str, str]) -> Values:
    if "rules" in condition:
        return {**condition, "rules": [_name_fields(member, titled) for member in condition["rules"]]}
    return {**condition, "field": titled.get(_fold(condition["field"]), condition["field"])}


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
    """A field's name from its title: number of guests, numberOfGuests; Größe is grosse, pet's name petsName."""
    label = re.sub("['’]", "", label.replace("ß", "ss"))
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    first, *rest = re.findall(r"[A-Za-z0-9]+", plain) or ["value"]
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return (name if name[0].isalpha() else f"value{name}")[:50]
