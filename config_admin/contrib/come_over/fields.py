"""The slots of a form as fields of a flow: `KINDS` says which slot becomes which kind."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config_admin.contrib.come_over.paths import is_nothing
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.roles import Role, find_role
from config_admin.contrib.come_over.texts import list_buttons, name_field, name_title, write_text
from config_admin.flows.document import Values
from config_admin.flows.examples import derive_pattern
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import fold, split_name

#: A choice has at most so many options; a longer list is the work of a finder.
MOST_OPTIONS = 200
#: Marked examples that are alike say the pattern of their values.
_LEAST_EXAMPLES, _MOST_EXAMPLES, _LONGEST_PATTERN = 3, 20, 500
#: The letters of one case in a class of characters.
_LETTERS = re.compile(r"(?:A-Z)?a-z|A-Z")
#: Kinds by the words of an entity or slot, those of extractors with fixed names included.
_KINDS_BY_WORD: Mapping[str, str] = {
    **dict.fromkeys(["email", "mail"], "email"),
    **dict.fromkeys(["phone", "telephone", "mobile"], "phone"),
    **dict.fromkeys(["date", "day", "birthday"], "date"),
    **dict.fromkeys(["time"], "time"),
    **dict.fromkeys(["duration"], "duration"),
    **dict.fromkeys(["iban"], "iban"),
    **dict.fromkeys(["zip", "zipcode", "postcode", "postal"], "postcode"),
    **dict.fromkeys(["money", "amount", "price", "budget", "salary"], "money"),
    **dict.fromkeys(["number", "count", "quantity", "persons", "guests", "people", "age"], "number"),
}
#: The number of something that has letters, too, as "claim number" may be, is no number to count with.
_IDENTIFIERS = frozenset(
    {"id", "code", "account", "order", "customer", "member", "claim", "policy", "card", "reference"}
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
        return self.project.slots.get(self.name, {})

    @property
    def type(self) -> str:
        """The type in short: `bool` for `rasa.shared.core.slots.BooleanSlot`, too."""
        name = str(self.declared.get("type", "text")).rpartition(".")[2].lower().removesuffix("slot")
        return {"boolean": "bool"}.get(name, name)

    @property
    def entities(self) -> list[str]:
        """The entities that fill it, by role where there is one, as their marks name them."""
        named = [str(each.get("role") or each["entity"]) for each in self.mappings if each.get("entity")]
        return list(dict.fromkeys(named)) or ([] if self.mappings else [self.name])

    @property
    def question(self) -> Sequence[Mapping[str, Any]]:
        responses = self.project.responses
        return responses.get(f"utter_ask_{self.form}_{self.name}") or responses.get(f"utter_ask_{self.name}") or ()

    @property
    def is_yes_no(self) -> bool:
        roles = {find_role(intent) for each in self.mappings for intent in _list_intents(each)}
        return self.type == "bool" or ({Role.YES, Role.NO} <= roles and not any("entity" in m for m in self.mappings))

    @property
    def is_confirmation(self) -> bool:
        """It asks for a yes to everything before it."""
        text = write_text(self.question, {}, is_question=True)
        return self.is_yes_no and ("confirm" in split_name(self.name) or bool(text.unset))

    def find_constant(self, intent: str) -> str | None:
        """The value that the intent gives by beginning the form."""
        for each in self.mappings:
            if each.get("type") == "from_trigger_intent" and intent in _list_intents(each):
                return str(each.get("value", ""))
        return None


def _list_intents(mapping: Mapping[str, Any]) -> Sequence[str]:
    intents = mapping.get("intent") or ()
    return [intents] if isinstance(intents, str) else list(intents)


def list_slots(project: Project, form: str) -> list[Slot]:
    """The slots of a form, with the mappings that count while it asks for them."""
    slots = []
    for name, own in project.forms[form].items():
        mappings = own or [
            each
            for each in project.slots.get(name, {}).get("mappings", ())
            if not each.get("conditions")
            or any(condition.get("active_loop") == form for condition in each["conditions"])
        ]
        slots.append(Slot(name, form, project, mappings))
    return slots


# --- kinds --------------------------------------------------------------------------------------------------------


def _write_options(slot: Slot) -> Values | None:
    """A choice, where the values are listed: by the slot, the buttons of its question, or a lookup table."""
    titles = dict(list_buttons(slot.question))
    values = [value for value in slot.declared.get("values", ()) if value != "__other__"]
    tables = {text for entity in slot.entities for text in slot.project.lookups.get(entity, ())}
    words: dict[str, list[str]] = {}
    for entity in slot.entities:
        for value, texts in slot.project.find_words(entity).items():
            words.setdefault(value, []).extend(texts)
    listed = list(dict.fromkeys([*values, *titles, *(words if tables else ())]))
    if not listed or len(listed) > MOST_OPTIONS:
        return None
    labels = {
        value: titles.get(value) or next((text for text in words.get(value, ()) if text in tables), value)
        for value in listed
    }
    options, taken = list[Values](), {fold(text) for pair in labels.items() for text in pair}
    for value, label in labels.items():
        texts = [*slot.project.list_synonyms(value), *words.get(value, ())]
        synonyms = list(dict.fromkeys(text for text in texts if fold(text) not in taken))
        taken |= {fold(text) for text in synonyms}
        option = {"value": value, "label": label, "synonyms": synonyms}
        options.append({key: each for key, each in option.items() if each and not (key == "label" and each == value)})
    return {"type": "choice", "options": options}


def _write_pattern(slot: Slot) -> Values | None:
    """A pattern, where the entity has regular expressions, or marked examples that are alike: the one that fits most.

    Rasa reads entities in any case of letters, and forms do not.
    """
    words = [slot.project.find_words(entity) for entity in slot.entities]
    examples = list(dict.fromkeys(text for each in words for texts in each.values() for text in texts))
    given = "|".join(pattern for entity in slot.entities for pattern in slot.project.patterns.get(entity, ()))
    is_alike = len(examples) >= _LEAST_EXAMPLES and all(_has_letters_and_digits(text) for text in examples)
    derived = derive_pattern(examples[:_MOST_EXAMPLES]) if is_alike else ""
    candidates = [pattern for pattern in (given, _LETTERS.sub("A-Za-z", given), derived) if _is_pattern(pattern)]
    if not candidates:
        return None
    fitting = {pattern: [text for text in examples if _fits(pattern, text)] for pattern in candidates}
    pattern = max(candidates, key=lambda pattern: len(fitting[pattern]))
    shown = {"examples": fitting[pattern][:_MOST_EXAMPLES]} if fitting[pattern] else {}
    return {"type": "pattern", "pattern": pattern, **shown}


def _has_letters_and_digits(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_pattern(text: str) -> bool:
    """False for what forms cannot use: blanks, groups with flags or conditions, and very long ones."""
    if not text or "(?" in text or len(text) > _LONGEST_PATTERN:
        return False
    try:
        compile_pattern(text)
    except PatternError:
        return False
    return True


def _fits(pattern: str, text: str) -> bool:
    return compile_pattern(f"^(?:{pattern})$", ignore_case=False).search(text) is not None


def _write_kind_by_name(slot: Slot) -> Values | None:
    for name in (*slot.entities, slot.name):
        words = [word.lower() for word in split_name(name)]
        kinds = [_KINDS_BY_WORD[word] for word in words if word in _KINDS_BY_WORD]
        if kinds and not (kinds == ["number"] and _IDENTIFIERS & set(words)):
            return {"type": kinds[0]}
    return None


def _write_number(slot: Slot) -> Values | None:
    bounds = {key: slot.declared.get(f"{key}_value") for key in ("min", "max")}
    read = {key: float(value) for key, value in bounds.items() if value and not is_nothing(value) and _is_number(value)}
    return {"type": "number", **read} if slot.type == "float" else None


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdecimal()


#: The first that writes a kind decides; each with what the plan says about it.
KINDS: Sequence[tuple[str, Callable[[Slot], Values | None]]] = (
    (
        "by its type, or the intents for yes and no",
        lambda slot: {"type": "yes_no"} if slot.is_yes_no else None,
    ),
    ("by values, buttons, lookup table and synonyms", _write_options),
    ("by the regular expressions or examples of its entity", _write_pattern),
    ("by its type", _write_number),
    ("by the name of its entity or slot", _write_kind_by_name),
    ("by its question", lambda slot: {"type": "text"}),
)


@dataclass
class Fields:
    """The fields of a form, the names of the fields by slot, and what the plan says about each."""

    fields: list[Values] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    confirmation: Slot | None = None
    #: By slot: the kind and why; and whether a person has to look at it.
    notes: list[tuple[str, str, str, bool]] = field(default_factory=list)


def write_fields(slots: Sequence[Slot]) -> Fields:
    """The fields of these slots; a last one that asks for a yes to all of them is the confirmation."""
    written = Fields()
    asked = list(slots)
    if len(asked) > 1 and asked[-1].is_confirmation:
        written.confirmation = asked.pop()
    written.names = {slot.name: name_field(slot.name) for slot in asked}
    for slot in asked:
        reason, kind = next((reason, kind) for reason, write in KINDS if (kind := write(slot)))
        text = write_text(slot.question, written.names, is_question=True)
        question = {"question": text.template[:1000]} if text.template else {}
        problems = [*text.losses]
        if text.unset:
            problems.append(f"its question reads {', '.join(text.unset)}, which code has to set")
        if not text.template:
            problems.append("no response asks for it, so the built-in question is used")
        written.fields.append({"name": written.names[slot.name], "title": name_title(slot.name), **kind, **question})
        needs_person = bool(text.unset) or f"action_ask_{slot.name}" in slot.project.actions
        if needs_person and not text.unset:
            problems.append(f"action_ask_{slot.name} asks by code")
        written.notes.append((slot.name, f"Field, {kind['type']}", "; ".join([reason, *problems]), needs_person))
    if written.confirmation:
        written.notes.append((written.confirmation.name, "Confirmation", "asks for a yes to the values", False))
    return written
