#!/usr/bin/env python3
"""Checks docs/requirements: every row's state is known, and every test or path in backquotes of a done row exists.
Checks docs/threat-model.md, docs/masvs.md and docs/oauth-security.md: every suite in backquotes and every quoted sentence in a row's last cell
names a test, none names a whole target of tests or, without its target, one of several suites of a name, and a row whose state begins with
*holds* or *does* names one at least. MASVS 2.1 has 24
controls, and RFC 9700 the sections with rules that are listed here, each a row. Every page of docs/decisions has a line in its README.md.

A row of the first is `| ID | state | shown by |`. Ends with 1 and a line for each finding.
"""

import pathlib
import re
import subprocess
import sys

STATES = {"done", "part", "no", "fact"}
ROOT = pathlib.Path(__file__).resolve().parent.parent
# How many controls each group of MASVS 2.1 has.
CONTROLS = {"STORAGE": 2, "CRYPTO": 2, "AUTH": 3, "NETWORK": 2, "PLATFORM": 3, "CODE": 4, "RESILIENCE": 4, "PRIVACY": 4}
# The sections of RFC 9700 that make rules.
SECTIONS = set(
    "2.1 2.1.1 2.1.2 2.2.1 2.2.2 2.3 2.4 2.5 2.6 4.1.3 4.2.4 4.3.2 4.4.2 4.5.3 4.6.1 4.7.1 4.8.2 4.9.3 4.10 4.10.2 4.11.1 4.11.2 4.12 4.13 "
    "4.14.2 4.15.1 4.16 4.17.2".split()
)


def names_of_tests() -> set[str]:
    """Every sentence that names a Swift test, and every name of a Python test."""
    names: set[str] = set()
    for path in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Tests"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines():
        if path.endswith(".swift"):
            names.update(re.findall(r"func\s+`([^`]+)`", (ROOT / path).read_text()))
        elif path.endswith(".py"):
            names.update(re.findall(r"def (test_\w+)", (ROOT / path).read_text()))
    return names


def findings(path: pathlib.Path, tests: set[str]) -> list[str]:
    found = []
    seen: set[str] = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 5 or cells[1] in ("Row", "") or set(cells[1]) <= set("-: "):
            continue
        row, state, shown = cells[1], cells[2], "|".join(cells[3:-1])
        place = f"{path.relative_to(ROOT)}:{number}: {row}"
        if row in seen:
            found.append(f"{place}: listed twice")
        seen.add(row)
        if state not in STATES:
            found.append(f"{place}: state {state!r} is none of {', '.join(sorted(STATES))}")
        quoted = re.findall(r"`([^`]+)`", shown)
        if state == "done" and not quoted:
            found.append(f"{place}: done, and nothing shows it")
        for name in quoted if state == "done" else []:
            if name not in tests and not (ROOT / name).exists():
                found.append(f"{place}: there is no test or path {name!r}")
    return found


def suites_and_folders() -> tuple[set[str], set[str]]:
    """Every type and folder of the tests, the benchmarks and the fuzzers, and every step of the demo; the suites whose name another has too,
    which are called `Target.Suite`."""
    names: set[str] = set()
    targets: dict[str, set[str]] = {}
    for path in (ROOT / "Sources/CordonDemo").rglob("*.swift"):
        names.update(re.findall(r'"([a-z-]+)"', path.read_text()))
    for path in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Tests", "Benchmarks", "Fuzz"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines():
        names.update(pathlib.Path(path).parts)
        if path.endswith(".swift"):
            types = re.findall(r"\b(?:struct|class|actor|enum) (\w+)", (ROOT / path).read_text())
            names.update(types)
            for suite in types:
                if suite.endswith("Tests"):
                    targets.setdefault(suite, set()).add(pathlib.Path(path).parts[1])
    shared = {suite for suite, its in targets.items() if len(its) > 1}
    return names | {f"{target}.{suite}" for suite in shared for target in targets[suite]}, shared


def unknown_tests(path: pathlib.Path, tests: set[str], suites: set[str], shared: set[str]) -> list[str]:
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 5 or set(cells[1]) <= set("-: "):
            continue
        place = f"{path.relative_to(ROOT)}:{number}: {cells[1]}"
        shown = cells[-2]
        if cells[3].startswith(("holds", "does")) and not cells[3].startswith("does not") and not set("`\"") & set(shown):
            found.append(f"{place}: said to hold, and nothing shows it")
        for name in re.findall(r"`([^`]+)`", shown):
            if (ROOT / "Tests" / name).is_dir():
                found.append(f"{place}: {name!r} is a target of tests, which shows nothing by itself")
            if name in shared:
                found.append(f"{place}: {name!r} is the name of several suites, and needs its target")
            if name not in suites and name not in tests and not (ROOT / name).exists():
                found.append(f"{place}: there is no suite, test or path {name!r}")
        for sentence in re.findall(r'"([^"]+)"', shown):
            start = sentence.removesuffix("…")
            if not any(test == sentence or sentence.endswith("…") and test.startswith(start) for test in tests):
                found.append(f"{place}: there is no test {sentence!r}")
    return found


def main() -> int:
    tests = names_of_tests()
    found = [
        finding for path in sorted((ROOT / "docs/requirements").glob("*.md")) for finding in findings(path, tests)
    ]
    suites, shared = suites_and_folders()
    for page in ("docs/threat-model.md", "docs/masvs.md", "docs/oauth-security.md"):
        found += unknown_tests(ROOT / page, tests, suites, shared)
    controls = {f"MASVS-{group}-{number + 1}" for group, count in CONTROLS.items() for number in range(count)}
    listed = re.findall(r"^\| (MASVS-\w+-\d+)", (ROOT / "docs/masvs.md").read_text(), re.MULTILINE)
    if sorted(listed) != sorted(controls):
        found.append(f"docs/masvs.md: rows differ from the controls of MASVS 2.1 in {sorted(controls ^ set(listed)) or 'number'}")
    told = set(re.findall(r"^\| §([\d.]+) ", (ROOT / "docs/oauth-security.md").read_text(), re.MULTILINE))
    if told != SECTIONS:
        found.append(f"docs/oauth-security.md: rows differ from the sections of RFC 9700 in {sorted(told ^ SECTIONS)}")
    index = (ROOT / "docs/decisions/README.md").read_text()
    for page in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        if f"]({page.name}) | " not in index:
            found.append(f"docs/decisions/README.md: has no line for {page.name}")
    print("\n".join(found) if found else "requirements: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
