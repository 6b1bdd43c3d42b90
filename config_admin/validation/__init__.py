"""What an editor is told before a row is saved: every check of the data model, judged on a snapshot value."""
