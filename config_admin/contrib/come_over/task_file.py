"""A Python file with a task for each action of code that comes over, which a developer fills in."""

import keyword
from collections.abc import Mapping, Sequence

from config_admin.contrib.come_over.texts import name_field


def write_task_file(bot: str, actions: Mapping[str, Sequence[str]]) -> str:
    """The text of the file. `actions`: the fields of the forms that each action ends."""
    bean = _name(bot).lower()
    lines = [
        f'"""Tasks for the actions of {bean}: fill them in, and name them in their flows (docs/actions.md)."""', "",
        "from convengine.extensions import TaskCall, TaskResult, task", "", "",
        f'@task("{bean}")', f"class {''.join(word.capitalize() for word in bean.split('_'))}:",
    ]  # fmt: skip
    methods = {_name(action.removeprefix("action_").removeprefix("action ")): action for action in actions}
    for method, action in methods.items():
        lines += [
            f"    def {method}(self, call: TaskCall) -> TaskResult:", f'        """What {_name(action)} did."""',
            *(f'        {_name(field)} = call.context.get("{field}")' for field in actions[action]),
            f'        return TaskResult(False, "NOT_WRITTEN", "{method} is not written yet.")', "",
        ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _name(name: str) -> str:
    """The name as one of Python."""
    written = name_field(name)
    return f"{written}_" if keyword.iskeyword(written) else written
