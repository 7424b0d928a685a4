"""Command lines: how each family's server is initialised and started from a prefix."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.engines.translation import Assignment, arguments
from dyno.engines.versions import parse_version

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dyno.engines.installed import Installed


@dataclass(frozen=True)
class Places:
    """Where one server keeps what.

    Attributes:
        datadir: Data directory.
        tmpdir: Temporary files.
        files: The one folder that LOAD DATA INFILE may read and write on the server's side.
        socket: Unix socket.
        pid_file: The server's own pid file.
        error_log: The server's error log.
    """

    datadir: Path
    tmpdir: Path
    files: Path
    socket: Path
    pid_file: Path
    error_log: Path


def start_command(
    installed: Installed, places: Places, port: int, assignments: Sequence[Assignment], extra: Sequence[str]
) -> list[str]:
    """The server's command line: what a stand needs, then the settings, then `extra`."""
    command = [str(installed.server), *_common(installed, places.datadir, places.tmpdir)]
    command += [
        f"--socket={places.socket}",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        f"--pid-file={places.pid_file}",
        f"--log-error={places.error_log}",
        f"--secure-file-priv={places.files}",
        "--skip-name-resolve",
        "--local-infile=ON",
        "--event-scheduler=OFF",
    ]
    if installed.family != "mariadb" and parse_version(installed.version) >= (8, 0, 11):
        command.append("--mysqlx=OFF")
    return command + arguments(assignments) + list(extra)


def initialise_command(
    installed: Installed, datadir: Path, tmpdir: Path, assignments: Sequence[Assignment]
) -> list[str]:
    """The command that makes a data directory whose root account has no password and is local."""
    storage = arguments(a for a in assignments if a.variable.startswith("innodb_") or a.logical == "charset")
    if installed.family != "mariadb":
        binlog = ["--skip-log-bin"] if parse_version(installed.version) >= (8, 0) else []
        common = _common(installed, datadir, tmpdir)
        return [str(installed.server), *common, *storage, *binlog, "--initialize-insecure"]
    return [
        str(_install_script(installed)),
        "--no-defaults",
        f"--basedir={installed.prefix / 'usr'}",
        f"--datadir={datadir}",
        f"--tmpdir={tmpdir}",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
        *_user(),
        *storage,
    ]


def bootstrap_command(installed: Installed, datadir: Path, tmpdir: Path) -> list[str]:
    """MariaDB reading SQL from stdin without network and accounts."""
    return [str(installed.server), *_common(installed, datadir, tmpdir), "--bootstrap"]


def keep_only_local_root(installed: Installed) -> str:
    """SQL for bootstrap that removes every account of a new MariaDB but root over the socket.

    The accounts have no password: one that is reachable by TCP would belong to everybody on this machine.
    """
    table = "global_priv" if parse_version(installed.version) >= (10, 4) else "user"
    return (
        f"DELETE FROM mysql.{table} "  # noqa: S608 - one of the two names above
        "WHERE User <> 'mariadb.sys' AND NOT (User = 'root' AND Host = 'localhost');\n"
    )


def environment(installed: Installed, extra: dict[str, str]) -> dict[str, str]:
    """The server's environment: ours without loader variables, which would mix this host's libraries in."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "MYSQL_"))}
    path = f"{installed.prefix}/usr/sbin:{installed.prefix}/usr/bin:{inherited.get('PATH', os.defpath)}"
    return inherited | {"PATH": path, "LC_ALL": "C"} | extra


def _common(installed: Installed, datadir: Path, tmpdir: Path) -> list[str]:
    share = _share(installed)
    return [
        "--no-defaults",
        f"--basedir={installed.prefix / 'usr'}",
        f"--datadir={datadir}",
        f"--plugin-dir={installed.prefix / 'usr/lib/mysql/plugin'}",
        f"--lc-messages-dir={share}",
        f"--character-sets-dir={share / 'charsets'}",
        f"--tmpdir={tmpdir}",
        *_user(),
    ]


def _share(installed: Installed) -> Path:
    """The folder with the messages and character sets; MariaDB's was renamed on the way."""
    candidates = [installed.prefix / "usr/share" / name for name in ("mysql", "mariadb")]
    return next((path for path in candidates if (path / "charsets").is_dir()), candidates[0])


def _install_script(installed: Installed) -> Path:
    candidates = [installed.prefix / "usr/bin" / name for name in ("mariadb-install-db", "mysql_install_db")]
    return next((path for path in candidates if path.exists()), candidates[0])


def _user() -> list[str]:
    """Servers refuse to run as root unless told; no other account can read root's cache folder."""
    return ["--user=root"] if os.geteuid() == 0 else []
