"""Stage names as stored: a stage, with the calling step in brackets where several call the same code."""


def base_name(stage: str) -> str:
    """The stage without its source: `RULE_APPLIED (RulesStep)` is `RULE_APPLIED`."""
    return stage.split(" (", 1)[0]


def source_name(stage: str) -> str:
    """The source in the brackets; blank when there is none."""
    return stage.partition(" (")[2].removesuffix(")")
