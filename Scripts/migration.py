#!/usr/bin/env python3
"""Checks docs/from-intune.md and docs/from-msal.md against Scripts/migration-names.txt and against the sources.

Every listed name has exactly one row under "Every name"; every row has a name that is listed, and says a call of Cordon that
the sources have, or why there is none. Ends with 1 and a line for each finding.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = ("not needed: ", "decided otherwise: ")
# Names of the language, of libraries and of parts of a call; not looked up.
FOREIGN = {"async", "of", "for", "in", "to", "with", "swift", "log"}


def listed() -> dict[str, list[str]]:
    """The names of the facts file, by page."""
    pages: dict[str, list[str]] = {}
    page = ""
    for line in (ROOT / "Scripts/migration-names.txt").read_text().splitlines():
        if line.startswith("["):
            page = line.strip("[]")
        elif line and not line.startswith("#"):
            pages.setdefault(page, []).append(line)
    return pages


DECLARATION = re.compile(r"\b(?:func|var|let|struct|class|enum|actor|protocol|typealias)\s+`?(\w+)")


def declared() -> tuple[set[str], dict[str, set[str]]]:
    """Every word that the sources declare or label, and for each type what the files that declare or extend it declare."""
    words: set[str] = {path.name for path in (ROOT / "Sources").iterdir()}
    members: dict[str, set[str]] = {}
    for path in (ROOT / "Sources").rglob("*.swift"):
        text = path.read_text()
        own = set(DECLARATION.findall(text))
        for line in re.findall(r"^\s*case (.+)$", text, re.M):
            own.update(re.findall(r"\b(\w+)\b", line))
        words |= own | set(re.findall(r"(\w+)(?: \w+)?: ", text))
        for name in re.findall(r"\b(?:struct|class|enum|actor|protocol|extension)\s+(?:\w+\.)*(\w+)", text):
            members.setdefault(name, set()).update(own)
    # The parts of an AppProtection, by the names that apps call.
    for path in (ROOT / "Sources/Cordon").glob("AppProtection*.swift"):
        for name, kind in re.findall(r"\b(?:let|var) (\w+): (\w+)", path.read_text()):
            members[name] = members.get(kind, set())
    members["protection"] = members["AppProtection"]
    return words, members


def unknown(span: str, words: set[str], members: dict[str, set[str]]) -> list[str]:
    """What a piece of code names that the sources do not have."""
    found = [word for word in re.findall(r"[A-Za-z_]\w*", span) if word not in words and word not in FOREIGN]
    for owner, member in re.findall(r"(?=\b(\w+)\.(\w+))", span):
        if owner in members and member not in members[owner]:
            found.append(f"{owner}.{member}")
    return found


def rows(page: str) -> list[tuple[int, str, str]]:
    """The rows under "Every name": line, name, what stands for it."""
    found = []
    is_inside = False
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if line.startswith("## "):
            is_inside = line == "## Every name"
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if is_inside and line.startswith("| `") and len(cells) == 2:
            found.append((number, cells[0].strip("`"), cells[1].rstrip(" |")))
    return found


def findings(page: str, names: list[str], known: tuple[set[str], dict[str, set[str]]]) -> list[str]:
    found = []
    seen: set[str] = set()
    for number, name, meaning in rows(page):
        place = f"{page}:{number}: {name}"
        if name in seen:
            found.append(f"{place}: listed twice")
        seen.add(name)
        if name not in names:
            found.append(f"{place}: is not in Scripts/migration-names.txt")
        spans = re.findall(r"`([^`]+)`", meaning)
        if not spans and not meaning.startswith(REASONS) and len(meaning) < 12:
            found.append(f"{place}: says neither a call nor why there is none")
        for word in sorted({word for span in spans for word in unknown(span, *known)}):
            found.append(f"{place}: the sources have no {word!r}")
    found += [f"{page}: no row for {name}" for name in names if name not in seen]
    return found


def main() -> int:
    known = declared()
    found = [finding for page, names in listed().items() for finding in findings(page, names, known)]
    print("\n".join(found) if found else "migration: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
