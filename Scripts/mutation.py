#!/usr/bin/env python3
"""Mutation runs (R20): changes one thing of the sources at a time and expects the tests to notice.

usage: Scripts/mutation.py PART [FIRST [LAST]]
       Scripts/mutation.py check        whether the lists are about sources and tests as they stand; a part of `make lint`

A part has a list, `mutants.txt` beside its tests, with a line `file|text|replacement|tests` for each mutant; `tests` are the suites that
notice it, with commas between, or nothing for all of the part's. With PromiseTests among them, one of the twelve promises is broken of the
strictest baseline; all others are out of the promises' reach. Works on a copy in .build/mutants, which later runs build on; every mutant
is a build. CORDON_SECONDS ends a run after that time with what it has done. Ends with 1 where a mutant lives, or does not build.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = '.target(name: "CordonBase", exclude: ["Texts/Texts.xcstrings"]),\n        .target(name: "CordonIdentity", dependencies: ["CordonBase"])'
SUPPORT = '.target(name: "CordonTestSupport", dependencies: ["CordonBase"], path: "Tests/CordonTestSupport")'
CRYPTO = '.product(name: "Crypto", package: "swift-crypto")'
PARTS = {
    "rules": {
        "source": "Sources/CordonPolicy",
        "tests": "Tests/CordonPolicyTests",
        "copied": ["Sources/CordonBase", "Sources/CordonIdentity", "Sources/CordonPolicy", "Tests/CordonTestSupport",
                   "Tests/CordonPolicyTests/Table", "Tests/Vectors/policy"],
        "targets": f"""{BASE},
        .target(name: "CordonPolicy", dependencies: ["CordonBase", "CordonIdentity"]),
        {SUPPORT},
        .testTarget(name: "CordonPolicyTests", dependencies: ["CordonPolicy", "CordonIdentity", "CordonTestSupport"]),""",
        "packages": "",
        # The promises, by themselves.
        "beside": "PromiseTests",
    },
    "vault": {
        "source": "Sources/CordonVault",
        "tests": "Tests/CordonVaultTests",
        "copied": ["Sources/CordonBase", "Sources/CordonIdentity", "Sources/CordonAEADShim", "Sources/CordonVault", "Tests/CordonTestSupport",
                   "Tests/CordonVaultTests", "Tests/Vectors"],
        "targets": f"""{BASE},
        .target(name: "CordonAEADShim", dependencies: [{CRYPTO}]),
        .target(name: "CordonVault", dependencies: ["CordonBase", "CordonAEADShim", "CordonIdentity", {CRYPTO}], exclude: ["PrivacyInfo.xcprivacy"]),
        {SUPPORT},
        .testTarget(name: "CordonVaultTests",
            dependencies: ["CordonTestSupport", "CordonBase", "CordonIdentity", "CordonVault", {CRYPTO}], exclude: ["mutants.txt"]),""",
        "packages": '.package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")',
        "beside": None,
    },
}


def refresh(part: dict, work: pathlib.Path) -> None:
    """Brings the copy up to date, and touches only what differs, so that the last build still counts."""
    wanted: dict[pathlib.Path, bytes] = {}
    for folder in part["copied"]:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and ".docc" not in str(path):
                wanted[path.relative_to(ROOT)] = path.read_bytes()
    wanted[pathlib.Path("Package.swift")] = f"""// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "mutants",
    platforms: [.macOS(.v15)],
    dependencies: [{part["packages"]}],
    targets: [
        {part["targets"]}
    ])
