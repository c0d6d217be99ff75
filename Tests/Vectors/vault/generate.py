#!/usr/bin/env python3
"""Writes the vectors of docs/vault-format.md anew: bases, keys and one case per fault. The same bytes every time.

    generate.py

A case is a text file: `kind` (file, named, directory, buffer, database, record or former), `base`, any number of `edit` lines applied
in order, `expect` (`opens` and the SHA-256 of the plaintext, of a record's key, or of a directory's names, a line feed after
each; or the refusal's name), `about`. A case of a named file has the `name` that its place stands for. Edits: `xor OFFSET HEX`, `write OFFSET HEX`,
`copy BASE FROM TO COUNT` (`-` is the case itself), `cut LENGTH`, `append HEX`.
"""

import hashlib
import json
import struct

from database_vectors import databases
from folder_vectors import folders, names_on_disk
from vectors import HERE, RANDOM, Account, Vectors, opens, seal
from writer import CHUNK, Writer

def header_faults(vectors, base):
    fields = [("magic", 0, 8, "notSealed"), ("version", 8, 2, "unsupportedFormat"),
              ("algorithm", 10, 1, "unsupportedFormat"), ("reserved", 12, 4, "damaged"), ("file-id", 16, 16, "damaged"),
              ("key-id", 32, 16, "wrongKey"), ("owner-length", 48, 2, "damaged"), ("owner", 50, 16, "damaged"),
              ("owner-padding", 66, 1, "damaged"), ("owner-padding", 300, 1, "damaged"),
              ("owner-padding", 575, 1, "damaged"), ("wrap-nonce", 576, 12, "damaged"),
              ("wrap-key", 588, 32, "damaged"), ("wrap-tag", 620, 16, "damaged"), ("tail", 636, 1, "damaged"),
              ("tail", 2000, 1, "damaged"), ("tail", 4095, 1, "damaged")]
    for name, start, count, expect in fields:
        for offset in range(start, start + count):
            bit = 1 << RANDOM.randrange(8)
            vectors.case(f"header-{name}-{offset}", base, expect, f"one bit of the header's {name} changed",
                         f"xor {offset} {bit:02x}")
    for value in (0, 11, 13, 20, 21, 255):
        vectors.case(f"header-chunk-size-{value}", base, "damaged", "another chunk size", f"write 11 {value:02x}")


def record_faults(vectors, base):
    fields = [("magic", 0), ("magic", 7), ("generation", 8), ("generation", 15), ("length", 16), ("length", 18),
              ("length", 23), ("seals", 24), ("seals", 31), ("slots", 32), ("slots", 35), ("height", 36), ("mark", 37),
              ("reserved", 38), ("reserved", 39), ("physical", 40), ("physical", 47), ("root-slot", 48),
              ("root-nonce", 52), ("root-nonce", 63), ("root-tag", 64), ("root-tag", 79), ("nonce", 80), ("nonce", 91),
              ("tag", 92), ("tag", 107), ("padding", 108), ("padding", 511), ("padding", 4095)]
    for page in (0, 1):
        for name, offset in fields:
            bit = 1 << RANDOM.randrange(8)
            vectors.case(f"record-{page}-{name}-{offset}", base, "damaged", f"one bit of a commit record's {name} changed",
                         f"xor {4096 * (page + 1) + offset} {bit:02x}")
        vectors.case(f"record-{page}-zeros", base, "damaged", "a commit record erased",
                     f"write {4096 * (page + 1)} {'00' * 108}")
        vectors.case(f"record-{page}-doubled", base, "damaged", "one commit record in both pages",
                     f"copy - {4096 * (page + 1)} {8192 - 4096 * page} 4096")
    vectors.case("record-pages-swapped", base, "damaged", "the commit records in each other's pages",
                 f"copy {base} 4096 8192 4096", f"copy {base} 8192 4096 4096")


