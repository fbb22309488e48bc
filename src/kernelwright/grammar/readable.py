"""Programs as a person would write them: a line for each statement, braces indented, no parentheses without need."""

from __future__ import annotations

from kernelwright.grammar.problem import Problem


def readable(problem: Problem, text: str) -> str:
    """The program with this derived text, as C."""
    return indented(problem.individual.replace("{}", text))


def indented(code: str) -> str:
    """C with a line for each statement; parentheses that hold no semicolon apart."""
    lines: list[str] = []
    line, depth, inside = "", 0, 0

    def end() -> None:
        nonlocal line
        if line.strip():
            lines.append("    " * depth + " ".join(line.split()))
        line = ""

    for letter in code:
        inside += (letter == "(") - (letter == ")")
        if letter == "}":
            end()
            depth = max(0, depth - 1)
            lines.append("    " * depth + "}")
            continue
        line += letter
        if letter == "{":
            line = line[:-1].rstrip() + " {"
            end()
            depth += 1
        elif letter == ";" and not inside:
            end()
    end()
    return "\n".join(lines)
