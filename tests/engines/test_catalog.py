import pytest

from dyno.engines import CATALOG, find
from dyno.errors import DynoError


@pytest.mark.parametrize("spec", CATALOG, ids=lambda spec: spec.id)
def test_every_engine_is_found_by_name_and_by_id(spec):
    assert find(spec.name) == spec
    assert find(spec.id) == spec


def test_ids_are_unique_slugs():
    ids = [spec.id for spec in CATALOG]
    assert len(set(ids)) == len(ids)
    assert all(set(identifier) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for identifier in ids)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("mariadb@10.11", "debian:bookworm"),
        ("MariaDB@11.8", "debian:trixie"),
        ("mariadb@11.8:forky", "debian:forky"),
        ("mariadb@11.8:debian:forky", "debian:forky"),
        ("mariadb@11.8:trixie", "debian:trixie"),
        ("mysql@9.7", "debian:sid"),
    ],
)
def test_names(name, source):
    assert find(name).source == source


@pytest.mark.parametrize("name", ["mariadb", "mariadb@9.9", "postgres@17", "mariadb@11.8:woody", ""])
def test_an_unknown_name_lists_what_there_is(name):
    with pytest.raises(DynoError, match="no engine") as caught:
        find(name)
    assert all(spec.name in str(caught.value.hint) for spec in CATALOG)