def block_faults(vectors, base, blocks, size):
    for slot, length, what in blocks:
        start = 12288 + (slot - 1) * CHUNK
        for offset in sorted({0, 1, length // 4, length // 2, 3 * length // 4, length - 2, length - 1}):
            bit = 1 << RANDOM.randrange(8)
            vectors.case(f"{base}-slot-{slot}-byte-{offset}", base, "damaged", f"one bit of {what} changed",
                         f"xor {start + offset} {bit:02x}")
        vectors.case(f"{base}-slot-{slot}-zeros", base, "damaged", f"{what} erased", f"write {start} {'00' * min(length, 64)}")
        for other, other_length, other_what in blocks:
            if other > slot and other_length == length:
                target = 12288 + (other - 1) * CHUNK
                vectors.case(f"{base}-slots-{slot}-{other}-swapped", base, "damaged", f"{what} and {other_what} swapped",
                             f"copy {base} {start} {target} {length}", f"copy {base} {target} {start} {length}")
                vectors.case(f"{base}-slot-{slot}-over-{other}", base, "damaged", f"{what} in place of {other_what}",
                             f"copy - {start} {target} {length}")
    for length in sorted({0, 1, 7}):
        vectors.case(f"{base}-cut-{length}", base, "notSealed", "cut inside the magic", f"cut {length}")
    for length in sorted({8, 575, 636, 4095, 4096, 4097, 8191, 8192, 8300, 12287, 12288, 12289, size - CHUNK, size - 16,
                          size - 1} - {size}):
        if 8 <= length < size:
            vectors.case(f"{base}-cut-{length}", base, "damaged", "the end is missing", f"cut {length}")
    for tail in ("00", "ff", "00" * 32):
        vectors.case(f"{base}-extended-{len(tail) // 2}-{tail[:2]}", base, "damaged", "bytes after the end", f"append {tail}")


def buffer_faults(vectors, base, end, size, tag, expects):
    for offset in range(0, size):
        if offset < 64 or offset >= size - tag or offset % 7 == 0:
            expect = next((name for start, stop, name in expects if start <= offset < stop), "damaged")
            vectors.case(f"{base}-byte-{offset}", base, expect, "one bit of a protected buffer changed",
                         f"xor {offset} {1 << RANDOM.randrange(3):02x}")
    for length in (8, 47, 48, end - 1, end, end + 11, end + 27, size - 1):
        vectors.case(f"{base}-cut-{length}", base, "damaged", "a protected buffer's end is missing", f"cut {length}")
    vectors.case(f"{base}-extended", base, "damaged", "a byte after a protected buffer", "append 00")


def files(vectors, ada, ben):
    texts = {size: RANDOM.randbytes(size) for size in (1, 100, 4096, 4097, 2 * CHUNK + 100)}
    for name, content in (("one-byte", texts[1]), ("short", texts[100]), ("one-chunk", texts[4096]),
                          ("two-chunks", texts[4097]), ("three-chunks", texts[2 * CHUNK + 100])):
        writer = Writer(ada)
        writer.commit(content, range(-(-len(content) // CHUNK)))
        vectors.base(name, writer.bytes())
        vectors.case(f"good-{name}", name, opens(content), "a file as it should be")
    empty = Writer(ada)
    empty.commit(b"", [])
    vectors.base("empty", empty.bytes())
    vectors.case("good-empty", "empty", opens(b""), "a file without content")

    three = Writer(ada)
    content = RANDOM.randbytes(2 * CHUNK + 100)
    three.commit(content, range(3))
    vectors.base("other-file", three.bytes())
    foreign = Writer(ben)
    foreign.commit(texts[2 * CHUNK + 100], range(3))
    vectors.base("other-account", foreign.bytes())
    stranger = Writer(Account("eve@example.test"))
    stranger.commit(texts[100], [0])
    vectors.base("unknown-key", stranger.bytes())
    vectors.case("key-unknown", "unknown-key", "wrongKey", "sealed under a key the reader does not have")
    vectors.case("good-other-account", "other-account", opens(texts[2 * CHUNK + 100]), "a file of the second account")

    rewritten = Writer(ada)
    first = RANDOM.randbytes(2 * CHUNK + 100)
    rewritten.commit(first, range(3), writing=1)
    second = first[:CHUNK] + RANDOM.randbytes(CHUNK) + first[2 * CHUNK :]
    rewritten.commit(second, [1])
    vectors.base("rewritten", rewritten.bytes())
    vectors.case("good-rewritten", "rewritten", opens(second), "a chunk rewritten in a second commit")
    slot = lambda number: 12288 + (number - 1) * CHUNK
    vectors.case("rollback-chunk", "rewritten", "damaged", "a chunk put back to its older genuine version",
                 f"copy - {slot(2)} {slot(5)} {CHUNK}")
    vectors.case("rollback-node", "rewritten", "damaged", "a node put back to its older genuine version",
                 f"copy - {slot(4)} {slot(6)} 96")
    vectors.case("rollback-chunk-and-node", "rewritten", "damaged", "chunk and node put back, the record not",
                 f"copy - {slot(2)} {slot(5)} {CHUNK}", f"copy - {slot(4)} {slot(6)} 96")
    vectors.case("unused-slot-changed", "rewritten", opens(second), "a slot that no block uses any more is never read",
                 f"xor {slot(2)} ff")

    sparse = Writer(ada)
    whole = bytearray(199 * CHUNK + 5)
    for index in (0, 130, 199):
        whole[index * CHUNK : index * CHUNK + 5] = b"chunk"
    sparse.commit(bytes(whole), (0, 130, 199))
    vectors.base("sparse", sparse.bytes())
    vectors.case("good-sparse", "sparse", opens(bytes(whole)), "two levels of nodes, and holes")

    open_mark = Writer(ada)
    open_mark.commit(texts[4097], range(2), writing=1)
    vectors.base("being-written", open_mark.bytes())
    vectors.case("good-being-written", "being-written", opens(texts[4097]), "a writer was killed after a commit")
    vectors.case("good-uncommitted-tail", "being-written", opens(texts[4097]), "leavings of an uncommitted write",
                 f"append {'aa' * 40}")
    vectors.case("being-written-cut", "being-written", "damaged", "shorter than the commit, mark or not",
                 f"cut {open_mark.physical() - 1}")
    return three


def malformed(vectors, ada):
    """Files that a keeper of the key could have written, and that are wrong all the same."""
    for name, header in {"version-0": dict(version=0), "version-3": dict(version=3), "algorithm-0": dict(algorithm=0),
                         "algorithm-2": dict(algorithm=2)}.items():
        writer = Writer(ada, **header)
        writer.commit(b"hello", [0])
        vectors.case(f"sealed-{name}", "short", "unsupportedFormat", "genuine, but of another version",
                     *vectors.rewritten("short", writer.bytes()))
    for name, header in {"reserved": dict(zero=1), "log-11": dict(log=11), "log-21": dict(log=21),
                         "owner-empty": dict(owner=b"", owner_length=0), "owner-337": dict(owner=b"a" * 337),
                         "owner-not-text": dict(owner=b"\xff\xfe"), "owner-padding": dict(padding=b"\1"),
                         "tail": dict(tail=b"\1")}.items():
        writer = Writer(ada, **header)
        writer.commit(b"hello", [0])
        vectors.case(f"sealed-{name}", "short", "damaged", f"genuine, but malformed: {name}",
                     *vectors.rewritten("short", writer.bytes()))
    for name, record in {"height": dict(height=1), "length-huge": dict(length=2**52), "length-more": dict(length=CHUNK),
                         "length-less": dict(length=4), "mark-2": dict(writing=2), "reserved": dict(zero=1),
                         "physical-more": dict(physical=12294), "physical-less": dict(physical=12292),
                         "physical-huge": dict(physical=2**62), "slots-0": dict(slots=0), "generation-0": dict(generation=0),
                         "generation-4": dict(generation=4), "generation-huge": dict(generation=2**64 - 2), "generation-limit": dict(generation=2**62),
                         "seals-huge": dict(seals=2**64 - 1),
                         "magic": dict(magic=b"CORDONCS")}.items():
        writer = Writer(ada)
        writer.commit(b"hello", [0], **record)
        expect = opens(b"") if name == "generation-0" else "damaged"
        vectors.case(f"sealed-record-{name}", "short", expect, f"genuine, but malformed record: {name}",
                     *vectors.rewritten("short", writer.bytes()))


def buffers(vectors, ada):
    body = b"minutes of the board meeting"
    def header(kind, owner, key_id, identifier):
        return struct.pack("<8sHBBHH16s16s", b"CORDONPB", 1, kind, 0, len(owner), 0, identifier, key_id) + owner
    identifier, nonce = RANDOM.randbytes(16), RANDOM.randbytes(12)
    head = header(1, ada.name, ada.id, identifier)
    sealed = head + nonce + seal(ada.derive(identifier, "cordon vault 1 buffer"), nonce, body, head)
    vectors.base("buffer-sealed", sealed, "buffer")
    vectors.case("good-buffer-sealed", "buffer-sealed", opens(body), "a protected buffer")
    expects = [(0, 8, "notProtected"), (8, 10, "unsupportedFormat"), (32, 48, "wrongKey")]
    vectors.case("buffer-kind-3", "buffer-sealed", "unsupportedFormat", "a kind that is not known", "write 10 03")
    vectors.case("buffer-kind-plain", "buffer-sealed", "damaged", "sealed passed off as plain", "write 10 02")
    end = len(head)
    faults = expects + [(10, 11, "unsupportedFormat")]
    buffer_faults(vectors, "buffer-sealed", end, len(sealed), 16, faults)
    head = header(2, b"me@home.example", bytes(16), RANDOM.randbytes(16))
    plain = head + hashlib.sha256(head + body).digest() + body
    vectors.base("buffer-plain", plain, "buffer")
    vectors.case("good-buffer-plain", "buffer-plain", opens(body), "a tagged, readable buffer")
    vectors.case("buffer-plain-byte", "buffer-plain", "damaged", "a readable byte changed", f"xor {len(plain) - 1} 01")
    vectors.case("buffer-plain-digest", "buffer-plain", "damaged", "the digest changed", f"xor {len(head)} 01")
    vectors.case("buffer-plain-cut", "buffer-plain", "damaged", "a readable end is missing", f"cut {len(plain) - 1}")


def main():
    vectors, ada, ben = Vectors(), Account("ada@example.test"), Account("ben@example.test")
    files(vectors, ada, ben)
    header_faults(vectors, "short")
    record_faults(vectors, "short")
    block_faults(vectors, "three-chunks", [(1, CHUNK, "chunk 0"), (2, CHUNK, "chunk 1"), (3, CHUNK, "chunk 2"),
                                           (4, 96, "the node")], 12288 + 3 * CHUNK + 96)
    for name, about in (("other-file", "another file of the account"), ("other-account", "another account's file")):
        for slot in (1, 2, 3):
            start = 12288 + (slot - 1) * CHUNK
            vectors.case(f"mixed-{name}-chunk-{slot - 1}", "three-chunks", "damaged", f"a chunk of {about}",
                         f"copy {name} {start} {start} {CHUNK}")
        vectors.case(f"mixed-{name}-node", "three-chunks", "damaged", f"the node of {about}",
                     f"copy {name} {12288 + 3 * CHUNK} {12288 + 3 * CHUNK} 96")
        vectors.case(f"mixed-{name}-header", "three-chunks", "damaged", f"the header of {about}", f"copy {name} 0 0 4096")
        vectors.case(f"mixed-{name}-wrap", "three-chunks", "damaged", f"the wrapped key of {about}",
                     f"copy {name} 576 576 60")
        vectors.case(f"mixed-{name}-records", "three-chunks", "damaged", f"the commit records of {about}",
                     f"copy {name} 4096 4096 8192")
        vectors.case(f"mixed-{name}-body", "three-chunks", "damaged", f"records and blocks of {about}",
                     f"copy {name} 4096 4096 {8192 + 3 * CHUNK + 96}")
    malformed(vectors, ada)
    buffers(vectors, ada)
    databases(vectors, ada, ben)
    root, secret, share = folders(vectors, ada, ben)
    keys = {"accounts": {a.id.hex(): a.name.decode() for a in (ada, ben)}, "keys": {a.id.hex(): a.key.hex() for a in (ada, ben)},
            "root": root.hex(), "secret": secret.hex(), "share": share.hex(), "names": {a.id.hex(): names_on_disk(a) for a in (ada, ben)}}
    (HERE / "keys.json").write_text(json.dumps(keys, indent=2) + "\n")
    print(vectors.count, "cases")


if __name__ == "__main__":
    main()
