from config_admin.validation.installation import installed


def test_the_same_installation_is_the_same_world() -> None:
    assert installed() == installed()
    assert repr(installed()) == repr(installed())
