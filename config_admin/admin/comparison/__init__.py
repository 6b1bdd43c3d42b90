"""What differs between two contents of a row or two configurations, and the ways back."""
