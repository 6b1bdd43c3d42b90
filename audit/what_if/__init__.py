"""What if: stored conversations run again on a draft, an edit or another release, and list what differs."""
