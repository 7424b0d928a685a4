"""Encryption and compression: what the spec asks for goes over the line, or nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from blackbox.gate import PASSWORD
from blackbox.tap import tapped

if TYPE_CHECKING:
    from blackbox.gate import Gate

pytestmark = pytest.mark.engine

STATEMENT = b"SELECT c FROM sbtest"


def ways_to_verify(gate: Gate) -> list[dict[str, Any]]:
    """Every mode that encrypts, each as it should succeed on host localhost."""
    ca = str(gate.certificates.ca)
    return [
        {"tls": "required"},
        {"tls": "verify-ca", "tls_ca": ca},
        {"tls": "verify-identity", "tls_ca": ca},
    ]


def test_off_is_plain_text_even_where_tls_is_offered(gate: Gate) -> None:
    with tapped(gate.server.port) as tap:
        record = gate.drive(gate.trial(gate.plugins[0], {"tls": "off"}, port=tap.port), SECRET=PASSWORD)
    assert record[0]["connection"]["tls"] is None
    assert STATEMENT in tap.from_client


def test_every_plugin_logs_in_over_tls_and_nothing_is_readable(gate: Gate) -> None:
    for way in ways_to_verify(gate):
        for plugin in gate.plugins:
            with tapped(gate.server.port) as tap:
                spec = gate.trial(plugin, way, host="localhost", port=tap.port)
                record = gate.drive(spec, SECRET=PASSWORD)
            used = record[0]["connection"]
            assert used["tls"].startswith("TLSv1_")
            assert used["auth_plugin"].removeprefix("client_") == plugin
            assert record[-1]["rows"] > 0
            for hidden in (STATEMENT, plugin.encode(), PASSWORD.encode(), b"sbtest"):
                assert hidden not in tap.from_client


def test_what_the_server_says_of_the_connection(gate: Gate) -> None:
    """An account that must use TLS: the server itself sees to it."""
    gate.create(gate.plugins[0], PASSWORD, "strict")
    gate.query("ALTER USER strict@'%' REQUIRE SSL")
    record = gate.drive(gate.trial("strict", {"tls": "required"}), SECRET=PASSWORD)
    assert record[0]["connection"]["tls"]
    plain = gate.rig("drive", gate.trial("strict", {"tls": "off"}), SECRET=PASSWORD)
    assert plain.returncode == 1
    assert "1045" in plain.stderr
    assert "hint: " in plain.stderr


@pytest.mark.parametrize("mode", ["verify-ca", "verify-identity"])
def test_a_certificate_of_another_authority_is_refused(gate: Gate, mode: str) -> None:
    way = {"tls": mode, "tls_ca": str(gate.certificates.other_ca)}
    with tapped(gate.server.port) as tap:
        spec = gate.trial(gate.plugins[0], way, host="localhost", port=tap.port)
        done = gate.rig("drive", spec, SECRET=PASSWORD)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "TLS: " in done.stderr
    assert "\nhint: the certificate must be signed by the CA file" in done.stderr
    # not even the name of the account was told
    assert gate.plugins[0].encode() not in tap.from_client


def test_a_certificate_for_another_host_is_refused_by_verify_identity_alone(gate: Gate) -> None:
    """The certificate names localhost; here the server is asked for by its address."""
    ca = str(gate.certificates.ca)
    accepted = gate.trial(gate.plugins[0], {"tls": "verify-ca", "tls_ca": ca}, host="127.0.0.1")
    gate.drive(accepted, SECRET=PASSWORD)
    refused = gate.trial(gate.plugins[0], {"tls": "verify-identity", "tls_ca": ca}, host="127.0.0.1")
    done = gate.rig("drive", refused, SECRET=PASSWORD)
    assert done.returncode == 1
    assert "TLS: " in done.stderr
    assert "verify-identity also wants the host's name in it" in done.stderr


def test_a_server_without_tls_is_refused_where_tls_is_required(gate: Gate) -> None:
    """Whoever sits in between and hides the offer gets no plain text for it."""
    with tapped(gate.server.port, strip_tls=True) as tap:
        spec = gate.trial(gate.plugins[0], {"tls": "required"}, port=tap.port)
        done = gate.rig("drive", spec, SECRET=PASSWORD)
    assert done.returncode == 1
    assert "it offers no TLS\nhint: " in done.stderr
    assert gate.plugins[0].encode() not in tap.from_client


def test_a_ca_file_that_is_no_such_thing_is_named(gate: Gate) -> None:
    way = {"tls": "verify-ca", "tls_ca": str(gate.certificates.server_key)}
    done = gate.rig("drive", gate.trial(gate.plugins[0], way), SECRET=PASSWORD)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert "server_key.pem" in done.stderr
    missing = {"tls": "verify-ca", "tls_ca": "/nowhere/ca.pem"}
    done = gate.rig("drive", gate.trial(gate.plugins[0], missing), SECRET=PASSWORD)
    assert done.returncode in (1, 2)
    assert "/nowhere/ca.pem" in done.stderr
    # a mode that verifies and nothing to verify with: a wrong spec
    nothing = gate.trial(gate.plugins[0], {"tls": "verify-ca"})
    assert gate.rig("drive", nothing, SECRET=PASSWORD).returncode == 2


def methods(gate: Gate) -> list[str]:
    """MariaDB has zlib alone."""
    return ["zlib", "zstd"] if gate.server.installed.family == "mysql" else ["zlib"]


@pytest.mark.parametrize("tls", ["off", "required"])
def test_compression_is_what_goes_over_the_line(gate: Gate, tls: str) -> None:
    options = {"range_size": 200}
    sizes = {}
    for method in ["off", *methods(gate)]:
        with tapped(gate.server.port) as tap:
            spec = gate.trial(gate.plugins[0], {"tls": tls, "compression": method}, port=tap.port)
            spec["workload"] = gate.spec("oltp_read_only", options)["workload"]
            record = gate.drive(spec, SECRET=PASSWORD)
        used = record[0]["connection"]
        assert (used["compression"] or "off").split()[0] == method
        assert bool(used["tls"]) == (tls == "required")
        sizes[method] = len(tap.from_server) / record[-1]["issued"]["select"]
    # digits take four bits at the least and a byte as they are
    assert all(size < 0.8 * sizes["off"] for method, size in sizes.items() if method != "off"), sizes


def test_compression_that_the_server_lacks_is_refused(gate: Gate) -> None:
    if gate.server.installed.family == "mysql":
        gate.query("SET GLOBAL protocol_compression_algorithms = 'uncompressed'")
    try:
        done = gate.rig("drive", gate.trial(gate.plugins[0], {"compression": "zstd"}), SECRET=PASSWORD)
    finally:
        if gate.server.installed.family == "mysql":
            gate.query("SET GLOBAL protocol_compression_algorithms = 'zlib,zstd,uncompressed'")
    assert done.returncode == 1
    assert "it offers no zstd compression\nhint: " in done.stderr


def test_data_is_built_the_same_over_every_line(gate: Gate) -> None:
    expected = gate.contents()
    for way in ({"tls": "required"}, *({"compression": method} for method in methods(gate))):
        spec = gate.trial(gate.plugins[0], way)
        assert gate.rig("cleanup", spec, SECRET=PASSWORD).returncode == 0
        done = gate.rig("prepare", spec, SECRET=PASSWORD)
        assert done.returncode == 0, done.stderr
        assert gate.contents() == expected
