"""What a form offers, judges and tries while somebody fills it in."""
