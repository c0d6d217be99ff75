#!/usr/bin/env python3
"""Writes the tables of texts from their catalogues; `--check` ends with 1 if one is stale or does not fit its sources.

Texts of the library: Sources/CordonBase/Texts/Texts.swift from Texts.xcstrings beside it.

The catalogue is the one source of the texts that people read. The key `notice.blocked` becomes `Texts.noticeBlocked`. A value
names its parts as `%(name)@` for text and `%(name)lld` for a whole number, and a key with such parts becomes a function. A text
that varies by plural has one number. Every text is in every language of `TextLanguage`, with the same parts. Nothing is loaded at run
time, so an app needs no bundle of Cordon's.

Texts of the console: Sources/CordonConsole/Texts/ConsoleTexts.swift from Console.xcstrings beside it. There the English text in the
source is the key, as Xcode has it, with `%@` for each value; a translation may name a value by its number, as `%2$@`. Every text of
the sources needs a translation, and every translation a text. An entry whose comment begins with "Value" or "Service" is a text that
the sources do not write out: a name of a value in words, or a sentence of the service's routes.
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Sources/CordonBase/Texts"
SOURCE, TARGET = FOLDER / "Texts.xcstrings", FOLDER / "Texts.swift"

# When a language uses which form (CLDR); `other` is the rest.
PLURALS = {"en": {"one": "{n} == 1"}, "de": {"one": "{n} == 1"}}
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
    languages = [source, *sorted(set(PLURALS) - {source})]
    lines = [
        "// Written by Scripts/texts.py from Texts.xcstrings; change that.",
        "// swift-format-ignore-file",
        "",
        "/// The texts that people read, in the language of the process.",
        "package enum Texts {",
    ]
    for key, text in sorted(catalogue["strings"].items()):
        if not text.get("comment"):
            fail(key, "a translator needs a comment")
        if set(text["localizations"]) != set(languages):
            fail(key, f"a text is in {', '.join(languages)}, each once")
        values = {language: forms(key, language, text["localizations"][language]) for language in languages}
        needed = parts(values[source][-1][1])
        for language in languages:
            if any(set(parts(value)) - set(needed) for _, value in values[language]) or parts(values[language][-1][1]) != needed:
                fail(key, f"the parts in {language} are not those of `other` in {source}")
        bodies = []
        for language in languages:
            body = literal(values[language][-1][1])
            for condition, value in reversed(values[language][:-1]):
                body = f"{condition} ? {literal(value)} : {body}"
            bodies.append(body if language == source else f"{language}: {body}")
        arguments = ", ".join(f"{part}: {kind}" for part, kind in needed)
        declaration = f"func {name(key)}({arguments}) -> String" if needed else f"var {name(key)}: String"
        lines += [f"    /// {text['comment']}", f"    package static {declaration} {{ text({', '.join(bodies)}) }}", ""]
    others = "".join(f", {language}: @autoclosure () -> String" for language in languages[1:])
    return "\n".join(
        [
            *lines,
            f"    private static func text(_ {source}: @autoclosure () -> String{others}) -> String {{",
            "        switch TextLanguage.current {",
            *[f"        case .{language}: {language}()" for language in languages],
            "        }",
            "    }",
            "}",
            "",
        ]
    )


CONSOLE = FOLDER.parent.parent / "CordonConsole"
CONSOLE_SOURCE, CONSOLE_TARGET = CONSOLE / "Texts/Console.xcstrings", CONSOLE / "Texts/ConsoleTexts.swift"
# Files whose literals are no texts for people, and literals that look like text and are none.
NO_TEXTS = {"ConsoleTexts.swift", "ConsoleAssets.swift", "ConsoleTemplates.swift", "ConsoleLanguage.swift"}
NO_TEXT = re.compile(
    r"/|#microsoft|curl |cordon |Cordon$|Bearer |DPoP|default-src|base-uri|[A-Z][a-z]+(-[A-Z]\w*)+$|activityDateTime| and startswith|"
    r"event: |retry: |: still|data: |UTC$|.*; charset=|ES256|S256|[A-Z_-]+$|\)?\s*$|same-origin|.*Max-Age|.*HttpOnly|.*application/|"
    r"console page|cordon console|Intune License|attachment; |%@=%@|%@; Path|; Secure|.*doc/|docs/|DeviceManagementApps|the console's pages cannot be read|a file broke off$|Success$|Default$|Cloud Device Administrator$|"
    # Parts of names; what becomes a policy's name, makers' names, and what a provider said.
    r"Copy of $|OneDrive|SharePoint|Google|Microsoft Edge|(Box|Dropbox|Egnyte)$|(Required|Warning|WipeIsEnforced)$|The identity provider (said|gave no token): |no reason$"
)


def literals(source: str) -> list[tuple[int, str]]:
    """The string literals of Swift code with their lines, `%@` for each value; those inside of values too."""
    found: list[tuple[int, str]] = []

    def line(position: int) -> int:
        return source.count("\n", 0, position) + 1

    def text(start: int, quote: str) -> int:
        """Reads the literal that begins after its quote; the position behind it."""
        position, value = start, ""
        while not source.startswith(quote, position):
            if source[position] == "\\":
                if source[position + 1] == "(":
                    value, position = value + "%@", code(position + 2, ")")
                    continue
                if source[position + 1] == "u":
                    end = source.index("}", position)
                    value, position = value + chr(int(source[position + 3:end], 16)), end + 1
                    continue
                escaped = source[position + 1]
                value += {"n": "\n", "r": "\r", "t": "\t", "\n": ""}.get(escaped, escaped)
                position += 2
                continue
            value, position = value + source[position], position + 1
        if quote == '"""':
            lines = value[1:].split("\n")
            indent = len(lines[-1])
            value = "\n".join(each[indent:] for each in lines[:-1])
            # A line that goes on has lost its end above; what indents the next one stays in the value.
            value = re.sub(r" {2,}", " ", value)
        found.append((line(start), value))
        return position + len(quote)

    def code(position: int, end: str) -> int:
        depth = 0
        while position < len(source):
            if source.startswith("//", position) and end == "":
                position = source.index("\n", position)
            elif source.startswith('"""', position):
                position = text(position + 3, '"""')
            elif source[position] == '"':
                position = text(position + 1, '"')
            elif end and source[position] == end and depth == 0:
                return position + 1
            else:
                depth += {"(": 1, ")": -1}.get(source[position], 0) if end else 0
                position += 1
        return position

    code(0, "")
    return found


