"""my.cnf, SHOW VARIABLES, SHOW STATUS: their spellings, and what was asked against what is."""

from __future__ import annotations

from io import StringIO

import pytest

from dyno.record.importers.server import check_settings, parse_cnf, parse_variables

CNF = """# ours
[client]
port = 3307
[mysqld]
innodb-buffer-pool-size = 2G   # of 4
skip-name-resolve
loose_innodb_change_buffering = none
innodb_doublewrite=1
log_bin = binlog
datadir = "/var/lib/my sql/"
sql_mode = 'A,B' # both
sync_binlog = 0
master_password = geheim
[mysqld_safe]
nice = -5
[mariadb-11.8]
sync_binlog = 1
"""


def test_only_the_sections_of_the_server_count_and_the_last_value() -> None:
    assert parse_cnf(StringIO(CNF)) == {
        "innodb_buffer_pool_size": "2G",
        "skip_name_resolve": "ON",
        "innodb_change_buffering": "none",
        "innodb_doublewrite": "1",
        "log_bin": "binlog",
        "datadir": "/var/lib/my sql/",
        "sql_mode": "A,B",
        "sync_binlog": "1",
    }


@pytest.mark.parametrize(
    "text",
    [
        "autocommit\tON\nversion\t8.0.45\nadmin_address\t\n",
        "Variable_name\tValue\nautocommit\tON\nversion\t8.0.45\nadmin_address\t\n",
        (
            "+---+---+\n| Variable_name | Value  |\n+---+---+\n| autocommit    | ON     |\n"
            "| version       | 8.0.45 |\n| admin_address |        |\n+---+---+\n3 rows in set (0.00 sec)\n"
        ),
        (
            "*** 1. row ***\nVariable_name: autocommit\n        Value: ON\n*** 2. row ***\n"
            "Variable_name: version\n        Value: 8.0.45\n*** 3. row ***\nVariable_name: admin_address\n"
            "        Value: \n"
        ),
    ],
    ids=["batch", "batch with names", "table", "vertical"],
)
def test_variables_in_every_form_of_the_client(text: str) -> None:
    assert parse_variables(StringIO(text)) == {"autocommit": "ON", "version": "8.0.45", "admin_address": ""}


def test_passwords_are_not_taken_over() -> None:
    assert parse_variables(StringIO("sha256_password_x\tsecret\nmaster_password\tgeheim\n")) == {}


def test_asked_against_effective() -> None:
    effective = {
        "innodb_buffer_pool_size": "2147483648",
        "skip_name_resolve": "ON",
        "innodb_change_buffering": "all",
        "innodb_doublewrite": "ON",
        "log_bin": "ON",
        "datadir": "/var/lib/my sql",
    }
    checks = {str(check["variable"]): check for check in check_settings(parse_cnf(StringIO(CNF)), effective)}
    verdicts = {name: check["verdict"] for name, check in checks.items()}
    assert verdicts == {
        "innodb_buffer_pool_size": "equal",
        "skip_name_resolve": "equal",
        "innodb_change_buffering": "adjusted",
        "innodb_doublewrite": "equal",
        "log_bin": "equal",
        "datadir": "equal",
        "sql_mode": "unknown",
        "sync_binlog": "unknown",
    }
    assert checks["innodb_change_buffering"]["requested"] == "none"
    assert checks["innodb_change_buffering"]["effective"] == "all"
