#!/usr/bin/env python3
"""An independent reader of docs/vault-format.md, made from that page alone.

    reader.py open KEYS FILE          plaintext on standard output; the refusal's name on standard error, status 1
    reader.py names KEYS FILE         the names that a folder's directory lists, a line each; the last entry is taken as done
    reader.py buffer KEYS FILE        the same for a protected buffer
    reader.py cases DIRECTORY         one line per case: name, outcome; status 1 if one is not as the case expects

KEYS is a JSON file: {"keys": {"<account key id>": "<account key>"}}, hexadecimal.
Needs the package `cryptography`.
"""

import hashlib
import hmac
import json
import pathlib
import struct
import sys
import unicodedata

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class Refused(Exception):
    """The bytes are refused, with the format's name for the reason."""


def derive(key, salt, info):
    return HKDF(hashes.SHA256(), 32, salt, info.encode()).derive(key)


def open_sealed(key, nonce, sealed, context):
    try:
        return AESGCM(key).decrypt(nonce, sealed, context)
    except InvalidTag:
        raise Refused("damaged") from None


def require(condition, name="damaged"):
    if not condition:
        raise Refused(name)


def text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("damaged") from None


def content_key(header, keys, version):
    """What a header holds sealed: the content key, and in version 2 what the file is called."""
    key_id = header[32:48].hex()
    require(key_id in keys, "wrongKey")
    wrap = derive(keys[key_id], header[16:32], f"cordon vault {version} content key")
    secret = open_sealed(wrap, header[576:588], header[588 : 636 if version == 1 else 2684], header[:576])
    if version == 1:
        return secret, None
    return secret[:32], sealed_name(secret[32:])


def sealed_name(facts):
    """None, a text, or DIRECTORY."""
    features, kind, zero, length = struct.unpack_from("<IBBH", facts)
    require(features == 0, "unsupportedFormat")
    require(kind <= 2 and zero == 0 and length <= (1024 if kind == 1 else 0) and not any(facts[8 + length : 1032]))
    name = text(facts[8 : 8 + length])
    return (None, name, DIRECTORY)[kind]


DIRECTORY = object()


