#!/usr/bin/env python3
"""Looks through a whole disk after a wipe (R9): a file system of its own, in which an account with 4,096 texts is wiped beside one that stays.

usage: Scripts/disk-image.py PROGRAM

PROGRAM is `VaultProofs`. Everything is on the image, the key store too. After the wipe no text and no half of the wiped account's secret is
anywhere on the image, free blocks and the journal included. As a control, a text that was written unsealed and the other account's secret
are found. Needs root, for the mount, and a free loop device. CORDON_SEED gives the seed.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1


def words(seed):
    """The numbers of the program's generator."""
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        yield word ^ (word >> 31)


def marker(seed, number):
    numbers = words((seed * 0x10000 + number) & MASK)
    return "".join(f"{next(numbers):016x}" for _ in range(2)).encode()


def found(image, needles):
    """How many of the texts stand in the image, each known by its first half."""
    starts = {needle[:16] for needle in needles}
    seen = set()
    for run in re.finditer(rb"[0-9a-f]{16,}", image):
        digits = run[0]
        seen.update(digits[at : at + 16] for at in range(len(digits) - 15) if digits[at : at + 16] in starts)
    return len(seen)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        sys.exit("disk-image: only root can mount an image")
    program, seed = os.path.abspath(sys.argv[1]), int(os.environ.get("CORDON_SEED", "1"))
    # No other process sees what is mounted here.
    if ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0:
        sys.exit("disk-image: no mounts of its own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with tempfile.TemporaryDirectory(prefix="cordon-disk-") as folder:
        image, place = pathlib.Path(folder) / "image", pathlib.Path(folder) / "disk"
        place.mkdir()
        with open(image, "wb") as file:
            file.truncate(96 << 20)
        subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)

        def mounted(work):
            subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
            try:
                return work()
            finally:
                subprocess.run(["umount", str(place)], check=True)

        def run(what):
            subprocess.run([program, what, str(place / "app"), str(seed)], check=True, stdout=subprocess.DEVNULL)

        def secrets():
            return {path.name: path.read_bytes()[8:40] for path in (place / "app/root/secrets").glob("*.key")}

        def plant():
            run("plant")
            return secrets()

        def wipe():
            run("wipe")
            (place / "control").write_bytes(marker(seed, 9000))
            return secrets()

        before = mounted(plant)
        content = image.read_bytes()
        planted = [marker(seed, number) for number in range(8192)]
        early = found(content, planted)
        if any(content.count(secret) == 0 for secret in before.values()) or len(before) != 2:
            sys.exit("disk-image: the control failed, the secrets are not on the image before the wipe")
        left = mounted(wipe)
        content = image.read_bytes()
        late, control = found(content, planted), found(content, [marker(seed, 9000)])
        ended = [secret for name, secret in before.items() if name not in left]
        keys = sum(content.count(secret[at : at + 16]) for secret in ended for at in (0, 16))
        if control != 1 or len(ended) != 1 or len(left) != 1 or content.count(next(iter(left.values()))) == 0:
            sys.exit("disk-image: the control failed")
        print(
            f"proof: {len(content) >> 20} MiB of ext4, {early} of 8192 texts found before the wipe and {late} after it, "
            f"{keys} halves of the wiped account's secret, the control found, seed {seed}"
        )
        return 1 if early or late or keys else 0


if __name__ == "__main__":
    sys.exit(main())
