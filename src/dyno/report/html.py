"""`report.html`: the viewer's page with one analysis inside."""

from __future__ import annotations

import base64
import gzip
import html
from importlib import resources
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from dyno.report.model import Analysis

TEMPLATE = "viewer.html"
DATA_SLOT = '<script type="application/json" id="analysis"></script>'
TITLE_SLOT = "<title>Dyno report</title>"

# Up to this size the data stays plain, so that anyone can read it in the page's source.
PLAIN_CHARACTERS_MAX = 200_000

# A data block ends at the first "</script", and "<!--" changes how the parser reads it: no "<" is left.
# JSON knows the same characters by number.
_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def render(analysis: Analysis) -> str:
    """Return the report of `analysis` as one HTML file that needs nothing else.

    Raises:
        DynoError: the viewer's page was not built into this installation, or is of another version.
    """
    page = _template()
    title = TITLE_SLOT.replace("Dyno report", html.escape(analysis.title))
    for slot in (DATA_SLOT, TITLE_SLOT):
        if page.count(slot) != 1:
            raise DynoError(
                f"the viewer's page {TEMPLATE} has {page.count(slot)} places for {slot}, one is needed",
                hint="`make build` builds the page that fits this version of Dyno",
            )
    return page.replace(TITLE_SLOT, title).replace(DATA_SLOT, _data_block(analysis.model_dump_json()))


def _data_block(json_text: str) -> str:
    """Return the analysis as a data block: plain while small, else gzip in base64."""
    plain = json_text.translate(_ESCAPES)
    if len(plain) <= PLAIN_CHARACTERS_MAX:
        return f'<script type="application/json" id="analysis">{plain}</script>'
    # No time in the gzip header: the same analysis gives the same file.
    packed = base64.b64encode(gzip.compress(json_text.encode(), mtime=0)).decode("ascii")
    return f'<script type="text/plain" id="analysis" data-encoding="gzip+base64">{packed}</script>'


def _template() -> str:
    try:
        return resources.files("dyno.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DynoError(
            "the report's page is not in this installation (dyno/report/viewer.html is missing)",
            hint="run `make build`",
        ) from None