class SealedFile:
    def __init__(self, data, keys):
        self.data = data
        require(data[:8] == b"CORDONSF", "notSealed")
        require(len(data) >= 4096)
        header = data[:4096]
        self.version, algorithm, log, zero = struct.unpack_from("<HBBI", header, 8)
        require(self.version in (1, 2) and algorithm == 1, "unsupportedFormat")
        (length,) = struct.unpack_from("<H", header, 48)
        require(12 <= log <= 20 and zero == 0 and 1 <= length <= 336)
        require(not any(header[50 + length : 576]) and not any(header[636 if self.version == 1 else 2684 :]))
        self.owner = text(header[50 : 50 + length])
        self.key, self.name = content_key(header, keys, self.version)
        self.digest = hashlib.sha256(header).digest()
        self.chunk = 1 << log
        self.fanout = self.chunk // 32
        self.read_records()

    def context(self, kind, level, index):
        return struct.pack("<BB6xQ", kind, level, index) + self.digest

    def read_records(self):
        records = []
        for page in (0, 1):
            data = self.data[4096 + 4096 * page : 8192 + 4096 * page]
            require(len(data) == 4096 and data[:8] == b"CORDONCR" and not any(data[108:]))
            open_sealed(self.key, data[80:92], data[92:108], self.context(2, 0, page) + data[:80])
            record = struct.unpack_from("<QQQIBBHQ32s", data, 8)
            generation, length, seals, _, height, writing, zero, physical, _ = record
            require(generation < 2**62 and seals < 2**62)
            require(generation & 1 == page and length < 2**52 and writing <= 1 and zero == 0 and physical < 2**62)
            require(height == self.height(-(-length // self.chunk)))
            records.append(record)
        older, newer = sorted(records)
        require(older[0] + 1 == newer[0])
        _, self.length, _, self.slots, self.levels, writing, _, physical, self.root = newer
        require(len(self.data) >= physical if writing else len(self.data) == physical)
        self.chunks = -(-self.length // self.chunk)

    def height(self, chunks):
        height, reach = 0, 1
        while reach < chunks:
            reach, height = reach * self.fanout, height + 1
        return height

    def block(self, reference, level, index, size):
        (slot,) = struct.unpack_from("<I", reference)
        require(slot <= self.slots)
        start = 12288 + (slot - 1) * self.chunk
        sealed = self.data[start : start + size]
        require(len(sealed) == size)
        return open_sealed(self.key, reference[4:16], sealed + reference[16:32], self.context(1, level, index))

    def walk(self, reference, level, index):
        """The chunks below a reference, in order, as (index, plaintext)."""
        if reference[:4] == bytes(4):
            return
        if level == 0:
            size = self.length if self.chunks == 1 else self.chunk
            yield index, self.block(reference, 0, index, size)
            return
        below = self.chunks
        for _ in range(level - 1):
            below = -(-below // self.fanout)
        count = min(self.fanout, below - index * self.fanout)
        node = self.block(reference, level, index, 32 * count)
        for child in range(count):
            yield from self.walk(node[32 * child : 32 * child + 32], level - 1, index * self.fanout + child)

    def plaintext(self):
        content = bytearray(self.length)
        for index, chunk in self.walk(self.root, self.levels, 0):
            start = index * self.chunk
            kept = chunk[: self.length - start]
            content[start : start + len(kept)] = kept
        return bytes(content)


def open_buffer(data, keys, context=None):
    require(data[:8] == b"CORDONPB", "notProtected")
    require(len(data) > 48)
    version, kind, zero, length, zeros = struct.unpack_from("<HBBHH", data, 8)
    require(version in (1, 2) and kind in (1, 2), "unsupportedFormat")
    require((version == 2) == (context is not None))
    bound = b"" if context is None else hashlib.sha256(context.encode()).digest()
    end = 48 + length
    require(zero == 0 and zeros == 0 and 1 <= length <= 336 and len(data) >= end + (28 if kind == 1 else 32))
    require(kind == 1 or not any(data[32:48]))
    text(data[48:end])
    if kind == 2:
        content = data[end + 32 :]
        require(hashlib.sha256(data[:end] + bound + content).digest() == data[end : end + 32])
        return content
    require(data[32:48].hex() in keys, "wrongKey")
    key = derive(keys[data[32:48].hex()], data[16:32], "cordon vault 1 buffer")
    return open_sealed(key, data[end : end + 12], data[end + 12 :], data[:end] + bound)


class SealedDatabase:
    """Section 5: a header, then a slot per page."""

    def __init__(self, data, keys):
        require(len(data) >= 8 and data[:8] == b"CORDONSD", "notSealed")
        require(len(data) >= 4096)
        header = data[:4096]
        version, algorithm, log, zero = struct.unpack_from("<HBBI", header, 8)
        require(version == 1 and algorithm == 1, "unsupportedFormat")
        (length,) = struct.unpack_from("<H", header, 48)
        self.level = header[4095]
        require(log == 0 and zero == 0 and 1 <= length <= 336 and not any(header[50 + length : 576]))
        require(not any(header[636:4095]) and (self.level == 0 or 9 <= self.level <= 16))
        self.owner = text(header[50 : 50 + length])
        self.slots, self.size = data[4096:], (1 << self.level) + 28
        require(len(self.slots) % self.size == 0 if self.level else not self.slots)
        self.key, _ = content_key(header, keys, 1)
        self.digest = hashlib.sha256(header[:4095] + b"\0").digest()

    def open_slot(self, slot, kind, level, index):
        context = struct.pack("<BB6xQ", kind, level, index) + self.digest
        return open_sealed(self.key, slot[-28:-16], slot[:-28] + slot[-16:], context)

    def pages(self):
        for index in range(len(self.slots) // self.size if self.level else 0):
            yield self.open_slot(self.slots[index * self.size : (index + 1) * self.size], 3, self.level, index)


def name_on_disk(key, name):
    """Section 7: where a file of a folder stands."""
    kept = unicodedata.normalize("NFC", name).encode()
    return hmac.new(derive(key, bytes(16), "cordon vault 2 file names"), kept, hashlib.sha256).hexdigest()


def open_named(data, keys, name):
    """A file of a folder, found at the place that stands for a name."""
    file = SealedFile(data, keys)
    require(file.version == 2 and file.name == unicodedata.normalize("NFC", name))
    return file.plaintext()


def open_directory(data, keys):
    """The names of a folder, in the order of their code points. The last entry is taken as done."""
    file = SealedFile(data, keys)
    require(file.version == 2 and file.name is DIRECTORY)
    log, names, place = file.plaintext(), {}, 0
    while place < len(log):
        require(len(log) - place >= 13)
        change, _, _, length = struct.unpack_from("<BIIH", log, place)
        end = place + 13 + length
        require(change in (1, 2) and end <= len(log) and log[end - 2 : end] == log[place + 9 : place + 11])
        names[text(log[place + 11 : end - 2])] = change == 1
        place = end
    return sorted(name for name, is_there in names.items() if is_there)


def open_record(data, root, secret, share=b""):
    """Section 2: the id and the key in an account key record; `secret` is what the key store has for the account, `share` what its PIN opens."""
    require(len(data) == 512)
    require(data[:8] in (b"CORDONAK", b"CORDONWP"))
    version, length, more, zero = struct.unpack_from("<HHHH", data, 8)
    require(version in (1, 2), "unsupportedFormat")
    is_wipe = data[:8] == b"CORDONWP"
    end, wrapped = (384, 384) if version == 1 else (368, 452)
    needs_share = version == 2 and not is_wipe and more == 0x0101
    needs_secret = version == 2 and not is_wipe and more == 1 or needs_share
    needs_more = version == 2 and not is_wipe and more != 0 and not needs_secret
    require(1 <= length <= 336 and zero == 0 and (more == 0 or needs_secret or needs_more) and not any(data[32 + length : end]))
    require(needs_more or not any(data[end + 32 if needs_share else end + 16 if needs_secret else end : wrapped]))
    require(not any(data[wrapped if is_wipe else wrapped + 60 :]))
    text(data[32 : 32 + length])
    require(not is_wipe, "wipePending")
    require(not needs_more, "unsupportedFormat")
    if needs_secret:
        require(derive(secret, data[16:32], "cordon vault 2 account secret id")[:16] == data[end : end + 16], "wrongKey")
        wrap = derive(root + secret, data[16:32], "cordon vault 2 account key, secret")
        if needs_share:
            require(derive(share, data[16:32], "cordon vault 2 account share id")[:16] == data[end + 16 : end + 32], "wrongKey")
            wrap = derive(root + secret + share, data[16:32], "cordon vault 2 account key, secret, PIN")
    else:
        wrap = derive(root, data[16:32], f"cordon vault {version} account key")
    try:
        return data[16:32], open_sealed(wrap, data[wrapped : wrapped + 12], data[wrapped + 12 : wrapped + 60], data[:wrapped])
    except Refused:
        raise Refused("wrongKey") from None


def open_former(data, keys):
    """Section 2: the id and the key in a record of a former account key."""
    require(len(data) == 108 and data[:8] == b"CORDONFK")
    version, settled = struct.unpack_from("<HB", data, 8)
    require(version == 2, "unsupportedFormat")
    require(settled <= 1 and not any(data[11:16]))
    require(data[32:48].hex() in keys, "wrongKey")
    wrap = derive(keys[data[32:48].hex()], data[16:32], "cordon vault 2 former account key")
    return data[16:32], open_sealed(wrap, data[48:60], data[60:108], data[:48])


def read_keys(path):
    content = json.loads(pathlib.Path(path).read_text())
    return {name: bytes.fromhex(key) for name, key in content["keys"].items()}


def outcome(case, data, keys, root, secret, share):
    kind = case["kind"][0]
    try:
        if kind == "database":
            content = b"".join(SealedDatabase(data, keys).pages())
        elif kind == "named":
            content = open_named(data, keys, case["name"][0])
        elif kind == "directory":
            content = "".join(name + "\n" for name in open_directory(data, keys)).encode()
        elif kind == "former":
            content = open_former(data, keys)[1]
        elif kind == "record":
            content = open_record(data, root, secret, share)[1]
        else:
            content = SealedFile(data, keys).plaintext() if kind == "file" else open_buffer(data, keys)
    except Refused as refusal:
        return str(refusal)
    return "opens " + hashlib.sha256(content).hexdigest()


def edited(directory, case):
    """The bytes of a case: its base with the edits applied in order."""
    data = bytearray((directory / "bases" / case["base"][0]).read_bytes())
    for edit in case.get("edit", []):
        name, *arguments = edit.split()
        if name == "xor":
            start = int(arguments[0])
            for index, byte in enumerate(bytes.fromhex(arguments[1])):
                data[start + index] ^= byte
        elif name == "write":
            patch = bytes.fromhex(arguments[1])
            data[int(arguments[0]) : int(arguments[0]) + len(patch)] = patch
        elif name == "copy":
            other = bytes(data) if arguments[0] == "-" else (directory / "bases" / arguments[0]).read_bytes()
            source, target, count = map(int, arguments[1:])
            data[target : target + count] = other[source : source + count]
        elif name == "cut":
            del data[int(arguments[0]) :]
        elif name == "append":
            data += bytes.fromhex(arguments[0])
        else:
            raise ValueError(edit)
    return bytes(data)


def read_case(path):
    case = {}
    for line in path.read_text().splitlines():
        name, _, value = line.partition(": ")
        case.setdefault(name, []).append(value)
    return case


def run_cases(directory):
    keys, known = read_keys(directory / "keys.json"), json.loads((directory / "keys.json").read_text())
    wrong = 0
    for key_id, names in known["names"].items():
        wrong += any(name_on_disk(keys[key_id], name) != place for name, place in names.items())
    for path in sorted((directory / "cases").iterdir()):
        case = read_case(path)
        parts = [bytes.fromhex(known[name]) for name in ("root", "secret", "share")]
        found = outcome(case, edited(directory, case), keys, *parts)
        wrong += found != case["expect"][0]
        print(path.name, found)
    return wrong


def main(arguments):
    if arguments[:1] == ["cases"] and len(arguments) == 2:
        return 1 if run_cases(pathlib.Path(arguments[1])) else 0
    if arguments[:1] in (["open"], ["names"], ["buffer"]) and len(arguments) == 3:
        data, keys = pathlib.Path(arguments[2]).read_bytes(), read_keys(arguments[1])
        try:
            if arguments[0] == "names":
                content = "".join(name + "\n" for name in open_directory(data, keys)).encode()
            else:
                content = SealedFile(data, keys).plaintext() if arguments[0] == "open" else open_buffer(data, keys)
        except Refused as refusal:
            print(refusal, file=sys.stderr)
            return 1
        sys.stdout.buffer.write(content)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
