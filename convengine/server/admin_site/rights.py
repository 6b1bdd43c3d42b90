"""Permissions: the table of the groups' rights, which the reference lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Rights for which pages, commands and the API ask.
PUBLISH_DRAFT, IMPORT = "config_admin.publish_draft", "config_admin.import_configuration"
#: Who has it is a configuration administrator.
ROLL_BACK = "config_admin.roll_back_release"
#: The right to read turns with their messages.
READ_TURNS = "ce_sessions.view_ceconversationhistory"


@dataclass(frozen=True)
class RightsGroup:
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
    RightsGroup(ANALYST, "Analysts", "Change the configuration and test it."),
    RightsGroup(
        CONFIG_ADMIN,
        "Configuration administrators",
        ("Everything that analysts may do, and changes that affect the whole installation."),
    ),
    RightsGroup(
        QA,
        "Quality assurance",
        "Read conversations and the reasons for each answer, give feedback, and write tests. No other changes.",
    ),
    RightsGroup(INTEGRATOR, "Integrators", "Connect other systems: own API keys and the API documentation."),
    RightsGroup(OPERATOR, "Operators", "Operate the installation: jobs, waiting turns and open actions."),
)

_ROWS = (
    *("ceintent", "ceintentclassifier", "cerule", "cestategraph", "cepolicy", "ceoutputschema", "ceprompttemplate"),
    *("ceresponse", "cecontainerconfig", "cependingaction", "cetool", "cemcptool", "cemcpdbtool", "cemcphttptool"),
    *("cemcpplanner", "cemcpsqlguardrail", "ceconfig", "ceverbose", "ceanswerdocument"),
)
_RUNNING = ("ceturnticket", "ceidempotency", "cependingactionexecution")
_SESSIONS = ("ceconversation", "cethread", "ceconversationhistory", "cememory", "cesessionunit", *_RUNNING)
_AUDIT = ("ceaudit", "ceturnindex", "cellmcalllog")
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
    Task("Read the drafts", (ANALYST, CONFIG_ADMIN, QA), _see("config_admin", ["cedraft"])),
    Task(
        "Read the releases",
        (ANALYST, CONFIG_ADMIN, QA, OPERATOR),
        _see("config_admin", ["cerelease", "cegradualrelease"]),
    ),
    Task(
        "Change the configuration and settings, import rows, switch them, restore versions, undo releases, test",
        (ANALYST, CONFIG_ADMIN),
        _rights("config_admin", _EDIT, _ROWS),
    ),
    Task(
        "Make, edit and discard drafts, and publish what they may change",
        (ANALYST, CONFIG_ADMIN),
        _rights("config_admin", ["add", "change"], ["cedraft"]) | {PUBLISH_DRAFT},
    ),
    Task(
        "Comment on drafts, approve and return them",
        (ANALYST, CONFIG_ADMIN, QA),
        frozenset({"config_admin.review_draft"}),
    ),
    Task(
        "Change how changes become live: mode, approvals and gate",
        (CONFIG_ADMIN,),
        frozenset({"config_admin.change_release_settings"}),
    ),
    Task(
        "Make and change tests, and run them",
        (ANALYST, CONFIG_ADMIN, QA),
        _rights("config_admin", ["view", *_EDIT], ["cetestcase"])
        | {"config_admin.run_test_case", "config_admin.view_cetestrun"},
    ),
    Task(
        "Publish a draft although tests of the gate fail",
        (CONFIG_ADMIN,),
        frozenset({"config_admin.override_gate"}),
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
        "Really call from the simulator",
        (ANALYST, CONFIG_ADMIN),
        frozenset({"ce_sessions.take_real_turns"}),
    ),
    Task(
        "Roll back to a release, and undo releases of imports, scripts, upgrades and roll-backs",
        (CONFIG_ADMIN,),
        frozenset({ROLL_BACK}),
    ),
    Task("Import a configuration", (CONFIG_ADMIN,), frozenset({IMPORT})),
    Task(
        "Read conversations, turns, events, model calls and used rows",
        (ANALYST, CONFIG_ADMIN, QA),
        _see("ce_sessions", _SESSIONS) | _see("audit", _AUDIT),
    ),
    Task(
        "Read alerts and their rules",
        (ANALYST, CONFIG_ADMIN, QA, OPERATOR),
        _see("audit", ["cealert", "cealertrule"]),
    ),
    Task(
        "Make and change alert rules, and silence alerts",
        (ANALYST, CONFIG_ADMIN, OPERATOR),
        _rights("audit", _EDIT, ["cealertrule"]) | {"audit.silence_alert"},
    ),
    Task("Read feedback", (ANALYST, CONFIG_ADMIN, QA), _see("audit", ["cemcpuserfeedback"])),
    Task(
        "Give feedback on answers",
        (ANALYST, CONFIG_ADMIN, QA),
        frozenset({"audit.add_cemcpuserfeedback"}),
    ),
    Task("See the access log and the ledger", (CONFIG_ADMIN,), _see("audit", ["ceaccesslog", "celedger"])),
    Task(
        "Erase a person's data, and see erasures",
        (CONFIG_ADMIN,),
        _see("audit", ["ceerasure"]) | {"audit.erase_person"},
    ),
    Task(
        "Read waiting turns, queued messages, stored answers and action runs",
        (ANALYST, CONFIG_ADMIN, QA, OPERATOR),
        _see("ce_sessions", _RUNNING) | _see("ce_queued", ["cequeuedmessage"]),
    ),
    Task(
        "Record the outcome of an action whose result is unknown",
        (OPERATOR,),
        frozenset({"ce_sessions.settle_execution"}),
    ),
    Task(
        "See tracebacks of extensions on the page of a turn",
        (CONFIG_ADMIN, INTEGRATOR, OPERATOR),
        frozenset({"ce_sessions.view_ceextensionfault"}),
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
    Task(
        "Make, change and test webhooks, and see their secrets",
        (INTEGRATOR,),
        _rights("ce_webhooks", ["view", *_EDIT], ["cewebhook"]),
    ),
    Task("Add and change channels", (INTEGRATOR,), _rights("ce_channels", ["view", *_EDIT], ["cechannel"])),
    Task("See messages of channels", (QA, INTEGRATOR, OPERATOR), _see("ce_channels", ["cechannelmessage"])),
    Task(
        "See who opted out of a channel, and take that back",
        (INTEGRATOR, OPERATOR),
        _rights("ce_channels", ["view", "delete"], ["ceoptout"]),
    ),
    Task(
        "See deliveries of webhooks, and send them again",
        (INTEGRATOR, OPERATOR),
        _see("ce_webhooks", ["cewebhookdelivery"]) | {"ce_webhooks.resend_delivery"},
    ),
)


#: What makes a scope of an API key its creator's own: all of these rights.
_READ_RIGHTS = frozenset(
    right for task in TASKS if task.title.startswith("Read conversations, turns, events") for right in task.rights
)
_KEY_RIGHTS = frozenset({"ce_api.add_ceapikey"})
SCOPE_RIGHTS: Mapping[str, frozenset[str]] = {
    "turns": _KEY_RIGHTS,
    "sessions": _KEY_RIGHTS,
    "own_audit": _KEY_RIGHTS,
    "approve": _KEY_RIGHTS,
    # It reads conversations that keys of others began.
    "desk": _KEY_RIGHTS | _READ_RIGHTS,
    "audit": _KEY_RIGHTS | _READ_RIGHTS,
    "config": _KEY_RIGHTS | {right for task in TASKS for right in task.rights if right.startswith("config_admin.")},
}


def find_task(right: str) -> Task | None:
    """The task that a right belongs to. Returns None for rights that only administrators have."""
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
