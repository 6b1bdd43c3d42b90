"""The plan: the flows that a project becomes, and a line for each part of it with what becomes of it and why."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile

from config_admin.contrib.come_over.fields import Fields, list_slots, write_fields
from config_admin.contrib.come_over.paths import LEAVE, Reply
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.roles import Role, find_role
from config_admin.contrib.come_over.texts import Text, name_code, name_title, write_text
from config_admin.flows.document import Document, FlowKind, Values
from config_admin.flows.mapping import COLLECT, write_rows
from convengine.engine.forms.asking import get_texts
from convengine.engine.text.compare import fold
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, NOT_UNDERSTOOD
from convengine.engine.understanding.language import find_language, list_languages
from convengine.engine.understanding.phrases.terms import has_words

#: Limits of a flow document.
_MOST_PHRASES, _LONGEST_PHRASE, _LONGEST_ANSWER = 500, 500, 4000


class Outcome(StrEnum):
    """What becomes of a part of the project."""

    COMES = "comes along"
    PARTLY = "in part"
    PERSON = "needs a person"
    UNNEEDED = "not needed"


@dataclass(frozen=True)
class PlanLine:
    part: str
    name: str
    outcome: Outcome
    becomes: str = ""
    reason: str = ""


#: Sections and files that are not read, each with the reason.
_LEFT_OUT: Mapping[str, tuple[Outcome, str]] = {
    "pipeline": (Outcome.UNNEEDED, "phrases count at once, nothing is trained"),
    "policies": (Outcome.UNNEEDED, "rules and forms decide, nothing is trained"),
    "session_config": (
        Outcome.PERSON,
        "set Session/IDLE_TIMEOUT_HOURS to the time after which a conversation begins anew",
    ),
    "e2e_actions": (Outcome.PERSON, "answers that are chosen by the message alone have no rule to read"),
}
#: What a custom action becomes, by the beginning of its name.
_ACTIONS: Mapping[str, str] = {
    "validate_": "bounds, patterns and “not allowed” of the flow refuse values; write the others as a finder",
    "action_ask_": "a question from code: write it as text, or let a tool fill what its template reads",
    "": "register a task or a tool for it, and name it in the flow",
}


@dataclass
class Plan:
    lines: list[PlanLine] = field(default_factory=list)
    flows: list[Document] = field(default_factory=list)
    #: Rows that no flow document has, by table.
    tables: dict[str, list[Values]] = field(default_factory=dict)

    def write_tables(self) -> dict[str, list[Values]]:
        """All rows. Raises FlowRefused."""
        tables = {table: [*listed] for table, listed in self.tables.items()}
        for flow in self.flows:
            for table, listed in write_rows(flow).items():
                tables.setdefault(table, []).extend(listed)
        return tables

    def count_outcomes(self) -> Mapping[Outcome, int]:
        return Counter(line.outcome for line in self.lines)


@dataclass
class _Path:
    """What the project does after a message, as far as all its rules and stories agree."""

    actions: Sequence[str] = ()
    form: str = ""
    #: Why it is not everything.
    losses: list[str] = field(default_factory=list)

    @property
    def utterances(self) -> list[str]:
        """The responses before the first action of code."""
        return list(takewhile(lambda action: action.startswith("utter_"), self.actions))


def plan_project(project: Project) -> Plan:
    return _Planner(project).plan()


class _Planner:
    def __init__(self, project: Project) -> None:
        self._project, self._plan = project, Plan()
        language = find_language(project.language) if project.language else ""
        self._locale = language if language in list_languages() else ""
        self._texts = get_texts(find_language(self._locale))
        #: The flow of each phrase, folded; the responses that are used; the flows of each form.
        self._owners: dict[str, str] = {}
        self._responses: set[str] = set()
        self._codes: dict[str, str] = {}
        self._begun: dict[str, list[str]] = {}
        self._fields: dict[str, Fields] = {}
        #: What is done after each intent, and after each form.
        self._done: dict[tuple[str, str], list[str]] = {}

    def plan(self) -> Plan:
        named = (intent for reply in self._project.replies for intent in reply.intents)
        for intent in dict.fromkeys([*self._project.intents, *self._project.examples, *named]):
            self._plan_intent(intent)
        self._plan_forms()
        self._plan_entities()
        for kind, names in (("rule", self._project.rules), ("story", self._project.stories)):
            for name in dict.fromkeys(names):
                self._plan_path(kind, name)
        self._plan_rest()
        return self._plan

    def _add(self, part: str, name: str, outcome: Outcome, becomes: str = "", *reasons: str) -> None:
        self._plan.lines.append(PlanLine(part, name, outcome, becomes, "; ".join(filter(None, reasons))))

    # --- intents ------------------------------------------------------------------------------------------------

    def _plan_intent(self, intent: str) -> None:
        examples, role, path = self._project.examples.get(intent, ()), find_role(intent), self._find_path(intent)
        if role is Role.FALLBACK:
            self._plan_fallback(intent, path)
        elif role in (Role.YES, Role.NO):
            leads = [reply for reply in self._list_replies(intent) if not reply.loop]
            self._add(
                "intent", intent, Outcome.PARTLY if leads else Outcome.UNNEEDED, f"“{role.value}” of the engine",
                f"it reads {role.value} in any words", "what follows it in stories needs a person" if leads else "",
            )  # fmt: skip
        elif any(name.startswith(f"{intent}/") for name in self._project.examples):
            self._done["intent", intent] = [f"utter_{intent}"]
            self._add("intent", intent, Outcome.COMES, "", "each of its parts is an intent")
        elif not examples:
            self._add("intent", intent, Outcome.UNNEEDED, "", "it has no examples, so users cannot say it")
        elif path.form and find_role(intent) is not Role.HAND_OVER:
            self._plan_form_flow(intent, path)
        elif path.utterances or role is Role.HAND_OVER:
            self._plan_answer(intent, path, role)
        else:
            self._plan_unanswered(intent, path, role)

    def _plan_fallback(self, intent: str, path: _Path) -> None:
        """Rasa sends the intent itself where it understood nothing, so its examples are no phrases."""
        text, losses = self._write_responses(path.utterances, {})
        self._done["intent", intent] = path.utterances
        if count := len(self._project.examples.get(intent, ())):
            losses.append(f"its {count} examples make no phrases")
        if text:
            self._answer_not_understood(text)
            self._add("intent", intent, Outcome.COMES, f"Answer for {NOT_UNDERSTOOD}", *losses)
        else:
            self._add("intent", intent, Outcome.UNNEEDED, "", "the engine says that it did not understand")

    def _answer_not_understood(self, text: str) -> None:
        """In a form, its question comes instead."""
        self._plan.tables.setdefault(rows.Response.table, [
            {
                "intent_code": ANY, "state_code": NOT_UNDERSTOOD, "output_format": "TEXT", "response_type": "EXACT",
                "exact_text": f"{{% if question %}}{{{{ question }}}}{{% else %}}{text}{{% endif %}}",
                "description": "nobody understood",
            }
        ])  # fmt: skip

    def _plan_answer(self, intent: str, path: _Path, role: Role | None) -> None:
        kind = FlowKind.handover if role is Role.HAND_OVER else FlowKind.answer
        text, losses = self._write_responses(path.utterances, {})
        flow = {**self._begin_flow(intent), "kind": kind.value, "answer": text or self._texts["answer_handover"]}
        if rest := [action for action in path.actions if action not in path.utterances]:
            losses.append(f"without {', '.join(rest)}")
        if role is Role.OUT_OF_SCOPE:
            # Users read the title in "Do you mean …?".
            flow["title"] = name_title(role.value)
            if not self._list_replies("nlu_fallback"):
                self._answer_not_understood(text)
        name = "Hand-over" if kind is FlowKind.handover else "Answer"
        self._done["intent", intent] = path.utterances
        self._finish_flow(intent, flow, name, [*path.losses, *losses])

    def _plan_form_flow(self, intent: str, path: _Path) -> None:
        """A flow that asks for the fields of a form, from the first message to the answer at the end."""
        form = path.form
        slots = list_slots(self._project, form)
        constants = {slot.name: value for slot in slots if (value := slot.find_constant(intent)) is not None}
        written = write_fields([slot for slot in slots if slot.name not in constants])
        if not written.fields:
            self._add("intent", intent, Outcome.PERSON, "", f"{form} has no slots: code asks for them")
            return
        end, losses = self._find_end(form), [*path.losses]
        said = [action for action in end.actions if action.startswith("utter_")]
        answer, further = self._write_responses(said, written.names)
        losses += [*end.losses, *further]
        flow = {
            **self._begin_flow(intent),
            "kind": FlowKind.collect.value,
            "fields": written.fields,
            "answer": answer or self._texts["answer_collect"],
        }
        code = flow["code"]
        if self._locale:
            flow["locale"] = self._locale
        if written.confirmation:
            flow["confirmation"] = write_text(written.confirmation.question, written.names, is_question=True).template
        else:
            losses.append("it asks for a yes at the end")
        if path.utterances:
            intro, further = self._write_responses(path.utterances, written.names)
            first = written.fields[0]
            question = first.get("question", "")
            first |= {"question": f"{intro}\n\n{question}".strip(), **({"again": question} if question else {})}
            losses += further
        losses += [f"without {action}: code" for action in (*path.actions, *end.actions) if self._is_code(action)]
        for slot, value in constants.items():
            self._add_row(
                rows.Rule.table, intent_code=code, state_code=COLLECT, phase="PRE_RESPONSE_RESOLUTION",
                rule_type="EXACT", match_pattern="ANY", action="SET_CONTEXT",
                action_value=f"{written.names.get(slot, slot)}:{value}", priority=4,
                description=f"the intent says the {name_title(slot).lower()}"[:200],
            )  # fmt: skip
        self._begun.setdefault(form, []).append(code)
        self._fields.setdefault(form, written)
        for each in (slot.question for slot in slots):
            self._responses |= {name for name, response in self._project.responses.items() if response is each}
        self._done["intent", intent] = [*path.utterances, form]
        self._done["form", form] = said
        self._finish_flow(intent, flow, "Flow", losses)

    def _plan_unanswered(self, intent: str, path: _Path, role: Role | None) -> None:
        """Say why an intent with examples makes no flow: the first reason that holds."""
        replies = self._list_replies(intent)
        loops = list(dict.fromkeys(reply.loop for reply in replies if reply.loop))
        code = next((action for reply in replies for action in reply.actions), "")
        reasons = (
            (role is Role.STOP and loops, Outcome.UNNEEDED, "users leave a form by “cancel” or another subject"),
            (
                not replies and self._fills_slots(intent), Outcome.UNNEEDED,
                "values are read from any message; its marks are words of choices",
            ),
            (path.losses, Outcome.PERSON, "; ".join(path.losses)),
            (loops, Outcome.PERSON, f"only {', '.join(loops)} answers it"),
            (code, Outcome.PERSON, f"{code} answers it"),
            (True, Outcome.PERSON, "no rule or story says what follows it"),
        )  # fmt: skip
        outcome, reason = next((outcome, reason) for holds, outcome, reason in reasons if holds)
        self._add("intent", intent, outcome, "", reason)

    def _fills_slots(self, intent: str) -> bool:
        mappings = [each for slots in self._project.forms.values() for listed in slots.values() for each in listed]
        mappings += [each for slot in self._project.slots.values() for each in slot["mappings"]]
        uses = any(intent in (each.get("intent") or ()) for each in mappings)
        return uses or any(example.values for example in self._project.examples.get(intent, ()))

    def _begin_flow(self, intent: str) -> Values:
        return {"code": self._make_code(intent), "title": name_title(intent)}

    def _finish_flow(self, intent: str, flow: Values, kind: str, losses: Sequence[str]) -> None:
        examples = [example.text for example in self._project.examples[intent]]
        phrases, reasons = self._choose_phrases(examples, flow["code"]), [*losses]
        if not phrases:
            self._add("intent", intent, Outcome.PERSON, "", "all its examples belong to other intents, too")
            return
        owners = Counter(self._owners.get(fold(text), flow["code"]) for text in examples)
        for owner, count in owners.items():
            if owner != flow["code"]:
                reasons.append(f"{count} of its examples lead to {owner}, which has them, too")
        if left_out := owners[flow["code"]] - len(phrases):
            reasons.append(f"{left_out} of its examples are repeated, too long or without words")
        flow["answer"] = flow["answer"][:_LONGEST_ANSWER]
        self._plan.flows.append({**flow, "phrases": phrases})
        is_whole = not losses
        self._add("intent", intent, Outcome.COMES if is_whole else Outcome.PARTLY, f"{kind} {flow['code']}", *reasons)

    def _choose_phrases(self, examples: Sequence[str], code: str) -> list[str]:
        """The examples that no other flow has: one phrase leads to one intent."""
        phrases = dict[str, str]()
        for text in examples:
            if has_words(text) and len(text) <= _LONGEST_PHRASE and self._owners.setdefault(fold(text), code) == code:
                phrases.setdefault(fold(text), text)
        return list(phrases.values())[:_MOST_PHRASES]

    def _make_code(self, intent: str) -> str:
        """The code of an intent; two names that give the same code have numbers."""
        base = code = name_code(intent)
        number = 1
        while self._codes.setdefault(code, intent) != intent:
            number += 1
            code = f"{base[:56]}_{number}"
        return code

    # --- paths --------------------------------------------------------------------------------------------------

    def _list_replies(self, intent: str) -> list[Reply]:
        """What follows an intent; a part of a retrieval intent is meant by the name of the whole, too."""
        names = {intent, intent.partition("/")[0]}
        return [reply for reply in self._project.replies if names & {*reply.intents}]

    def _find_path(self, intent: str) -> _Path:
        if "/" in intent and f"utter_{intent}" in self._project.responses:
            return _Path([f"utter_{intent}"])
        replies = self._list_replies(intent)
        outside = [reply for reply in replies if not reply.loop]
        forms = {
            action: reply for reply in reversed(outside) for action in reply.actions if action in self._project.forms
        }
        if len(forms) == 1 and find_role(intent) is None:
            [(form, reply)] = forms.items()
            return self._join([reply], form)
        in_loops = [reply for reply in replies if reply.loop and LEAVE not in reply.actions]
        groups = (
            [reply for reply in outside if reply.kind == "rule" and not reply.is_conditional],
            [reply for reply in outside if reply.is_first and not reply.is_conditional],
            [reply for reply in outside if not reply.is_conditional],
            in_loops,
        )
        chosen = next(filter(None, groups), [])
        path = self._join(chosen)
        if len(forms) > 1:
            path.losses.append(f"it begins {len(forms)} forms: {', '.join(forms)}")
        elif not chosen and outside:
            path.losses.append("it answers in certain cases only")
        return path

    def _find_end(self, form: str) -> _Path:
        ends = [reply for reply in self._project.replies if reply.form == form]
        rules = [reply for reply in ends if reply.kind == "rule" and not reply.is_conditional]
        return self._join(rules or [reply for reply in ends if not reply.is_conditional])

    def _join(self, replies: Sequence[Reply], form: str = "") -> _Path:
        """What these replies have in common from their beginning on."""
        listed = list(dict.fromkeys(tuple(reply.actions) for reply in replies))
        common = [each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*listed, strict=False))]
        path = _Path(common if not form else list(takewhile(lambda action: action != form, listed[0])), form)
        if len(listed) > 1:
            path.losses.append(f"{len(listed)} paths go different ways")
        answers = {find_role(intent) for reply in replies for intent in reply.next_intents}
        if not form and {Role.YES, Role.NO} & answers:
            path.losses.append("it asks for a yes or no, and what follows needs a person")
        return path

    def _is_code(self, action: str) -> bool:
        return not action.startswith("utter_") and action not in self._project.forms

    def _write_responses(self, names: Sequence[str], fields: Mapping[str, str]) -> tuple[str, list[str]]:
        """The texts of responses one after the other, and what they lose."""
        texts = list[Text]()
        losses = []
        for name in names:
            if variations := self._project.responses.get(name):
                texts.append(write_text(variations, fields))
                self._responses.add(name)
            else:
                losses.append(f"{name} is not in the domain")
        losses += [loss for text in texts for loss in text.losses]
        if unset := list(dict.fromkeys(name for text in texts for name in text.unset)):
            losses.append(f"its text reads {', '.join(unset)}, which code has to set")
        return "\n\n".join(text.template for text in texts if text.template), losses

    def _add_row(self, table: str, **values: str | int) -> None:
        self._plan.tables.setdefault(table, []).append(values)

    # --- everything else ----------------------------------------------------------------------------------------

    def _plan_forms(self) -> None:
        for form in self._project.forms:
            codes = self._begun.get(form)
            if not codes:
                reason = "no single message begins it: write a flow, or name it in a rule"
                self._add("form", form, Outcome.PERSON, "", reason)
                continue
            self._add("form", form, Outcome.COMES, f"Form of {', '.join(codes)}")
            for slot, becomes, reason, needs_person in self._fields[form].notes:
                outcome = Outcome.PARTLY if needs_person else Outcome.COMES
                self._add("slot", f"{form}.{slot}", outcome, becomes, reason)
        asked = {slot for slots in self._project.forms.values() for slot in slots}
        if others := [slot for slot in self._project.slots if slot not in asked and slot != "requested_slot"]:
            self._add("slot", ", ".join(others), Outcome.PERSON, "", "no form asks for it: code or a rule sets it")

    def _plan_entities(self) -> None:
        used = {entity for form in self._begun for slot in list_slots(self._project, form) for entity in slot.entities}
        for kind, named in (("lookup", self._project.lookups), ("regex", self._project.patterns)):
            for name, texts in named.items():
                if name in used:
                    self._add(
                        kind, name, Outcome.COMES, "choices" if kind == "lookup" else "pattern", f"{len(texts)} lines"
                    )
                else:
                    self._add(kind, name, Outcome.PERSON, "", "no field reads this entity")
        if synonyms := self._project.synonyms:
            values = {str(option["value"]) for flow in self._plan.flows for option in _list_options(flow)}
            count = sum(value in values for value in synonyms.values())
            outcome = Outcome.COMES if count == len(synonyms) else Outcome.PARTLY
            self._add("synonym", f"{len(synonyms)} words", outcome, "words of choices", f"{count} belong to choices")

    def _plan_path(self, kind: str, name: str) -> None:
        """A rule or story comes along if the flows do all that it says."""
        replies = [reply for reply in self._project.replies if (reply.kind, reply.source) == (kind, name)]
        problem = next((each for reply in replies if (each := self._find_gap(reply))), "")
        if not replies:
            problem = "it goes on from an action, not from a message"
        self._add(
            kind, name, Outcome.PERSON if problem else Outcome.COMES, "" if problem else "see its intents", problem
        )

    def _find_gap(self, reply: Reply) -> str:
        """What a reply does that no flow does; blank for nothing."""
        after = f"after {' or '.join(reply.intents) or reply.form}"
        actions = [action for action in reply.actions if not (reply.loop and action in self._project.forms)]
        if reply.intents and LEAVE in actions:
            rest = ", ".join(actions[actions.index(LEAVE) + 1 :])
            return f"{after} it leaves the form and goes on with {rest or 'nothing'}"
        keys = [("intent", intent) for intent in reply.intents] or [("form", reply.form)]
        if reply.is_conditional:
            return f"{after} it depends on a slot or a checkpoint"
        for key in keys:
            if key[0] == "intent" and find_role(key[1]) in (Role.YES, Role.NO) and not actions:
                continue
            done = self._done.get(key)
            if code := next((action for action in actions if self._is_code(action)), ""):
                return f"{after}: {code} is code"
            if done is None and actions:
                return f"{after} it does {', '.join(actions)}"
            if done is not None and actions and actions != done:
                return f"{after} it does {', '.join(actions)}, elsewhere {', '.join(done) or 'nothing'}"
        return ""

    def _plan_rest(self) -> None:
        for action in dict.fromkeys(self._project.actions):
            if action.startswith("utter_"):
                continue
            remedy = next(text for beginning, text in _ACTIONS.items() if action.startswith(beginning))
            self._add("action", action, Outcome.PERSON, "", remedy)
        if unused := [name for name in self._project.responses if name not in self._responses]:
            reason = "only code, stories or conditions use it; take its text over by hand"
            self._add("response", ", ".join(unused), Outcome.PERSON, "", reason)
        for section in sorted(self._project.sections & _LEFT_OUT.keys()):
            outcome, reason = _LEFT_OUT[section]
            self._add("section", section, outcome, "", reason)


def _list_options(flow: Document) -> Iterator[Document]:
    for each in flow.get("fields", ()):
        yield from each.get("options", ())
