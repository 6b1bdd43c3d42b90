"""Alerts: rules on the numbers of the reports, their messages, and silences (docs/reports.md#alerts)."""
