#!/usr/bin/env python3
"""Prints the test suites that carry a tag, as one regular expression for `swift test --filter` and `--skip`.

    Scripts/suites.py machineAlone
"""

import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "Tests"

if len(sys.argv) != 2:
    sys.exit("usage: Scripts/suites.py TAG")
suite = re.compile(r"@Suite\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\.tags\([^)]*\." + re.escape(sys.argv[1]) + r"\b[^{]*?(?:struct|class|actor|enum) (\w+)")
# What git lists, and not what a build of the adopter's package left below the tests.
listed = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.swift"],
    cwd=TESTS, check=True, capture_output=True, text=True,
).stdout
found = [
    f"{path.relative_to(TESTS).parts[0]}.{name}/"
    for path in sorted(TESTS / line for line in listed.splitlines())
    if path.is_file()
    for name in suite.findall(path.read_text())
]
if not found:
    sys.exit(f"no suite carries the tag {sys.argv[1]}")
print("|".join(found))
