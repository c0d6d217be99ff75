"""Mutants of Swift sources: finds them, and writes all of a file's into it, so that one build has them all.

A body with mutants becomes a `switch` over the number that the process was told, with a copy of the body for each. What stands in no
body of a function, an initializer or a computed property cannot be switched and needs a build of its own.
"""

import dataclasses
import hashlib
import re

NUMBER = "mutantInForce"


@dataclasses.dataclass
class Mutant:
    file: str
    start: int
    end: int
    new: str
    # Of those that a list names: the suites that notice it.
    suites: list[str] = dataclasses.field(default_factory=list)
    is_listed: bool = False
    shown: str = ""
    # Where the body begins and ends that has it, or None.
    body: tuple[int, int] | None = None
    number: int = 0

    def key(self, text: str) -> str:
        """A name that holds as long as the body is as it is."""
        begin, end = self.body or (self.start, self.end)
        return hashlib.sha256(repr((self.file, text[begin:end], self.start - begin, self.end - begin, self.new)).encode()).hexdigest()[:16]


def plain(text: str) -> str:
    """A source with its comments and the texts between quotes made blank, every place where it was."""
    out = list(text)
    at, size = 0, len(text)

    def blank(begin: int, end: int) -> None:
        for place in range(begin, min(end, size)):
            if out[place] != "\n":
                out[place] = " "

    def literal(begin: int) -> int:
        """The end of the literal that begins there; what is put into it by `\\(` is passed over."""
        hashes = re.match(r"#*", text[begin:]).group()
        rest = begin + len(hashes)
        quote = '"""' if text.startswith('"""', rest) else '"'
        place = rest + len(quote)
        while place < size and not text.startswith(quote + hashes, place):
            if text.startswith("\\" + hashes, place):
                place += 1 + len(hashes)
                if text[place:place + 1] == "(":
                    depth = 0
                    while place < size:
                        sign = text[place]
                        if sign == '"':
                            place = literal(place)
                            continue
                        depth += {"(": 1, ")": -1}.get(sign, 0)
                        place += 1
                        if depth == 0:
                            break
                    continue
            place += 1
        return place + len(quote) + len(hashes)

    while at < size:
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = size if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at) + 2
        elif text[at] == '"' or re.match(r'#+"', text[at:at + 4]):
            end = literal(at)
        else:
            at += 1
            continue
        blank(at, end)
        at = end
    return "".join(out)


MEMBER = re.compile(
    r"^[ \t]*(?:@\S+\s+|(?:public|package|internal|private|fileprivate|static|final|override|mutating|nonisolated|isolated|consuming|"
    r"borrowing|convenience|required|indirect|lazy|class|weak|prefix)(?:\([a-z]+\))?\s+)*"
    r"(struct|class|actor|enum|extension|protocol|func|init|deinit|subscript|var|let|case|get|set|_modify|_read|unsafeAddress|didSet|willSet)\b",
    re.M,
)


