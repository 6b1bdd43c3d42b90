"""Messages whose turns are taken in the background."""
