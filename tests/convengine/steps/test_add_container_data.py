from convengine.domain import rows
from convengine.steps.add_container_data import AddContainerDataStep
from tests.builders import make_intent, make_session, make_snapshot, make_turn
from tests.fakes.ports import FixedContainers


def test_the_data_of_the_place_is_in_the_context_when_the_step_is_done() -> None:
    row = rows.ContainerConfig(
        id=1, intent_code="SHOP", state_code="ANY", page_id=1, section_id=2, container_id=3, input_param_name="hours"
    )
    turn = make_turn(make_snapshot(make_intent("SHOP"), row), containers=FixedContainers({(1, 2, 3): {"open": True}}))

    session = AddContainerDataStep().execute(make_session(intent="SHOP", state="IDLE"), turn).session

    assert session.context["container_data"] == {"hours": {"open": True}}
