"""What operators see of a running installation: metrics, traces, the lines of turns and requests in the log."""
