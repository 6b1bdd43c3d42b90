"""Settings of corrections."""

from convengine.engine.turn.live_settings import declare, regex

REGEX_RETRY = declare(
    "CorrectionStep",
    "REGEX_RETRY",
    regex(),
    "(?:retry|try again|please retry|retry please|again|once more|try once more)[.!? ]*",
    (
        "A message that matches this pattern completely repeats the last step, if the prompt template of the state "
        "allows a retry."
    ),
    label="Pattern for trying again",
)
