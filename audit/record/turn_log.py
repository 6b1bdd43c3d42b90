"""The record of turns as the server uses it; the settings name this object."""

from audit.record import writer
from convengine.server.app_interfaces import TurnLog

turn_log: TurnLog = writer
