"""Permissions: the table of the groups' rights, which the manual prints (R18)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """A group of users and its purpose."""

    name: str
    title: str
    about: str


@dataclass(frozen=True)
class Task:
    """Something that users do: the rights, as `app.codename`, and the groups that have them."""

    title: str
    groups: tuple[str, ...]
    rights: frozenset[str]


ANALYST, CONFIG_ADMIN, QA, INTEGRATOR, OPERATOR = "analyst", "config_admin", "qa", "integrator", "operator"
GROUPS = (
    Group(ANALYST, "Analysts", "Change the configuration and test it."),
    Group(
        CONFIG_ADMIN,
        "Configuration administrators",
        ("Everything that analysts may do, and changes that affect the whole installation."),
    ),
    Group(
        QA,
        "Quality assurance",
        "Read conversations and the reasons for each answer, and give feedback. No changes.",
    ),
    Group(INTEGRATOR, "Integrators", "Connect other systems: own API keys and the API documentation."),
    Group(OPERATOR, "Operators", "Operate the installation: jobs, waiting turns and open actions."),
)

_ROWS = (
    *("ceintent", "ceintentclassifier", "cerule", "cestategraph", "cepolicy", "ceoutputschema", "ceprompttemplate"),
    *("ceresponse", "cecontainerconfig", "cependingaction", "cetool", "cemcptool", "cemcpdbtool", "cemcphttptool"),
    *("cemcpplanner", "cemcpsqlguardrail", "ceconfig", "ceverbose"),
)
_RUNNING = ("ceturnticket", "ceidempotency", "cependingactionexecution")
_SESSIONS = ("ceconversation", "cethread", "ceconversationhistory", "cememory", "cesessionunit", *_RUNNING)
_AUDIT = ("ceaudit", "ceturnrow", "cellmcalllog")
_DOCUMENTS = ("cedocument", "cedocumentcollection")
_EDIT = ("add", "change", "delete")


def _rights(app: str, actions: Iterable[str], models: Iterable[str]) -> frozenset[str]:
    return frozenset(f"{app}.{action}_{model}" for model in models for action in actions)


def _see(app: str, models: Iterable[str]) -> frozenset[str]:
    return _rights(app, ["view"], models)


TASKS = (
    Task(
        "Read the configuration, its history and the settings",
        (ANALYST, CONFIG_ADMIN, QA),
        _see("config_admin", (*_ROWS, "cemcpserver")),
    ),
    Task("Read the releases", (ANALYST, CONFIG_ADMIN, QA, OPERATOR), _see("config_admin", ["cerelease"])),
    Task(
        "Change the configuration and settings, enable and disable rows, restore versions, undo releases, test",
        (ANALYST, CONFIG_ADMIN),
        _rights("config_admin", _EDIT, _ROWS),
    ),
    Task(
        "Change reserved settings and MCP servers",
        (CONFIG_ADMIN,),
        _rights("config_admin", _EDIT, ["cemcpserver"]),
    ),
    Task(
        "Try a conversation",
        (ANALYST, CONFIG_ADMIN),
        frozenset({"ce_sessions.try_conversation"}),
    ),
    Task(
        "Roll back to a release, and undo releases of imports, scripts, upgrades and roll-backs",
        (CONFIG_ADMIN,),
        frozenset({"config_admin.roll_back_release"}),
    ),
    Task("Import a configuration", (CONFIG_ADMIN,), frozenset({"config_admin.import_configuration"})),
    Task(
        "Read conversations, turns, events, model calls and used rows",
        (ANALYST, CONFIG_ADMIN, QA),
        _see("ce_sessions", _SESSIONS) | _see("audit", _AUDIT),
    ),
    Task("Read feedback", (ANALYST, CONFIG_ADMIN, QA), _see("audit", ["cemcpuserfeedback"])),
    Task(
        "Give feedback on answers",
        (ANALYST, CONFIG_ADMIN, QA),
        frozenset({"audit.add_cemcpuserfeedback"}),
    ),
    Task("See the access log", (CONFIG_ADMIN,), _see("audit", ["ceaccesslog"])),
    Task(
        "Erase a person's data, and see erasures",
        (CONFIG_ADMIN,),
        _see("audit", ["ceerasure"]) | {"audit.erase_person"},
    ),
    Task(
        "Read waiting turns, stored answers and action runs",
        (ANALYST, CONFIG_ADMIN, QA, OPERATOR),
        _see("ce_sessions", _RUNNING),
    ),
    Task(
        "Record the outcome of an action whose result is unknown",
        (OPERATOR,),
        frozenset({"ce_sessions.settle_execution"}),
    ),
    Task("Read documents", (ANALYST, CONFIG_ADMIN, QA), _see("ce_executors", _DOCUMENTS)),
    Task("Change documents", (ANALYST, CONFIG_ADMIN), _rights("ce_executors", _EDIT, _DOCUMENTS)),
    Task("Read sent messages", (QA, OPERATOR), _see("ce_executors", ["cenotification"])),
    Task("See background jobs and their runs", (QA, OPERATOR), _see("ce_jobs", ["cejob", "cejobrun"])),
    Task("Run a background job now", (OPERATOR,), frozenset({"ce_jobs.run_job"})),
    Task(
        "Create and revoke own API keys",
        (INTEGRATOR,),
        _rights("ce_api", ["view", "add", "change"], ["ceapikey"]),
    ),
)


def rights_of(group: str) -> frozenset[str]:
    """All rights of a group, as `app.codename`."""
    return frozenset(right for task in TASKS if group in task.groups for right in task.rights)


def find_task(right: str) -> Task | None:
    """The task that a right belongs to; null for rights that only administrators have."""
    return next((task for task in TASKS if right in task.rights), None)


def describe_groups_with(right: str) -> str:
    """Who has a right, in words for somebody who lacks it."""
    task = find_task(right)
    titles = [group.title.lower() for group in GROUPS if task and group.name in task.groups]
    return (
        f"{' and '.join(filter(None, [', '.join(titles[:-1]), *titles[-1:]]))} may" if titles else "administrators may"
    )


def groups_and_tasks() -> Mapping[str, tuple[Task, ...]]:
    """What each group may do, by its name."""
    return {group.name: tuple(task for task in TASKS if group.name in task.groups) for group in GROUPS}
