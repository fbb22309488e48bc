"""A plot as the text of an SVG file that is the same every time, with what it shows noted in its first tag."""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.figure import Figure


def svg_text(figure: Figure, shows: str) -> str:
    """``shows``: a digest of the rows that were drawn, for the test that holds the picture to them."""
    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "kernelwright", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], count=1, flags=re.DOTALL)
    text = text.replace("<svg ", f'<svg data-shows="{shows}" ', 1)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
