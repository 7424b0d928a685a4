"""`dyno`: the command line's one way in, and the one place that prints errors and picks exit codes."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dyno import __version__
from dyno.cli import audit, console, engines, report, snapshots
from dyno.cli.bench import bench
from dyno.cli.check import check
from dyno.cli.claims import verify_claims
from dyno.cli.compare import compare
from dyno.cli.doctor import doctor
from dyno.cli.findings import findings
from dyno.cli.import_ import import_
from dyno.cli.plan import plan
from dyno.cli.run import run
from dyno.cli.scaling import scaling
from dyno.cli.selftest import selftest
from dyno.cli.sql import sql
from dyno.cli.tables import tables
from dyno.errors import DynoError, InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

EXIT_ERROR = 1
EXIT_INTERRUPTED = 3

HELP = """A dynamometer for MySQL-family database engines.

Dyno installs engines, gives them equal settings, puts real load on them in a randomised order, and says in
plain sentences what the numbers do and do not show.

\b
  dyno run plans/quickstart.toml            compare three engines, with a report at the end
  dyno bench oltp_point_select --engine mariadb@10.11
                                            one workload on one engine, now
  dyno doctor                               what in this host would spoil a measurement
  dyno engines list                         which engines there are

Exit codes: 0 done, 1 error, 2 wrong usage, 3 interrupted, 4 done, but some trials failed or are invalid;
of compare: 5 slower beyond the threshold, 6 undecided; of verify-claims: 5 a claim is false, 6 not decidable.
NO_COLOR turns colours off; DYNO_CACHE moves engines and data; DYNO_DEBUG=1 shows where an error came from.
"""

app = typer.Typer(
    name="dyno",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("plan")(plan)
app.command("bench")(bench)
app.command("check")(check)
app.add_typer(audit.app, name="audit")
app.command("report")(report.report)
app.command("show")(report.show)
app.command("import")(import_)
app.command("tables")(tables)
app.command("findings")(findings)
app.command("verify-claims")(verify_claims)
app.command("compare")(compare)
app.command("scaling")(scaling)
app.command("sql")(sql)
app.add_typer(engines.app, name="engines")
app.add_typer(snapshots.app, name="snapshots")
app.command("doctor")(doctor)
app.command("selftest")(selftest)


def _version(wanted: bool) -> None:
    if wanted:
        console.out.print(f"dyno {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Options before a command."""
    del version


def main() -> NoReturn:
    """The console script `dyno`."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    sys.exit(call(sys.argv[1:]))


def call(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors a user can act on are printed, not raised."""
    try:
        code = app(list(arguments), prog_name="dyno", standalone_mode=False)
    except typer.TyperException as error:
        console.error(error.format_message(), hint="add --help for what this command takes")
        return error.exit_code
    except DynoError as error:
        if os.environ.get("DYNO_DEBUG"):
            raise
        console.error(error.message, hint=error.hint)
        return EXIT_INTERRUPTED if isinstance(error, InterruptedRunError) else EXIT_ERROR
    except (KeyboardInterrupt, typer.Abort):
        console.err.print("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`; Python must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    # typer turns Ctrl-C outside our own handling into the shell's 130.
    return EXIT_INTERRUPTED if code == 128 + signal.SIGINT else int(code or 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Being asked to end is the same as Ctrl-C: stop servers, keep what is finished."""
    del number, frame
    raise KeyboardInterrupt
