#!/usr/bin/env python3
"""Counts what the structure of the package is held to, and checks the arrows of Package.swift.

Prints one line for each count with its limit, and a line for each finding; ends with 1 if a limit is passed or anything is
found. A limit is what `LIMITS` says: it is lowered when the house gets better and never raised without a decision in
docs/decisions. `--json` prints the counts alone; `--write` draws the arrows into DESIGN.md anew.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

LIMITS = {
    "files of the most extended type": 8,
    "types over 8 files": 0,
    "lines of AppProtection": 283,
    "error types": 15,
    "do throws": 40,
    "library products": 21,
    "modules that a first program imports": 1,
    "unused arrows": 0,
    "public declarations without documentation": 0,
}


def swift_files(folder: str) -> list[pathlib.Path]:
    """The Swift files below a folder, links followed, hidden and built ones left out."""
    return sorted(
        path for path in (ROOT / folder).rglob("*.swift") if not any(part.startswith(".") for part in path.parts[len(ROOT.parts):])
    )


def types() -> dict[tuple[str, str], dict[pathlib.Path, int]]:
    """For every type of Sources, by module and name: its files, with the lines that its declarations span in each."""
    found: dict[tuple[str, str], dict[pathlib.Path, int]] = collections.defaultdict(dict)
    opening = re.compile(
        r"^(?:@\w+(?:\([^)]*\))? )*(?:public |package |internal |fileprivate |private |final |indirect |nonisolated )*"
        r"(?:struct|enum|class|actor|extension) ([A-Z]\w*)"
    )
    for path in swift_files("Sources"):
        module = path.relative_to(ROOT / "Sources").parts[0]
        name, start = None, 0
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = opening.match(line)
            if match:
                name, start = match.group(1), number
                if line.rstrip().endswith("}"):
                    found[module, name][path] = found[module, name].get(path, 0) + 1
                    name = None
            elif name and line.startswith("}"):
                found[module, name][path] = found[module, name].get(path, 0) + number - start + 1
                name = None
    return found


def imports(folder: pathlib.Path) -> set[str]:
    """The modules that the Swift and C files below a folder import."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.suffix == ".swift":
            found.update(
                re.findall(r"^\s*(?:@\w+(?:\(\w+\))? )*(?:public |package |internal |private |fileprivate )?import (?:\w+ )?(\w+)",
                           path.read_text(), re.M))
        elif path.suffix in (".c", ".h"):
            found.update(re.findall(r'#include ["<](\w+)\.h[">]', path.read_text()))
    return found


def unused_arrows(package: dict) -> list[str]:
    """Dependencies of targets that no file of the target imports."""
    found = []
    for target in package["targets"]:
        default = ("Tests/" if target["type"] == "test" else "Sources/") + target["name"]
        used = imports(ROOT / (target.get("path") or default))
        for dependency in target["dependencies"]:
            name = (dependency.get("byName") or dependency.get("product") or dependency.get("target"))[0]
            if name not in used and not (name == "Crypto" and target["name"] in ("CordonAEADShim", "BareAEAD")):
                found.append(f"{target['name']} declares {name} and never imports it")
    return found


def undocumented() -> list[str]:
    """Public declarations of Sources without a documentation comment: the cases of public enumerations and the requirements of
    public protocols too, which carry no `public` of their own."""
    modifiers = r"(?:@\w+(?:\([^)]*\))? |nonisolated |static |final |indirect |mutating |override |class |convenience |required )*"
    public = re.compile(rf"^( *){modifiers}(?:public (?!import |extension )|open (?:class|func|var|init|subscript)\b)")
    opening = re.compile(rf"^( *){modifiers}(?:public|open) {modifiers}(enum|protocol) .*{{$")
    member = {"enum": re.compile(r"(?:indirect )?case "), "protocol": re.compile(rf"{modifiers}(?:func|var|init|subscript|associatedtype)\b")}
    found = []
    for path in swift_files("Sources"):
        lines = path.read_text().splitlines()
        within: tuple[str, int] | None = None
        for number, line in enumerate(lines):
            indent = len(line) - len(line.lstrip())
            if within and line.strip() and indent <= within[1]:
                within = None
            implied = within and indent == within[1] + 4 and member[within[0]].match(line.strip())
            if match := opening.match(line):
                within = (match.group(2), indent)
            if not implied and not public.match(line):
                continue
            above = number - 1
            while above >= 0 and re.match(r" *(@|#)", lines[above]):
                above -= 1
            if not lines[above].lstrip().startswith("///"):
                found.append(f"{path.relative_to(ROOT)}:{number + 1} is public and has no documentation")
    return found


def drawn_arrows(package: dict) -> str:
    """The table of DESIGN.md that says what each target of Sources depends on, lowest first."""
    own = {target["name"]: target for target in package["targets"]}
    arrows: dict[str, tuple[list[str], list[str]]] = {}
    for name, target in own.items():
        if target["type"] == "test" or not (ROOT / "Sources" / name).is_dir():
            continue
        names = [(one.get("byName") or one.get("product") or one.get("target"))[0] for one in target["dependencies"]]
        arrows[name] = ([one for one in names if one in own], [one for one in names if one not in own])
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(below) for below in arrows[name][0]), default=-1)
        return heights[name]

    rows = ["| Target | Depends on | Of others |", "| --- | --- | --- |"]
    for name in sorted(arrows, key=lambda one: (height(one), one)):
        cells = [", ".join(sorted(short(one) for one in part)) or "–" for part in arrows[name]]
        rows.append(f"| `{name}` | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def short(name: str) -> str:
    """A target's name without the prefix that all have."""
    return name.removeprefix("Cordon") or name


def main() -> int:
    package = json.loads(
        subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    all_types = types()
    sources = [path.read_text() for path in swift_files("Sources")]
    arrows = unused_arrows(package)
    silent = undocumented()
    adopter = imports(ROOT / "Tests/Adopter/Sources")
    counts = {
        "files of the most extended type": max(len(files) for files in all_types.values()),
        "types over 8 files": sum(len(files) > 8 for files in all_types.values()),
        "lines of AppProtection": sum(all_types["Cordon", "AppProtection"].values()),
        "error types": sum(
            len(re.findall(r"^\s*(?:public |package |private |fileprivate )?(?:struct|enum) \w+(?:<[^>]*>)?: [^{]*\bError\b", text, re.M))
            for text in sources),
        "do throws": sum(len(re.findall(r"\bdo throws\(", text)) for text in sources),
        "library products": sum("library" in product["type"] for product in package["products"]),
        "modules that a first program imports": len([name for name in adopter if name.startswith("Cordon")]),
        "unused arrows": len(arrows),
        "public declarations without documentation": len(silent),
    }
    design = ROOT / "DESIGN.md"
    opening, closing = "<!-- arrows: Scripts/house.py --write -->\n\n", "\n\n<!-- arrows end -->"
    before, rest = design.read_text().split(opening)
    table, after = rest.split(closing)
    if "--write" in sys.argv[1:]:
        design.write_text(before + opening + drawn_arrows(package) + closing + after)
        return 0
    if "--json" in sys.argv[1:]:
        print(json.dumps(counts, indent=2))
        return 0
    found = arrows + silent
    if table != drawn_arrows(package):
        found.append("DESIGN.md does not draw the arrows of Package.swift: run Scripts/house.py --write")
    for name, count in counts.items():
        print(f"{count:6} {name} (limit {LIMITS[name]})")
        if count > LIMITS[name]:
            found.append(f"{count} {name}, and the limit is {LIMITS[name]}")
    for line in found:
        print(f"house: {line}")
    return 1 if found else 0


sys.exit(main())
