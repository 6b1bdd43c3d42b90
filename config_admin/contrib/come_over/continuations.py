"""What a project does after a message and after a form, as far as its rules and stories agree."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from config_admin.contrib.come_over.outcomes import Role
from config_admin.contrib.come_over.paths import LEAVE, Reply
from config_admin.contrib.come_over.project import Project


@dataclass
class Continuation:
    actions: Sequence[str] = ()
    #: The form that begins behind the actions.
    form: str = ""
    #: Why it is not everything.
    losses: list[str] = field(default_factory=list)

    @property
    def responses(self) -> list[str]:
        """Those before the first action of code."""
        return list(takewhile(is_response, self.actions))


def is_response(action: str) -> bool:
    return action.startswith("utter_")


def find_continuation(project: Project, intent: str) -> Continuation:
    if "/" in intent and f"utter_{intent}" in project.responses:
        return Continuation([f"utter_{intent}"])
    replies = project.list_replies(intent)
    outside = [reply for reply in replies if not reply.loop]
    forms = _list_forms(project, outside)
    if len(forms) == 1 and project.find_role(intent) is None:
        return _continue_with_form(outside, forms[0])
    continuation = _join(_choose_replies(replies))
    continuation.actions = [action for action in continuation.actions if action not in project.forms]
    if len(forms) > 1:
        continuation.losses.append(f"it begins {', '.join(forms)}")
    continuation.losses += _list_conditions(outside)
    return continuation


def _list_conditions(replies: Sequence[Reply]) -> list[str]:
    """What has to hold for all replies that are not within a form."""
    free = [reply for reply in replies if not reply.is_conditional]
    if free:
        return ["its stories answer if a slot has a value"] if all(reply.needs_value for reply in free) else []
    return ["it answers in certain cases only"] if replies else []


def _list_forms(project: Project, replies: Sequence[Reply]) -> list[str]:
    begun = (action for reply in replies for action in reply.actions if action in project.forms)
    return list(dict.fromkeys(begun))


def _choose_replies(replies: Sequence[Reply]) -> list[Reply]:
    """The replies that count: beginnings of rules, else of stories, else other parts, else those within a form."""
    outside = [reply for reply in replies if not reply.loop and not reply.is_conditional]
    free = [reply for reply in outside if not reply.needs_value] or outside
    first = [reply for reply in free if reply.is_first]
    digressions = [reply for reply in replies if reply.loop and LEAVE not in reply.actions]
    return _prefer_rules(first) or _prefer_rules(free) or digressions


def find_form_end(project: Project, form: str) -> Continuation:
    ends = [reply for reply in project.replies if reply.form == form and not reply.is_conditional]
    return _join(_prefer_rules(ends))


def find_answer(project: Project, action: str, role: Role) -> Continuation | None:
    """What follows a yes or no to an action. Returns None if no path says it."""
    replies = [
        reply
        for reply in project.replies
        if reply.follows == action and not (reply.loop or reply.is_conditional)
        if reply.intents and all(project.find_role(intent) is role for intent in reply.intents)
    ]
    if not replies:
        return None
    forms = _list_forms(project, replies)
    return _continue_with_form(replies, forms[0]) if len(forms) == 1 else _join(replies)


def _prefer_rules(replies: list[Reply]) -> list[Reply]:
    return [reply for reply in replies if reply.path[0] == "rule"] or replies


def _continue_with_form(replies: Sequence[Reply], form: str) -> Continuation:
    """The first path to the form: others leave it out, because the user said its values before."""
    actions = next(reply.actions for reply in replies if form in reply.actions)
    others = [reply for reply in replies if form not in reply.actions and not reply.is_conditional]
    losses = [f"other paths do {', '.join(others[0].actions)}"] if others else []
    losses += [loss for reply in replies for loss in reply.losses]
    return Continuation(actions[: actions.index(form)], form, losses)


def _join(replies: Sequence[Reply]) -> Continuation:
    """What these replies have in common from their beginning on."""
    listed = list(dict.fromkeys(tuple(reply.actions) for reply in replies))
    common = [each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*listed, strict=False))]
    losses = [f"{len(listed)} paths go different ways"] if len(listed) > 1 else []
    losses += [loss for reply in replies for loss in reply.losses]
    return Continuation(common, losses=losses)
