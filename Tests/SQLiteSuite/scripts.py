#!/usr/bin/env python3
"""Runs scripts of SQLite's TCL suite on plain SQLite and on the sealing file system, and demands the same answers.

    scripts.py TESTFIXTURE TESTS [NAMES]

TESTFIXTURE is SQLite's own test program with the sealing file system linked in (CORDON_PLAIN=1 leaves it out), TESTS the
folder of the scripts, NAMES a file that lists them. A script may fail tests of its own on both, because pages are 4,096
bytes here; what fails on one alone, or with another answer, is a difference. Ends with 1 when there is any.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 600
# Scripts that let each call of the file system fail in turn until none is left.
FAULTS = re.compile("err|fault|diskfull")
# How many calls, or allocations, there are to fail differs from file system to file system.
COUNTED = re.compile(f"{FAULTS.pattern}|malloc")


def run(fixture: str, script: pathlib.Path, plain: bool) -> tuple[int | None, set[tuple[str, str]]]:
    """How many tests a script ran, None when it did not come to its end, and its failures with what they got."""
    environment = dict(os.environ)
    environment.pop("CORDON_PLAIN", None)
    # An error of the memory map is mended by reading again, so faults are injected where there is none.
    environment["CORDON_MAP_AFTER"] = "100000" if FAULTS.search(script.name) else "1"
    if plain:
        environment["CORDON_PLAIN"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [fixture, str(script)], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=SECONDS, errors="replace", text=True, check=False,
            )
        except subprocess.TimeoutExpired:
            return None, set()
    count = re.search(r"\d+ errors out of (\d+) tests", done.stdout)
    failures = set(re.findall(r"^! (\S+) got:\s+(.*)$", done.stdout, re.MULTILINE))
    return (int(count.group(1)) if count else None), failures


def main() -> int:
    fixture = os.path.abspath(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]).absolute()
    names = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else pathlib.Path(__file__).with_name("scripts.txt"))
    listed = [line.split("#")[0].strip() for line in names.read_text().splitlines()]
    scripts = [name for name in listed if name]
    differences = tests = 0

    def both(name: str) -> list[tuple[int | None, set[tuple[str, str]]]]:
        return [run(fixture, folder / name, plain) for plain in (True, False)]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, ((wanted, known), (count, failures)) in zip(scripts, pool.map(both, scripts)):
            found = []
            if wanted is None or count is None:
                found.append(f"did not come to its end on {'plain SQLite' if wanted is None else 'the sealing file system'}")
            elif count != wanted and not COUNTED.search(name):
                found.append(f"{count} tests ran, {wanted} on plain SQLite")
            found += [f"{test} got {got[:200]}" for test, got in sorted(failures - known)]
            for difference in found:
                print(f"{name}: {difference}", flush=True)
            differences += len(found)
            tests += count or 0
    print(f"proof: TCL: {len(scripts)} scripts, {tests} tests, {differences} differences from plain SQLite")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
