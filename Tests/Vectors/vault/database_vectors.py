"""Sealed databases, section 5 of docs/vault-format.md: bases and one case per fault."""

import hashlib
import struct

from vectors import RANDOM, Account, opens, seal


class DatabaseWriter:
    """Writes a sealed database page by page; to the format a page is any bytes."""

    def __init__(self, account, level, **header):
        self.key, file_id = RANDOM.randbytes(32), RANDOM.randbytes(16)
        name = header.get("owner", account.name)
        head = struct.pack(
            "<8sHBBI16s16sH", b"CORDONSD", header.get("version", 1), header.get("algorithm", 1), header.get("log", 0),
            header.get("zero", 0), file_id, account.id, len(name))
        head = (head + name).ljust(576, b"\0")
        nonce = RANDOM.randbytes(12)
        head += nonce + seal(account.derive(file_id, "cordon vault 1 content key"), nonce, self.key, head)
        self.header = (head + header.get("tail", b"")).ljust(4095, b"\0")
        self.digest, self.level, self.slots = hashlib.sha256(self.header + b"\0").digest(), level, []

    def page(self, content, kind=3, level=None, index=None):
        nonce, level = RANDOM.randbytes(12), self.level if level is None else level
        context = struct.pack("<BB6xQ", kind, level, len(self.slots) if index is None else index) + self.digest
        sealed = seal(self.key, nonce, content, context)
        self.slots.append(sealed[:-16] + nonce + sealed[-16:])

    def bytes(self):
        return self.header + bytes([self.level]) + b"".join(self.slots)


