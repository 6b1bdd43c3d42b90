from convengine.server.model_clients.vectors import BYTES, closeness, embed


def test_what_means_the_same_is_closer_than_what_does_not() -> None:
    wanted, same, other = embed(["I lost my bank card", "my debit card is gone", "the weather is nice"])

    near, far = closeness(wanted, [same, other])

    assert len(wanted) == BYTES
    assert near > far
    assert closeness(wanted, []) == []