def console() -> str:
    """The console's table in Swift; ends the program where sources and catalogue do not fit."""
    strings = json.loads(CONSOLE_SOURCE.read_text())["strings"]
    used: set[str] = set()
    faults: list[str] = []
    for path in sorted(CONSOLE.rglob("*.swift")):
        if path.name in NO_TEXTS:
            continue
        for line, value in literals(path.read_text()):
            used.add(value)
            # Of markup, what stands outside its tags.
            plain = re.sub(r"<[^<>]*>", "", value).replace("%@", "")
            reads = re.search(r"[A-Za-z]{2,}\S*\s+\S*[A-Za-z]", plain) or re.match(r"[A-Z][a-z]", plain)
            if reads and value not in strings and not NO_TEXT.match(value):
                faults.append(f"{path.relative_to(CONSOLE)}:{line}: no translation of: {value}")
    tables: dict[str, dict[str, str]] = {"english of one": {}, "german": {}, "german of one": {}}
    for key, entry in strings.items():
        german = entry["localizations"].get("de", {})
        if key not in used and not entry.get("comment", "").startswith(("Value", "Service")):
            faults.append(f"no source has: {key}")
        for language, name in (("en", "english"), ("de", "german")):
            plural = entry["localizations"].get(language, {}).get("variations", {}).get("plural", {})
            if plural:
                tables[f"{name} of one"][key] = plural["one"]["stringUnit"]["value"]
        other = german.get("variations", {}).get("plural", {}).get("other", german)
        if "stringUnit" not in other:
            faults.append(f"no German for: {key}")
            continue
        tables["german"][key] = other["stringUnit"]["value"]
        for value in [table[key] for table in tables.values() if key in table]:
            if any(int(n) > key.count("%@") for n in re.findall(r"%(\d)\$@", value)) or value.count("%@") > key.count("%@"):
                faults.append(f"a value too many in: {value}")
    if faults:
        sys.exit("texts: " + "\n".join(faults))

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = [
        "// Written by Scripts/texts.py from Console.xcstrings; change that.",
        "// swift-format-ignore-file",
        "",
        "/// The texts of the console's pages, by their English text.",
        "enum ConsoleTexts {",
    ]
    for name, table in tables.items():
        words = name.split()
        lines.append(f"    static let {words[0] + ''.join(word.capitalize() for word in words[1:])}: [String: String] = [")
        lines += [f"        {quoted(key)}: {quoted(value)}," for key, value in sorted(table.items())] or ["        :"]
        lines += ["    ]", ""]
    return "\n".join(lines[:-1] + ["}", ""])


def main() -> None:
    for target, make in ((TARGET, lambda: swift(json.loads(SOURCE.read_text()))), (CONSOLE_TARGET, console)):
        written = make()
        if "--check" not in sys.argv[1:]:
            target.write_text(written)
        elif not target.exists() or target.read_text() != written:
            sys.exit(f"texts: {target.relative_to(FOLDER.parent.parent.parent)} is stale; run Scripts/texts.py")


main()
