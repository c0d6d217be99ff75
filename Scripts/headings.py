#!/usr/bin/env python3
"""Checks the table of headings in docs/ios.md against Scripts/headings.txt and against the sources.

Every heading of the four documents has exactly one row, in a state that the page knows, and the row shows it: code that the sources have,
an adapter where it says that one was type-checked, or a reason. Ends with 1 and a line for each finding. Then it takes each row away in turn,
and ends with 1 where that is not found.
"""

import pathlib
import re
import sys

import migration

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/ios.md"
STATES = {"works", "type-checked, waits for a Mac", "type-checked, waits for a Mac †", "decided otherwise"}
ADAPTERS = ("CordonApple", "CordonUIKit", "CordonSwiftUI")
# How many characters a reason has at least.
ENOUGH = 30


def listed() -> list[tuple[str, str]]:
    """Document and heading, in order."""
    found, document = [], ""
    for line in (ROOT / "Scripts/headings.txt").read_text().splitlines():
        if line.startswith("["):
            document = line.strip("[]")
        elif line and not line.startswith("#"):
            found.append((document, line))
    return found


def rows() -> list[tuple[int, str, str, str, str]]:
    """Line, document, heading, state and proof of each row under "Headings of the documents"."""
    found, is_inside = [], False
    for number, line in enumerate((ROOT / PAGE).read_text().splitlines(), 1):
        if line.startswith("## "):
            is_inside = line == "## Headings of the documents"
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if is_inside and line.startswith("| ") and len(cells) == 4 and cells[0] not in ("Document", "---"):
            found.append((number, *cells))
    return found


def adapters() -> set[str]:
    """What the adapters declare."""
    names: set[str] = set()
    for module in ADAPTERS:
        for path in (ROOT / "Sources" / module).rglob("*.swift"):
            names.update(migration.DECLARATION.findall(path.read_text()))
    return names


def unshown(state: str, shown: str, known, ours: set[str]) -> list[str]:
    """Why a row does not show what it says."""
    spans = re.findall(r"`([^`]+)`", shown)
    links = re.findall(r"\]\(([^)#]*)", shown)
    found = [f"there is no page {link}" for link in links if link and not (ROOT / "docs" / link).exists()]
    for span in spans:
        if span.startswith("cordon "):
            command = span.split()[1].title().replace("-", "")
            if not list((ROOT / "Sources/CordonCommand").rglob(f"{command}Command.swift")):
                found.append(f"there is no {span!r}")
        elif "/" in span:
            if not (ROOT / span).exists():
                found.append(f"there is no {span}")
        else:
            found += [f"the sources have no {word!r}" for word in sorted(set(migration.unknown(span, *known)))]
    if state.startswith("type-checked") and not any(word in ours for span in spans for word in re.findall(r"\w+", span)):
        found.append("names no adapter")
    if state == "works" and not spans and not links:
        found.append("names nothing that works")
    if state == "decided otherwise" and len(shown) < ENOUGH:
        found.append("gives no reason")
    return found


def findings(table, headings, known, ours) -> list[str]:
    found, seen = [], set()
    for number, document, heading, state, shown in table:
        place = f"{PAGE}:{number}: {document}: {heading}"
        if (document, heading) in seen:
            found.append(f"{place}: listed twice")
        seen.add((document, heading))
        if (document, heading) not in headings:
            found.append(f"{place}: is not in Scripts/headings.txt")
        if state not in STATES:
            found.append(f"{place}: state {state!r} is none of the page's")
        found += [f"{place}: {reason}" for reason in unshown(state, shown, known, ours)]
    return found


def missing(table, headings) -> list[str]:
    seen = {(document, heading) for _, document, heading, _, _ in table}
    return [f"{PAGE}: no row for {document}: {heading}" for document, heading in headings if (document, heading) not in seen]


def main() -> int:
    table, headings = rows(), listed()
    found = findings(table, headings, migration.declared(), adapters()) + missing(table, headings)
    for place, row in enumerate(table):
        if not missing(table[:place] + table[place + 1:], headings):
            found.append(f"{PAGE}:{row[0]}: {row[1]}: {row[2]}: would not be missed")
    print("\n".join(found) if found else f"headings: {len(table)} rows, nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
