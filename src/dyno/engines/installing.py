"""Make an engine available on this machine, from its source or from the cache."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from dyno.engines.sources import debian
from dyno.engines.sources.apt_root import MirrorUnreachableError
from dyno.engines.store import Progress, Store, silent
from dyno.errors import DynoError

if TYPE_CHECKING:
    from dyno.engines.catalog import EngineSpec
    from dyno.engines.installed import Installed

FRESH_S = 24 * 3600.0
"""How long a resolved engine is used without asking its source again."""


def install(
    spec: EngineSpec, *, store: Store | None = None, progress: Progress = silent, refresh: bool = False
) -> Installed:
    """The engine, ready to start; nothing is fetched that the cache has.

    A prefix that its source confirmed within the last day is used as it is. Else the source is asked, and
    when it does not answer, the prefix that last satisfied the request is used and a notice says so.

    Args:
        spec: From `find`.
        store: The cache; the user's when None.
        progress: Called with one line per slow step.
        refresh: Ask the source even if the cache is fresh.

    Raises:
        DynoError: The engine cannot be had; the message says why and the hint what to do.
    """
    where = Store() if store is None else store
    with where.locked(progress):
        known = where.lookup(spec.id, spec.source)
        if known is not None and not refresh and time.time() - known.checked_epoch_s < FRESH_S:
            return known.installed
        try:
            installed = _from_source(spec, where, progress)
        except MirrorUnreachableError as error:
            if known is None:
                raise
            when = time.strftime("%Y-%m-%d", time.gmtime(known.checked_epoch_s))
            notice = f"{spec.name}: {error.message}; using {known.installed.version}, fetched {when}"
            progress(notice)
            return replace(known.installed, notices=(notice,))
        where.remember(installed)
        return installed


def _from_source(spec: EngineSpec, store: Store, progress: Progress) -> Installed:
    scheme = spec.source.partition(":")[0]
    if scheme != "debian":
        raise DynoError(f"unknown engine source {spec.source!r}", hint="known sources: debian:<suite>")
    return debian.install(spec, store, progress)
