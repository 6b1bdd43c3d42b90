"""What a project does after a message and after a form, as far as its rules and stories agree."""

from config_admin.contrib.come_over.continuations import Continuation, find_answer, find_continuation, find_form_end
from config_admin.contrib.come_over.outcomes import Role
from config_admin.contrib.come_over.paths import LEAVE, Reply
from config_admin.contrib.come_over.project import Project

RULE, STORY = ("rule", "r"), ("story", "s")


def make_project(*replies: Reply) -> Project:
    return Project("x", forms={"hire_form": {}, "other_form": {}}, replies=list(replies))


def test_the_only_form_is_where_a_message_leads() -> None:
    answers = Reply(RULE, ["hire"], actions=["utter_do_you_know"])
    begins = Reply(STORY, ["hire"], actions=["utter_intro", "hire_form"], is_conditional=True)
    expected = Continuation(["utter_intro"], "hire_form", ["other paths do utter_do_you_know"])
    assert find_continuation(make_project(answers, begins), "hire") == expected


def test_a_yes_leads_to_no_form_by_itself() -> None:
    assert find_continuation(make_project(Reply(STORY, ["affirm"], actions=["hire_form"])), "affirm").form == ""


def test_within_a_form_only_digressions_count() -> None:
    digression = Reply(RULE, ["ask"], actions=["utter_a", "hire_form"], loop="hire_form")
    leaving = Reply(RULE, ["ask"], actions=[LEAVE, "utter_b"], loop="hire_form")
    assert find_continuation(make_project(leaving, digression), "ask") == Continuation(["utter_a"])


def test_a_part_of_a_retrieval_intent_has_its_own_response_or_that_of_the_whole() -> None:
    project = make_project(Reply(RULE, ["faq"], actions=["utter_any"]))
    assert find_continuation(project, "faq/price").actions == ["utter_any"]
    project.responses["utter_faq/price"] = [{"text": "15 pounds"}]
    assert find_continuation(project, "faq/price").actions == ["utter_faq/price"]


def test_a_yes_or_no_has_the_answer_of_the_action_before_it() -> None:
    asking = Reply(STORY, ["go"], actions=["utter_sure"])
    yes = Reply(STORY, ["affirm"], actions=["utter_a", "hire_form"], follows="utter_sure")
    project = make_project(asking, yes, Reply(STORY, ["deny"], actions=["utter_b"], follows="utter_other"))
    assert find_answer(project, "utter_sure", Role.YES) == Continuation(["utter_a"], "hire_form")
    assert find_answer(project, "utter_sure", Role.NO) is None


def test_rules_say_how_a_form_ends() -> None:
    rule = Reply(RULE, form="hire_form", actions=["utter_booked"])
    stories = [Reply(STORY, form="hire_form", actions=[action]) for action in ("utter_a", "utter_b")]
    assert find_form_end(make_project(*stories, rule), "hire_form") == Continuation(["utter_booked"])
    assert find_form_end(make_project(*stories), "hire_form").losses == ["2 paths go different ways"]


def test_the_beginnings_of_rules_count_first() -> None:
    later = Reply(RULE, ["go"], actions=["utter_later"])
    begins = Reply(RULE, ["go"], actions=["utter_a"], is_first=True)
    assert find_continuation(make_project(later, begins), "go") == Continuation(["utter_a"])
    story = Reply(STORY, ["go"], actions=["utter_b"], is_first=True)
    assert find_continuation(make_project(later, story), "go") == Continuation(["utter_b"])


def test_messages_without_a_value_count_first() -> None:
    needs_value = Reply(STORY, ["go"], actions=["utter_a"], needs_value=True)
    losses = ["its stories answer if a slot has a value"]
    assert find_continuation(make_project(needs_value), "go") == Continuation(["utter_a"], losses=losses)
    plain = Reply(STORY, ["go"], actions=["utter_b"])
    assert find_continuation(make_project(needs_value, plain), "go") == Continuation(["utter_b"])
