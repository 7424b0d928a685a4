import pytest

from dyno.engines import find
from dyno.engines.sources import prefix
from dyno.engines.sources.apt_root import Deb, MirrorUnreachableError, SuiteMissingError, explain
from dyno.engines.sources.apt_sources import debian_mirror, parse_deb822, parse_one_line, system_sources
from dyno.engines.sources.debian import _keep, _require_series
from dyno.errors import DynoError

DEB822 = """\
# the archive
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no
"""
ONE_LINE = """\
# deb http://commented.example/debian bookworm main
deb http://vendor.example/linux/debian bookworm stable
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] https://mirror.example/debian/ bookworm main contrib # ours
deb http://security.example/debian-security bookworm-security main
"""


def test_deb822():
    found = list(parse_deb822(DEB822))
    assert [(s.uri, s.suite) for s in found] == [
        ("http://mirror.example/debian", "bookworm"),
        ("http://mirror.example/debian", "bookworm-updates"),
        ("http://mirror.example/debian-security", "bookworm-security"),
    ]
    assert found[0].signed_by == "/usr/share/keyrings/debian-archive-keyring.gpg"
    assert found[0].components == ("main", "contrib")
    assert found[2].signed_by is None, "a key inside the file is no path"


def test_one_line():
    found = list(parse_one_line(ONE_LINE))
    assert [s.uri for s in found] == [
        "http://vendor.example/linux/debian",
        "https://mirror.example/debian/",
        "http://security.example/debian-security",
    ]
    assert found[1].signed_by == "/k.gpg"
    assert found[1].components == ("main", "contrib")


@pytest.mark.parametrize(("parse", "text"), [(parse_deb822, DEB822), (parse_one_line, ONE_LINE)])
def test_the_mirror_is_the_archive_not_a_vendors_repository(parse, text):
    mirror = debian_mirror(parse(text))
    assert mirror.main.uri.rstrip("/").endswith("//mirror.example/debian")
    assert mirror.security is not None
    assert mirror.security.uri.endswith("debian-security")


def test_a_machine_without_a_debian_archive(tmp_path):
    with pytest.raises(DynoError, match="noble") as caught:
        debian_mirror(parse_one_line("deb http://archive.example/ubuntu noble main"), tmp_path)
    assert "Debian" in str(caught.value.hint)


def test_both_kinds_of_files_are_read(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://a.example/debian trixie main\n")
    (tmp_path / "sources.list.d/b.sources").write_text(DEB822)
    (tmp_path / "sources.list.d/c.list.disabled").write_text("deb http://c.example/debian trixie main\n")
    found = system_sources(tmp_path)
    assert found[0].uri == "http://a.example/debian"
    assert len(found) == 4


@pytest.mark.parametrize(
    ("output", "kind", "words"),
    [
        (
            "E: Failed to fetch U  Could not connect to 127.0.0.1:9 - connect (111)",
            MirrorUnreachableError,
            "answer",
        ),
        (
            "W: Failed to fetch U  Temporary failure resolving 'mirror.example'",
            MirrorUnreachableError,
            "answer",
        ),
        ("E: Failed to fetch U  Connection timed out", MirrorUnreachableError, "answer"),
        ("E: Failed to fetch U  503  Service Unavailable", MirrorUnreachableError, "answer"),
        ("E: The repository 'U woody Release' does not have a Release file.", SuiteMissingError, "no suite"),
        ("E: Failed to fetch U  404  Not Found [IP: 1.2.3.4 80]", SuiteMissingError, "no suite"),
        ("E: Failed to fetch U  Hash Sum mismatch", DynoError, "hash"),
        ("W: GPG error: U: NO_PUBKEY 6ED0E7B82643E131", DynoError, "signature"),
        ("E: You don't have enough free space in /x/.", DynoError, "disk is full"),
        ("E: Unable to locate package mysql-server-core", DynoError, "no such package"),
        ("E: Unable to correct problems, you have held broken packages.", DynoError, "cannot install"),
        ("E: something never seen", DynoError, "something never seen"),
    ],
)
def test_what_apt_says_is_explained(output, kind, words):
    error = explain("woody", output)
    assert type(error) is kind
    assert words in error.message
    assert "woody" in error.message


def test_a_download_with_a_wrong_hash_is_refused_and_not_kept(tmp_path):
    downloaded = tmp_path / "x_1_amd64.deb"
    downloaded.write_bytes(b"tampered")
    deb = Deb("x", "1", downloaded.name, 8, "0" * 64)
    with pytest.raises(DynoError, match="SHA-256"):
        _keep(downloaded, tmp_path / "kept" / downloaded.name, deb)
    assert not downloaded.exists()
    assert not (tmp_path / "kept").exists()


def test_a_suite_that_moved_on_is_not_taken_for_the_series_asked_for():
    moved = [Deb("mysql-server-core", "9.8.1-1", "f", 1, "0" * 64)]
    with pytest.raises(DynoError, match=r"9\.8\.1"):
        _require_series(find("mysql@9.7"), "mysql-server-core", moved)
    _require_series(find("mariadb@10.11"), "m", [Deb("m", "1:10.11.19-0+deb12u1", "f", 1, "0" * 64)])


def test_a_damaged_package_is_named(tmp_path):
    (tmp_path / "broken.deb").write_bytes(b"not an archive")
    with pytest.raises(DynoError, match=r"broken\.deb"):
        prefix.build([tmp_path / "broken.deb"], tmp_path / "prefixes/abc", "amd64", lambda _: None)
    assert list((tmp_path / "prefixes").iterdir()) == [], "a failed build leaves nothing"
