"""What the audit offers to the other apps, checked against the types of `server.app_interfaces`; settings name it."""

from audit.access_log import write
from audit.feedback.store import rate_row
from audit.live import asgi, publish
from audit.record import writer
from audit.record.model_calls import has_model_call, sum_cost
from audit.record.queries import count_row_usage, list_messages_not_understood, read_last_seq
from audit.record.session_trail import list_deciding_rows, list_moves
from audit.record.step_timeline import build_graphs, read_turn_trace
from audit.replay.replay import find_replay_difference, rebuild_turn
from convengine.server.app_interfaces import AccessLog, LiveStreams, TurnLog, TurnReader


class _TurnReader:
    find_replay_difference = staticmethod(find_replay_difference)
    rebuild_turn = staticmethod(rebuild_turn)
    read_turn_trace = staticmethod(read_turn_trace)
    build_graphs = staticmethod(build_graphs)
    list_moves = staticmethod(list_moves)
    list_deciding_rows = staticmethod(list_deciding_rows)
    count_row_usage = staticmethod(count_row_usage)
    list_messages_not_understood = staticmethod(list_messages_not_understood)
    read_last_seq = staticmethod(read_last_seq)
    has_model_call = staticmethod(has_model_call)
    sum_cost = staticmethod(sum_cost)
    rate_row = staticmethod(rate_row)


class _LiveStreams:
    start = staticmethod(publish.start)
    join = staticmethod(publish.join)
    serve_streams = staticmethod(asgi.serve_streams)


turn_log: TurnLog = writer
turn_reader: TurnReader = _TurnReader()
access_log: AccessLog = write
live_streams: LiveStreams = _LiveStreams()
