"""What every generator of vectors needs: one source of random bytes, accounts, and the folders of bases and cases."""

import hashlib
import pathlib
import random
import shutil

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HERE = pathlib.Path(__file__).parent
RANDOM = random.Random("cordon vault vectors 1")


def seal(key, nonce, content, context):
    return AESGCM(key).encrypt(nonce, content, context)


class Account:
    def __init__(self, name):
        self.name, self.id, self.key = name.encode(), RANDOM.randbytes(16), RANDOM.randbytes(32)

    @staticmethod
    def derive_from(key, salt, info):
        return HKDF(hashes.SHA256(), 32, salt, info.encode()).derive(key)

    def derive(self, salt, info):
        return self.derive_from(self.key, salt, info)


class Vectors:
    def __init__(self):
        self.bases, self.count = {}, 0
        for name in ("bases", "cases"):
            shutil.rmtree(HERE / name, ignore_errors=True)
            (HERE / name).mkdir()

    def base(self, name, data, kind="file"):
        (HERE / "bases" / name).write_bytes(data)
        self.bases[name] = kind

    def rewritten(self, base, data):
        """The edits that turn a base into other bytes of the same length, or a little longer."""
        old = (HERE / "bases" / base).read_bytes()
        edits = [f"cut {len(data)}"] if len(data) < len(old) else []
        start = None
        for index in range(min(len(old), len(data)) + 1):
            differs = index < min(len(old), len(data)) and old[index] != data[index]
            if differs and start is None:
                start = index
            elif not differs and start is not None:
                edits.append(f"write {start} {data[start:index].hex()}")
                start = None
        if len(data) > len(old):
            edits.append(f"append {data[len(old):].hex()}")
        return edits

    def case(self, name, base, expect, about, *edits, called=None):
        lines = [f"kind: {self.bases[base]}", f"base: {base}"]
        lines += [] if called is None else [f"name: {called}"]
        lines += [f"edit: {edit}" for edit in edits]
        lines += [f"expect: {expect}", f"about: {about}"]
        path = HERE / "cases" / name
        assert not path.exists(), name
        path.write_text("\n".join(lines) + "\n")
        self.count += 1


def opens(content):
    return "opens " + hashlib.sha256(content).hexdigest()
