#!/usr/bin/env python3
"""Mutation runs (R20): changes one thing of the sources at a time and expects the tests to notice.

usage: Scripts/mutation.py listed PART [NUMBER…]    each mutant of the list, with the suites that the list names
       Scripts/mutation.py made PART [NUMBER…]      mutants that the sources themselves give, in an order drawn from CORDON_SEED
       Scripts/mutation.py check                    whether the lists are about sources and tests as they stand; a part of `make lint`

A list is `mutants.txt` beside a part's tests, with a line `file|text|replacement|tests` for each mutant; `tests` are the suites that
notice it, with commas between, or nothing for all of the part's. With PromiseTests among them, one of the twelve promises is broken of the
strictest baseline; all others are out of the promises' reach.

Works on a copy in .build/mutants, where one build has every mutant of every part (Scripts/mutants.py), and a number in a file says which
is in force. CORDON_SECONDS ends a run after that time with what it has done. Ends with 1 where a listed mutant lives, or does not build;
and where less than 90 of a hundred made ones are noticed.
"""

import dataclasses
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

import mutants
from mutants import Mutant

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/mutants"
IN_FORCE = WORK / "in-force"


@dataclasses.dataclass
class Part:
    source: str
    tests: str
    # The folders of its sources that are changed without a list, or all.
    made: tuple[str, ...] = ("",)
    # Suites that are run by themselves for each mutant of the list.
    beside: str | None = None

    @property
    def bundle(self) -> str:
        return pathlib.Path(self.tests).name


PARTS = {
    "rules": Part("Sources/CordonPolicy", "Tests/CordonPolicyTests", ("Rules", "Launch", "Compiled", "Questions"), "PromiseTests"),
    "vault": Part("Sources/CordonVault", "Tests/CordonVaultTests"),
    "device": Part(
        "Sources/Cordon", "Tests/CordonTests", ("Accounts", "Commands", "Guard", "Launch", "PIN", "Protection", "State", "Wipe")),
}


def listed(part: Part) -> list[list[str]]:
    path = ROOT / part.tests / "mutants.txt"
    return [line.split("|") for line in path.read_text().splitlines() if line and line[0] != "#"] if path.exists() else []


def stale(part: Part) -> list[str]:
    """What of a list is not about the sources and the tests as they stand."""
    suites = {path.stem for path in (ROOT / part.tests).rglob("*.swift")}
    found = []
    for line in listed(part):
        path = ROOT / part.source / line[0]
        if len(line) not in (3, 4) or not path.exists() or line[1] not in path.read_text() or line[1] == line[2]:
            found.append("no such text: " + "|".join(line))
        elif unknown := set(line[3].split(",")) - suites if len(line) > 3 else set():
            found.append(f"no suite {', '.join(unknown)}: " + "|".join(line))
    return found


def collect() -> tuple[dict[str, list[Mutant]], dict[str, list[Mutant]]]:
    """The mutants of every part that are listed, and those that are made; each has a number that no other has."""
    of_lists: dict[str, list[Mutant]] = {}
    of_sources: dict[str, list[Mutant]] = {}
    number = 1
    for name, part in PARTS.items():
        of_lists[name] = []
        for file, old, new, *suites in listed(part):
            path = f"{part.source}/{file}"
            text = (ROOT / path).read_text()
            start = text.index(old)
            mutant = Mutant(
                path, start, start + len(old), new, suites[0].split(",") if suites else [], is_listed=True, shown=f"{file}: {old} -> {new}")
            mutants.hold(text, [mutant])
            of_lists[name].append(mutant)
        of_sources[name] = []
        for path in sorted((ROOT / part.source).rglob("*.swift")):
            inside = str(path.relative_to(ROOT / part.source))
            if any(inside.startswith(folder) for folder in part.made):
                of_sources[name] += mutants.made(str(path.relative_to(ROOT)), path.read_text())
        for mutant in of_lists[name] + of_sources[name]:
            mutant.number = number
            number += 1
    return of_lists, of_sources


