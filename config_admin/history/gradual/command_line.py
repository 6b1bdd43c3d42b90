"""The audience of a release as arguments of commands."""

from argparse import ArgumentParser
from typing import Any

from config_admin.history.gradual.sides import count_sides, describe_sides
from config_admin.releases.audience import AudienceSpec, Guard
from config_admin.releases.models import CeGradualRelease, GuardMetric


def add_audience_arguments(parser: ArgumentParser) -> None:
    """Who gets a release, and the guard."""
    parser.add_argument("--share", type=int, default=0, metavar="PERCENT", help="The share of the participants.")
    parser.add_argument("--participant", action="append", default=[], help="A participant who gets it in any case.")
    parser.add_argument("--channel", action="append", default=[], help="A channel on which everybody gets it.")
    parser.add_argument("--guard", default="", choices=GuardMetric.values, help="The rate that stops it by itself.")
    parser.add_argument("--bound", type=int, default=5, help="By how many points the rate may be worse. Default: 5.")
    parser.add_argument("--turns", type=int, default=100, help="How many turns each side needs before. Default: 100.")


def read_audience(options: dict[str, Any]) -> AudienceSpec | None:
    """The audience of the arguments. Returns None when they name none."""
    if not (options["share"] or options["participant"] or options["channel"]):
        return None
    guard = Guard(options["guard"], options["bound"], options["turns"])
    return AudienceSpec(options["share"], options["participant"], options["channel"], guard)


def write_gradual_release(row: CeGradualRelease) -> list[str]:
    head = f"Release {row.config_version} ({row.get_status_display()}), {row.describe_audience()}"
    return [
        f"{head}; the others: {row.parent_version}",
        *(f"  {label}: {newer} | {older}" for label, (newer, older) in describe_sides(count_sides(row))),
    ]
