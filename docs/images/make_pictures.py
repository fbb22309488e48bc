"""The pictures of the README and the docs, made anew: ``make pictures``. Takes two minutes, and headless Chromium for the pages.

    evolve.svg                                      a terminal: README's evolution of examples/smooth.cu, and its winner in the program
    report-{desktop,phone}-{light,dark}.png         the page of that run
    profile-{desktop,phone}-{light,dark}.png        the page of its profile
    made.json                                       what they show, and what kw explain said: tests compare it with what is there today

Fails when a page says anything on the browser's console.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KW = ROOT / ".venv" / "bin" / "kw"
COLUMNS = 118
SHELL = (
    'kw evolve examples/smooth.cu --case "300 8" --held-out "1000 4" --evaluations 200 --seed 1 -- 512 32',
    "kw run examples/smooth.cu --with smooth-1 -- 512 32",
)
"""What the terminal shows; what comes on standard error while it works is left out, but for the table of the last command."""
SHOWN = (
    *(f"report/{name}" for name in ("evolution.html.jinja", "style_sheet.py", "profile.py", "figures.py")),
    "cli/support/evolve_result.py", "device/versions/table.py", "stories/candidate_words.py",
)  # fmt: skip
"""The files of the package that decide how pages and what the terminal says look."""
WHITE = frozenset(
    {
        tokenize.ENCODING,
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)
LINES = 20
"""Of what ``kw explain`` says behind its head, kept for what README shows of it."""
SIZES = {"desktop": (1280, 1500), "phone": (390, 1500)}
SCHEMES = {"dark": 0, "light": 1}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COLOURS = 64


def digest() -> str:
    """Of what decides how the pages look: of Python without comments and docstrings."""
    found = hashlib.sha256()
    for name in SHOWN:
        path = ROOT / "src" / "kernelwright" / name
        found.update((_code(path) if path.suffix == ".py" else path.read_text(encoding="utf-8")).encode())
    return found.hexdigest()


def _code(path: Path) -> str:
    """The tokens of a Python file, without comments, docstrings and white space between them."""
    kept, is_begin = [], True
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in WHITE:
                is_begin = is_begin or token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
                continue
            if not (is_begin and token.type == tokenize.STRING):
                kept.append(token.string)
            is_begin = False
    return "".join(kept)


def main() -> int:
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print(f"no browser: one of {', '.join(BROWSERS)} takes the pictures of pages", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").mkdir()
        shutil.copy(ROOT / "examples" / "smooth.cu", folder / "examples")
        _terminal(folder)
        _run(["kw", "profile", "examples/smooth.cu", "--html", "profile.html", "--", "512", "32"], folder)
        pages = {"report": folder / "kw-runs" / "smooth-1" / "report.html", "profile": folder / "profile.html"}
        for page, path in pages.items():
            for size, (width, height) in SIZES.items():
                for scheme, number in SCHEMES.items():
                    _photograph(browser, path, (width, height), number, HERE / f"{page}-{size}-{scheme}.png")
        explained = _run(["kw", "explain", "smooth-1"], folder).stdout.splitlines()
    made = {"shows": digest(), "explained": explained[: explained.index("") + LINES]}
    (HERE / "made.json").write_text(json.dumps(made, indent=1) + "\n")
    return 0


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"COLUMNS": str(COLUMNS)}
    done = subprocess.run([str(KW), *words[1:]], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done


def _terminal(folder: Path) -> None:
    """Runs what the README shows, and draws it as a terminal would."""
    import shlex

    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    for number, line in enumerate(SHELL):
        done = _run(shlex.split(line), folder)
        console.print(Text.assemble(("$ ", "bold green"), (line, "bold")))
        console.print(Text(done.stdout.rstrip()))
        if number:
            console.print(Text(done.stderr.strip()), overflow="fold")
    svg = console.export_svg(title="kernelwright")
    # No page of ours loads anything from elsewhere: the viewer's own fixed-width font serves.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S)
    (HERE / "evolve.svg").write_text(svg.replace("Fira Code, monospace", "monospace"))


def _photograph(browser: str, page: Path, size: tuple[int, int], scheme: int, out: Path) -> None:
    from PIL import Image

    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
            f"--window-size={size[0]},{size[1]}", f"--blink-settings=preferredColorScheme={scheme}",
            f"--screenshot={out}", page.as_uri(),
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if said or not out.is_file():
        raise SystemExit(f"{page.name}: {said or done.stderr[-500:]}")
    with Image.open(out) as image:
        image.convert("RGB").quantize(COLOURS).save(out, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
