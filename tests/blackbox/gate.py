"""A server that can be logged in to in every way: with a certificate, and an account for each plugin."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from blackbox.stand import SETTINGS, Stand
from dyno.engines import Server, Settings, Store
from dyno.engines.sources.apt_root import AptRoot
from dyno.engines.sources.apt_sources import debian_mirror, system_sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dyno.engines import Installed

PASSWORD = "corrêct hórse 'battery\" \\ 🐎" + 40 * "x"
PLUGINS = {
    "mariadb": ["mysql_native_password", "ed25519"],
    "mysql": ["caching_sha2_password", "sha256_password"],
}
ED25519 = "usr/lib/mysql/plugin/auth_ed25519.so"
SHORT = {"warmup_s": 0.0, "measure_s": 0.1, "drain_s": 5.0}


class Gate(Stand):
    """A server with TLS, and for each way to check a password two accounts: NAME and NAME_empty."""

    def __init__(self, server: Server, folder: Path, made: Certificates) -> None:
        super().__init__(server, folder)
        self.certificates = made

    @cached_property
    def plugins(self) -> list[str]:
        """The ways of this server to check a password, each with an account of its name."""
        return PLUGINS[self.server.installed.family]

    def create(self, plugin: str, password: str, name: str) -> None:
        """An account that may come from anywhere and use the tables."""
        how = {"mariadb": f"VIA {plugin} USING PASSWORD(%s)", "mysql": f"WITH {plugin} BY %s"}
        with self.server.connect() as connection, connection.cursor() as cursor:
            family = self.server.installed.family
            cursor.execute(f"CREATE USER '{name}'@'%%' IDENTIFIED {how[family]}", [password])
            cursor.execute(f"GRANT ALL ON sbtest.* TO '{name}'@'%'")

    def trial(self, user: str, connection: dict[str, Any] | None = None, **target: Any) -> dict[str, Any]:
        """A short trial of that account, over TCP unless `target` says otherwise."""
        place = {} if "socket" in target else {"host": "127.0.0.1", "port": self.server.port}
        whole = {"user": user, "database": "sbtest", "password_env": "SECRET", **place, **target}
        load = {"closed": {"sessions": 2}}
        more = {} if connection is None else {"connection": connection}
        return self.spec("oltp_point_select", target=whole, load=load, phases=SHORT, **more)


@contextmanager
def open_gate(installed: Installed, folder: Path) -> Iterator[Gate]:
    """Start such a server.

    Raises:
        DynoError: It does not start, or MariaDB's ed25519 plugin cannot be fetched.
    """
    made = certificates(folder)
    arguments = [f"--ssl-ca={made.ca}", f"--ssl-cert={made.server}", f"--ssl-key={made.server_key}"]
    if installed.family == "mariadb":
        arguments += [f"--plugin-dir={ed25519_plugin_folder(installed)}", "--plugin-load-add=auth_ed25519"]
    settings = Settings.model_validate({**SETTINGS, "tls": True})
    with Server(installed, folder / "server", settings, extra_arguments=arguments) as server:
        gate = Gate(server, folder, made)
        gate.prepare()
        for plugin in gate.plugins:
            gate.create(plugin, PASSWORD, plugin)
            gate.create(plugin, "", f"{plugin}_empty")
        yield gate


@dataclass(frozen=True)
class Certificates:
    """PEM files: the authority of the server's certificate, which names localhost, and another one."""

    ca: Path
    other_ca: Path
    server: Path
    server_key: Path


def certificates(folder: Path) -> Certificates:
    """Make them."""
    made = Certificates(
        folder / "ca.pem", folder / "other_ca.pem", folder / "server.pem", folder / "server_key.pem"
    )
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    for ca in (made.ca, made.other_ca):
        key = ca.with_suffix(".key")
        _openssl("req", "-x509", *new_key, "-keyout", key, "-out", ca, "-subj", f"/CN={ca.stem}")
    request = folder / "server.csr"
    _openssl("req", *new_key[:-2], "-keyout", made.server_key, "-out", request, "-subj", "/CN=server")
    names = folder / "names"
    names.write_text("subjectAltName = DNS:localhost\n")
    signed_by = ["-CA", made.ca, "-CAkey", made.ca.with_suffix(".key"), "-CAcreateserial", "-days", "2"]
    _openssl("x509", "-req", "-in", request, *signed_by, "-extfile", names, "-out", made.server)
    return made


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def ed25519_plugin_folder(installed: Installed) -> Path:
    """A plugin folder with MariaDB's ed25519 login, which is not in the packages that a server needs.

    It is fetched once from the suite that the server is from, in the same version, and kept in the cache.

    Raises:
        DynoError: The mirror does not answer or has another version by now.
    """
    store = Store()
    kept = store.root / "test-plugins" / installed.content_sha256[:16]
    if not (kept / "auth_ed25519.so").exists():
        suite = installed.source.partition(":")[2]
        version = next(p.version for p in installed.packages if p.name == "mariadb-server-core")
        scratch = kept / "unpacked"
        scratch.mkdir(parents=True, exist_ok=True)
        with store.locked(), chdir(scratch):
            apt = AptRoot(store.root / "apt" / suite, debian_mirror(system_sources()), suite, security=True)
            apt._run("download", f"mariadb-server={version}")
            (deb,) = scratch.glob("*.deb")
            subprocess.run(["dpkg-deb", "--extract", str(deb), "."], check=True)
        (scratch / ED25519).replace(kept / "auth_ed25519.so")
        shutil.rmtree(scratch)
    return kept
