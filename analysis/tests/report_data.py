# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the numbers of a report back: its JSON islands, and what a person sees in its tables."""

from __future__ import annotations

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """The islands of a page by name, the rows of its tables as texts, and all its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html, self.data, self.rows, self.tags = html, {}, [], []
        self._island = self._cell = None
        self._texts: list[str] = []
        self.feed(html)
        self.text = "\n".join(self._texts)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "script" and attributes.get("type") == "application/json":
            self._island = attributes["id"].removeprefix("data-")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._cell = ""

    def handle_data(self, data):
        if self._island is not None:
            self.data[self._island] = json.loads(data)
            self._island = None
            return
        self._texts.append(data)
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._cell is not None:
            self.rows[-1].append(self._cell)
            self._cell = None

    def row_of(self, *cells: str) -> list[str]:
        """Give the one table row that begins with these cells."""
        (row,) = [row for row in self.rows if row[: len(cells)] == list(cells)]
        return row

    def one(self, island: str, **wanted):
        """Give the one record of an island that has these values."""
        (record,) = [
            record
            for record in self.data[island]
            if all(record[key] == value for key, value in wanted.items())
        ]
        return record
