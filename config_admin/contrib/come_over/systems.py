"""The systems that bots come over from, by the names that the command takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from config_admin.contrib.come_over import dialogflow, rasa
from config_admin.contrib.come_over.files import Files, Layout
from config_admin.contrib.come_over.project import Project


@dataclass(frozen=True)
class System:
    """How the files of a bot are found, and read under the bot's name. `read_project` raises FileRefused."""

    title: str
    layout: Layout
    read_project: Callable[[str, Files], Project]


SYSTEMS: Mapping[str, System] = {
    "rasa": System("Rasa", rasa.LAYOUT, rasa.read_project),
    "dialogflow": System("Dialogflow ES", dialogflow.LAYOUT, dialogflow.read_project),
}
