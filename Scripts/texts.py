#!/usr/bin/env python3
"""Writes Sources/CordonBase/Texts/Texts.swift from Texts.xcstrings beside it; `--check` ends with 1 if that is stale.

The catalogue is the one source of the texts that people read. The key `notice.blocked` becomes `Texts.noticeBlocked`. A value
names its parts as `%(name)@` for text and `%(name)lld` for a whole number, and a key with such parts becomes a function. A text
that varies by plural has one number. Nothing is loaded at run time, so an app needs no bundle of Cordon's.
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Sources/CordonBase/Texts"
SOURCE, TARGET = FOLDER / "Texts.xcstrings", FOLDER / "Texts.swift"

# When a language uses which form (CLDR); `other` is the rest.
PLURALS = {"en": {"one": "{n} == 1"}}
PART = re.compile(r"%\((\w+)\)(@|lld)|%%")


def fail(key: str, what: str) -> None:
    sys.exit(f"texts: {key}: {what}")


def name(key: str) -> str:
    words = re.split(r"[.-]", key)
    if not all(re.fullmatch(r"[a-z][a-zA-Z0-9]*", word) for word in words):
        fail(key, "a key is words of letters, joined by dots")
    return words[0] + "".join(word[0].upper() + word[1:] for word in words[1:])


def literal(value: str) -> str:
    """A value as a Swift literal, its parts interpolated."""
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    pieces, end = [], 0
    for part in PART.finditer(value):
        pieces += [quoted(value[end:part.start()]), f"\\({part.group(1)})" if part.group(1) else "%"]
        end = part.end()
    pieces.append(quoted(value[end:]))
    if "%" in PART.sub("", value):
        fail(value, "a percent sign is written twice, and a part as %(name)@ or %(name)lld")
    return '"' + "".join(pieces) + '"'


def parts(value: str) -> list[tuple[str, str]]:
    found = dict.fromkeys((m.group(1), "String" if m.group(2) == "@" else "Int") for m in PART.finditer(value) if m.group(1))
    return sorted(found)


def forms(key: str, language: str, localization: dict) -> list[tuple[str | None, str]]:
    """The values of a text with the condition of each; None is the rest."""
    if "stringUnit" in localization:
        return [(None, localization["stringUnit"]["value"])]
    plural = localization.get("variations", {}).get("plural")
    if not plural or "other" not in plural:
        fail(key, "neither a value nor plurals with `other`")
    if set(plural) - {"other"} != set(PLURALS.get(language, {})):
        fail(key, f"the plural forms of {language} are {', '.join([*PLURALS.get(language, {}), 'other'])}")
    numbers = [part for part, kind in parts(plural["other"]["stringUnit"]["value"]) if kind == "Int"]
    if len(numbers) != 1:
        fail(key, "a text that varies by plural has one number")
    conditions = PLURALS[language]
    return [(conditions[form].format(n=numbers[0]), plural[form]["stringUnit"]["value"]) for form in conditions] + [
        (None, plural["other"]["stringUnit"]["value"])
    ]


def swift(catalogue: dict) -> str:
    source = catalogue["sourceLanguage"]
    languages = sorted({language for text in catalogue["strings"].values() for language in text["localizations"]})
    if languages != [source]:
        sys.exit(f"texts: {', '.join(languages)}: the table is written in {source} alone; choosing among languages is not built")
    lines = [
        "// Written by Scripts/texts.py from Texts.xcstrings; change that.",
        "",
        "/// The texts that people read.",
        "package enum Texts {",
    ]
    for index, (key, text) in enumerate(sorted(catalogue["strings"].items())):
        if not text.get("comment"):
            fail(key, "a translator needs a comment")
        values = forms(key, source, text["localizations"][source])
        needed = parts(values[-1][1])
        if any(set(parts(value)) - set(needed) for _, value in values):
            fail(key, "a form has a part that `other` lacks")
        if index:
            lines.append("")
        lines.append(f"    /// {text['comment']}")
        if needed:
            arguments = ", ".join(f"{part}: {kind}" for part, kind in needed)
            lines.append(f"    package static func {name(key)}({arguments}) -> String {{")
            body = literal(values[-1][1])
            for condition, value in reversed(values[:-1]):
                body = f"{condition} ? {literal(value)} : {body}"
            lines += [f"        {body}", "    }"]
        else:
            declaration = f"    package static let {name(key)} ="
            value = literal(values[0][1])
            lines += [f"{declaration} {value}"] if len(declaration + value) < 120 else [declaration, f"        {value}"]
    return "\n".join(lines + ["}", ""])


def main() -> None:
    written = swift(json.loads(SOURCE.read_text()))
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != written:
            sys.exit("texts: Sources/CordonBase/Texts/Texts.swift is stale; run Scripts/texts.py")
        return
    TARGET.write_text(written)


main()
