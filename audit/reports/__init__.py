"""Reports: what happened in a period, counted from the records by a job, and shown with links to the turns."""
