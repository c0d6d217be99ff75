"""What version 2 adds: headers that seal a name, folders' directories, names on disk, account key records of both versions."""

import hashlib
import hmac
import struct
import unicodedata

from vectors import RANDOM, Account, opens, seal
from writer import Writer

NAMES = ["plan", "", "quarterly figures", "Büro", "Bu\u0308ro", "名前 📎", "a/b/../c", "x" * 1024]


class Named(Writer):
    """A sealed file of version 2. `kind` 1 is a file with a name, 2 a folder's directory."""

    def __init__(self, account, name=b"", kind=1, **header):
        self.facts = struct.pack(
            "<IBBH", header.get("features", 0), kind, header.get("facts_zero", 0), header.get("name_length", len(name)))
        self.facts = (self.facts + name).ljust(1032, b"\0")
        if "name_padding" in header:
            self.facts = self.facts[:1031] + header["name_padding"]
        self.facts = (self.facts + header.get("room", b"")).ljust(2048, b"\0")
        super().__init__(account, version=2, **header)

    def secret(self, account, file_id, head, header):
        nonce, wrap = RANDOM.randbytes(12), account.derive(file_id, header.get("purpose", "cordon vault 2 content key"))
        return nonce + seal(wrap, nonce, self.key + self.facts, head)


def written(account, content, name=b"", kind=1, **header):
    writer = Named(account, name, kind, **header)
    writer.commit(content, range(-(-len(content) // 4096)))
    return writer.bytes()


def names_on_disk(account):
    key = account.derive(bytes(16), "cordon vault 2 file names")
    kept = lambda name: unicodedata.normalize("NFC", name).encode()
    return {name: hmac.new(key, kept(name), hashlib.sha256).hexdigest() for name in NAMES}


def entry(change, name, count=1, names=1, length=None, end=None):
    length = len(name) if length is None else length
    return struct.pack("<BIIH", change, count, names, length) + name + struct.pack("<H", length if end is None else end)


def named_files(vectors, ada, ben):
    content = b"minutes of the board meeting"
    vectors.base("named", written(ada, content, b"plan"), "named")
    vectors.case("good-named", "named", opens(content), "a file of a folder, where its name says", called="plan")
    vectors.base("named-as-file", written(ada, content, b"plan"), "file")
    vectors.case("good-named-as-file", "named-as-file", opens(content), "a file with a name, opened by its path alone")
    vectors.base("unnamed", written(ada, content, kind=0), "file")
    vectors.case("good-unnamed", "unnamed", opens(content), "a file of version 2 at a path of an app's own")
    composed = "Büro"
    vectors.base("named-composed", written(ada, content, composed.encode()), "named")
    vectors.case("good-named-composed", "named-composed", opens(content), "a name in its composed form", called=composed)
    vectors.case("good-named-decomposed", "named-composed", opens(content), "the same name, spelled with two code points",
                 called="Bu\u0308ro")
    vectors.case("named-exchanged", "named", "damaged", "another file of the folder in its place", called="refused")
    vectors.case("named-case", "named", "damaged", "a name that differs in case is another name", called="Plan")
    for name, kind in (("unnamed", 0), ("directory", 2)):
        vectors.case(f"named-place-{name}", "named", "damaged", f"a file of another kind in its place: {name}",
                     *vectors.rewritten("named", written(ada, content, kind=kind)), called="plan")
    former = Writer(ada)
    former.commit(content, [0])
    vectors.case("named-version-1", "named", "damaged", "a file of version 1 in the file's place",
                 *vectors.rewritten("named", former.bytes()), called="plan")
    vectors.case("named-room", "named", opens(content), "room that a later use has filled is ignored",
                 *vectors.rewritten("named", written(ada, content, b"plan", room=b"\7" * 1016)), called="plan")
    longest = written(ada, content, b"x" * 1024)
    vectors.case("named-longest", "named", opens(content), "the longest name", *vectors.rewritten("named", longest),
                 called="x" * 1024)
    for name, header, expect in (
            ("features", dict(features=1), "unsupportedFormat"), ("features-high", dict(features=1 << 31), "unsupportedFormat"),
            ("kind-3", dict(kind=3), "damaged"), ("zero", dict(facts_zero=1), "damaged"),
            ("length-less", dict(name_length=3), "damaged"), ("length-1025", dict(name_length=1025), "damaged"),
            ("padding", dict(name_padding=b"\1"), "damaged"), ("not-text", dict(name=b"\xff\xfe"), "damaged"),
            ("kind-0-with-name", dict(kind=0), "damaged"), ("purpose", dict(purpose="cordon vault 1 content key"), "damaged")):
        data = written(ada, content, **(dict(name=b"plan") | header))
        vectors.case(f"named-sealed-{name}", "named", expect, f"genuine, but malformed: {name}",
                     *vectors.rewritten("named", data), called="plan")

    fields = [("magic", 0, 1, "notSealed"), ("version", 8, 2, "unsupportedFormat"), ("algorithm", 10, 1, "unsupportedFormat"),
              ("reserved", 12, 4, "damaged"), ("file-id", 16, 16, "damaged"), ("key-id", 32, 16, "wrongKey"),
              ("owner-length", 48, 2, "damaged"), ("owner", 50, 16, "damaged"), ("owner-padding", 575, 1, "damaged"),
              ("wrap-nonce", 576, 12, "damaged"), ("wrap-key", 588, 32, "damaged"), ("wrap-tag", 2668, 16, "damaged"),
              ("tail", 2684, 1, "damaged"), ("tail", 4095, 1, "damaged")]
    offsets = [(name, offset, expect) for name, start, count, expect in fields for offset in range(start, start + count)]
    offsets += [("facts", 620 + step, "damaged") for step in (0, 4, 5, 6, 8, 11, 12, 1031, 1032, 2047)]
    for name, offset, expect in offsets:
        # A version one bit away from 2 is 0, 3 or more than 3.
        bit = 1 if name == "version" else 1 << RANDOM.randrange(8)
        vectors.case(f"named-header-{name}-{offset}", "named", expect, f"one bit of the header's {name} changed",
                     f"xor {offset} {bit:02x}", called="plan")
    vectors.base("named-other", written(ada, content, b"plan"), "named")
    vectors.base("named-other-account", written(ben, content, b"plan"), "named")
    for name, about in (("named-other", "another file of the account"), ("named-other-account", "another account's file")):
        vectors.case(f"{name}-header", "named", "damaged", f"the header of {about}", f"copy {name} 0 0 4096", called="plan")
        vectors.case(f"{name}-secret", "named", "damaged", f"the secret part of {about}", f"copy {name} 576 576 2108", called="plan")
        vectors.case(f"{name}-body", "named", "damaged", f"records and blocks of {about}",
                     f"copy {name} 4096 4096 {8192 + len(content)}", called="plan")


def directories(vectors, ada):
    def listing(*names):
        return opens("".join(name + "\n" for name in names).encode())

    log = [entry(1, "one".encode()), entry(1, "名前".encode(), 2, 2), entry(1, b"two", 3, 3), entry(2, b"one", 4, 2),
           entry(1, b"three", 5, 3), entry(2, b"two", 6, 2), entry(1, b"two", 7, 3)]
    vectors.base("directory", written(ada, b"".join(log), kind=2), "directory")
    vectors.case("good-directory", "directory", listing("three", "two", "名前"), "names that came, went and came again")
    base = "directory"

    def case(label, expect, about, content, **header):
        data = written(ada, content, **(dict(kind=2) | header))
        vectors.case(f"directory-{label}", base, expect, about, *vectors.rewritten(base, data))

    case("empty", listing(), "no names", b"")
    case("all-gone", listing(), "a name that went", b"".join([entry(1, b"one"), entry(2, b"one", 2, 0)]))
    case("twice", listing("one"), "a name that came twice is one", b"".join([entry(1, b"one"), entry(1, b"one", 2, 2)]))
    case("never-came", listing("one"), "a name that went and had not come", b"".join([entry(2, b"two", 1, 0), entry(1, b"one", 2)]))
    case("no-name", listing(""), "a name of no bytes", entry(1, b""))
    for name, content in (("change-0", entry(0, b"one")), ("change-3", entry(3, b"one")), ("length-more", entry(1, b"one", length=4)),
                          ("length-less", entry(1, b"one", length=2)), ("end-differs", entry(1, b"one", end=4)),
                          ("not-text", entry(1, b"\xff")), ("cut", entry(1, b"one")[:-1]), ("extended", entry(1, b"one") + b"\0")):
        case(name, "damaged", f"genuine, but no log: {name}", content)
    case("as-file", "damaged", "a file of the folder in the directory's place", b"".join(log), kind=1, name=b"directory")
    case("unnamed", "damaged", "a file without a name in the directory's place", b"".join(log), kind=0)


def record(account, root, version, magic=b"CORDONAK", name=None, length=None, more=0, zero=0, padding=b"\0", room=b"", tail=b"",
           purpose=None, wrapped=True, secret=b""):
    name = account.name if name is None else name
    end, start = (384, 384) if version != 2 else (368, 452)
    head = struct.pack("<8sHHHH16s", magic, version, len(name) if length is None else length, more, zero, account.id) + name
    head = (head.ljust(end - 1, b"\0") + padding + room).ljust(start, b"\0")
    if wrapped:
        nonce = RANDOM.randbytes(12)
        wrap = Account.derive_from(root + secret, account.id, purpose or f"cordon vault {version} account key")
        head += nonce + seal(wrap, nonce, account.key, head)
    return (head + tail).ljust(512, b"\0")


def records(vectors, ada, ben, root):
    for version, start in ((1, 384), (2, 452)):
        base = f"key-record-{version}"
        vectors.base(base, record(ada, root, version), "record")
        vectors.case(f"good-{base}", base, opens(ada.key), f"an account key record of version {version}")
        vectors.case(f"{base}-wipe", base, "wipePending", "the note that a wipe began",
                     *vectors.rewritten(base, record(ada, root, version, magic=b"CORDONWP", wrapped=False)))
        fields = [("magic", 0, "damaged"), ("version", 8, "unsupportedFormat"), ("length", 10, "wrongKey"), ("reserved", 14, "damaged"),
                  ("key-id", 16, "wrongKey"), ("account", 32, "wrongKey"), ("account-padding", 367, "damaged"),
                  ("nonce", start, "wrongKey"), ("key", start + 12, "wrongKey"), ("tag", start + 59, "wrongKey")]
        fields += [("tail", 444, "damaged"), ("tail", 511, "damaged"), ("needs", 12, "damaged"), ("needs", 13, "damaged")] if version == 1 else [
            ("room", 368, "damaged"), ("room", 451, "damaged"), ("secret", 12, "unsupportedFormat"), ("pin", 13, "unsupportedFormat")]
        for name, offset, expect in fields:
            vectors.case(f"{base}-{name}-{offset}", base, expect, f"one bit of the record's {name} changed", f"xor {offset} 04")
        for length in (0, 8, 444, 511):
            vectors.case(f"{base}-cut-{length}", base, "damaged", "the end is missing", f"cut {length}")
        vectors.case(f"{base}-extended", base, "damaged", "a byte after the end", "append 00")
        for name, values, expect in (
                ("version-0", dict(version=0), "unsupportedFormat"), ("version-3", dict(version=3), "unsupportedFormat"),
                ("purpose", dict(purpose=f"cordon vault {3 - version} account key"), "wrongKey"),
                ("no-account", dict(name=b"", length=0), "damaged"), ("not-text", dict(name=b"\xff\xfe"), "damaged"),
                ("account-337", dict(name=b"a" * 336, length=337), "damaged"), ("reserved", dict(zero=1), "damaged"),
                ("padding", dict(padding=b"\1"), "damaged")):
            data = record(ada, root, **(dict(version=version) | values))
            vectors.case(f"{base}-sealed-{name}", base, expect, f"genuine, but malformed: {name}", *vectors.rewritten(base, data))
        other = record(ada, RANDOM.randbytes(32), version)
        vectors.case(f"{base}-other-root", base, "wrongKey", "wrapped under another root key", *vectors.rewritten(base, other))
    for name, values, expect in (
            ("secret", dict(more=1), "wrongKey"), ("pin", dict(more=1 << 8), "unsupportedFormat"),
            ("secret-and-pin", dict(more=1 | 1 << 8, room=b"\7" * 84), "damaged"),
            ("room-of-nothing", dict(room=b"\7"), "damaged")):
        data = record(ada, root, 2, **values)
        vectors.case(f"key-record-2-sealed-{name}", "key-record-2", expect, f"genuine, and more than this version knows: {name}",
                     *vectors.rewritten("key-record-2", data))


def records_with_secret(vectors, ada, root, secret):
    """Records whose wrapping key hangs on the account's secret too."""
    base, known = "key-record-2-secret", Account.derive_from(secret, ada.id, "cordon vault 2 account secret id")[:16]
    needs = dict(more=1, room=known, purpose="cordon vault 2 account key, secret", secret=secret)
    vectors.base(base, record(ada, root, 2, **needs), "record")
    vectors.case(f"good-{base}", base, opens(ada.key), "a record that hangs on the account's secret")
    for name, offset, expect in (
            ("version", 8, "unsupportedFormat"), ("needs", 12, "unsupportedFormat"), ("pin", 13, "unsupportedFormat"),
            ("reserved", 14, "damaged"), ("key-id", 16, "wrongKey"), ("account", 32, "wrongKey"), ("account-padding", 367, "damaged"),
            ("secret-id", 368, "wrongKey"), ("secret-id", 383, "wrongKey"), ("room", 384, "damaged"), ("room", 451, "damaged"),
            ("nonce", 452, "wrongKey"), ("key", 464, "wrongKey"), ("tag", 511, "wrongKey")):
        vectors.case(f"{base}-{name}-{offset}", base, expect, f"one bit of the record's {name} changed", f"xor {offset} 04")
    vectors.case(f"{base}-said-to-need-none", base, "wrongKey", "turned into one that needs no secret",
                 "write 12 00", f"write 368 {'00' * 16}")
    vectors.case(f"{base}-wipe", base, "damaged", "a note that a wipe began has no parts", "write 0 " + b"CORDONWP".hex())
    foreign = RANDOM.randbytes(32)
    for name, values in (
            ("destroyed", dict(secret=foreign, room=Account.derive_from(foreign, ada.id, "cordon vault 2 account secret id")[:16])),
            ("other-secret", dict(secret=foreign)), ("other-secret-id", dict(room=b"\7" * 16)), ("root-alone", dict(secret=b"")),
            ("plain-purpose", dict(purpose="cordon vault 2 account key"))):
        data = record(ada, root, 2, **(needs | values))
        vectors.case(f"{base}-sealed-{name}", base, "wrongKey", f"genuine, under other parts: {name}", *vectors.rewritten(base, data))
    for name, values, expect in (("pin-too", dict(more=1 | 1 << 8), "wrongKey"), ("2", dict(more=2), "unsupportedFormat"),
                                 ("room", dict(room=known + b"\1"), "damaged")):
        data = record(ada, root, 2, **(needs | values))
        vectors.case(f"{base}-sealed-{name}", base, expect, f"genuine, but malformed: {name}", *vectors.rewritten(base, data))


def records_with_share(vectors, ada, root, secret, share):
    """Records whose wrapping key hangs on a share besides."""
    base = "key-record-2-share"
    known = [Account.derive_from(key, ada.id, f"cordon vault 2 account {name} id")[:16] for key, name in ((secret, "secret"), (share, "share"))]
    purpose = "cordon vault 2 account key, secret, PIN"
    needs = dict(more=1 | 1 << 8, room=b"".join(known), purpose=purpose, secret=secret + share)
    vectors.base(base, record(ada, root, 2, **needs), "record")
    vectors.case(f"good-{base}", base, opens(ada.key), "a record that hangs on the account's secret and a share")
    for name, offset, expect in (
            ("needs", 12, "unsupportedFormat"), ("pin", 13, "unsupportedFormat"), ("reserved", 14, "damaged"), ("key-id", 16, "wrongKey"),
            ("secret-id", 368, "wrongKey"), ("share-id", 384, "wrongKey"), ("share-id", 399, "wrongKey"), ("room", 400, "damaged"),
            ("room", 451, "damaged"), ("nonce", 452, "wrongKey"), ("key", 464, "wrongKey"), ("tag", 511, "wrongKey")):
        vectors.case(f"{base}-{name}-{offset}", base, expect, f"one bit of the record's {name} changed", f"xor {offset} 04")
    vectors.case(f"{base}-said-to-need-none", base, "wrongKey", "turned into one that needs no share",
                 "write 13 00", f"write 384 {'00' * 16}")
    vectors.case(f"{base}-said-to-need-no-secret", base, "unsupportedFormat", "a share without a secret", "write 12 00")
    vectors.case(f"{base}-wipe", base, "damaged", "a note that a wipe began has no parts", "write 0 " + b"CORDONWP".hex())
    foreign = RANDOM.randbytes(32)
    for name, values in (
            ("other-share", dict(secret=secret + foreign, room=known[0] + Account.derive_from(
                foreign, ada.id, "cordon vault 2 account share id")[:16])),
            ("other-share-id", dict(room=known[0] + b"\7" * 16)), ("secret-alone", dict(secret=secret)),
            ("secret-purpose", dict(purpose="cordon vault 2 account key, secret")), ("turned-round", dict(secret=share + secret))):
        data = record(ada, root, 2, **(needs | values))
        vectors.case(f"{base}-sealed-{name}", base, "wrongKey", f"genuine, under other parts: {name}", *vectors.rewritten(base, data))


def former_key(account, former, version=2, settled=0, zero=b"", key=None):
    head = (struct.pack("<8sHB", b"CORDONFK", version, settled) + zero).ljust(16, b"\0") + former.id + account.id
    nonce = RANDOM.randbytes(12)
    wrap = Account.derive_from(key or account.key, former.id, "cordon vault 2 former account key")
    return head + nonce + seal(wrap, nonce, former.key, head)


def former_keys(vectors, ada):
    """Records of a key that the account's present one has replaced."""
    base, former = "former-key", Account("ada@example.test")
    vectors.base(base, former_key(ada, former), "former")
    vectors.case(f"good-{base}", base, opens(former.key), "a former key under the present one")
    vectors.case(f"{base}-settled", base, opens(former.key), "nothing that was found hangs on it any more",
                 *vectors.rewritten(base, former_key(ada, former, settled=1)))
    for name, offset, expect in (
            ("magic", 0, "damaged"), ("version", 8, "unsupportedFormat"), ("settled", 10, "damaged"), ("reserved", 11, "damaged"),
            ("reserved", 15, "damaged"), ("key-id", 16, "damaged"), ("present-key-id", 32, "wrongKey"), ("nonce", 48, "damaged"),
            ("key", 60, "damaged"), ("tag", 107, "damaged")):
        vectors.case(f"{base}-{name}-{offset}", base, expect, f"one bit of the record's {name} changed", f"xor {offset} 04")
    vectors.case(f"{base}-said-to-be-settled", base, "damaged", "settled by an attacker without the key", "xor 10 01")
    vectors.case(f"{base}-cut", base, "damaged", "the end is missing", "cut 107")
    vectors.case(f"{base}-extended", base, "damaged", "a byte after the end", "append 00")
    for name, values, expect in (("version-3", dict(version=3), "unsupportedFormat"), ("settled-2", dict(settled=2), "damaged"),
                                 ("reserved", dict(zero=b"\1"), "damaged"), ("other-key", dict(key=b"\7" * 32), "damaged")):
        vectors.case(f"{base}-sealed-{name}", base, expect, f"genuine, but malformed: {name}",
                     *vectors.rewritten(base, former_key(ada, former, **values)))


def folders(vectors, ada, ben):
    """Writes bases and cases; the root key, the account's secret and the share that the records are wrapped under."""
    named_files(vectors, ada, ben)
    directories(vectors, ada)
    root = RANDOM.randbytes(32)
    records(vectors, ada, ben, root)
    secret = RANDOM.randbytes(32)
    records_with_secret(vectors, ada, root, secret)
    former_keys(vectors, ada)
    share = RANDOM.randbytes(32)
    records_with_share(vectors, ada, root, secret, share)
    return root, secret, share
