#!/usr/bin/env python3
"""Cuts the power of a vault in thought (R8): records every change that a real process makes to its files, and replays it up to any call.

usage: Scripts/power-cuts.py PROGRAM [STATES]

PROGRAM is `VaultProofs`, whose `life` runs under strace once. What was synced is on the disk. Of what was not, any part may be: each write
in sectors of 512 or 4,096 bytes of which any arrive, and of the names in each directory the first few changes. `VaultProofs check` opens
each state and says what is wrong with it. CORDON_SEED gives the seed, CORDON_SECONDS the end. A process killed between calls is a state
too, the one in which everything arrived. A way to write that the record does not know ends the script. Each pass over the calls takes one state of each.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

CALLS = (
    "openat,open,creat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir,mkdirat,"
    "rmdir,close,dup,dup2,dup3,fcntl"
)
# A change that this script would not see must not pass unseen.
UNKNOWN = "writev,pwritev,pwritev2,truncate,fallocate,copy_file_range,sendfile,symlink,symlinkat,io_uring_setup"


class File:
    def __init__(self):
        self.durable = b""
        self.waiting = []

    def sync(self):
        for change in self.waiting:
            self.durable = self.changed(self.durable, change)
        self.waiting = []

    @staticmethod
    def changed(content, change):
        kind, place, data = change
        if kind == "cut":
            return content[:place] + bytes(max(0, place - len(content)))
        content += bytes(max(0, place - len(content)))
        return content[:place] + data + content[place + len(data):]

    def after_a_cut(self, dice):
        parts = []
        for kind, place, data in self.waiting:
            if kind == "cut":
                parts.append((kind, place, data))
                continue
            sector = dice.choice((512, 4096))
            # Sectors of the disk, not of the write.
            start = 0
            while start < len(data):
                end = min(len(data), start + sector - (place + start) % sector)
                parts.append((kind, place + start, data[start:end]))
                start = end
        kind = dice.randrange(4)
        if kind == 1:
            parts = []
        elif kind > 1:
            parts = [part for part in parts if dice.random() < 0.5]
            if kind == 3:
                dice.shuffle(parts)
        content = self.durable
        for part in parts:
            content = self.changed(content, part)
        return content


class Folder:
    def __init__(self):
        self.durable = {}
        self.waiting = []

    def now(self):
        names = dict(self.durable)
        for change in self.waiting:
            change.apply(self, names)
        return names


class Naming:
    """One change of names, in one folder or two, that happens whole or not at all."""

    def __init__(self, *parts):
        self.parts = parts
        for folder in {id(part[0]): part[0] for part in parts}.values():
            folder.waiting.append(self)

    def apply(self, folder, names):
        for place, name, node in self.parts:
            if place is folder:
                if node is None:
                    names.pop(name, None)
                else:
                    names[name] = node

    def settle(self):
        for place, name, node in self.parts:
            if node is None:
                place.durable.pop(name, None)
            else:
                place.durable[name] = node
        for place, _, _ in self.parts:
            if self in place.waiting:
                place.waiting.remove(self)


class Disk:
    def __init__(self, root):
        self.root, self.top = root, Folder()
        documents = Folder()
        self.top.durable["documents"] = documents
        self.open = {}
        self.acknowledged = 0

    def find(self, path):
        """The folder of a path, its name there and what it names; None outside the root."""
        if path != self.root and not path.startswith(self.root + "/"):
            return None
        if path == self.root:
            return None, "", self.top
        folder = self.top
        parts = path[len(self.root) + 1:].split("/")
        for part in parts[:-1]:
            folder = folder.now().get(part)
            if not isinstance(folder, Folder):
                return None
        return folder, parts[-1], folder.now().get(parts[-1])

    def take(self, event):
        call, arguments, result = event
        if call == "say":
            self.acknowledged = arguments
        elif call == "open":
            path, flags = arguments
            found = self.find(path)
            self.open.pop(result, None)
            if not found:
                return
            folder, name, node = found
            if node is None:
                node = File()
                Naming((folder, name, node))
            elif isinstance(node, File) and "O_TRUNC" in flags:
                node.waiting.append(("cut", 0, b""))
            self.open[result] = [node, 0, "O_APPEND" in flags]
        elif call == "dup":
            if arguments in self.open:
                self.open[result] = self.open[arguments]
            else:
                self.open.pop(result, None)
        elif call == "close":
            self.open.pop(arguments, None)
        elif call == "write" and arguments[0] in self.open:
            descriptor, data, place = arguments
            handle = self.open[descriptor]
            node = handle[0]
            if place is None:
                if handle[2]:
                    handle[1] = self.size(node)
                place = handle[1]
                handle[1] += result
            node.waiting.append(("write", place, data[:result]))
        elif call == "cut" and arguments[0] in self.open:
            self.open[arguments[0]][0].waiting.append(("cut", arguments[1], b""))
        elif call == "sync" and arguments in self.open:
            node = self.open[arguments][0]
            if isinstance(node, File):
                node.sync()
            else:
                while node.waiting:
                    node.waiting[0].settle()
        elif call == "mkdir":
            found = self.find(arguments)
            if found and found[0]:
                Naming((found[0], found[1], Folder()))
        elif call == "unlink":
            found = self.find(arguments)
            if found and found[0]:
                Naming((found[0], found[1], None))
        elif call in ("link", "rename"):
            one, two = self.find(arguments[0]), self.find(arguments[1])
            if not one or not two:
                return
            if call == "link":
                Naming((two[0], two[1], one[2]))
            else:
                Naming((one[0], one[1], None), (two[0], two[1], one[2]))

    @staticmethod
    def size(node):
        content = node.durable
        for change in node.waiting:
            content = File.changed(content, change)
        return len(content)

    def leave(self, place, dice):
        """Writes what a power cut leaves."""
        arrived = set()
        self.arrive(self.top, dice, arrived)
        self.write(self.top, place, dice, arrived, {})

    def arrive(self, folder, dice, arrived):
        count = dice.choice((0, len(folder.waiting), dice.randint(0, len(folder.waiting))))
        arrived.update(id(change) for change in folder.waiting[:count])
        for node in folder.now().values():
            if isinstance(node, Folder):
                self.arrive(node, dice, arrived)

    def write(self, folder, place, dice, arrived, written):
        place.mkdir(mode=0o700)
        names = dict(folder.durable)
        for change in folder.waiting:
            if id(change) in arrived:
                change.apply(folder, names)
        for name, node in names.items():
            path = place / name
            if isinstance(node, Folder):
                self.write(node, path, dice, arrived, written)
            elif id(node) in written:
                os.link(written[id(node)], path)
            else:
                written[id(node)] = path
                path.write_bytes(node.after_a_cut(dice))
                path.chmod(0o600)


def text(literal):
    """What strace shows of a string, all in hexadecimal."""
    return bytes.fromhex(literal.strip('"').replace("\\x", ""))


def recorded(program, root):
    """The calls of one life that change something, in the order in which they ended."""
    log = root.parent / "calls"
    subprocess.run(
        ["strace", "-f", "-xx", "-s", "4000000", "-e", f"trace={CALLS},{UNKNOWN}", "-o", str(log), program, "life", str(root)],
        check=True, stdout=subprocess.DEVNULL,
    )
    begun, events = {}, []
    for line in log.read_text().splitlines():
        thread, rest = line.split(None, 1)
        if rest.endswith("<unfinished ...>"):
            begun[thread] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", rest):
            rest = begun.pop(thread, "") + resumed[1]
        if not (made := re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", rest)):
            continue
        call, result = made[1], int(made[3])
        if result < 0:
            continue
        arguments = [part.strip() for part in made[2].split(", ")]
        path = lambda number: os.fsdecode(text(arguments[number]))
        if call in ("open", "openat", "creat"):
            at = 1 if call == "openat" else 0
            events.append(("open", (os.path.abspath(path(at)), arguments[at + 1] if call != "creat" else "O_TRUNC"), result))
        elif call == "write" and arguments[0] == "1":
            if said := re.match(rb"durable (\d+)", text(arguments[1])):
                events.append(("say", int(said[1]), 0))
        elif call in ("write", "pwrite64"):
            place = int(arguments[3]) if call == "pwrite64" else None
            events.append(("write", (int(arguments[0]), text(arguments[1]), place), result))
        elif call == "ftruncate":
            events.append(("cut", (int(arguments[0]), int(arguments[1])), 0))
        elif call in ("fsync", "fdatasync"):
            events.append(("sync", int(arguments[0]), 0))
        elif call == "close":
            events.append(("close", int(arguments[0]), 0))
        elif call in ("dup", "dup2", "dup3") or call == "fcntl" and "F_DUPFD" in arguments[1]:
            events.append(("dup", int(arguments[0]), result))
        elif call in ("mkdir", "mkdirat"):
            events.append(("mkdir", path(0 if call == "mkdir" else 1), 0))
        elif call in ("unlink", "rmdir", "unlinkat"):
            events.append(("unlink", path(1 if call == "unlinkat" else 0), 0))
        elif call in ("rename", "link"):
            events.append((call, (path(0), path(1)), 0))
        elif call in ("renameat", "renameat2", "linkat"):
            events.append(("link" if call == "linkat" else "rename", (path(1), path(3)), 0))
        elif call in UNKNOWN.split(","):
            sys.exit(f"power-cuts: the record does not know {call}")
    return events


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    seed = int(os.environ.get("CORDON_SEED", "1"))
    end = time.monotonic() + float(os.environ.get("CORDON_SECONDS", "1e9"))
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    work = pathlib.Path(tempfile.mkdtemp(prefix="cordon-power-", dir=memory))
    try:
        root = work / "life"
        (root / "documents").mkdir(parents=True)
        events = recorded(program, root)
        changing = [number for number, event in enumerate(events, 1) if event[0] not in ("open", "close", "dup", "say")]
        if len(changing) < 100:
            sys.exit(f"power-cuts: only {len(changing)} changes were recorded")
        dice, replayed, wrong = random.Random(seed), 0, {}
        with subprocess.Popen([program, "check"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as checker:
            while replayed < wanted and time.monotonic() < end:
                disk = Disk(str(root))
                for number, event in enumerate(events, 1):
                    disk.take(event)
                    if replayed >= wanted or time.monotonic() >= end and replayed >= len(events):
                        break
                    state = work / "state"
                    disk.leave(state, dice)
                    checker.stdin.write(f"{disk.acknowledged} {state}\n")
                    checker.stdin.flush()
                    answer = checker.stdout.readline().strip()
                    replayed += 1
                    if answer != "ok":
                        wrong.setdefault((disk.acknowledged, answer.replace(str(work), "")), []).append((number, event[0]))
                        if os.environ.get("CORDON_KEEP") and len(wrong) == 1:
                            shutil.copytree(state, os.environ["CORDON_KEEP"], dirs_exist_ok=True)
                    shutil.rmtree(state)
            checker.stdin.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for (durable, answer), places in sorted(wrong.items()):
        number, call = places[0]
        print(f"after {durable} durable steps, {len(places)} states, first at call {number} ({call}): {answer}")
    bad = sum(len(places) for places in wrong.values())
    told = f"{replayed} of {wanted}" if replayed < wanted else f"{replayed}"
    print(f"proof: {told} states after a power cut at any of {len(events)} calls, {bad} wrong, seed {seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