def braces(code: str) -> dict[int, int]:
    """Where what stands in each pair of braces ends, by where it begins."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", code):
        if brace.group() == "{":
            opened.append(brace.end())
        elif opened:
            ends[opened.pop()] = brace.start()
    return ends


def bodies(text: str) -> list[tuple[int, int]]:
    """Where each outermost body of code begins and ends, without its braces."""
    code = plain(text)
    ends = braces(code)
    found = []

    def look(begin: int, end: int) -> None:
        at = begin
        while (brace := code.find("{", at, end)) >= 0:
            if (close := ends.get(brace + 1)) is None:
                return
            words = [match.group(1) for match in MEMBER.finditer(code, at, brace)]
            word = words[-1] if words else ""
            if word in ("struct", "class", "actor", "enum", "extension", "protocol"):
                look(brace + 1, close)
            elif word in ("var", "subscript"):
                header = code[code.rindex(word, at, brace):brace]
                if re.search(r"(?<![=!<>])=(?!=)", header):
                    # A value that is stored, with a closure in it.
                    pass
                elif re.match(r"\s*(?:(?:mutating|nonmutating)\s+)?(?:get|set|_modify|_read|unsafeAddress|didSet|willSet)\b", code[brace + 1:close]):
                    look(brace + 1, close)
                else:
                    found.append((brace + 1, close))
            elif word not in ("let", "case", ""):
                found.append((brace + 1, close))
            at = close + 1

    look(0, len(code))
    return found


def hold(text: str, mutants: list[Mutant]) -> None:
    """Tells each mutant of a file its body."""
    for mutant in mutants:
        inside = [(begin, end) for begin, end in bodies(text) if begin <= mutant.start and mutant.end <= end]
        # Else it is in a closure of a stored value: the innermost.
        inside += sorted((body for body in braces(plain(text)).items() if body[0] <= mutant.start and mutant.end <= body[1]), reverse=True)
        mutant.body = inside[0] if inside else None


# What is changed where no list says it: each comparison at its limit, each `and`, each fixed truth, each call that stands for itself.
CHANGES = [
    (re.compile(r" == "), " != "),
    (re.compile(r" != "), " == "),
    (re.compile(r" < "), " <= "),
    (re.compile(r" <= "), " < "),
    (re.compile(r" > "), " >= "),
    (re.compile(r" >= "), " > "),
    (re.compile(r" && "), " || "),
    (re.compile(r" \|\| "), " && "),
    (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bfalse\b"), "true"),
    (re.compile(r" \+ (?=\d)"), " - "),
    (re.compile(r" - (?=\d)"), " + "),
    (re.compile(r"(?<=\bguard )(?!let |case |await |try )[^{},\n]+(?= else)"), "!({})"),
    (re.compile(r"(?<=\bif )(?!let |case |await |try |#|!\()[^{},\n]+(?= \{)"), "!({})"),
    (re.compile(r"(?<=[{};)\n]\n)[ \t]+(?:try )?(?:await )?[a-zA-Z_][\w.]*\([^{}\n]*\)(?=\n)"), ""),
    (re.compile(r"(?<=[{};)\n]\n)[ \t]+[a-zA-Z_][\w.]* (?:=|\+=) [^{}\n]+(?=\n)"), ""),
]


def made(file: str, text: str) -> list[Mutant]:
    """The mutants of a file that follow from its text alone, in its order."""
    code = plain(text)
    # What is compiled for other systems alone is left as it is.
    conditional = [match.span() for match in re.finditer(r"^[ \t]*#if\b.*?^[ \t]*#endif", code, re.M | re.S)]
    inside = bodies(text)
    lines = text.splitlines()
    found = []
    for pattern, new in CHANGES:
        for match in pattern.finditer(code):
            begin, end = match.span()
            if any(first <= begin < last for first, last in conditional):
                continue
            body = next((body for body in inside if body[0] <= begin and end <= body[1]), None)
            if body is None:
                continue
            old = text[begin:end]
            if new == "" and (re.search(r"\binit\b[^{}]*\{$", code[:body[0]]) or "self.init(" in old):
                # Every value of an initializer must be set.
                continue
            if "{" in new and re.fullmatch(r"[^&|]* [!=]= [^&|]*", old):
                # The comparison itself is turned round already.
                continue
            mutant = Mutant(file, begin, end, new.format(old) if "{" in new else new, body=body)
            line = text.count("\n", 0, begin)
            mutant.shown = f"{file}:{line + 1}: {lines[line].strip()}: {old.strip()} -> {mutant.new.strip() or 'nothing'}"
            found.append(mutant)
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def woven(text: str, mutants: list[Mutant]) -> tuple[str, list[tuple[int, int, int]]]:
    """A file with all its mutants that stand in bodies, and the lines that each answers for: first, last, number."""
    out: list[str] = []
    places = []
    line = 1
    at = 0

    def put(part: str) -> None:
        nonlocal line
        out.append(part)
        line += part.count("\n")

    by_body: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        if mutant.body:
            by_body.setdefault(mutant.body, []).append(mutant)
    for (begin, end), here in sorted(by_body.items()):
        put(text[at:begin])
        body = text[begin:end]
        opening = line + 1
        put(f"\nswitch {NUMBER} {{\n")
        for mutant in here:
            first = line
            put(f"case {mutant.number}:\n{text[begin:mutant.start]}{mutant.new}{text[mutant.end:end]}\n")
            places.append((first, line - 1, mutant.number))
        first = line
        put(f"default:\n{body}\n")
        # What the compiler says of the body as it is, of the switch or of its end is said of all.
        places += [(start, last, mutant.number) for mutant in here for start, last in ((opening, opening), (first, line + 1))]
        put("}\n")
        at = end
    put(text[at:])
    return "".join(out), places
