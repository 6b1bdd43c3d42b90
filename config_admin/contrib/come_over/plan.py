"""The plan: the flows that a project becomes, and an entry for each part of it with what becomes of it and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from config_admin.contrib.come_over.continuations import (
    Continuation,
    find_answer,
    find_continuation,
    find_form_end,
    is_response,
)
from config_admin.contrib.come_over.fields import Fields, list_intents, list_slots, write_fields
from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry, Role
from config_admin.contrib.come_over.paths import Reply
from config_admin.contrib.come_over.project import Mapped, Project
from config_admin.contrib.come_over.scenarios import write_scenario
from config_admin.contrib.come_over.texts import (
    QUICK_REPLIES,
    Button,
    name_code,
    name_field,
    name_title,
    read_buttons,
    write_in_sequence,
    write_text,
)
from config_admin.flows.document import FlowKind, FlowRefused, Values, is_field_required, write_condition
from config_admin.flows.languages import TEXTS, list_entries, merge_languages
from config_admin.flows.mapping import COLLECT, DONE, write_rows
from convengine.engine.forms.asking import get_texts
from convengine.engine.text.compare import fold
from convengine.engine.text.several_texts import OR, split_texts
from convengine.engine.turn import rows
from convengine.engine.turn.local_time import find_language_code
from convengine.engine.turn.scope import ANY, IDLE, NOT_UNDERSTOOD
from convengine.engine.understanding.language import DEFAULT, find_language, list_languages
from convengine.engine.understanding.phrases.terms import has_words
from convengine.evaluation.read import FormReader

#: Limits of a flow document.
_MOST_PHRASES, _LONGEST_PHRASE = 500, 500
#: Reads a yes or no; and how many examples that it does not read are quoted.
_ANSWERS, _MOST_QUOTED = FormReader({"type": "object", "properties": {"answer": {"type": "boolean"}}}), 5
#: The dialogue acts of a yes and a no.
_ACTS: Mapping[Role, str] = {Role.YES: "AFFIRM", Role.NO: "NEGATE"}
#: What a custom action becomes, by the beginning of its name.
_ACTIONS: Mapping[str, str] = {
    "validate_": "“min”, “max”, patterns and “not_allowed” of the flow refuse values; code is a finder of values",
    "action_ask_": "write the question as a text",
    "": "register a task, and name it in the flow; or a tool",
}
#: Sections of the files that nothing is made of.
_SECTIONS: Mapping[str, tuple[Outcome, str]] = {
    "pipeline": (Outcome.UNNEEDED, "phrases count at once, nothing is trained"),
    "policies": (Outcome.UNNEEDED, "rules and forms decide, nothing is trained"),
    "session_config": (Outcome.PERSON, "set Session/IDLE_TIMEOUT_HOURS"),
}


@dataclass
class Plan:
    entries: list[PlanEntry] = field(default_factory=list)
    flows: list[Values] = field(default_factory=list)
    #: Rows that no flow document has, by table.
    tables: dict[str, list[Values]] = field(default_factory=dict)
    #: Actions of code, with the fields of the forms that they end.
    tasks: dict[str, list[str]] = field(default_factory=dict)
    #: The test stories as scenario files.
    scenarios: list[Values] = field(default_factory=list)

    def write_tables(self) -> dict[str, list[Values]]:
        """All rows. Raises FlowRefused."""
        written = {table: [*listed] for table, listed in self.tables.items()}
        for flow in self.flows:
            try:
                made = write_rows(flow)
            except FlowRefused as refused:
                raise FlowRefused([f"{flow['code']}, {problem}" for problem in refused.problems]) from None
            for table, listed in made.items():
                written.setdefault(table, []).extend(listed)
        return written


def plan_project(project: Project) -> Plan:
    """The plan, with the texts of all languages."""
    plan = _plan_language(project)
    plan.entries += project.entries
    plan.entries = [replace(each, part=project.part_names.get(each.part, each.part)) for each in plan.entries]
    others = {language: _plan_language(each) for language, each in project.translations.items()}
    spoken = {language: {flow["code"]: flow for flow in other.flows} for language, other in others.items()}
    plan.flows = [
        merge_languages(
            flow,
            {language: _leave_untranslated(flows.get(flow["code"], flow), flow) for language, flows in spoken.items()},
            find_language_code(project.language),
        )
        for flow in plan.flows
    ]
    for language, other in others.items():
        for table, listed in plan.tables.items():
            translated = {(row["intent_code"], row["state_code"]): row for row in other.tables.get(table, ())}
            for row in listed:
                same = translated.get((row["intent_code"], row["state_code"]), row)
                if same != row:
                    row.setdefault("translations", {})[language] = list_entries(table, row, same, language)
    return plan


def _leave_untranslated(spoken: Any, original: Any) -> Any:
    """The flow in another language, without the texts that are those of the first one."""
    if isinstance(spoken, Mapping) and isinstance(original, Mapping):
        own = {key: part for key, part in spoken.items() if key not in TEXTS or part != original.get(key)}
        return {key: _leave_untranslated(part, original.get(key)) for key, part in own.items()}
    if isinstance(spoken, list) and isinstance(original, list):
        return [_leave_untranslated(*pair) for pair in zip(spoken, original, strict=False)]
    return spoken


def _plan_language(project: Project) -> Plan:
    """The plan with the texts of one language."""
    planner = _Planner(project)
    named = (intent for reply in project.replies for intent in reply.intents)
    for intent in dict.fromkeys([*project.intents, *project.examples, *named]):
        planner.plan_intent(intent)
    planner.plan_default()
    planner.plan_forms()
    planner.plan_answers_to_yes_no()
    planner.plan_entities()
    planner.plan_paths()
    planner.plan_rest()
    planner.plan_tests()
    return planner.result


class _Planner:
    def __init__(self, project: Project) -> None:
        self.result, self._project = Plan(), project
        language = find_language(project.language) if project.language else ""
        #: Blank for the default language, whose flows read dates as the installation says.
        self._locale = language if language in {*list_languages()} - {DEFAULT} else ""
        self._texts = get_texts(find_language(self._locale))
        #: The code of each phrase, folded, and of each intent with a flow; the responses that are used.
        self._owners: dict[str, str] = {}
        self._codes: dict[str, str] = {}
        self._responses: set[str] = set()
        #: The fields, and the codes of the flows, of each form.
        self._fields: dict[str, Fields] = {}
        self._begun: dict[str, list[str]] = {}
        #: What is done after each intent and each form, and after a yes or no behind it.
        self._done: dict[str, list[str]] = {}
        #: The codes and the last states of the flows that end with an action.
        self._ends: dict[str, list[tuple[str, str]]] = {}

    def _add(self, part: str, name: str, outcome: Outcome, becomes: str = "", *reasons: str) -> None:
        self.result.entries.append(PlanEntry(part, name, outcome, becomes, "; ".join(filter(None, reasons))))

    # --- intents ------------------------------------------------------------------------------------------------

    def plan_intent(self, intent: str) -> None:
        """Make a flow of an intent, or say why it makes none."""
        role = self._project.find_role(intent)
        continuation = find_continuation(self._project, intent)
        if role in (Role.YES, Role.NO):
            if self._project.examples.get(intent):
                self._plan_yes_no(intent, role)
        elif any(name.startswith(f"{intent}/") for name in self._project.examples):
            # A rule names a retrieval intent as a whole.
            self._done[intent] = [f"utter_{intent}"]
            self._add("intent", intent, Outcome.COMES, "", "each of its parts is an intent")
        elif role is Role.FALLBACK:
            self._plan_fallback(intent, continuation)
        elif not self._project.examples.get(intent):
            self._add("intent", intent, Outcome.UNNEEDED, "", "it has no examples, so nobody can say it")
        elif continuation.form:
            self._plan_form_flow(intent, continuation)
        elif continuation.responses or role is Role.HAND_OVER:
            self._plan_answer(intent, continuation, role)
        else:
            outcome, reason = self._explain_silence(intent, continuation)
            self._add("intent", intent, outcome, "", reason)

    def _explain_silence(self, intent: str, continuation: Continuation) -> tuple[Outcome, str]:
        """Why an intent with examples makes no flow."""
        replies = self._project.list_replies(intent)
        loops = dict.fromkeys(reply.loop for reply in replies if reply.loop)
        if loops and self._project.find_role(intent) is Role.STOP:
            return Outcome.UNNEEDED, "users leave a form by “cancel” or another subject"
        does_nothing = not any(action not in self._project.forms for reply in replies for action in reply.actions)
        if does_nothing and self._fills_slots(intent):
            return Outcome.UNNEEDED, "values are read from any message; its marks are words of choices"
        if continuation.losses:
            return Outcome.PERSON, "; ".join(continuation.losses)
        if loops:
            return Outcome.PERSON, f"only {', '.join(loops)} answers it"
        actions = ", ".join(continuation.actions)
        return Outcome.PERSON, "nothing says what follows it" if does_nothing else f"code answers it: {actions}"

    def _plan_yes_no(self, intent: str, role: Role) -> None:
        """The engine has its own yes and no: say how many of the examples it reads so."""
        examples = [example.text for example in self._project.examples.get(intent, ())][:_MOST_PHRASES]
        lines = [{"say": text, "asked": "answer", "locale": self._locale} for text in examples]
        unread = [line["say"] for line in lines if _ANSWERS.read(line).taken.get("answer") is not (role is Role.YES)]
        reasons = [f"the engine reads {len(examples) - len(unread)} of its {len(examples)} examples as a {role}"]
        if unread:
            reasons.append(f"not {', '.join(f'“{text}”' for text in unread[:_MOST_QUOTED])}")
        self._add("intent", intent, Outcome.PARTLY if reasons[1:] else Outcome.UNNEEDED, "", *reasons)

    def _fills_slots(self, intent: str) -> bool:
        mappings = [each for slots in self._project.forms.values() for own in slots.values() for each in own]
        mappings += [each for slot in self._project.slots.values() for each in slot["mappings"]]
        marks = any(example.values for example in self._project.examples[intent])
        return marks or any(intent in list_intents(each) for each in mappings)

    def _plan_fallback(self, intent: str, continuation: Continuation) -> None:
        """Rasa sends this intent itself where it understood nothing, so its examples are no phrases."""
        text, losses = self._write_responses(continuation.responses, {})
        losses += ["its examples make no phrases"] if intent in self._project.examples else []
        self._done[intent] = continuation.responses
        if text:
            self._answer_not_understood(text)
            self._add("intent", intent, Outcome.COMES, f"Answer for {NOT_UNDERSTOOD}", *losses)
        else:
            self._add("intent", intent, Outcome.UNNEEDED, "", "the engine says it by itself")

    def plan_default(self) -> None:
        """Rasa says `utter_default` where no intent or rule says something else."""
        if rows.Response.table not in self.result.tables and "utter_default" in self._project.responses:
            text, losses = self._write_responses(["utter_default"], {})
            if text:
                self._answer_not_understood(text)
                self._add("response", "utter_default", Outcome.COMES, f"Answer for {NOT_UNDERSTOOD}", *losses)

    def _answer_not_understood(self, text: str) -> None:
        """In a form, its question comes instead."""
        if rows.Response.table not in self.result.tables:
            texts = (
                f"{{% if question %}}{{{{ question }}}}{{% else %}}{each}{{% endif %}}" for each in split_texts(text)
            )
            self._add_text(ANY, NOT_UNDERSTOOD, OR.join(texts), "nobody understood")

    def _add_text(self, code: str, state: str, text: str, description: str) -> None:
        self.result.tables.setdefault(rows.Response.table, []).append({
            "intent_code": code, "state_code": state, "output_format": "TEXT", "response_type": "EXACT",
            "exact_text": text, "description": description,
        })  # fmt: skip

    def _plan_answer(self, intent: str, continuation: Continuation, role: Role | None) -> None:
        kind, name = (FlowKind.handover, "Hand-over") if role is Role.HAND_OVER else (FlowKind.answer, "Answer")
        text, losses = self._write_responses(continuation.responses, {})
        if not text and kind is FlowKind.answer:
            self._add("intent", intent, Outcome.PERSON, "", "its response has no text", *losses)
            return
        rest = [action for action in continuation.actions if action not in continuation.responses]
        losses += [f"without {', '.join(rest)}"] if rest else []
        if role is Role.OUT_OF_SCOPE and not self._project.list_replies("nlu_fallback"):
            self._answer_not_understood(text)
        # Users read the title in "Do you mean …?".
        title = name_title(role if role is Role.OUT_OF_SCOPE else intent)
        self._done[intent] = continuation.responses
        flow = {"title": title, "kind": kind.value, "answer": text or self._texts["answer_handover"]}
        if (code := self._add_flow(intent, name, flow, [*continuation.losses, *losses])) and kind is FlowKind.answer:
            self._ends.setdefault(continuation.actions[-1], []).append((code, IDLE))

    def _plan_form_flow(self, intent: str, continuation: Continuation) -> None:
        """A flow that asks for the fields of a form, from the first message to the answer at the end."""
        form = continuation.form
        slots, end = list_slots(self._project, form), find_form_end(self._project, form)
        constants = {slot.name: value for slot in slots if (value := slot.find_constant(intent)) is not None}
        written = write_fields([slot for slot in slots if slot.name not in constants])
        if not written.fields:
            self._add("intent", intent, Outcome.PERSON, "", f"{form} has no slots: code asks for them")
            return
        last_responses = list(filter(is_response, end.actions))
        answer, losses = self._write_responses(last_responses, written.names)
        intro, further = self._write_responses(continuation.responses, written.names, asks=True)
        written.begin_with(intro)
        rest = [action for action in (*continuation.actions, *end.actions) if not is_response(action)]
        losses += [*further, *continuation.losses, *end.losses, *(f"without {action}" for action in rest)]
        ending = written.write_ending(is_code=not all(map(is_response, end.actions)))
        losses += [] if ending else ["it asks for a yes at the end"]
        self._responses |= {slot.question_name for slot in slots}
        self._done |= {intent: [*continuation.responses, form], form: last_responses}
        flow = {
            "title": name_title(intent), "kind": FlowKind.collect.value, "fields": written.fields, "resume": True,
            "answer": answer or self._texts["answer_collect"],
            **ending, **({"locale": self._locale} if self._locale else {}),
        }  # fmt: skip
        if added := self._add_flow(intent, "Flow", flow, losses):
            self._fields.setdefault(form, written)
            self._begun.setdefault(form, []).append(added)
            self._ends.setdefault(next(reversed(end.actions), ""), []).append((added, DONE))
            self._set_constants(added, constants)

    def _set_constants(self, code: str, constants: Mapping[str, str]) -> None:
        """Set the fields that the intent of the flow says."""
        self.result.tables.setdefault(rows.Rule.table, []).extend({
            "intent_code": code, "state_code": COLLECT, "phase": "PRE_RESPONSE_RESOLUTION", "rule_type": "EXACT",
            "match_pattern": "ANY", "action": "SET_CONTEXT", "action_value": f"{name_field(slot)}:{value}",
            "priority": 4, "description": f"the intent says the {name_title(slot).lower()}"[:200],
        } for slot, value in constants.items())  # fmt: skip

    def _add_flow(self, intent: str, name: str, flow: Values, losses: Sequence[str]) -> str:
        """Add the flow with its phrases, and return its code: an empty one if all examples belong to other intents."""
        code = name_code(intent)
        if code in self._codes.values():
            code = f"{code[:50]}_{len(self._codes)}"
        examples, phrases = [example.text for example in self._project.examples[intent]], dict[str, str]()
        for text in examples:
            # One phrase leads to one intent.
            is_phrase = has_words(text) and len(text) <= _LONGEST_PHRASE and len(phrases) < _MOST_PHRASES
            if is_phrase and self._owners.setdefault(fold(text), code) == code:
                phrases.setdefault(fold(text), text)
        owners = Counter(self._owners.get(fold(text), code) for text in examples)
        reasons = [f"{owners[owner]} of its examples lead to {owner}" for owner in owners if owner != code]
        if left_out := owners[code] - len(phrases):
            reasons.append(f"{left_out} of its examples are repeated, too long, too many or without words")
        if not phrases:
            self._add("intent", intent, Outcome.PERSON, "", *reasons)
            return ""
        self._codes[intent] = code
        self.result.flows.append({"code": code, **flow, "phrases": list(phrases.values())})
        outcome = Outcome.PARTLY if losses else Outcome.COMES
        self._add("intent", intent, outcome, f"{name} {code}", *losses, *reasons)
        return code

    def _write_responses(
        self, names: Sequence[str], fields: Mapping[str, str], *, asks: bool = False
    ) -> tuple[str, list[str]]:
        """The texts of responses one after the other, and what they lose. `asks`: a question of a form follows."""
        missing = [f"{name} is not in the domain" for name in names if name not in self._project.responses]
        variations = (self._project.responses.get(name, ()) for name in names)
        texts = [write_text([*map(self._add_messages, each)] if not asks else each, fields) for each in variations]
        self._responses.update(names)
        losses = [*missing, *(loss for text in texts for loss in text.losses)]
        return write_in_sequence([text.template for text in texts]), losses

    def _add_messages(self, variation: Mapped) -> Mapped:
        """The variation of an answer with the message that each button sends: blank if no example fits."""
        replies = variation.get("replies", ())
        messages = {button.title: self._find_message(button) for button in read_buttons(variation)}
        left_out = [part for part in variation.get("left_out", ()) if not (replies and part == QUICK_REPLIES)]
        return {**variation, "left_out": left_out, "messages": {**messages, **{text: text for text in replies}}}

    def _find_message(self, button: Button) -> str:
        """The message that a button sends: its text, an example of its intent with its values, or its only value."""
        examples = self._project.examples.get(button.intent, ())
        exact = [example.text for example in examples if example.values == button.values]
        values = [*button.values.values()]
        is_word = len(values) == 1 and not isinstance(values[0], (bool, dict, list))
        others = [str(values[0])] if is_word else [] if values else [example.text for example in examples]
        return button.text or next(iter([*exact, *others]), "")

    # --- everything else ----------------------------------------------------------------------------------------

    def plan_forms(self) -> None:
        for form in self._project.forms:
            if codes := self._begun.get(form):
                self._add("form", form, Outcome.COMES, f"Form of {', '.join(codes)}")
                self.result.entries += self._fields[form].entries
            else:
                self._add("form", form, Outcome.PERSON, "", "no single message begins it: write a flow for it")
        of_forms = {"requested_slot", *(slot for slots in self._project.forms.values() for slot in slots)}
        if others := [slot for slot in self._project.slots if slot not in of_forms]:
            self._add("slot", ", ".join(others), Outcome.PERSON, "", "no form asks for it: code or a rule sets it")

    def plan_answers_to_yes_no(self) -> None:
        """Say what follows a yes or no to each action that stories or follow-ups answer."""
        answers = ((reply.follows, self._find_answer_role(reply)) for reply in self._project.replies)
        for action, role in dict.fromkeys((action, role) for action, role in answers if action and role):
            continuation = find_answer(self._project, action, role)
            if action not in self._ends:
                self._add("yes or no", _name_answer(action, role), Outcome.PERSON, "", "no flow ends with it")
            elif continuation:
                self._plan_answer_to(action, role, continuation)

    def _find_answer_role(self, reply: Reply) -> Role | None:
        """Whether the reply follows a yes or a no outside of a form."""
        role = self._project.find_role(reply.intents[0]) if reply.intents and not reply.loop else None
        return role if role in _ACTS else None

    def _plan_answer_to(self, action: str, role: Role, continuation: Continuation) -> None:
        """Rules that lead from the flows that end with an action to what follows a yes or no: a text, or a flow."""
        name = _name_answer(action, role)
        text, losses = self._write_responses(continuation.responses, {})
        losses += [*continuation.losses, *(f"without {each}" for each in continuation.actions if not is_response(each))]
        if flows := self._begun.get(continuation.form, []):
            moves = {"SET_INTENT": flows[0], "SET_STATE": COLLECT}
            losses += [f"without {each}" for each in continuation.responses]
        elif text:
            moves = {"SET_STATE": role.name}
        else:
            self._add("yes or no", name, Outcome.PERSON, "", *losses or ["code answers it"])
            return
        for code, state in self._ends[action]:
            # A form does not end in a state with rules of its own.
            self.result.tables.setdefault(rows.Rule.table, []).extend({
                "intent_code": code, "state_code": ANY if state == DONE else state, "phase": "POST_DIALOGUE_ACT",
                "rule_type": "CONDITION", "match_pattern": self._write_test(code, state, role),
                "action": move, "action_value": value, "priority": 20, "description": f"go on after a {role}",
            } for move, value in moves.items())  # fmt: skip
            if not flows:
                self._add_text(code, role.name, text, f"after a {role}")
        self._done[name] = [*continuation.actions, *filter(None, [continuation.form])]
        codes = ", ".join(code for code, _ in self._ends[action])
        self._add("yes or no", name, Outcome.PARTLY if losses else Outcome.COMES, f"Rules of {codes}", *losses)

    def _write_test(self, code: str, state: str, role: Role) -> str:
        """The condition for a yes or no after a flow has ended. Its form is empty then, unlike at the confirmation."""
        fields = (field for flow in self.result.flows if flow["code"] == code for field in flow.get("fields", ()))
        required = [f"context.{field['name']}" for field in fields if is_field_required(field)]
        tested = {"state": state, "act": _ACTS[role]}
        tests: list[Values] = [{"field": field, "operator": "=", "value": value} for field, value in tested.items()]
        tests += [
            {"combinator": "and", "not": True, "rules": [{"field": field, "operator": "isNotEmpty"}]}
            for field in required[:1]
        ]
        return write_condition({"combinator": "and", "rules": tests})

    def plan_entities(self) -> None:
        used = {entity for form in self._begun for slot in list_slots(self._project, form) for entity in slot.entities}
        for kind, becomes, named in (
            ("lookup", "Choices", self._project.lookups), ("regex", "Pattern", self._project.patterns),
        ):  # fmt: skip
            for name in named:
                loss = self._project.entity_losses.get(name, "")
                if name in used:
                    self._add(kind, name, Outcome.PARTLY if loss else Outcome.COMES, becomes, loss)
                else:
                    self._add(kind, name, Outcome.PERSON, "", "no field reads this entity")
        self._plan_synonyms()

    def _plan_synonyms(self) -> None:
        fields = (field for flow in self.result.flows for field in flow.get("fields", ()))
        values = {option["value"] for field in fields for option in field.get("options", ())}
        synonyms = self._project.synonyms
        if unused := sorted({value for value in synonyms.values() if value not in values}):
            self._add("synonym", ", ".join(unused), Outcome.PERSON, "", "no field has this value as a choice")
        if used_count := sum(value in values for value in synonyms.values()):
            self._add("synonym", f"{used_count} words", Outcome.COMES, "Words of choices")

    def plan_paths(self) -> None:
        """A rule or story comes along if the flows do all that it says."""
        replies: dict[tuple[str, str], list[Reply]] = {path: [] for path in self._project.paths}
        for reply in self._project.replies:
            replies.setdefault(reply.path, []).append(reply)
        for path in dict.fromkeys(self._project.paths):
            gaps = map(self._find_gap, replies[path])
            gap = next(filter(None, gaps), "") if replies[path] else "it goes on from an action, not from a message"
            self._add(*path, Outcome.PERSON if gap else Outcome.COMES, "" if gap else "The flows of its intents", gap)

    def _find_gap(self, reply: Reply) -> str:
        """Describe what a reply does that no flow does. Returns an empty text if flows do everything."""
        # Within a form, flows go on with their questions by themselves.
        actions = [action for action in reply.actions if not (reply.loop and action in self._project.forms)]
        names: Sequence[str] = reply.intents or [reply.form]
        if role := self._find_answer_role(reply):
            names = [_name_answer(reply.follows, role)]
        if not actions or (not reply.is_conditional and all(self._done.get(name) == actions for name in names)):
            return ""
        case = ", if a slot or a checkpoint says so," if reply.is_conditional else ""
        return f"after {' or '.join(filter(None, names)) or 'other words'}{case} it does {', '.join(actions)}"

    def plan_rest(self) -> None:
        for action in dict.fromkeys(filter(lambda name: not is_response(name), self._project.actions)):
            remedy = next(text for beginning, text in _ACTIONS.items() if action.startswith(beginning))
            self._add("action", action, Outcome.PERSON, "", remedy)
            if remedy == _ACTIONS[""]:
                ended = [form for form in self._fields if action in find_form_end(self._project, form).actions]
                names = (name for form in ended for name in self._fields[form].names.values())
                self.result.tasks[action] = list(dict.fromkeys(names))
        if unused := [name for name in self._project.responses if name not in self._responses]:
            self._add("response", ", ".join(unused), Outcome.PERSON, "", "only code, stories or conditions use it")
        if (language := find_language_code(self._project.language)) not in {"", *list_languages()}:
            reason = f"dates, numbers and a yes are read in {', '.join(list_languages())} only"
            self._add("section", "language", Outcome.PERSON, "", f"{language}: {reason}")
        for section in sorted(self._project.sections & _SECTIONS.keys()):
            self._add("section", section, _SECTIONS[section][0], "", _SECTIONS[section][1])

    def plan_tests(self) -> None:
        for number, story in enumerate(self._project.tests, 1):
            scenario = write_scenario(self._project, self._codes, self._fields, story)
            self.result.entries.append(scenario.entry)
            if scenario.turns:
                name = f"{number:03}-{scenario.name}".strip("-")
                document = {"id": name, "title": scenario.title or name, "turns": scenario.turns}
                self.result.scenarios.append(document)


def _name_answer(action: str, role: Role) -> str:
    return f"{role} after {action.removeprefix('utter_')}"
