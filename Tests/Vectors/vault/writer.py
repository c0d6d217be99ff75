"""Writes sealed files commit by commit: section 3 of docs/vault-format.md."""

import hashlib
import struct

from vectors import RANDOM, seal

CHUNK = 4096
FANOUT = CHUNK // 32
HOLE = bytes(32)


class Writer:
    """Writes a sealed file commit by commit."""

    def __init__(self, account, **header):
        self.account, self.key, file_id = account, RANDOM.randbytes(32), RANDOM.randbytes(16)
        name = header.get("owner", account.name)
        head = struct.pack(
            "<8sHBBI16s16sH", b"CORDONSF", header.get("version", 1), header.get("algorithm", 1), header.get("log", 12),
            header.get("zero", 0), file_id, account.id, header.get("owner_length", len(name)))
        head = (head + name).ljust(576, b"\0")
        if "padding" in header:
            head = head[:575] + header["padding"]
        head += self.secret(account, file_id, head, header)
        self.header = (head + header.get("tail", b"")).ljust(4096, b"\0")
        self.digest = hashlib.sha256(self.header).digest()
        self.slots, self.generation, self.seals, self.content, self.chunks = [], -1, 0, b"", {}
        self.pages = [b"", b""]
        self.commit(b"", {}, writing=1)
        self.commit(b"", {}, writing=1)

    def secret(self, account, file_id, head, header):
        """The header's secret part, sealed: in version 1 the content key."""
        nonce = RANDOM.randbytes(12)
        return nonce + seal(account.derive(file_id, "cordon vault 1 content key"), nonce, self.key, head)

    def block(self, content, level, index):
        nonce = RANDOM.randbytes(12)
        sealed = seal(self.key, nonce, content, struct.pack("<BB6xQ", 1, level, index) + self.digest)
        self.slots.append(sealed[:-16])
        self.seals += 1
        return struct.pack("<I", len(self.slots)) + nonce + sealed[-16:]

    def commit(self, content, changed, writing=0, **record):
        """Seals the chunks named in `changed` anew, the nodes, and a record."""
        self.generation += 1
        chunks = -(-len(content) // CHUNK)
        for index in changed:
            part = content[index * CHUNK : (index + 1) * CHUNK]
            self.chunks[index] = self.block(part if chunks == 1 else part.ljust(CHUNK, b"\0"), 0, index)
        level, height = [self.chunks.get(index, HOLE) for index in range(chunks)], 0
        while len(level) > 1:
            height += 1
            groups = [level[start : start + FANOUT] for start in range(0, len(level), FANOUT)]
            level = [self.block(b"".join(group), height, index) for index, group in enumerate(groups)]
        self.content = content
        root = level[0] if level else HOLE
        self.record(dict(length=len(content), height=height, writing=writing, root=root) | record)

    def record(self, fields):
        self.seals += 1
        values = dict(magic=b"CORDONCR", generation=self.generation, length=0, seals=self.seals, slots=len(self.slots),
                      height=0, writing=0, zero=0, physical=self.physical(), root=HOLE) | fields
        head = struct.pack("<8sQQQIBBHQ32s", *values.values())
        page = self.generation & 1
        nonce = RANDOM.randbytes(12)
        tag = seal(self.key, nonce, b"", struct.pack("<BB6xQ", 2, 0, page) + self.digest + head)
        self.pages[page] = (head + nonce + tag).ljust(4096, b"\0")

    def physical(self):
        return 12288 + (len(self.slots) - 1) * CHUNK + len(self.slots[-1]) if self.slots else 12288

    def bytes(self):
        body = b"".join(slot.ljust(CHUNK, b"\0") for slot in self.slots)
        return (self.header + self.pages[0] + self.pages[1] + body)[: self.physical()]
