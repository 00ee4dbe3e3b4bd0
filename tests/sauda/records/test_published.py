"""The figures that the seed documents report are well formed."""

import json
import math
import re

from sauda.records.store import ROOT

TEXT = (ROOT / "published.json").read_text(encoding="utf-8")
FIGURES = json.loads(TEXT)["data"]["figures"]


def test_every_figure_names_its_source_and_its_n_or_says_that_there_is_none():
    for figure in FIGURES:
        assert figure["system"] in {"bazaar", "arena", "agreemate"}
        assert all(figure[key].strip() for key in ("title", "source", "n_of", "caveat"))
        assert (figure["n"] is None) == ("No n is given" in figure["caveat"]), figure["id"]


def test_every_row_is_as_wide_as_the_columns_and_holds_plain_finite_cells():
    for figure in FIGURES:
        assert figure["rows"]
        for cells in figure["rows"]:
            assert len(cells) == len(figure["columns"]), figure["id"]
            assert all(c is None or isinstance(c, str | bool | int | float) for c in cells)
            assert all(math.isfinite(c) for c in cells if isinstance(c, float))


def test_rates_and_shares_are_fractions():
    for figure in FIGURES:
        for name, cells in zip(figure["columns"], zip(*figure["rows"], strict=True), strict=True):
            if name.endswith(("_rate", "_agreement")) or name.startswith(("share", "deal_rate")):
                assert all(c is None or 0 <= c <= 1 for c in cells), (figure["id"], name)


def test_sources_are_named_as_documents_and_not_as_paths():
    assert not re.search(r"shared/|spec/|seeds/|/work|/tmp|/home|/root|\w\.md\b", TEXT)
