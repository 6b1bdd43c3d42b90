"""What the audit offers to the other apps, as the types of `convengine.server.interfaces`; settings name it."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from audit.access_log import write
from audit.alerts.current_alerts import count_alerts, list_alerts
from audit.alerts.form import ALERT_RULES
from audit.feedback.store import rate_row
from audit.inbox.collect import count_message_texts, list_group_messages
from audit.inbox.status import note_taught
from audit.live.hub import hub, send_progress
from audit.narration.explanation import explain_turn, explain_unstored_turn, list_empty_values
from audit.record import removals, running
from audit.record import sealed_states as states
from audit.record import turn_log as writer
from audit.record.document import list_unstored_events
from audit.record.model_calls import has_model_call, sum_cost
from audit.record.queries import list_messages_not_understood, list_moves, read_last_seq
from audit.record.trace import build_graphs, read_turn_trace
from audit.record.turn_index import count_row_usage, read_deciding_rows
from audit.replay.replay import find_replay_difference, rebuild_turn
from audit.reports.job import count_stored_turns
from audit.reports.release_sides import count_release_sides
from audit.reports.traffic import read_traffic
from audit.reports.week import summarise_week
from convengine.server.interfaces.access_log import AccessLog
from convengine.server.interfaces.configuration import ConfigurationName
from convengine.server.interfaces.inbox import Inbox
from convengine.server.interfaces.installation_section import InstallationSection
from convengine.server.interfaces.live_streams import LiveStreams
from convengine.server.interfaces.sealed_states import SealedStates
from convengine.server.interfaces.turn_log import TurnLog
from convengine.server.interfaces.turn_reader import TurnReader
from convengine.server.interfaces.turn_reports import TurnReports
from convengine.server.interfaces.unsaved_form import Simulator, UnsavedForm, WhatIf


class _TurnLog:
    insert_turn_stmts = staticmethod(writer.insert_turn_stmts)
    insert_dead_turn_stmts = staticmethod(writer.insert_dead_turn_stmts)
    add_after_turn = staticmethod(writer.add_after_turn)
    add_outside = staticmethod(writer.add_outside)
    flush_events = staticmethod(running.flush_events)
    delete_running_stmt = staticmethod(running.delete_running_stmt)
    turns_removed_before = staticmethod(removals.turns_removed_before)
    turns_leave = staticmethod(removals.turns_leave)
    conversations_leave = staticmethod(removals.conversations_leave)


class _TurnReader:
    find_replay_difference = staticmethod(find_replay_difference)
    rebuild_turn = staticmethod(rebuild_turn)
    read_turn_trace = staticmethod(read_turn_trace)
    build_graphs = staticmethod(build_graphs)
    explain_turn = staticmethod(explain_turn)
    list_unstored_events = staticmethod(list_unstored_events)
    explain_unstored_turn = staticmethod(explain_unstored_turn)
    list_moves = staticmethod(list_moves)
    list_deciding_rows = staticmethod(read_deciding_rows)
    read_last_seq = staticmethod(read_last_seq)
    has_model_call = staticmethod(has_model_call)
    sum_cost = staticmethod(sum_cost)


class _TurnReports:
    count_stored_turns = staticmethod(count_stored_turns)
    count_row_usage = staticmethod(count_row_usage)
    list_empty_values = staticmethod(list_empty_values)
    summarise_week = staticmethod(summarise_week)
    read_traffic = staticmethod(read_traffic)
    list_alerts = staticmethod(list_alerts)
    count_alerts = staticmethod(count_alerts)
    count_release_sides = staticmethod(count_release_sides)
    rate_row = staticmethod(rate_row)


class _Inbox:
    list_messages_not_understood = staticmethod(list_messages_not_understood)
    list_group_messages = staticmethod(list_group_messages)
    count_message_texts = staticmethod(count_message_texts)
    note_taught = staticmethod(note_taught)


class _LiveStreams:
    start = staticmethod(hub.start)
    watches = staticmethod(hub.watches)
    send_progress = staticmethod(send_progress)
    wake = staticmethod(hub.wake)

    async def serve_streams(self, scope: Mapping[str, Any], receive: Any, send: Any, /) -> None:
        from audit.live.asgi import serve_streams

        await serve_streams(scope, receive, send)


# Commands that read the record show no pages, which take longer to load than all else here.
class _WhatIf:
    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        from audit.what_if.page import show_unsaved

        return show_unsaved(request, form, configuration)


class _Simulator:
    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        from audit.simulator.page import show_simulator

        return show_simulator(request, form, configuration)


turn_log: TurnLog = _TurnLog()
turn_reader: TurnReader = _TurnReader()
turn_reports: TurnReports = _TurnReports()
inbox: Inbox = _Inbox()
access_log: AccessLog = write
sealed_states: SealedStates = states
live_streams: LiveStreams = _LiveStreams()
simulator: Simulator = _Simulator()
what_if: WhatIf = _WhatIf()
alert_rules: InstallationSection = ALERT_RULES
