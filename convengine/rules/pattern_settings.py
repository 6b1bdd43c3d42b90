"""Settings that are patterns: compiled as they stand, the built-in one where RE2 does not take them."""

from dataclasses import replace
from typing import Any

from convengine.domain import settings
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.patterns import Pattern, PatternError, compile_pattern


def pattern_of(session: Session, turn: Turn, setting: Setting[str]) -> Pattern:
    """The pattern of a live setting. One that cannot be used is told once, and the default stands (pipeline-1 8.2)."""
    text = turn.config(session, setting)
    try:
        return compile_pattern(text)
    except PatternError as error:
        tell_unusable(session, turn, setting, text, error)
        return compile_pattern(setting.default)


def tell_unusable(session: Session, turn: Turn, setting: Setting[Any], text: str, error: PatternError) -> None:
    """Tell, once a turn, that a pattern of a setting cannot be used: of its row, or of the deployment's default."""
    row = settings.read(turn.snapshot, setting).row
    reason = f"{setting.name}: {error.reason}"
    if row is not None:
        turn.row_invalid(session, row, replace(error.fault("config_value", text), reason=reason))
        return
    turn.tell_once(
        session,
        Stage.CONFIG_VALUE_INVALID,
        setting.name,
        configType=setting.type,
        configKey=setting.key,
        value=text,
        usedDefault=setting.default,
        reason=reason,
    )
