"""What the configuration offers to the other apps, as the types of `convengine.server.interfaces`; settings name it."""

from config_admin.drafts.named_configurations import (
    describe_configuration,
    list_configurations,
    list_used_configurations,
    read_configuration,
)
from config_admin.history.evidence import collect_evidence, open_evidence
from config_admin.history.release_notes import between, list_release_notes, list_releases_of_period
from config_admin.history.row_in_release import find_row_origins, right_to_read, then_and_now
from config_admin.releases.active import snapshots
from config_admin.releases.diff import differences
from config_admin.releases.integrity import read_chain_end, read_seal, verify_configuration
from config_admin.releases.renamed_intents import list_older_codes
from config_admin.test_cases.erasing import erase_tests, find_tests_with, list_titles
from config_admin.transfer.whole_configuration import list_configuration_tables, load_file, read_release_rows
from convengine.server.interfaces.configuration import Configuration, ConfigurationFiles, NamedConfigurations
from convengine.server.interfaces.release_history import ReleaseHistory
from convengine.server.interfaces.stored_tests import StoredTests


class _ReleaseHistory:
    diff = staticmethod(differences)
    right_to_read = staticmethod(right_to_read)
    then_and_now = staticmethod(then_and_now)
    find_row_origins = staticmethod(find_row_origins)
    between = staticmethod(between)
    list_release_notes = staticmethod(list_release_notes)
    list_releases_of_period = staticmethod(list_releases_of_period)
    older_codes = staticmethod(list_older_codes)
    collect_evidence = staticmethod(collect_evidence)
    open_evidence = staticmethod(open_evidence)
    verify = staticmethod(verify_configuration)
    read_chain_end = staticmethod(read_chain_end)
    read_seal = staticmethod(read_seal)


class _ConfigurationFiles:
    tables = property(lambda _: list_configuration_tables())
    read_rows = staticmethod(read_release_rows)
    import_file = staticmethod(load_file)


class _NamedConfigurations:
    read = staticmethod(read_configuration)
    describe = staticmethod(describe_configuration)
    list_choices = staticmethod(list_configurations)
    list_in_use = staticmethod(list_used_configurations)


class _StoredTests:
    list_titles = staticmethod(list_titles)
    erase_tests = staticmethod(erase_tests)
    find_tests_with = staticmethod(find_tests_with)


configuration: Configuration = snapshots
named_configurations: NamedConfigurations = _NamedConfigurations()
release_history: ReleaseHistory = _ReleaseHistory()
configuration_files: ConfigurationFiles = _ConfigurationFiles()
stored_tests: StoredTests = _StoredTests()
