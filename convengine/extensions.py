"""What your own code imports: what it registers, and the types that it is called with (docs/extending.md)."""

from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.pipeline.step import Continue, Outcome, Step, Stop
from convengine.engine.rules.conditions.rule import rule_matcher
from convengine.engine.rules.vocabulary import rule_action
from convengine.engine.turn.finder_port import FoundSpan
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.ports import ContainerRequest
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.engine.verbose.publish import publish_text
from convengine.engine.verbose.signals import Signal
from convengine.server.channels.contract import (
    Arrival,
    Call,
    CallResult,
    Incoming,
    OptionForm,
    Provider,
    Receipt,
    Received,
    RequestRefused,
    Unit,
    check_equal,
    read_object,
    sign,
)
from convengine.server.channels.details import Attachment, ChannelUser, Contact, Location, MessageDetails
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.registry import (
    container_interceptor,
    container_provider,
    container_transformer,
    http_mapper,
    memory_store,
    register_channel,
    register_finder,
    response_transformer,
    step_hook,
    task,
    tool,
    tool_group,
    verbose_listener,
)
from convengine.server.extensions.tasks import TaskCall, TaskResult

__all__ = [
    "Arrival", "Attachment", "Call", "CallResult", "ChannelUser", "Contact", "ContainerRequest", "Continue",
    "FoundSpan", "HttpRequest", "Incoming", "JsonPayload", "Location", "MessageDetails", "OptionForm", "Outcome",
    "Payload", "Provider", "Receipt", "Received", "RequestRefused", "Rule", "Session", "Signal", "Step",
    "StepHook", "Stop", "TaskCall", "TaskResult", "TextPayload", "Turn", "Unit", "VerboseLine", "check_equal",
    "container_interceptor", "container_provider", "container_transformer", "http_mapper", "memory_store",
    "publish_text", "read_object", "register_channel", "register_finder", "response_transformer", "rule_action",
    "rule_matcher", "sign", "step_hook", "task", "tool", "tool_group", "verbose_listener",
]  # fmt: skip
