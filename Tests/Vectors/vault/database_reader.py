#!/usr/bin/env python3
"""An independent reader of sealed databases, made from docs/vault-format.md (section 5) alone.

    database_reader.py KEY_STORE KEY_RECORD DATABASE PLAIN

KEY_STORE is a folder with a device's root key and the accounts' secrets, KEY_RECORD the account's record in a vault called "own". Writes the database, and its log if there is one, in the
clear to PLAIN and PLAIN-wal. Refuses anything that is not genuine, with status 1 and the reason on standard error.
"""

import hashlib
import hmac
import pathlib
import struct
import sys

from reader import Refused, SealedDatabase, derive, open_record, require

LOG_HEADER, FRAME = 5, 6


def key_in(path, magic):
    data = path.read_bytes()
    require(len(data) == 40 and data[:8] == magic)
    return data[8:]


def account_key(store, record):
    """The id and the key of the record's account, by section 2."""
    root = key_in(store / "root.key", b"CORDONRK")
    (length,) = struct.unpack_from("<H", record, 10)
    account = record[32 : 32 + length].decode().lower().encode()
    naming = derive(root, bytes(16), "cordon vault 2 names in the key store")
    name = hmac.new(naming, b"secret\0own\0" + account, hashlib.sha256).hexdigest()[:32]
    return open_record(record, root, key_in(store / "secrets" / f"{name}.key", b"CORDONAS"))


def log_of(database, data):
    header = database.open_slot(data[:60], LOG_HEADER, 0, 0)
    size = 24 + struct.unpack_from(">I", header, 8)[0] + 28
    yield header
    for index in range((len(data) - 60) // size):
        yield database.open_slot(data[60 + index * size : 60 + (index + 1) * size], FRAME, 0, index)


def main(store, record, path, plain):
    key_id, key = account_key(pathlib.Path(store), pathlib.Path(record).read_bytes())
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
