"""Rows of figures as tables: one table per set of columns, numbers to the right."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Prints each run of rows with the same columns as one table. Plain text when the output is not a terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    for columns, group in groupby(rows, key=_columns):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        body = list(group)
        for column in columns:
            number = any(isinstance(row[column], int | float) for row in body)
            # A path that is cut tells nothing: fold what does not fit.
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in body:
            table.add_row(*(Text("" if row[c] is None else str(row[c])) for c in columns))
        console.print(table)
        console.print()


def _columns(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row)
