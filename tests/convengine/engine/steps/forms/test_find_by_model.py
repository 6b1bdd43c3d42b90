import json
from datetime import UTC, datetime

from convengine.engine.forms.form import Form
from convengine.engine.steps.forms.find_by_model import add_findings_of_model
from convengine.engine.understanding.reading import Reading
from convengine.testing.factories import FrozenClock
from tests.builders import make_config, make_intent, make_schema, make_session, make_snapshot, make_turn
from tests.fakes.models import AnsweringModel


def test_the_model_hears_the_day_of_the_users() -> None:
    visit = make_schema("VISIT", {"day": {"type": "string", "format": "date"}})
    snapshot = make_snapshot(make_intent("VISIT"), visit, make_config("Session/TIME_ZONE", "America/New_York"))
    evening, model = FrozenClock(datetime(2026, 11, 28, 3, tzinfo=UTC)), AnsweringModel(["{}"])
    text = "the day after my aunt leaves"
    turn = make_turn(snapshot, text=text, model=model, clock=evening)
    reading = Reading(unexplained=((0, len(text)),))

    add_findings_of_model(make_session(intent="VISIT", user_text=text), turn, visit, Form(visit.json_schema), reading)

    assert json.loads(model.requests[0].user)["today"] == "Friday 2026-11-27"