""".encode()
    for folder in ("Sources", "Tests"):
        for path in (work / folder).rglob("*"):
            if path.is_file() and path.relative_to(work) not in wanted:
                path.unlink()
    for name, content in wanted.items():
        if not (work / name).exists() or (work / name).read_bytes() != content:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(content)


def swift(work: pathlib.Path, *arguments: str) -> bool:
    """Whether a command of Swift's went well; what it said is in `log` of the copy."""
    with open(work / "log", "w") as log:
        return subprocess.run(
            ["swift", arguments[0], "--package-path", str(work), *arguments[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        ).returncode == 0


def tested(work: pathlib.Path, suites: list[str], without: str | None = None) -> bool:
    """Whether suites pass, all but one where none are named. Ends them at the first test that fails."""
    chosen = ["--filter", "|".join(rf"\.{suite}/" for suite in suites)] if suites else ["--skip", without] if without else []
    command = ["swift", "test", "--package-path", str(work), "--skip-build", *chosen]
    with open(work / "log", "w") as log, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    ) as process:
        for line in process.stdout:
            log.write(line)
            if line.startswith("✘"):
                os.killpg(process.pid, signal.SIGKILL)
                return False
    return process.returncode == 0


def listed(part: dict) -> list[list[str]]:
    text = (ROOT / part["tests"] / "mutants.txt").read_text()
    return [line.split("|") for line in text.splitlines() if line and line[0] != "#"]


def stale(part: dict) -> list[str]:
    """What of a list is not about the sources and the tests as they stand."""
    suites = {path.stem for path in (ROOT / part["tests"]).rglob("*.swift")}
    found = []
    for line in listed(part):
        path = ROOT / part["source"] / line[0]
        if len(line) not in (3, 4) or not path.exists() or line[1] not in path.read_text() or line[1] == line[2]:
            found.append("no such text: " + "|".join(line))
        elif unknown := set(line[3].split(",")) - suites if len(line) > 3 else set():
            found.append(f"no suite {', '.join(unknown)}: " + "|".join(line))
    return found


def main() -> int:
    if sys.argv[1:] == ["check"]:
        found = [finding for part in PARTS.values() for finding in stale(part)]
        print("\n".join(found) if found else "mutation: nothing found")
        return 1 if found else 0
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        print(__doc__, file=sys.stderr)
        return 2
    part = PARTS[sys.argv[1]]
    os.environ.setdefault("CORDON_CELLS", "60000")
    os.environ.pop("CORDON_DEEP", None)
    lines = listed(part)
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    last = min(int(sys.argv[3]), len(lines)) if len(sys.argv) > 3 else len(lines)
    end = time.monotonic() + float(os.environ.get("CORDON_SECONDS", "inf"))
    work = ROOT / ".build/mutants" / sys.argv[1]
    work.mkdir(parents=True, exist_ok=True)
    refresh(part, work)
    # The control: as they are, the sources pass every suite that is named.
    named = sorted({suite for line in lines[first - 1:last] for suite in (line[3].split(",") if len(line) > 3 else [])} - {part["beside"]})
    if not swift(work, "build", "--build-tests") or not tested(work, named, part["beside"]):
        print(f"mutation: without a mutant the tests do not pass; see {work / 'log'}", file=sys.stderr)
        return 1
    tried = killed = wrong = 0
    for number in range(first, last + 1):
        if time.monotonic() > end:
            break
        name, old, new, *suites = lines[number - 1]
        suites = suites[0].split(",") if suites else []
        path = work / part["source"] / name
        text = path.read_text()
        shown = f"{number} {name}: {old} -> {new}"
        if old not in text:
            print(f"{shown}: no such text", flush=True)
            wrong += 1
            continue
        path.write_text(text.replace(old, new, 1))
        try:
            if not swift(work, "build", "--build-tests"):
                print(f"{shown}: does not build", flush=True)
                wrong += 1
                continue
            tried += 1
            lives = tested(work, [suite for suite in suites if suite != part["beside"]], part["beside"])
            killed += 0 if lives else 1
            print(f"{shown}: {'LIVES' if lives else 'killed'}", flush=True)
            if part["beside"] and tested(work, [part["beside"]]) == (part["beside"] in suites):
                print(f"{number} {part['beside']}: unlike the list says", flush=True)
                wrong += 1
        finally:
            path.write_text(text)
    print(f"proof: {killed} of {tried} mutants killed, of {last - first + 1} that are listed")
    return 0 if killed == tried and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
