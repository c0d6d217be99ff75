#!/usr/bin/env python3
"""Finds in Apple adapters what a type-check against stand-ins cannot: uses above the floor without `#available`, `#selector`,
toll-free casts, and files without a condition around them. The versions are those that the stand-ins declare."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOOR = (17, 0)
BRIDGE = "Bridging.swift"
# Parts of the language and its library whose run time is younger than the floor.
LANGUAGE = {"isolated deinit": "18.4", "import Synchronization": "18", "Mutex<": "18", "InlineArray<": "26", "Task.immediate": "26"}


def introduced() -> dict[str, tuple[int, int]]:
    """Names that the stand-ins declare with a version above the floor."""
    found: dict[str, tuple[int, int]] = {}
    for path in (ROOT / "Tests/Apple/Stubs").rglob("*.swift"):
        version, depth_of_type, depth = None, [], 0
        for line in path.read_text().splitlines():
            code = re.sub(r'"[^"]*"|//.*', "", line)
            match = re.search(r"@available\(iOS (\d+)(?:\.(\d+))?", code)
            if match:
                version = (int(match.group(1)), int(match.group(2) or 0))
                code = code[match.end():]
            name = re.search(r"\b(?:class|struct|enum|protocol|func|var|let|case|typealias) (?:func |var )?`?(\w+)`?", code)
            if name and version:
                if version > FLOOR:
                    found[name.group(1)] = version
                    if re.search(r"\b(class|struct|enum)\b", code) and "{" in code:
                        depth_of_type.append((depth, version))
                version = None
            elif version and re.search(r"\binit\b", code):
                label = re.search(r"init\((\w+)[^,]*,\s*(\w+)", code)
                if label and version > FLOOR:
                    found[f"{label.group(2)}:"] = version
                version = None
            depth += code.count("{") - code.count("}")
    return found


def check(path: pathlib.Path, names: dict[str, tuple[int, int]]) -> list[str]:
    text = path.read_text()
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    problems = []
    lines = text.splitlines()
    if not str(place).startswith("Examples") and "Planted" not in str(place) and not re.search(r"^#if ", text, re.M) and re.search(
            r"^\s*(?:public |internal )?import (UIKit|SwiftUI|Security|WebKit|QuickLook|LocalAuthentication|BackgroundTasks)", text, re.M):
        problems.append(f"{place}: imports Apple's modules outside #if canImport")
    stack: list[tuple[int, int]] = []
    depth, allowed = 0, []
    for number, raw in enumerate(lines, 1):
        line = re.sub(r'"(?:\\.|[^"\\])*"', '""', raw)
        line = re.sub(r"//.*", "", line)
        if "#selector" in line or "@objc" in line:
            problems.append(f"{place}:{number}: #selector and @objc are not checked here: use actions and closures")
        if path.name != BRIDGE and re.search(r"\bas[!?]? (CF\w+|NSDictionary|NSData|NSString|NSError)\b|takeRetainedValue|unsafeBitCast", line):
            problems.append(f"{place}:{number}: a toll-free cast is not checked here: put it into {BRIDGE}")
        for part, version in LANGUAGE.items():
            if part in line and "nonisolated deinit" not in line:
                problems.append(f"{place}:{number}: {part.rstrip('<')} needs iOS {version}, and the floor is {FLOOR[0]}")
        here = max([version for _, version in allowed], default=FLOOR)
        match = re.search(r"(?:#available|@available)\(iOS (\d+)(?:\.(\d+))?", line)
        if match:
            here = max(here, (int(match.group(1)), int(match.group(2) or 0)))
            if "guard" in line:
                # It holds until the block ends in which it stands.
                allowed.append((depth, here))
                match = None
        for name, version in names.items():
            used = re.search(rf"\b{re.escape(name)}" if name.endswith(":") else rf"(?<!func )\b{re.escape(name)}\b", line)
            if name.endswith(":"):
                used = used and re.search(r"ASWebAuthenticationSession\(|^\s+url", line)
            if used and version > here:
                shown = ".".join(map(str, version))
                problems.append(f"{place}:{number}: {name.rstrip(':')} needs iOS {shown}, and the floor is {FLOOR[0]}: ask #available")
        for character in line:
            if character == "{":
                depth += 1
                if match:
                    allowed.append((depth, (int(match.group(1)), int(match.group(2) or 0))))
                    match = None
            elif character == "}":
                allowed = [one for one in allowed if one[0] < depth]
                depth -= 1
    return problems


# How many lines the example may need for each thing.
REGIONS = {"enrol": 4, "ask": 2, "protect": 1, "scene": 1, "wipe": 2}


def regions(folder: pathlib.Path) -> list[str]:
    """The marked regions of the example with too many lines, or missing."""
    problems, counted, open_region = [], {}, None
    for path in sorted(folder.rglob("*.swift")):
        for line in path.read_text().splitlines():
            mark = re.fullmatch(r"\s*// (begin|end) (\w+)", line)
            if mark:
                open_region = mark.group(2) if mark.group(1) == "begin" else None
                counted.setdefault(mark.group(2), 0)
            elif open_region and line.strip():
                counted[open_region] += 1
    for name, most in REGIONS.items():
        if not 1 <= counted.get(name, 0) <= most:
            problems.append(f"{folder.relative_to(ROOT)}: {counted.get(name, 0)} lines to {name}, and {most} are promised")
    return problems


ARTICLE = "Sources/Cordon/Cordon.docc/AnIOSAppInTenMinutes.md"


def article(folder: pathlib.Path) -> list[str]:
    """The lines of the article's code that the example does not have, in their order within each piece."""
    def plain(line: str) -> str:
        return re.sub(r"\s*// .*", "", line).strip()

    whole = [plain(line) for path in sorted(folder.rglob("*.swift")) for line in path.read_text().splitlines()]
    problems, piece, at = [], False, 0
    for number, line in enumerate((ROOT / ARTICLE).read_text().splitlines(), 1):
        if line.startswith("```"):
            piece, at = line == "```swift", 0
        elif piece and plain(line):
            found = next((place for place in range(at, len(whole)) if whole[place] == plain(line)), None)
            if found is None:
                problems.append(f"{ARTICLE}:{number}: the example does not have: {plain(line)}")
            else:
                at = found + 1
    return problems


def main() -> int:
    names = introduced()
    problems = []
    for root in sys.argv[1:]:
        path = ROOT / root
        for file in sorted(path.rglob("*.swift")) if path.is_dir() else [path] if path.exists() else []:
            problems += check(file, names)
        if path.name == "FieldNotesApp":
            problems += regions(path) + article(path)
    for problem in problems:
        print(f"apple: {problem}")
    return 1 if problems else 0


sys.exit(main())
