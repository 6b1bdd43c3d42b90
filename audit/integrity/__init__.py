"""Verify that nobody changed the record: chains of seals, anchors and the nightly job."""
