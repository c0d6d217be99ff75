#!/usr/bin/env python3
"""Runs long proofs and records them in docs/proofs.md: what ran, how much, with which seed, when, at which commit, how long, and how it ended.

usage: Scripts/proof.py list
       Scripts/proof.py run [--seed N] [--seconds N] [NAME…]
       Scripts/proof.py record [--seed N] [--limit N] NAME COMMAND [ARGUMENT…]

`run` takes the proofs of Scripts/proofs.txt, all of them or those that are named, and goes on after one that fails. Each finds
CORDON_DEEP=1, its seed in CORDON_SEED (1 unless given) and in CORDON_SECONDS the seconds after which it is to end by itself with
what it has done (no end unless given); one that is still running at its limit is ended and has failed.
`record` runs any other command under a name.

A later run of the same name and seed takes the row's place. The command's output passes through. The row says how much ran by the
lines that begin with `proof: `, or by the last line where there is none. Ends with 1 if a proof failed.
"""

import argparse
import datetime
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/proofs.md"
LIST = ROOT / "Scripts/proofs.txt"
HEAD = (
    "| Proof | Seed | Command | What ran | Machine | Day | Commit | Seconds | Ended |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
)


def cell(text: str, most: int = 600) -> str:
    """A text that fits into a cell of a table: printable, one line, no place of this machine."""
    text = "".join(sign if sign.isprintable() else " " for sign in text).replace(str(ROOT) + "/", "").replace("|", "\\|")
    return re.sub(r" +", " ", text).strip()[:most]


def commit() -> str:
    """The commit that runs, and whether the tree differs from it in more than the page."""
    name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ".", ":!docs/proofs.md"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return f"{name} with changes" if changed else name


def write(name: str, seed: str, row: str) -> None:
    """Puts a row into the page, in place of the one of the same name and seed."""
    text = PAGE.read_text()
    start = text.index(HEAD) + len(HEAD)
    end = start
    while end < len(text) and text[end] == "|":
        end = text.index("\n", end) + 1
    rows = [line for line in text[start:end].splitlines() if not line.startswith(f"| {name} | {seed} |")] + [row]
    PAGE.write_text(text[:start] + "\n".join(sorted(rows)) + "\n" + text[end:])


def listed() -> dict[str, tuple[int, str]]:
    """The proofs of the list by name: limit in seconds and command for the shell."""
    found: dict[str, tuple[int, str]] = {}
    for line in LIST.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, limit, command = (part.strip() for part in line.split("|", 2))
        found[name] = (int(limit), command)
    return found


def amount(line: str) -> str | None:
    """How much ran, if the line says it."""
    if line.startswith("proof: "):
        return line.removeprefix("proof: ").strip()
    # What a libFuzzer says at its end.
    units = re.match(r"stat::number_of_executed_units:\s*(\d+)", line)
    return f"{int(units[1]):,} inputs" if units else None


def run(name: str, seed: str, shown: str, command: list[str], limit: int | None, environment: dict[str, str]) -> bool:
    """Runs one proof and records it; whether it passed."""
    began, place = time.monotonic(), commit()
    last, amounts, stopped = "", [], threading.Event()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        env=os.environ | environment,
    )

    def stop() -> None:
        stopped.set()
        # The group may be gone between the look and the signal.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    clock = threading.Timer(limit, stop) if limit else None
    if clock:
        clock.daemon = True
        clock.start()
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        if line.strip():
            last = line
        if said := amount(line):
            amounts.append(said)
    status = process.wait()
    if clock:
        clock.cancel()
    took = round(time.monotonic() - began)
    ended = "passed" if status == 0 else f"**failed**, exit code {status}"
    if stopped.is_set():
        ended = f"**failed**, ended at its limit of {limit} s"
    pages = os.sysconf("SC_PAGE_SIZE") // 1024
    machine = f"{os.uname().machine}, {os.cpu_count()} cores, {pages} KiB pages, {os.uname().sysname}"
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    what = cell("; ".join(amounts) or last)
    write(cell(name), seed, f"| {cell(name)} | {seed} | `{cell(shown)}` | {what} | {machine} | {day} | {place} | {took} | {ended} |")
    return status == 0 and not stopped.is_set()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("list")
    runs = kinds.add_parser("run")
    runs.add_argument("--seed", type=int, default=1)
    runs.add_argument("--seconds", type=int)
    runs.add_argument("names", nargs="*")
    records = kinds.add_parser("record")
    records.add_argument("--seed", type=int)
    records.add_argument("--limit", type=int)
    records.add_argument("name")
    records.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    proofs = listed()
    if given.kind == "list":
        for name, (limit, command) in proofs.items():
            print(f"{name} (at most {limit} s)\n    {command}")
        return 0
    if given.kind == "record":
        seed = "–" if given.seed is None else str(given.seed)
        shown = shlex.join(part for part in given.command if not part.startswith("/"))
        return 0 if run(given.name, seed, shown, given.command, given.limit, {}) else 1
    unknown = [name for name in given.names if name not in proofs]
    if unknown:
        print(f"proof: Scripts/proofs.txt has no {', '.join(unknown)}", file=sys.stderr)
        return 2
    failed = []
    for name in given.names or proofs:
        limit, command = proofs[name]
        environment = {"CORDON_DEEP": "1", "CORDON_SEED": str(given.seed)}
        if given.seconds:
            environment["CORDON_SECONDS"] = str(given.seconds)
        print(f"proof: {name}, seed {given.seed}, at most {limit} s", file=sys.stderr)
        if not run(name, str(given.seed), f"Scripts/proof.py run {shlex.quote(name)}", ["bash", "-c", command], limit, environment):
            failed.append(name)
    if failed:
        print(f"proof: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
