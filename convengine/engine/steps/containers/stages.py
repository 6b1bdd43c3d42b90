"""Stages of container data."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

CONTAINER_DATA_SKIPPED = declare_stage(
    "CONTAINER_DATA_SKIPPED",
    Family.DATA,
    "No data is fetched here, and why.",
    steps="AddContainerDataStep",
    keys="reason intent state",
    common=True,
)
CONTAINER_DATA_EXECUTED = declare_stage(
    "CONTAINER_DATA_EXECUTED",
    Family.DATA,
    "One piece of data was fetched: what was asked, and what came.",
    steps="AddContainerDataStep",
    keys="containerId pageId sectionId inputParam requestInput response durationMs",
    sentences=(SentenceTemplate("Fetched {inputParam}[ from {source}]: {response}."),),
)
CONTAINER_DATA_FAILED = declare_stage(
    "CONTAINER_DATA_FAILED",
    Family.DATA,
    "One piece of data could not be fetched.",
    steps="AddContainerDataStep",
    keys="containerId pageId sectionId inputParam error errorType durationMs",
    sentences=(SentenceTemplate("Could not fetch {inputParam}[ from {source}]: {error}.", tone=Tone.ERROR),),
)
CONTAINER_DATA_ATTACHED = declare_stage(
    "CONTAINER_DATA_ATTACHED",
    Family.DATA,
    "The fetched data is now in the context.",
    steps="AddContainerDataStep",
)
