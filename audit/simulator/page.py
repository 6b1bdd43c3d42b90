"""The page of the simulator, and its part beside a form."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from audit.access_log.write import log_access
from audit.export.scenario.document import make_yaml_response
from audit.export.scenario.turn_entries import export_expected_response, format_time
from audit.models import CeAccessLog
from audit.record.document import list_unstored_events
from audit.record.events import expand_events
from audit.simulator.play import PlayedLine, RecordedAnswer, find_recorded_answers, play_lines, read_summaries
from audit.simulator.posted import Posted, SentMessage
from audit.timeline.explained_turn import build_phrase_accounts, explain_played_turn, has_compared_phrases
from convengine.engine.errors import ConvEngineError
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.difference import Difference
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.play.schema import ScenarioFileError
from convengine.play.stub_documents import (
    SECTIONS,
    CallName,
    Stubs,
    build_outside,
    dump_stubs,
    forget_answers,
    keep_answers,
    parse_stubs,
    set_answer,
)
from convengine.play.stubs import ScenarioStubs
from convengine.server.admin_site.configuration_choice import describe, list_choices, require_readable
from convengine.server.admin_site.first_steps import TRY, note_step
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.channels.contract import Provider
from convengine.server.channels.providers import list_used_providers
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations
from convengine.server.interfaces.unsaved_form import UnsavedForm

RIGHT = "ce_sessions.try_conversation"
REAL_RIGHT = "ce_sessions.take_real_turns"
#: The rights to read what stored turns were answered.
RECORD_RIGHTS = ("ce_sessions.view_ceconversationhistory", "audit.view_cellmcalllog")
TITLE = "Try a conversation"
_SECTION_LABELS = (("llm", "Models"), ("tools", "Tools"), ("tasks", "Tasks"), ("containers", "Data sources"))
#: How often answers lead to further calls that get theirs.
_MAX_FILLS = 3
#: The right to make tests, whose page is not ours.
_TEST_RIGHT = "config_admin.add_cetestcase"
_LIVE = ConfigurationName("live")


@dataclass
class ShownSimulation:
    posted: Posted
    configuration: ConfigurationName
    form: UnsavedForm | None
    lines: Sequence[SentMessage] = ()
    stubs_text: str = ""
    played: Sequence[PlayedLine] = ()
    #: The sections of stubs that are really called when no stub answers.
    real: frozenset[str] = frozenset()
    #: What keeps the lines from being played, or from being added, and where.
    problem: str = ""
    stubs_problem: str = ""
    offers: Sequence[RecordedAnswer] = ()
    #: The number of the call in the explained turn that the offers answer. None if they answer no call.
    offered_for: int | None = None
    began: datetime = field(default_factory=timezone.now)
    #: The kinds of channels that this installation has.
    providers: Sequence[Provider] = field(default_factory=list_used_providers)
    message: str = ""


@page(
    "simulate/",
    of="audit.CeAudit",
    right=RIGHT,
    entry=SidebarEntry(
        "Try & test", "Try a conversation", "Send messages and see how each answer was chosen. Nothing is stored.", 0
    ),
)
def simulator_page(request: HttpRequest) -> HttpResponse:
    """A conversation with live, a release, or a draft."""
    posted, default = Posted.of(request), _LIVE
    if draft := getattr(request, "ce_draft", None):
        default = ConfigurationName("draft", draft.pk)
    text = posted.get("on") or request.GET.get("on", "")
    try:
        name = ConfigurationName.parse(text) if text else default
    except ValueError as error:
        return _render(request, ShownSimulation(posted, default, None, problem=str(error)))
    return _play(request, ShownSimulation(posted, name, None))


def show_simulator(request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName) -> HttpResponse:
    """A conversation with a configuration on which a form lies unsaved."""
    require_right(request, RIGHT)
    return _play(request, ShownSimulation(Posted.of(request), configuration, form))


class NotPlayed(Exception):
    """The conversation cannot be played as it was sent. The message says why."""


def _play(request: HttpRequest, simulation: ShownSimulation) -> HttpResponse:
    posted = simulation.posted
    require_readable(request, str(simulation.configuration))
    # Only a POST may call real services: anybody may be sent a link.
    simulation.real = posted.real_sections & SECTIONS if request.method == "POST" else frozenset()
    if simulation.real:
        require_right(request, REAL_RIGHT)
    simulation.lines, simulation.problem = posted.read_lines()
    try:
        _play_lines(request, simulation)
    except ScenarioFileError as error:
        simulation.stubs_problem = str(error)
    except NotPlayed as error:
        simulation.problem = str(error)
    if simulation.played:
        note_step(request, TRY)
    if posted.has("download") and simulation.played:
        return make_yaml_response(build_test_document(simulation))
    _offer_answers(request, simulation)
    return _render(request, simulation)


def _play_lines(request: HttpRequest, simulation: ShownSimulation) -> None:
    """Raises NotPlayed, and ScenarioFileError for unreadable stubs."""
    posted, form, is_real = simulation.posted, simulation.form, bool(simulation.real)
    if is_real and _is_in_draft(simulation):
        raise NotPlayed("Beside a form in a draft, nothing is really called. Save the form, then try the draft.")
    simulation.message = posted.message if simulation.problem else ""
    simulation.stubs_text = posted.get("stubs")
    sent = parse_stubs(simulation.stubs_text)
    stubs = _edit_stubs(posted, sent)
    outside = build_outside(stubs, simulation.real)
    if stubs is not sent:
        simulation.stubs_text = dump_stubs(stubs)
    try:
        simulation.began = posted.read_start()
    except ValueError:
        raise NotPlayed("The time is not a date and a time. Choose one, or leave it empty for now.") from None
    if form and form.errors:
        return
    snapshot = _read_configuration(simulation)
    try:
        simulation.played = _play_conversation(simulation, snapshot, outside)
    except ValueError:
        text = "The input parameters of an earlier message are not a JSON object. Start a new conversation."
        raise NotPlayed(text) from None
    if is_real:
        calls = [call for line in simulation.played for call in line.played.calls]
        simulation.stubs_text = dump_stubs(keep_answers(stubs, calls))
    elif posted.has("fill"):
        _fill_answers(request, simulation, snapshot, stubs)


def _play_conversation(simulation: ShownSimulation, snapshot: Snapshot, outside: ScenarioStubs) -> list[PlayedLine]:
    lines, channel, providers = simulation.lines, simulation.posted.channel, simulation.providers
    return play_lines(snapshot, lines, simulation.began, outside, channel, providers=providers)


def _read_configuration(simulation: ShownSimulation) -> Snapshot:
    """The configuration, with the rows of the form. Raises NotPlayed."""
    name, form = simulation.configuration, simulation.form
    try:
        return named_configurations().read(name, form.rows if form else None)
    except (KeyError, IndexError):
        # A fault of ours, although they are LookupErrors.
        raise
    except LookupError:
        raise NotPlayed(f"There is no configuration “{name}” any more. Choose another one.") from None
    except ConvEngineError as error:
        raise NotPlayed(f"This configuration cannot be used: {error.message}") from error


def _is_in_draft(simulation: ShownSimulation) -> bool:
    """True beside a form in a draft: its page is a transaction, in which nothing may wait for the outside."""
    return simulation.form is not None and simulation.configuration.kind == "draft"


def _edit_stubs(posted: Posted, stubs: Stubs) -> Stubs:
    """The stubs with the answer that the user set, took from a recording, or forgot. Raises ScenarioFileError."""
    edited = stubs
    try:
        if (number := posted.read_number("forget")) is not None:
            return forget_answers(stubs, CallName.parse(posted.get(f"answer-of-{number}")))
        for button, group in (("set", "answer"), ("take", "offer")):
            if (number := posted.read_number(button)) is not None:
                call = CallName.parse(posted.get(f"{group}-of-{number}"))
                is_failure = posted.has(f"{group}-fails-{number}")
                edited = set_answer(edited, call, posted.get(f"{group}-{number}"), fails=is_failure)
    except (ValueError, KeyError) as error:
        raise ScenarioFileError("", "This call is not in the conversation any more. Play it again.") from error
    if edited is not stubs:
        parse_stubs(dump_stubs(edited))
    return edited


def _fill_answers(request: HttpRequest, simulation: ShownSimulation, snapshot: Snapshot, stubs: Stubs) -> None:
    """Give each call without an answer the last real one, and play again; then other calls may be made."""
    user: Any = request.user
    if not user.has_perms(RECORD_RIGHTS):
        return
    for _ in range(_MAX_FILLS):
        calls = [each.name for line in simulation.played for each in line.calls if each.call.is_unanswered]
        answers = {str(replace(name, number=0)): find_recorded_answers(name)[:1] for name in calls}
        if not any(answers.values()):
            break
        for name, recorded in answers.items():
            for answer in recorded:
                log_access(request, CeAccessLog.Kind.TURN, answer.conversation_id, answer.turn_no)
                stubs = set_answer(stubs, CallName.parse(name), answer.text, fails=answer.is_failure)
        simulation.stubs_text = dump_stubs(stubs)
        simulation.played = _play_conversation(simulation, snapshot, build_outside(stubs))


def _offer_answers(request: HttpRequest, simulation: ShownSimulation) -> None:
    """The recorded answers of a call, if they were asked for."""
    user: Any = request.user
    number, line = simulation.posted.read_number("recorded"), _choose_line(simulation)
    if number is None or line is None or number >= len(line.calls) or not user.has_perms(RECORD_RIGHTS):
        return
    simulation.offers, simulation.offered_for = find_recorded_answers(line.calls[number].name), number
    for answer in simulation.offers:
        log_access(request, CeAccessLog.Kind.TURN, answer.conversation_id, answer.turn_no)


def _choose_line(simulation: ShownSimulation) -> PlayedLine | None:
    """The line that is explained: the chosen one, else the last."""
    if not simulation.played:
        return None
    number = simulation.posted.read_number("open") or simulation.posted.read_number("shown")
    if simulation.posted.has("send"):
        number = None
    return simulation.played[(number or 0) - 1 if (number or 0) <= len(simulation.played) else -1]


def _render(request: HttpRequest, simulation: ShownSimulation) -> HttpResponse:
    user: Any = request.user
    posted, form = simulation.posted, simulation.form
    line = _choose_line(simulation)
    context = {
        "title": f"Try {form.title}" if form else TITLE,
        "simulation": simulation,
        "url": request.path,
        "form": form,
        "choices": [] if form else list_choices(request, str(simulation.configuration)),
        "on": simulation.configuration,
        "on_label": describe(str(simulation.configuration)) or str(simulation.configuration),
        "turns": _compare_with_before(simulation),
        "shown": line,
        "why": explain_played_turn(line.played.turn) if line else None,
        **(_explain_phrases(line, is_wanted=posted.has("words")) if line else {}),
        "calls": line.calls if line else [],
        "at": posted.get("at"),
        "channel": posted.channel,
        "params": posted.get("params") if simulation.problem else "",
        "real": simulation.real,
        "sections": _SECTION_LABELS,
        "real_label": " and ".join(label.lower() for section, label in _SECTION_LABELS if section in simulation.real),
        "unanswered": sum(line.unanswered for line in simulation.played),
        "may_call": user.has_perm(REAL_RIGHT) and not _is_in_draft(simulation),
        "may_see_records": user.has_perms(RECORD_RIGHTS),
        "has_chat": conf.get("CHAT") and not form,
        **_build_test_context(user, simulation),
        "summaries": json.dumps([line.summary for line in simulation.played], ensure_ascii=False),
    }
    if request.headers.get("X-Requested-With") == "fetch":
        return TemplateResponse(request, "audit/simulator_parts.html", context)
    held: Any = request
    held.ce_place, held.is_about_drafts = reverse("admin:audit_ceaudit_simulate"), True
    context["other_fields"] = posted.list_other_fields() if form else []
    return TemplateResponse(request, "audit/simulator.html", {**admin.site.each_context(request), **context})


def _explain_phrases(line: PlayedLine, *, is_wanted: bool) -> dict[str, Any]:
    """How sure the classifier was of the intents of a line, word by word, if somebody wants to know."""
    turn = line.played.turn
    events = list(expand_events(list_unstored_events(turn)))
    return {
        "has_compared_phrases": has_compared_phrases(events),
        "phrase_accounts": build_phrase_accounts(events, turn.snapshot) if is_wanted else None,
    }


def _compare_with_before(simulation: ShownSimulation) -> list[tuple[PlayedLine, list[Difference]]]:
    before: list[Mapping[str, Json]] = read_summaries(simulation.posted.get("earlier"))
    before += [{}] * (len(simulation.played) - len(before))
    return [(line, line.list_differences(earlier)) for line, earlier in zip(simulation.played, before, strict=False)]


def _build_test_context(user: Any, simulation: ShownSimulation) -> dict[str, str]:
    """The page of new tests, and the test that it gets; nothing for users who may add none."""
    if not (simulation.played and user.has_perm(_TEST_RIGHT)):
        return {}
    try:
        url = reverse("admin:config_admin_cetestcase_add")
    except NoReverseMatch:
        return {}
    document = build_test_document(simulation)
    return {"test_url": url, "test": json.dumps(document, ensure_ascii=False)}


def build_test_document(simulation: ShownSimulation) -> dict[str, Json]:
    """The conversation as a scenario without a configuration, which expects what was answered."""
    turns: list[dict[str, Json]] = []
    for line in simulation.played:
        session = line.played.session
        expect: dict[str, Json] = {"intent": session.intent, "state": session.state}
        if line.played.error:
            expect = {"error": {"code": line.played.error}}
        else:
            stages = {event.stage for event in line.played.turn.trail.events}
            expect["response"] = export_expected_response(to_plain(session.last_assistant), stages)
        params = {"input_params": dict(line.line.read_params())} if line.line.params else {}
        turns.append({"user": line.message, **params, "expect": expect})
    if turns and (at := format_time(simulation.began)):
        turns[0]["at"] = at
    digest = hashlib.sha256(json.dumps(turns).encode()).hexdigest()[:8]
    title = shorten_line(simulation.lines[0].message, 80) if simulation.lines else "Simulated conversation"
    channel = simulation.posted.channel
    start = {"conversation": {"channel": channel}} if channel != PLAIN_CHANNEL else {}
    document = {
        "id": f"simulated-{digest}",
        "title": title,
        **start,
        **parse_stubs(simulation.stubs_text),
        "turns": turns,
    }
    scenario: dict[str, Json] = to_plain(document)
    return scenario
