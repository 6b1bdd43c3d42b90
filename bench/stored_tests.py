"""Duration of a test run: `python -m bench.stored_tests` plays 1,000 turns on the bicycle workshop."""

import argparse
import os
import time

import django

#: Seconds that 1,000 turns may take on two cores.
GOAL = 60.0
_MESSAGES = ("what are your opening hours", "I want to book a repair", "my brakes", "city bike", "where are you?")


def main() -> int:
    """Returns 0 when the goal is met."""
    parser = argparse.ArgumentParser(prog="python -m bench.stored_tests", description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    django.setup()
    from config_admin.test_cases.documents import store_test
    from config_admin.test_cases.runs import SelectedTests, create_run, test_runs
    from convengine.play import database
    from convengine.server.deployment.folders import find_shipped
    from convengine.server.interfaces.configuration import ConfigurationName, configuration_files

    with database.use_scratch_database():
        configuration_files().import_file(find_shipped("fixtures") / "bicycle_workshop.json")
        for number in range(turns // len(_MESSAGES)):
            messages = [{"user": text, "expect": {"success": True}} for text in _MESSAGES]
            store_test({"title": f"Test {number}", "turns": messages}, editor="bench")
        run = create_run(ConfigurationName("live"), SelectedTests(), "bench")
        began = time.monotonic()
        test_runs.run(run.pk)
        seconds = time.monotonic() - began
        run.refresh_from_db()
    per_thousand = seconds / run.turns * 1000
    print(f"{run.turns} turns of {run.total} tests in {seconds:.1f} s, {run.failed} failed")
    print(f"1,000 turns: {per_thousand:.1f} s; goal: at most {GOAL:.0f} s")
    return 0 if per_thousand <= GOAL and not run.failed else 1


if __name__ == "__main__":
    raise SystemExit(main())
