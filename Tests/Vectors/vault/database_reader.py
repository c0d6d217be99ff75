#!/usr/bin/env python3
"""An independent reader of sealed databases, made from docs/vault-format.md (section 5) alone.

    database_reader.py ROOT_KEY KEY_RECORD DATABASE PLAIN

ROOT_KEY is a device's root key file, KEY_RECORD the account's. Writes the database, and its log if there is one, in the
clear to PLAIN and PLAIN-wal. Refuses anything that is not genuine, with status 1 and the reason on standard error.
"""

import pathlib
import struct
import sys

from reader import Refused, SealedDatabase, open_record, require

LOG_HEADER, FRAME = 5, 6


def account_key(root, record):
    require(len(root) == 40 and root[:8] == b"CORDONRK")
    return open_record(record, root[8:])


def log_of(database, data):
    header = database.open_slot(data[:60], LOG_HEADER, 0, 0)
    size = 24 + struct.unpack_from(">I", header, 8)[0] + 28
    yield header
    for index in range((len(data) - 60) // size):
        yield database.open_slot(data[60 + index * size : 60 + (index + 1) * size], FRAME, 0, index)


def main(root, record, path, plain):
    key_id, key = account_key(pathlib.Path(root).read_bytes(), pathlib.Path(record).read_bytes())
    database = SealedDatabase(pathlib.Path(path).read_bytes(), {key_id.hex(): key})
    pathlib.Path(plain).write_bytes(b"".join(database.pages()))
    log = pathlib.Path(path + "-wal")
    if log.exists() and log.stat().st_size >= 60:
        pathlib.Path(plain + "-wal").write_bytes(b"".join(log_of(database, log.read_bytes())))
    print(database.owner)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(1)