def written(wanted: dict[str, bytes]) -> None:
    """Brings the copy up to date, and touches only what differs, so that the last build still counts."""
    for name, content in wanted.items():
        path = WORK / "copy" / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in (WORK / "copy").rglob("*"):
        name = path.relative_to(WORK / "copy")
        if path.is_file() and name.parts[0] != ".build" and str(name) not in wanted and name.name != "Package.resolved":
            path.unlink()


def build(chosen: list[Mutant]) -> dict[int, str]:
    """Builds every mutant into the copy, and says of those that the compiler refuses why."""
    refusals = WORK / "refused.json"
    known: dict[str, str] = json.loads(refusals.read_text()) if refusals.exists() else {}
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    tree = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    texts = {mutant.file: tree[mutant.file].decode() for mutant in chosen}
    keys = {mutant.number: mutant.key(texts[mutant.file]) for mutant in chosen}
    of_lists = {mutant.number for mutant in chosen if mutant.is_listed}
    environment = {**os.environ, "CORDON_TESTS": ",".join(part.bundle for part in PARTS.values())}
    while True:
        refused = {number: known[key] for number, key in keys.items() if key in known}
        places: dict[str, list[tuple[int, int, int]]] = {}
        for file, text in texts.items():
            here = [mutant for mutant in chosen if mutant.file == file and mutant.number not in refused]
            content, places[file] = mutants.woven(text, here)
            tree[file] = content.encode()
        for part in PARTS.values():
            tree[f"{part.source}/MutantInForce.swift"] = f"""internal import Foundation

public let {mutants.NUMBER}: Int = (try? String(contentsOfFile: "{IN_FORCE}", encoding: .utf8)).flatMap {{ Int($0) }} ?? 0
""".encode()
        written(tree)
        command = ["swift", "build", "--package-path", str(WORK / "copy"), "--product", "cordonPackageTests", "-Xswiftc", "-suppress-warnings"]
        with open(WORK / "log", "w") as log:
            if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment).returncode == 0:
                return refused
        before = len(known)
        for path, line, message in re.findall(r"^(/\S+\.swift):(\d+):\d+: error: (.*)", (WORK / "log").read_text(), re.M):
            file = os.path.relpath(path, WORK / "copy")
            blamed = {number for first, last, number in places.get(file, []) if first <= int(line) <= last}
            # Where it may be any of a body's, those of no list go first.
            for number in blamed - of_lists or blamed:
                known[keys[number]] = message
        if len(known) == before:
            sys.exit(f"mutation: the copy does not build; see {WORK / 'log'}")
        refusals.write_text(json.dumps(known, indent=1, sort_keys=True))
        print(f"mutation: the compiler refuses {len(known)} mutants; building without them", flush=True)


def tested(number: int, chosen: list[str], limit: float) -> bool:
    """Whether tests pass with a mutant in force. Ends them at the first that fails, and those that do not end."""
    IN_FORCE.write_text(str(number))
    program = next((WORK / "copy/.build/debug").glob("*.xctest"))
    command = [str(program), "--testing-library", "swift-testing", *chosen]
    with open(WORK / "tests.log", "w") as log, subprocess.Popen(
        command, cwd=WORK / "copy", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    ) as process:
        def end() -> None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            for line in process.stdout:
                line = re.sub(r"\x1b\[[0-9;]*m", "", line)
                log.write(line)
                if line.startswith("✘"):
                    end()
                    return False
        finally:
            timer.cancel()
            IN_FORCE.write_text("0")
    end()
    return process.returncode == 0


def named(part: Part, suites: list[str], without: str | None = None) -> list[str]:
    """The arguments that choose suites of a part, all but one where none are named."""
    chosen = ["--filter", "|".join(rf"{part.bundle}\.{suite}/" for suite in suites)] if suites else ["--filter", part.bundle + r"\."]
    return chosen + (["--skip", without] if without and not suites else [])


def near(part: Part, mutant: Mutant) -> list[str]:
    """The suites that stand beside a mutant's file: those of the same folder's name."""
    folder = pathlib.Path(mutant.file).relative_to(part.source).parts[0]
    return sorted(path.stem for path in (ROOT / part.tests / folder).rglob("*Tests.swift"))


