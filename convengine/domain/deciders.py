"""Which rows decide turns (R58), and what one calls such a row."""

from collections.abc import Mapping

from convengine.domain import rows

DECIDERS: Mapping[str, str] = {
    rows.Rule.table: "Rule",
    rows.Response.table: "Response",
    rows.Classifier.table: "Classifier",
    rows.Policy.table: "Policy",
    rows.OutputSchema.table: "Output schema",
    rows.PromptTemplate.table: "Prompt template",
    rows.Planner.table: "Planner prompt",
    rows.ContainerConfig.table: "Container data",
    rows.PendingAction.table: "Pending action",
    rows.DirectTool.table: "Direct tool call",
    rows.Tool.table: "Tool",
}
