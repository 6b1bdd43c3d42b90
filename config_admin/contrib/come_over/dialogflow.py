"""The files of an agent of Dialogflow ES, checked and read as one value. Nothing of Dialogflow is needed."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from config_admin.contrib.come_over.documents import check_document, read_document
from config_admin.contrib.come_over.fields import MOST_OPTIONS
from config_admin.contrib.come_over.files import Files, Layout
from config_admin.contrib.come_over.follow_ups import (
    find_follow_up_role,
    find_path,
    get_response,
    is_follow_up,
    list_children,
)
from config_admin.contrib.come_over.messages import add_buttons, write_variations
from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry, Role
from config_admin.contrib.come_over.paths import Reply
from config_admin.contrib.come_over.project import Mapped, Project
from config_admin.transfer.document import FileRefused
from convengine.engine.cached_property import cached_property
from convengine.engine.turn.local_time import find_language_code
from convengine.evaluation.labelled import LabelledMessage
from convengine.files.json_text import read_json

_AGENT, _SCHEMA, _REMEDY = "agent.json", "dialogflow.schema.json", "Export the agent again."
LAYOUT = Layout((_AGENT, "intents", "entities"), (".json",))
#: An intent, an entity, or the phrases or entries of one in a language.
_FILE = re.compile(r"(intents|entities)/(.+?)(?:_(usersays|entries)_([A-Za-z]{2,3}(?:-\w+)?))?\.json")
_PART_NAMES = {"slot": "parameter", "lookup": "entity", "regex": "entity", "action": "webhook"}
#: The fields of system entities; others are texts.
_KINDS: Mapping[str, str] = {
    f"sys.{entity}": kind
    for kind, entities in {
        "date": "date", "time": "time", "datetime": "date-time", "duration": "duration", "money": "unit-currency",
        "email": "email", "phone": "phone-number", "postcode": "zip-code",
        "number": "number number-integer cardinal ordinal percentage age",
        "short_text": "person given-name last-name geo-city geo-capital geo-country geo-state color language",
        "text": "number-sequence flight-number date-period time-period currency-name address url",
    }.items()
    for entity in entities.split()
}  # fmt: skip
#: `@size:size` in an entry, a part of a composite entity.
_PART = re.compile(r"@([A-Za-z_][\w.-]*)(?::([\w-]+))?")
#: The slot that asks for a yes to the values; no parameter has such a name.
_CONFIRMATION = "confirm yes"
_NORMAL_PRIORITY, _LONGEST_WORD = 500_000, 200


def read_project(name: str, files: Files) -> Project:
    """Read the files of an agent. Raises FileRefused, which names the file and the remedy."""
    documents = {path: read_document(path, data, read_json) for path, data in files}
    agent = documents.pop(_AGENT, None)
    if isinstance(agent, Mapping) and "defaultLanguageCode" in agent:
        raise FileRefused(name, "is an agent of Dialogflow CX: only those of ES are read. Rebuild its flows.")
    if not isinstance(agent, Mapping) or "language" not in agent:
        raise FileRefused(name, f"is no export of a Dialogflow ES agent: it has no {_AGENT} with a language. {_REMEDY}")
    check_document(_AGENT, agent, _SCHEMA, "agent", _REMEDY)
    parts: dict[str, dict[str, Any]] = {"intent": {}, "entity": {}, "usersays": {}, "entries": {}}
    for path, document in documents.items():
        if match := _FILE.fullmatch(path):
            part = match[3] or {"intents": "intent", "entities": "entity"}[match[1]]
            check_document(path, document, _SCHEMA, part, _REMEDY)
            parts[part].setdefault(match[2], {})[(match[4] or "").lower()] = document
    for folder, part, listed in (("intents", "intent", "usersays"), ("entities", "entity", "entries")):
        if missing := next(iter(parts[listed].keys() - parts[part].keys()), ""):
            raise FileRefused(f"{folder}/{missing}.json", f"is missing, although {listed} belong to it. {_REMEDY}")
    if not parts["intent"]:
        raise FileRefused(name, f"has no intents. {_REMEDY}")
    return _Reader(Project(name, part_names=_PART_NAMES), agent, parts).read()


@dataclass
class _Reader:
    project: Project
    agent: Mapped
    #: Intents and entities with their phrases and entries, each by the name of its file, and by language.
    parts: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def read(self) -> Project:
        self.project.language, *others = self.languages
        self.project.translations = {language: Project(self.project.name, language) for language in others}
        for owner in self.parts["entity"]:
            self._add_entity(owner)
        for owner, spoken in self.parts["intent"].items():
            if not is_follow_up(spoken[""]):
                self._add_intent(owner, spoken[""])
        # What becomes of a follow-up depends on the form of its parent.
        for intent in filter(is_follow_up, self.intents):
            if intent["name"] in self.project.roles:
                continue
            self._add_entry("intent", intent["name"], *self._plan_follow_up(intent))
        self._add_sections()
        for language, own in self.project.translations.items():
            self.project.translations[language] = replace(
                self.project, language=language, translations={}, responses=self.project.responses | own.responses,
                lookups=self.project.lookups | own.lookups,
                entity_synonyms=self.project.entity_synonyms | own.entity_synonyms,
            )  # fmt: skip
        return self.project

    @cached_property
    def intents(self) -> list[Mapped]:
        return [spoken[""] for spoken in self.parts["intent"].values()]

    @cached_property
    def languages(self) -> dict[str, list[str]]:
        """The codes of each language in the files, the main one first: `en` has `en` and `en-us`."""
        named = [self.agent["language"], *(self.agent.get("supportedLanguages") or ())]
        written = (code for part in ("usersays", "entries") for spoken in self.parts[part].values() for code in spoken)
        languages: dict[str, list[str]] = {}
        for code in dict.fromkeys(code.replace("_", "-").lower() for code in (*named, *written)):
            languages.setdefault(find_language_code(code), []).append(code)
        return languages

    @property
    def _projects(self) -> dict[str, Project]:
        return {self.project.language: self.project, **self.project.translations}

    def _add_entry(self, part: str, name: str, outcome: Outcome, becomes: str, reason: str = "") -> None:
        self.project.entries.append(PlanEntry(part, name, outcome, becomes, reason))

    # --- entities -----------------------------------------------------------------------------------------------

    def _list_entries(self, owner: str, language: str) -> list[Mapped]:
        spoken, entity = self.parts["entries"].get(owner, {}), self.parts["entity"][owner][""]
        listed = [entry for code in self.languages[language] for entry in spoken.get(code, ())]
        return listed or entity.get("entries") or []

    @cached_property
    def _composites(self) -> dict[str, dict[str, str]]:
        """The parts of composite entities: the entity of each by its alias."""
        names = {spoken[""]["name"]: owner for owner, spoken in self.parts["entity"].items()}
        composites: dict[str, dict[str, str]] = {}
        for name, owner in names.items():
            for entry in self._list_entries(owner, self.project.language):
                parts = {alias or part: part for part, alias in _PART.findall(entry["value"])}
                if parts and all(part in names or part.startswith("sys.") for part in parts.values()):
                    composites.setdefault(name, {}).update(parts)
        return composites

    def _add_entity(self, owner: str) -> None:
        entity = self.parts["entity"][owner][""]
        name, spoken = entity["name"], {language: self._list_entries(owner, language) for language in self.languages}
        spoken[self.project.language] = entries = next(filter(None, spoken.values()), [])
        values = list(dict.fromkeys(each["value"] for each in entries if _is_word(each["value"])))
        if entity.get("isRegexp"):
            self.project.patterns[name] = values
        elif name in self._composites:
            fields = f"Fields {', '.join(self._composites[name])}"
            self._add_entry("entity", name, Outcome.PARTLY, fields, "each of its parts is a field that is asked for")
        elif len(values) > MOST_OPTIONS:
            self._add_entry("entity", name, Outcome.PERSON, "", f"more than {MOST_OPTIONS} values need a finder")
        elif values:
            for language, own in self._projects.items():
                own.lookups[name], own.entity_synonyms[name] = _list_words(
                    values, spoken[language], is_translation=own is not self.project
                )
            others = sorted({each["value"] for listed in spoken.values() for each in listed} - {*values})
            reasons = [f"without values of other languages: {', '.join(others)}"] if others else []
            reasons += ["it takes no other values"] if entity.get("automatedExpansion") else []
            self.project.entity_losses[name] = "; ".join(reasons)

    # --- intents ------------------------------------------------------------------------------------------------

    def _add_intent(self, owner: str, intent: Mapped) -> None:
        name, response, project = intent["name"], get_response(intent), self.project
        examples = list(self._list_examples(owner, intent))
        if obstacle := _find_obstacle(intent, examples):
            self._add_entry("intent", name, *obstacle)
            return
        project.intents.append(name)
        project.examples |= {name: examples} if examples else {}
        project.roles |= {name: Role.FALLBACK} if intent.get("fallbackIntent") else {}
        parameters = self._list_parameters(response)
        slots = [parameter["name"] for parameter in parameters]
        answer = self._add_response(f"utter_{name}", response.get("messages"), slots)
        reply = Reply(("intent", name), [name], is_first=True, actions=[*answer, *self._list_code(intent, answer)])
        reply.losses = [] if _get_priority(intent) == _NORMAL_PRIORITY else ["without its priority"]
        if any(parameter["required"] for parameter in parameters):
            self._add_form(intent, parameters, reply, answer)
        elif reply.actions:
            reply.losses += [f"nothing asks for {', '.join(slots)}"] if slots and answer else []
            project.replies += [reply, *self._list_answered(intent, slots)]

    def _list_answered(self, intent: Mapped, slots: Collection[str]) -> Iterator[Reply]:
        """What the follow-ups yes and no of an answer say."""
        roles = set[Role]()
        for child in list_children(intent, self.intents):
            name, role, response = child["name"], find_follow_up_role(child), get_response(child)
            if role in (Role.YES, Role.NO) and role not in roles and not self._list_parameters(response):
                answer = self._add_response(f"utter_{name}", response.get("messages"), slots)
                roles.add(role)
                self.project.roles[name] = role
                follows = f"utter_{intent['name']}"
                yield Reply(
                    ("intent", name), [name], actions=[*answer, *self._list_code(child, answer)], follows=follows
                )

    def _list_examples(self, owner: str, intent: Mapped) -> Iterator[LabelledMessage]:
        """The phrases in all languages, with the values of entities that have patterns."""
        spoken = self.parts["usersays"].get(owner) or {"": intent.get("userSays") or ()}
        for phrase in (phrase for phrases in spoken.values() for phrase in phrases):
            text = "".join(part["text"] for part in phrase.get("data", ()))
            values: dict[str, list[Any]] = {}
            for part in phrase.get("data", ()):
                values.setdefault((part.get("meta") or "").removeprefix("@"), []).append(part["text"])
            if text := " ".join((_PART.sub("", text) if phrase.get("isTemplate") else text).split()):
                examples = {entity: values[entity] for entity in values.keys() & self.project.patterns.keys()}
                yield LabelledMessage(text, intent["name"], examples)

    def _list_code(self, intent: Mapped, answer: Sequence[str]) -> list[str]:
        """The code that answers an intent: its webhook, or what reads the action of an intent without an answer."""
        action = get_response(intent).get("action")
        is_silent = action and not answer and not intent.get("fallbackIntent")
        code = [f"action {action or intent['name']}"] if intent.get("webhookUsed") or is_silent else []
        self.project.actions += code
        return code

    def _list_parameters(self, response: Mapped) -> list[Mapped]:
        """The parameters with their entities; the parts of a composite one are parameters of their own."""
        listed: dict[str, Mapped] = {}
        for each in response.get("parameters") or ():
            entity = (each.get("dataType") or "").removeprefix("@")
            parts = self._composites.get(entity, {each["name"]: entity})
            for name, part in parts.items():
                # The question for a composite one is asked once.
                prompts = {} if name == next(iter(parts)) else {"prompts": (), "promptMessages": ()}
                own = {"name": name, "entity": part, "required": bool(each.get("required"))}
                listed.setdefault(name, {**each, **prompts, **own})
        return list(listed.values())

    def _add_form(self, intent: Mapped, parameters: Sequence[Mapped], reply: Reply, answer: Sequence[str]) -> None:
        form, project, slots = intent["name"], self.project, [parameter["name"] for parameter in parameters]
        project.forms[form] = {each["name"]: [{"entity": each["entity"]}] for each in parameters}
        for parameter in parameters:
            self._add_parameter(form, parameter, slots)
        children = [each for each in list_children(intent, self.intents) if find_follow_up_role(each) is Role.YES]
        if answer and children and not self._list_parameters(get_response(children[0])):
            # The answer asks for a yes to the values, and the follow-up answers the yes.
            project.forms[form][_CONFIRMATION], project.form_slots[form, _CONFIRMATION] = [{}], {"type": "bool"}
            for own in self._projects.values():
                own.responses |= {f"utter_ask_{form}_{_CONFIRMATION}": own.responses.pop(answer[0], [])}
            end = self._add_response(f"utter_{children[0]['name']}", get_response(children[0]).get("messages"), slots)
            reply.actions = [*end, *reply.actions[len(answer) :], *self._list_code(children[0], end)]
        begin = Reply(reply.path, [form], actions=[form], is_first=True)
        project.replies += [begin, replace(reply, intents=(), form=form, is_first=False)]

    def _add_parameter(self, form: str, parameter: Mapped, slots: Collection[str]) -> None:
        name, entity, default = parameter["name"], parameter["entity"], parameter.get("defaultValue")
        losses = {"it takes one value only": parameter.get("isList"), f"without its default {default}": default}
        self.project.form_slots[form, name] = {
            "optional": not parameter["required"],
            "losses": [loss for loss, holds in losses.items() if holds],
            "field_kind": _KINDS.get(entity),
        }
        prompts = [{**prompt, "speech": prompt.get("value")} for prompt in parameter.get("prompts") or ()]
        messages = [*prompts, *(parameter.get("promptMessages") or ())]
        questions = self._add_response(f"utter_ask_{form}_{name}", messages, slots)
        if questions and entity not in self.project.lookups and entity not in _KINDS:
            values = self.project.responses[questions[0]][0]["replies"]
            for own in self._projects.values():
                own.responses |= {questions[0]: add_buttons(own.responses.get(questions[0], []), name, values)}

    def _add_response(self, name: str, messages: Sequence[Mapped] | None, slots: Collection[str]) -> list[str]:
        """Add a response in each language that has it, and name it if there is one."""
        written = {
            language: write_variations(self._speak(messages or (), language), slots) for language in self.languages
        }
        spoken = {language: variations for language, variations in written.items() if variations}
        texts = next((each for each in spoken.values() if each[0]["text"]), spoken.get(self.project.language))
        for language, variations in spoken.items():
            self._projects[language].responses[name] = variations
        if texts:
            self.project.responses[name] = texts
        return [name] if texts else []

    def _speak(self, items: Sequence[Mapped], language: str) -> list[Mapped]:
        """The items in a language; those that name none are in the main one."""
        spoken: dict[str, list[Mapped]] = {}
        for item in items:
            code = item.get("lang") or self.agent["language"]
            spoken.setdefault(code.replace("_", "-").lower(), []).append(item)
        return next((spoken[code] for code in self.languages[language] if code in spoken), [])

    def _plan_follow_up(self, intent: Mapped) -> tuple[Outcome, str, str]:
        path = [each["name"] for each in find_path(intent, self.intents)]
        role, parent = find_follow_up_role(intent), path[-2] if path[1:] else ""
        if (parent, _CONFIRMATION) in self.project.form_slots and role is Role.YES:
            return Outcome.COMES, f"Confirmation of {parent}", "check that it asks for a yes to the values"
        if (parent, _CONFIRMATION) in self.project.form_slots and role is Role.NO:
            return Outcome.PARTLY, "", "after a no, the flow asks what to change; without its text"
        if parent in self.project.forms and role is Role.FALLBACK:
            return Outcome.UNNEEDED, "", "the flow asks again by itself"
        if role is Role.STOP:
            return Outcome.UNNEEDED, "", "users leave a flow by “cancel” or another subject"
        contexts = ", ".join(intent.get("contexts") or ("that is not in the files",))
        where = f"only after {' → '.join(path[:-1])}" if parent else f"only in the context {contexts}, which code sets"
        return Outcome.PERSON, "", f"users say it {where}: make it a field, or a rule and a state"

    def _add_sections(self) -> None:
        for name, listed, remedy in (
            ("small talk", self.agent.get("activeAssistantAgents"), "write what you want to keep of it as answers"),
            ("knowledge bases", self.agent.get("enabledKnowledgeBaseNames"), "import their questions and answers"),
            ("languages", self.project.translations, f"set Session/LANGUAGES to {', '.join(self.languages)}"),
        ):
            if listed:
                self._add_entry("section", name, Outcome.PERSON, "", remedy)


def _get_priority(intent: Mapped) -> float:
    return _NORMAL_PRIORITY if intent.get("priority") is None else float(intent["priority"])


def _find_obstacle(intent: Mapped, examples: Sequence[LabelledMessage]) -> tuple[Outcome, str, str] | None:
    """What becomes of an intent that nobody can say."""
    if _get_priority(intent) < 0:
        return Outcome.UNNEEDED, "", "it is switched off"
    if intent.get("events") and not examples:
        events = ", ".join(event.get("name") or "" for event in intent["events"])
        return Outcome.PERSON, "", f"only the event {events} begins it: let the caller say its text"
    return None


def _is_word(text: str) -> bool:
    return 0 < len(text.strip()) <= _LONGEST_WORD


def _list_words(
    values: Sequence[str], entries: Sequence[Mapped], *, is_translation: bool
) -> tuple[list[str], dict[str, str]]:
    """The words of each value, first the one that users read; and the values by their words, folded."""
    synonyms: dict[str, list[str]] = {}
    for entry in entries:
        synonyms.setdefault(entry["value"], []).extend(filter(_is_word, entry.get("synonyms") or ()))
    listed, values_by_word = list[str](), {value.casefold(): value for value in values}
    for value in values:
        words = synonyms.get(value, [])
        # A value that is no word of its users, such as a number, is shown as its first word.
        is_shown = value in words and not is_translation
        ordered = [value, *words] if is_shown else [*(word for word in words if word != value), value]
        listed += [
            word for word in dict.fromkeys(ordered) if values_by_word.setdefault(word.casefold(), value) == value
        ]
    return listed, values_by_word