def slow() -> str:
    """The suites that start many processes, which tell nothing soon enough."""
    return subprocess.run(
        ["Scripts/suites.py", "machineAlone"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def timed(what: str, chosen: list[str]) -> float:
    """How long tests take without a mutant, which they must pass."""
    begin = time.monotonic()
    if not tested(0, chosen, 3600):
        sys.exit(f"mutation: without a mutant {what} do not pass; see {WORK / 'tests.log'}")
    return time.monotonic() - begin


def run_listed(part: Part, chosen: list[Mutant], refused: dict[int, str], end: float, numbers: set[int]) -> int:
    suites = sorted({suite for mutant in chosen for suite in mutant.suites} - {part.beside})
    limit = 60 + 5 * timed("the suites of the list", named(part, suites, part.beside))
    tried = killed = wrong = 0
    for position, mutant in enumerate(chosen, 1):
        if time.monotonic() > end:
            break
        if numbers and position not in numbers:
            continue
        shown = f"{position} {mutant.shown}"
        if mutant.number in refused or mutant.body is None:
            print(f"{shown}: {refused.get(mutant.number, 'in no body')}", flush=True)
            wrong += 1
            continue
        tried += 1
        own = [suite for suite in mutant.suites if suite != part.beside]
        lives = tested(mutant.number, named(part, own, part.beside), limit)
        killed += 0 if lives else 1
        print(f"{shown}: {'LIVES' if lives else 'killed'}", flush=True)
        if part.beside and tested(mutant.number, named(part, [part.beside]), limit) == (part.beside in mutant.suites):
            print(f"{position} {part.beside}: unlike the list says", flush=True)
            wrong += 1
    print(f"proof: {killed} of {tried} mutants killed, of {len(chosen)} that are listed")
    return 0 if killed == tried and wrong == 0 else 1


def run_made(part: Part, chosen: list[Mutant], refused: dict[int, str], end: float, numbers: set[int]) -> int:
    seed = int(os.environ.get("CORDON_SEED", "1"))
    able = [mutant for mutant in chosen if mutant.number not in refused]
    first = chosen[0].number
    order = random.Random(seed).sample(able, len(able))
    if numbers:
        order = [mutant for mutant in able if mutant.number - first + 1 in numbers]
    everything = named(part, []) + ["--skip", slow()]
    limit = 60 + 3 * timed("the suites", everything)
    tried = killed = 0
    for mutant in order:
        if time.monotonic() > end:
            break
        tried += 1
        beside = near(part, mutant)
        lives = (not beside or tested(mutant.number, named(part, beside), limit)) and tested(mutant.number, everything, limit)
        killed += 0 if lives else 1
        print(f"{mutant.number - first + 1} {mutant.shown}: {'LIVES' if lives else 'killed'}", flush=True)
    share = 100 * killed / max(tried, 1)
    print(f"proof: {killed} of {tried} made mutants killed ({share:.1f} %), drawn from {len(able)}, seed {seed}")
    return 0 if share >= 90 else 1


def main() -> int:
    if sys.argv[1:] == ["check"]:
        found = [finding for part in PARTS.values() for finding in stale(part)]
        print("\n".join(found) if found else "mutation: nothing found")
        return 1 if found else 0
    if len(sys.argv) < 3 or sys.argv[1] not in ("listed", "made") or sys.argv[2] not in PARTS:
        print(__doc__, file=sys.stderr)
        return 2
    numbers = {int(number) for number in sys.argv[3:]}
    os.environ.setdefault("CORDON_CELLS", "60000")
    os.environ.pop("CORDON_DEEP", None)
    # As Scripts/test.sh has it: else all tests begin at once, and what waits for a moment waits for all the others.
    os.environ.setdefault("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", str(os.cpu_count()))
    end = time.monotonic() + float(os.environ.get("CORDON_SECONDS", "inf"))
    WORK.mkdir(parents=True, exist_ok=True)
    of_lists, of_sources = collect()
    IN_FORCE.write_text("0")
    refused = build([mutant for kind in (of_lists, of_sources) for found in kind.values() for mutant in found])
    chosen, run = (of_lists, run_listed) if sys.argv[1] == "listed" else (of_sources, run_made)
    return run(PARTS[sys.argv[2]], chosen[sys.argv[2]], refused, end, numbers)


if __name__ == "__main__":
    sys.exit(main())