def databases(vectors, ada, ben):
    level, size = 9, 512
    slot = size + 28

    def written(account, count, **header):
        writer, content = DatabaseWriter(account, level, **header), [RANDOM.randbytes(size) for _ in range(count)]
        for page in content:
            writer.page(page)
        return writer, b"".join(content)

    base, content = written(ada, 4)
    vectors.base("database", base.bytes(), "database")
    vectors.case("good-database", "database", opens(content), "a database as it should be")
    other, theirs = written(ada, 4)
    vectors.base("database-other", other.bytes(), "database")
    vectors.case("good-database-other", "database-other", opens(theirs), "another database of the account")
    foreign, bens = written(ben, 4)
    vectors.base("database-other-account", foreign.bytes(), "database")
    vectors.case("good-database-other-account", "database-other-account", opens(bens), "another account's database")
    stranger, _ = written(Account("eve@example.test"), 1)
    vectors.base("database-unknown-key", stranger.bytes(), "database")
    vectors.case("database-key-unknown", "database-unknown-key", "wrongKey", "sealed under a key the reader does not have")
    vectors.base("database-empty", DatabaseWriter(ada, 0).bytes(), "database")
    vectors.case("good-database-empty", "database-empty", opens(b""), "a database before its first page")
    vectors.case("database-empty-extended", "database-empty", "damaged", "bytes where there are no pages", "append 00")
    vectors.case("database-as-file", "database", "notSealed", "a sealed file passed off as a database",
                 f"write 0 {b'CORDONSF'.hex()}")

    fields = [("magic", 0, 8, "notSealed"), ("version", 8, 2, "unsupportedFormat"),
              ("algorithm", 10, 1, "unsupportedFormat"), ("log", 11, 1, "damaged"), ("reserved", 12, 4, "damaged"),
              ("file-id", 16, 16, "damaged"), ("key-id", 32, 16, "wrongKey"), ("owner-length", 48, 2, "damaged"),
              ("owner", 50, 16, "damaged"), ("owner-padding", 66, 1, "damaged"), ("owner-padding", 575, 1, "damaged"),
              ("wrap-nonce", 576, 12, "damaged"), ("wrap-key", 588, 32, "damaged"), ("wrap-tag", 620, 16, "damaged"),
              ("tail", 636, 1, "damaged"), ("tail", 4094, 1, "damaged")]
    for name, start, count, expect in fields:
        for offset in range(start, start + count):
            vectors.case(f"database-header-{name}-{offset}", "database", expect, f"one bit of the header's {name} changed",
                         f"xor {offset} {1 << RANDOM.randrange(7):02x}")
    for value in (0, 1, 8, 10, 12, 16, 17, 255):
        vectors.case(f"database-block-size-{value}", "database", "damaged", "another block size", f"write 4095 {value:02x}")

    places = [4096 + number * slot for number in range(4)]
    for number, start in enumerate(places):
        for part, offset in (("content", 0), ("content", 1), ("content", 200), ("content", 511), ("nonce", 512),
                             ("nonce", 523), ("tag", 524), ("tag", 539)):
            vectors.case(f"database-page-{number + 1}-{part}-{offset}", "database", "damaged",
                         f"one bit of a page's {part} changed", f"xor {start + offset} {1 << RANDOM.randrange(8):02x}")
        vectors.case(f"database-page-{number + 1}-zeros", "database", "damaged", "a page overwritten with zeros",
                     f"write {start} {'00' * slot}")
        for name, about in (("database-other", "another database of the account"),
                            ("database-other-account", "another account's database")):
            vectors.case(f"{name}-page-{number + 1}", "database", "damaged", f"a page of {about}",
                         f"copy {name} {start} {start} {slot}")
        for later in range(number + 1, 4):
            vectors.case(f"database-pages-{number + 1}-{later + 1}-swapped", "database", "damaged", "two pages swapped",
                         f"copy database {start} {places[later]} {slot}", f"copy database {places[later]} {start} {slot}")
            vectors.case(f"database-page-{number + 1}-over-{later + 1}", "database", "damaged", "a page in place of another",
                         f"copy - {start} {places[later]} {slot}")
    for name, about in (("database-other", "another database of the account"),
                        ("database-other-account", "another account's database")):
        vectors.case(f"{name}-header", "database", "damaged", f"the header of {about}", f"copy {name} 0 0 4096")
        vectors.case(f"{name}-wrap", "database", "damaged", f"the wrapped key of {about}", f"copy {name} 576 576 60")
        vectors.case(f"{name}-body", "database", "damaged", f"the pages of {about}", f"copy {name} 4096 4096 {4 * slot}")
    for length in (0, 7):
        vectors.case(f"database-cut-{length}", "database", "notSealed", "cut inside the magic", f"cut {length}")
    for length in (8, 636, 4095, 4097, 4096 + slot - 1, 4096 + slot + 1, 4096 + 4 * slot - 28, 4096 + 4 * slot - 1):
        vectors.case(f"database-cut-{length}", "database", "damaged", "the end of a page is missing", f"cut {length}")
    vectors.case("database-cut-page", "database", opens(content[: 3 * size]),
                 "a whole page less is a shorter database here; SQLite misses it by the length in page 1",
                 f"cut {4096 + 3 * slot}")
    vectors.case("database-extended", "database", "damaged", "a byte after the last page", "append 00")
    vectors.case("database-extended-zeros", "database", "damaged", "a page of zeros after the last", f"append {'00' * slot}")
    vectors.case("database-extended-repeated", "database", "damaged", "a page repeated at the end",
                 f"append {base.slots[3].hex()}")

    for name, wrong in {"journal": dict(kind=4), "log-header": dict(kind=5), "frame": dict(kind=6), "file": dict(kind=1),
                        "level": dict(level=12), "index": dict(index=1)}.items():
        writer = DatabaseWriter(ada, level)
        writer.page(RANDOM.randbytes(size), **wrong)
        vectors.case(f"database-sealed-{name}", "database", "damaged", f"genuine, but no page of this place: {name}",
                     *vectors.rewritten("database", writer.bytes()))
    for name, header, expect in (("version-2", dict(version=2), "unsupportedFormat"),
                                 ("algorithm-2", dict(algorithm=2), "unsupportedFormat"),
                                 ("log-12", dict(log=12), "damaged"), ("reserved", dict(zero=1), "damaged"),
                                 ("owner-337", dict(owner=b"a" * 337), "damaged"),
                                 ("owner-not-text", dict(owner=b"\xff\xfe"), "damaged"), ("tail", dict(tail=b"\1"), "damaged")):
        writer, _ = written(ada, 1, **header)
        vectors.case(f"database-sealed-{name}", "database", expect, f"genuine, but malformed: {name}",
                     *vectors.rewritten("database", writer.bytes()))
