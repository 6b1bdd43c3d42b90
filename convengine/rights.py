"""Who may do what (R18): the table that the groups' rights are held to, and that the manual prints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """A group of people, and what they are here for."""

    name: str
    title: str
    about: str


@dataclass(frozen=True)
class Task:
    """Something that people do here: the rights that it takes, as `app.codename`, and the groups that have them."""

    title: str
    groups: tuple[str, ...]
    rights: frozenset[str]


ANALYST, CONFIG_ADMIN, QA, INTEGRATOR, OPERATOR = "analyst", "config_admin", "qa", "integrator", "operator"
GROUPS = (
    Group(ANALYST, "Analysts", "They change how conversations go, and try it out."),
    Group(
        CONFIG_ADMIN, "Configuration administrators", "They do what analysts do, and what touches everything at once."
    ),
    Group(
        QA,
        "Quality assurance",
        "They read conversations and the reasons of each turn, say what they think of answers, and change nothing.",
    ),
    Group(INTEGRATOR, "Integrators", "They connect other systems: keys of their own, and the description of the API."),
    Group(OPERATOR, "Operators", "They keep the installation running: jobs, what waits, what was claimed."),
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
        "Read the configuration, its history and the settings in force",
        (ANALYST, CONFIG_ADMIN, QA),
        _see("config_admin", (*_ROWS, "cemcpserver")),
    ),
    Task("Read the releases", (ANALYST, CONFIG_ADMIN, QA, OPERATOR), _see("config_admin", ["cerelease"])),
    Task(
        "Change the configuration and settings, switch rows on and off, put versions back, try it out",
        (ANALYST, CONFIG_ADMIN),
        _rights("config_admin", _EDIT, _ROWS),
    ),
    Task(
        "Change reserved settings and MCP servers",
        (CONFIG_ADMIN,),
        _rights("config_admin", _EDIT, ["cemcpserver"]),
    ),
    Task(
        "Try a conversation as a user would have it",
        (ANALYST, CONFIG_ADMIN),
        frozenset({"ce_sessions.try_conversation"}),
    ),
    Task("Roll back to a release, and take one back", (CONFIG_ADMIN,), frozenset({"config_admin.roll_back_release"})),
    Task("Import a configuration", (CONFIG_ADMIN,), frozenset({"config_admin.import_configuration"})),
    Task(
        "Read conversations, turns, their events, model calls and the rows that decided",
        (ANALYST, CONFIG_ADMIN, QA),
        _see("ce_sessions", _SESSIONS) | _see("audit", _AUDIT),
    ),
    Task("Read what people thought of answers", (ANALYST, CONFIG_ADMIN, QA), _see("audit", ["cemcpuserfeedback"])),
    Task(
        "Rate answers: thumbs, comments, corrections",
        (ANALYST, CONFIG_ADMIN, QA),
        frozenset({"audit.add_cemcpuserfeedback"}),
    ),
    Task("See who read which conversations", (CONFIG_ADMIN,), _see("audit", ["ceaccesslog"])),
    Task(
        "Erase a person's data, and see what was erased",
        (CONFIG_ADMIN,),
        _see("audit", ["ceerasure"]) | {"audit.erase_person"},
    ),
    Task(
        "Read what waits, stored answers and runs of actions",
        (ANALYST, CONFIG_ADMIN, QA, OPERATOR),
        _see("ce_sessions", _RUNNING),
    ),
    Task(
        "Say how an action ended that nobody saw the end of",
        (OPERATOR,),
        frozenset({"ce_sessions.settle_execution"}),
    ),
    Task("Read documents", (ANALYST, CONFIG_ADMIN, QA), _see("ce_executors", _DOCUMENTS)),
    Task("Change documents", (ANALYST, CONFIG_ADMIN), _rights("ce_executors", _EDIT, _DOCUMENTS)),
    Task("Read what tools sent", (QA, OPERATOR), _see("ce_executors", ["cenotification"])),
    Task("See background jobs and their runs", (QA, OPERATOR), _see("ce_jobs", ["cejob", "cejobrun"])),
    Task("Have a background job run now", (OPERATOR,), frozenset({"ce_jobs.run_job"})),
    Task(
        "Make keys of one's own for other systems, and revoke them",
        (INTEGRATOR,),
        _rights("ce_api", ["view", "add", "change"], ["ceapikey"]),
    ),
)


def rights_of(group: str) -> frozenset[str]:
    """Everything that the members of a group may do, as `app.codename`."""
    return frozenset(right for task in TASKS if group in task.groups for right in task.rights)


def groups_and_tasks() -> Mapping[str, tuple[Task, ...]]:
    """What each group does, by its name."""
    return {group.name: tuple(task for task in TASKS if group.name in task.groups) for group in GROUPS}
