#!/usr/bin/env python3
"""Runs a long proof and records it in docs/proofs.md: what ran, how much, when, at which commit, how long, and how it ended.

usage: Scripts/proof.py NAME COMMAND [ARGUMENT…]

NAME is what the row is called; a later run of the name takes the row's place. The command's output passes through; its last line is
what the row says of how much ran, so a proof ends by printing its counts. Ends as the command does.
"""

import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/proofs.md"
HEAD = "| Proof | Command | What ran | Machine | Day | Commit | Seconds | Ended |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"


def cell(text: str) -> str:
    """A text that fits into a cell of a table: printable, one line, no place of this machine."""
    text = "".join(sign if sign.isprintable() else " " for sign in text).replace(str(ROOT) + "/", "").replace("|", "\\|")
    return re.sub(r" +", " ", text).strip()[:300]


def commit() -> str:
    """The commit that runs, and whether the tree differs from it in more than the page."""
    name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ".", ":!docs/proofs.md"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return f"{name} with changes" if changed else name


def record(name: str, row: str) -> None:
    """Puts a row into the page, in place of the one of the same name."""
    text = PAGE.read_text()
    start = text.index(HEAD) + len(HEAD)
    end = start
    while end < len(text) and text[end] == "|":
        end = text.index("\n", end) + 1
    rows = [line for line in text[start:end].splitlines() if not line.startswith(f"| {name} |")] + [row]
    PAGE.write_text(text[:start] + "\n".join(sorted(rows)) + "\n" + text[end:])


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    name, command = sys.argv[1], sys.argv[2:]
    began, place = time.monotonic(), commit()
    last = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as run:
        for line in run.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            if line.strip():
                last = line
    took = round(time.monotonic() - began)
    machine = f"{os.uname().machine}, {os.cpu_count()} cores, {os.uname().sysname}"
    ended = "passed" if run.returncode == 0 else f"**failed**, exit code {run.returncode}"
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    shown = " ".join(part for part in command if not part.startswith("/"))
    record(name, f"| {cell(name)} | `{cell(shown)}` | {cell(last)} | {machine} | {day} | {place} | {took} | {ended} |")
    return run.returncode if run.returncode >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
