"""The slots of a form as fields of a flow: `KINDS` says which slot becomes which kind."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry, Role, find_role
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.texts import list_buttons, name_field, name_title, write_in_sequence, write_text
from config_admin.flows.document import Values
from config_admin.flows.examples import derive_pattern
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import fold, split_name

#: Limits of a field; more choices than these are the work of a finder.
MOST_OPTIONS, _LONGEST_PATTERN, _LONGEST_WORDS = 200, 500, 200
#: So many marked examples say the pattern of their values.
_LEAST_EXAMPLES, _MOST_EXAMPLES = 3, 20
#: The letters of one case, or of both, in a class of characters.
_LETTERS = re.compile(r"(?:A-Z)?a-z|A-Z")
_LETTERS_AND_DIGITS = re.compile(r"(?=.*\d)(?=.*[^\W\d_])")
#: Kinds, with the words in the name of an entity or slot.
_WORDS: Mapping[str, str] = {
    "email": "email mail",
    "phone": "phone telephone mobile",
    "date": "date day birthday",
    "time": "time",
    "duration": "duration",
    "iban": "iban",
    "postcode": "zip zipcode postcode postal",
    "money": "money amount price budget salary",
    "number": "number count quantity persons guests people age",
}
_KINDS_BY_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}
#: A number with these words is a name of something, and may have letters.
_IDENTIFIERS = frozenset(
    ["id", "code", "account", "order", "customer", "member", "claim", "policy", "card", "reference"]
)


@dataclass(frozen=True)
class Slot:
    """A slot as a form asks for it."""

    name: str
    form: str
    project: Project
    mappings: Sequence[Mapping[str, Any]]

    @property
    def declared(self) -> Mapping[str, Any]:
        return self.project.form_slots.get((self.form, self.name)) or self.project.slots.get(self.name, {})

    @property
    def type(self) -> str:
        """The type in short: `bool` for `rasa.shared.core.slots.BooleanSlot`, too."""
        name = str(self.declared.get("type", "text")).rpartition(".")[2].lower().removesuffix("slot")
        return "bool" if name == "boolean" else name

    @property
    def entities(self) -> list[str]:
        """The entities that fill it, by role where there is one, as their marks name them."""
        named = [str(each.get("role") or each["entity"]) for each in self.mappings if each.get("entity")]
        return list(dict.fromkeys(named)) or ([] if self.mappings else [self.name])

    @property
    def words(self) -> dict[str, list[str]]:
        """What users write for each value, by its entities and intents."""
        words: dict[str, list[str]] = {}
        for entity in self.entities:
            for value, texts in self.project.find_words(entity).items():
                words.setdefault(value, []).extend(texts)
        for intent, value in self.values_by_intent.items():
            texts = [example.text for example in self.project.examples.get(intent, ())]
            words.setdefault(value, []).extend(text for text in texts if len(text) <= _LONGEST_WORDS)
        return words

    @property
    def values_by_intent(self) -> dict[str, str]:
        """The values that intents give it, if nothing else does."""
        given = [each for each in self.mappings if each.get("type") != "from_trigger_intent"]
        if any(each.get("type") != "from_intent" for each in given):
            return {}
        return {intent: str(each.get("value", "")) for each in given for intent in list_intents(each)}

    @property
    def titles(self) -> dict[str, str]:
        """What the buttons of its question show for each value. A single button is a way out of the question."""
        by_intent = {f"/{intent}": value for intent, value in self.values_by_intent.items()}
        buttons = {by_intent.get(sent, sent): title for sent, title in list_buttons(self.question).items()}
        find, entity = self.project.find_value, next(iter(self.entities), "")
        titles = {find(sent, entity): title for sent, title in buttons.items() if not sent.startswith("/")}
        return titles if len(titles) > 1 else {}

    @property
    def table(self) -> list[tuple[str, str]]:
        """The lines of the lookup tables of its entities, each after its value."""
        lookups, find = self.project.lookups, self.project.find_value
        return [(find(text, entity), text) for entity in self.entities for text in lookups.get(entity, ())]

    @property
    def question_name(self) -> str:
        own = f"utter_ask_{self.form}_{self.name}"
        return own if own in self.project.responses else f"utter_ask_{self.name}"

    @property
    def question(self) -> Sequence[Mapping[str, Any]]:
        return self.project.responses.get(self.question_name, ())

    @property
    def is_optional(self) -> bool:
        return bool(self.declared.get("optional"))

    @property
    def losses(self) -> list[str]:
        """What does not come along, besides parts of its question."""
        asking = f"action_ask_{self.name}"
        code = [f"{asking} asks by code"] if asking in self.project.actions else []
        return [*code, *self.declared.get("losses", ())]

    @property
    def is_yes_no(self) -> bool:
        roles = {find_role(intent) for each in self.mappings for intent in list_intents(each)}
        return self.type == "bool" or ({Role.YES, Role.NO} <= roles and not any("entity" in m for m in self.mappings))

    @property
    def is_confirmation(self) -> bool:
        """It asks for a yes to everything before it."""
        return self.is_yes_no and ("confirm" in split_name(self.name) or bool(write_text(self.question, {}).unset))

    def find_constant(self, intent: str) -> str | None:
        """The value that the intent gives by beginning the form."""
        given = [each for each in self.mappings if each.get("type") == "from_trigger_intent"]
        return next((str(each.get("value", "")) for each in given if intent in list_intents(each)), None)


def list_intents(mapping: Mapping[str, Any]) -> Sequence[str]:
    intents = mapping.get("intent") or ()
    return [intents] if isinstance(intents, str) else list(intents)


def list_slots(project: Project, form: str) -> list[Slot]:
    """The slots of a form, with the mappings that count while it is open."""

    def counts(mapping: Mapping[str, Any]) -> bool:
        conditions = mapping.get("conditions") or ()
        return not conditions or form in [condition.get("active_loop") for condition in conditions]

    listed = []
    for name, own in project.forms[form].items():
        general = filter(counts, project.slots.get(name, {}).get("mappings", ()))
        listed.append(Slot(name, form, project, own or list(general)))
    return listed


# --- kinds --------------------------------------------------------------------------------------------------------


def _write_options(slot: Slot) -> Values | None:
    """A choice, where the values are listed: by the slot, the buttons of its question, intents or a lookup table."""
    titles, words, table = slot.titles, slot.words, slot.table
    values = [value for value in slot.declared.get("values", ()) if value != "__other__"]
    listed = list(dict.fromkeys([*values, *titles, *(words if table or slot.values_by_intent else ())]))
    if not listed or len(listed) > MOST_OPTIONS:
        return None
    shown = dict(reversed(table))
    labels = {value: titles.get(value) or shown.get(value, value) for value in listed}
    options, taken = list[Values](), {fold(text) for pair in labels.items() for text in pair}
    for value, label in labels.items():
        texts = [*slot.project.list_synonyms(value), *words.get(value, ())]
        synonyms = {fold(text): text for text in texts if fold(text) not in taken}
        taken |= synonyms.keys()
        options.append(_write_option(value, label, [*synonyms.values()]))
    return {"type": "choice", "options": options}


def _write_option(value: str, label: str, synonyms: Sequence[str]) -> Values:
    parts = {"label": "" if label == value else label, "synonyms": synonyms}
    return {"value": value, **{key: part for key, part in parts.items() if part}}


def _write_pattern(slot: Slot) -> Values | None:
    """The pattern that fits most examples: the regular expressions of the entity, or one of examples that are alike.

    Rasa reads entities in any case of letters, and forms do not.
    """
    examples = list(dict.fromkeys(text for texts in slot.words.values() for text in texts))
    given = "|".join(text for entity in slot.entities for text in slot.project.patterns.get(entity, ()))
    is_alike = len(examples) >= _LEAST_EXAMPLES and all(map(_LETTERS_AND_DIGITS.match, examples))
    derived = derive_pattern(examples[:_MOST_EXAMPLES]) if is_alike else ""
    candidates = filter(_is_usable, (given, _LETTERS.sub("A-Za-z", given), derived))
    fitting = {pattern: [text for text in examples if _fits(pattern, text)] for pattern in candidates}
    if not fitting:
        return None
    pattern = max(fitting, key=lambda candidate: len(fitting[candidate]))
    shown = {"examples": fitting[pattern][:_MOST_EXAMPLES]} if fitting[pattern] else {}
    return {"type": "pattern", "pattern": pattern, **shown}


def _fits(pattern: str, text: str) -> bool:
    return compile_pattern(f"^(?:{pattern})$", ignore_case=False).search(text) is not None


def _is_usable(pattern: str) -> bool:
    """False for what forms cannot use: blanks, groups with flags or conditions, and very long ones."""
    if not pattern or "(?" in pattern or len(pattern) > _LONGEST_PATTERN:
        return False
    try:
        compile_pattern(pattern)
    except PatternError:
        return False
    return True


def _write_number(slot: Slot) -> Values | None:
    bounds = {key: str(slot.declared.get(f"{key}_value", "")) for key in ("min", "max")}
    numbers = {key: float(text) for key, text in bounds.items() if re.fullmatch(r"-?\d+(\.\d+)?", text)}
    # Rasa itself writes the bounds 0 and 1, and refuses no value.
    numbers = {} if numbers == {"min": 0, "max": 1} else numbers
    return {"type": "number", **numbers} if slot.type == "float" else None


def _write_kind_by_name(slot: Slot) -> Values | None:
    for words in map(split_name, (*slot.entities, slot.name)):
        kind = next((_KINDS_BY_WORD[word] for word in words if word in _KINDS_BY_WORD), None)
        if kind and not (kind == "number" and _IDENTIFIERS & {*words}):
            return {"type": kind}
    return None


#: The first that writes a kind decides; each with what the plan says about it.
KINDS: Sequence[tuple[str, Callable[[Slot], Values | None]]] = (
    ("by its type, or the intents for yes and no", lambda slot: {"type": "yes_no"} if slot.is_yes_no else None),
    ("by its entity", lambda slot: {"type": kind} if (kind := slot.declared.get("field_kind")) else None),
    ("by values, buttons, intents, lookup table and synonyms", _write_options),
    ("by the regular expressions or examples of its entity", _write_pattern),
    ("by its type", _write_number),
    ("by the name of its entity or slot", _write_kind_by_name),
    ("by its question", lambda _: {"type": "text"}),
)


@dataclass
class Fields:
    """The fields of a form, and their names by slot."""

    fields: list[Values] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    #: The text that asks for a yes at the end.
    confirmation: str = ""
    entries: list[PlanEntry] = field(default_factory=list)

    def write_ending(self, *, is_code: bool) -> Values:
        """What comes after the last value; the built-in confirmation before code, which runs after a yes."""
        if self.confirmation:
            return {"confirmation": self.confirmation}
        return {} if is_code else {"at_once": True}

    def begin_with(self, text: str) -> None:
        """Put a text before the first question, but not where it is asked again."""
        first, question = self.fields[0], self.fields[0].get("question", "")
        if text:
            first["question"] = write_in_sequence([text, question], asks=True)
        if text and question:
            first["again"] = question


def write_fields(slots: Sequence[Slot]) -> Fields:
    """The fields of these slots. A last one that asks for a yes to all of them is the confirmation."""
    last = slots[-1] if len(slots) > 1 and slots[-1].is_confirmation else None
    form_slots = [slot for slot in slots if slot is not last]
    written = Fields(names={slot.name: name_field(slot.name) for slot in form_slots})
    for slot in form_slots:
        field, entry = _write_field(slot, written.names)
        written.fields.append(field)
        written.entries.append(entry)
    if last:
        written.confirmation = write_text(last.question, written.names, asks=True).template
        written.entries.append(PlanEntry("slot", f"{last.form}.{last.name}", Outcome.COMES, "Confirmation"))
    return written


def _write_field(slot: Slot, names: Mapping[str, str]) -> tuple[Values, PlanEntry]:
    reason, kind = next((reason, kind) for reason, write in KINDS if (kind := write(slot)))
    text = write_text(slot.question, names, asks=True)
    optional = {"required": False} if slot.is_optional else {}
    question = {"question": text.template} if text.template else {}
    silence = "nobody is asked for it" if slot.is_optional else "the built-in question asks"
    losses = slot.losses or ([] if question else [silence])
    outcome = Outcome.PARTLY if text.unset or slot.losses else Outcome.COMES
    return (
        {"name": names[slot.name], "title": name_title(slot.name), **optional, **kind, **question},
        PlanEntry(
            "slot", f"{slot.form}.{slot.name}", outcome, f"Field, {kind['type']}",
            "; ".join([reason, *text.losses, *losses]),
        ),
    )  # fmt: skip
