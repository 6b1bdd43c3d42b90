from config_admin.validation.installation import describe_installation


def test_the_same_installation_is_the_same_world() -> None:
    assert describe_installation() == describe_installation()
    assert repr(describe_installation()) == repr(describe_installation())
