from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.turn import labels
from convengine.engine.turn.labels import describe_position, step_label


def test_a_step_of_a_deployment_is_called_by_its_name_in_words() -> None:
    assert step_label("CustomerLookupStep") == "Customer lookup"


def test_no_label_is_left_of_a_step_that_is_gone() -> None:
    names = {path.rpartition(".")[2] for path in DEFAULT_PIPELINE}
    assert set(labels.STEPS) <= names


def test_labels_of_steps_differ() -> None:
    names = [path.rpartition(".")[2] for path in DEFAULT_PIPELINE]
    assert len({step_label(name) for name in names}) == len(names)


def test_a_position_says_what_is_missing() -> None:
    assert describe_position("FEES", "IDLE") == "Intent FEES, state IDLE"
    assert describe_position("FEES", "UNKNOWN") == "Intent FEES, no state"
    assert describe_position("UNKNOWN", "VIP") == "No intent, state VIP"
    assert describe_position("UNKNOWN", None) == "No intent recognised"
