"""Settings that are patterns, with the default as fallback if RE2 rejects one."""

from dataclasses import replace
from typing import Any

from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import CONFIG_VALUE_INVALID
from convengine.engine.turn.turn import Turn


def get_pattern(session: Session, turn: Turn, setting: Setting[str]) -> Pattern:
    """The pattern of a live setting. An unusable one is reported once, and the default applies (pipeline-1 8.2)."""
    text = turn.config(session, setting)
    try:
        return compile_pattern(text)
    except PatternError as error:
        audit_unusable(session, turn, setting, text, error)
        return compile_pattern(setting.default)


def audit_unusable(session: Session, turn: Turn, setting: Setting[Any], text: str, error: PatternError) -> None:
    """Report, once per turn, that a pattern setting is unusable: of its row, or of the deployment's default."""
    row = live_settings.read(turn.snapshot, setting).row
    reason = f"{setting.name}: {error.reason}"
    if row is not None:
        turn.audit_invalid_row(session, row, replace(error.fault("config_value", text), reason=reason))
        return
    turn.audit_once(
        session,
        CONFIG_VALUE_INVALID,
        setting.name,
        configType=setting.type,
        configKey=setting.key,
        value=text,
        usedDefault=setting.default,
        reason=reason,
    )
