#!/usr/bin/env python3
"""An independent reader of sealed databases, made from docs/vault-format.md (section 5) alone.

    database_reader.py ROOT_KEY KEY_RECORD DATABASE PLAIN

ROOT_KEY is a device's root key file, KEY_RECORD the account's. Writes the database, and its log if there is one, in the
clear to PLAIN and PLAIN-wal. Refuses anything that is not genuine, with status 1 and the reason on standard error.
"""

import hashlib
import pathlib
import struct
import sys

from reader import Refused, derive, open_sealed, require, text

PAGE, LOG_HEADER, FRAME = 3, 5, 6


def account_key(root, record):
    require(len(root) == 40 and root[:8] == b"CORDONRK")
    require(len(record) == 512 and record[:8] == b"CORDONAK")
    wrap = derive(root[8:], record[16:32], "cordon vault 1 account key")
    return record[16:32], open_sealed(wrap, record[384:396], record[396:444], record[:384])


class SealedDatabase:
    def __init__(self, data, key_id, key):
        require(data[:8] == b"CORDONSD", "notSealed")
        require(len(data) >= 4096)
        header = data[:4096]
        version, algorithm, log, zero = struct.unpack_from("<HBBI", header, 8)
        require(version == 1 and algorithm == 1, "unsupportedFormat")
        (length,) = struct.unpack_from("<H", header, 48)
        require(log == 0 and zero == 0 and 1 <= length <= 336 and not any(header[50 + length : 576]))
        require(not any(header[636:4095]) and (header[4095] == 0 or 9 <= header[4095] <= 16))
        self.owner = text(header[50 : 50 + length])
        require(header[32:48] == key_id, "wrongKey")
        wrap = derive(key, header[16:32], "cordon vault 1 content key")
        self.key = open_sealed(wrap, header[576:588], header[588:636], header[:576])
        self.digest = hashlib.sha256(header[:4095] + b"\0").digest()
        self.level = header[4095]
        self.slots = data[4096:]

    def open_slot(self, slot, kind, level, index):
        context = struct.pack("<BB6xQ", kind, level, index) + self.digest
        return open_sealed(self.key, slot[-28:-16], slot[:-28] + slot[-16:], context)

    def pages(self):
        size = (1 << self.level) + 28
        require(self.level > 0 or not self.slots)
        for index in range(len(self.slots) // size):
            yield self.open_slot(self.slots[index * size : (index + 1) * size], PAGE, self.level, index)

    def log(self, data):
        header = self.open_slot(data[:60], LOG_HEADER, 0, 0)
        size = 24 + struct.unpack_from(">I", header, 8)[0] + 28
        yield header
        for index in range((len(data) - 60) // size):
            yield self.open_slot(data[60 + index * size : 60 + (index + 1) * size], FRAME, 0, index)


def main(root, record, path, plain):
    key_id, key = account_key(pathlib.Path(root).read_bytes(), pathlib.Path(record).read_bytes())
    database = SealedDatabase(pathlib.Path(path).read_bytes(), key_id, key)
    pathlib.Path(plain).write_bytes(b"".join(database.pages()))
    log = pathlib.Path(path + "-wal")
    if log.exists() and log.stat().st_size >= 60:
        pathlib.Path(plain + "-wal").write_bytes(b"".join(database.log(log.read_bytes())))
    print(database.owner)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(1)
