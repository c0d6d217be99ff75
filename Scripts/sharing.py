#!/usr/bin/env python3
"""Does what docs/sharing-a-device.md says, from nothing to three shifts, with the page's own commands in the page's order.

    Scripts/sharing.py FOLDER      # with cordon, FieldNotes and ShiftBoard, such as .build/debug

Needs root. Everything happens in namespaces of its own (mounts, network, processes), so that groups, users, files and programs are
gone at the end. What only a booted systemd can do (`systemctl`) is left out; the unit that the page writes is checked by systemd-analyze
where that is installed. Ends with 1 and the reason where a command fails or says something else than the page.
"""

import fcntl
import html.parser
import http.cookiejar
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/sharing-a-device.md"
BROKER = "/run/cordon/broker.sock"
# How long anything may take, in seconds: the machine may stall.
PATIENCE = 60


APP = "/opt/cordon-apps/ShiftBoard"
# What the page's table says is printed, how the fault comes about, and what the page says to do.
FAULTS = [
    ("is not installed with the entry's group", f"chmod 0755 {APP}", f"chown root:shiftboard-app {APP} && chmod 2755 {APP}"),
    ("the entry's group must exist", "gpasswd -a ward shiftboard-app", "gpasswd -d ward shiftboard-app"),
    ("the entry's group must exist", "groupmod -n former-app shiftboard-app", "groupmod -n shiftboard-app former-app"),
    ("the program's own user can change the file", f"chmod 2757 {APP}", f"chmod 2755 {APP}"),
    ("the program's own user can change the file", f"chmod 0777 {APP[:-11]}", f"chmod 0755 {APP[:-11]}"),
    ("symbolic link", f"mv {APP} {APP}-1 && ln -s {APP}-1 {APP}", f"mv {APP}-1 {APP}"),
    ("no regular file", f"mv {APP} {APP}-1 && mkdir {APP}", f"rmdir {APP} && mv {APP}-1 {APP}"),
    ("the broker's folder is not one that the system's administrator gave", "chmod 0777 /run/cordon", "chmod 0755 /run/cordon"),
    ("the broker's folder is not one that the system's administrator gave", "chmod 0777 /run", "chmod 0755 /run"),
    ("no broker answers on this device", f"mv {BROKER} {BROKER}-1", f"mv {BROKER}-1 {BROKER}"),
]


class Failed(Exception):
    pass


def expect(condition: object, said: str) -> None:
    if not condition:
        raise Failed(said)


def isolated() -> int:
    """Begins again in namespaces of its own."""
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
    # What lies in it is gone with the namespaces, so that an empty folder remains.
    with tempfile.TemporaryDirectory(prefix="sharing-") as work:
        return subprocess.run([*unshare, sys.executable, __file__, sys.argv[1], work]).returncode


def arrange(work: pathlib.Path) -> None:
    """A loopback interface, and folders whose changes are gone with the namespace."""
    with socket.socket() as any_socket:
        name = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, name))[1]
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", flags | 1))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "sharing", work], check=True)
    for place in ("/etc", "/opt", "/var/lib", "/usr/local/bin", "/home"):
        upper, scratch = (work / (place.replace("/", "_") + end) for end in ("", "-work"))
        upper.mkdir()
        scratch.mkdir()
        layers = f"lowerdir={place},upperdir={upper},workdir={scratch}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, place], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "run", "/run"], check=True)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def block(words: str, language: str = "sh") -> str:
    found = [text for text in blocks(language) if words in text]
    expect(len(found) == 1, f"{len(found)} blocks of the page hold {words}")
    return found[0]


class Program:
    """A program that runs on, and everything that it has said."""

    def __init__(self, command: list[str], **options: object) -> None:
        self.said = ""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
        )
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        while part := os.read(self.process.stdout.fileno(), 65_536):
            self.said += part.decode(errors="replace")

    def type(self, line: str) -> int:
        """Types a line; where what it says from here on begins."""
        before = len(self.said)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return before

    def wait(self, pattern: str, since: int = 0) -> re.Match:
        """Waits until it says something."""
        end = time.monotonic() + PATIENCE
        while True:
            ended = self.process.poll() is not None
            if found := re.search(pattern, self.said[since:], re.S):
                return found
            expect(not ended, f"it ended and did not say {pattern}: {self.said}")
            expect(time.monotonic() < end, f"it does not say {pattern}: {self.said}")
            time.sleep(0.02)


class Shell(Program):
    """The administrator's shell: what one block sets, the next one knows."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(["bash"], cwd=folder)
        self.turn = 0

    def run(self, commands: str, status: int = 0) -> str:
        """Runs commands, the last of which ends with the status; what they said."""
        self.turn += 1
        before = self.type(f"{commands.rstrip()}\necho \"[$?] end of turn {self.turn}\"")
        ended = self.wait(rf"(.*)\[(\d+)\] end of turn {self.turn}\n", before)
        expect(int(ended[2]) == status, f"ended with {ended[2]}: {commands}\n{ended[1]}")
        return ended[1]


class Form(html.parser.HTMLParser):
    """The first form of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        facts = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = facts.get("action", "")
        if tag == "input" and facts.get("name"):
            self.fields[facts["name"]] = facts.get("value") or ""


def sign_in(page: str, name: str, password: str) -> None:
    """Does what a person does in a browser."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    with browser.open(page, timeout=PATIENCE) as answer:
        address, text = answer.url, answer.read().decode()
    for _ in range(5):
        button = next((b for b in ("continue", "allow") if f'value="{b}"' in text), None)
        fields = {}
        if 'name="password"' in text:
            button, fields = "sign-in", {"username": name, "password": password}
        if button is None:
            return
        form = Form(text)
        values = form.fields | fields | {"action": button}
        target = urllib.parse.urljoin(address, form.action)
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(address))
        request = urllib.request.Request(target, urllib.parse.urlencode(values).encode(), {"Origin": origin})
        with browser.open(request, timeout=PATIENCE) as answer:
            address, text = answer.url, answer.read().decode()


def page_of(program: Program, since: int = 0) -> str:
    return program.wait(r"(http://127\.0\.0\.1:8080/idp/\S+)", since)[1].rstrip(".;,")


def rehearse(work: pathlib.Path, products: pathlib.Path) -> None:
    folder = work / "package"
    folder.mkdir()
    (folder / ".build").mkdir()
    (folder / ".build/release").symlink_to(products)
    (folder / "Examples").symlink_to(ROOT / "Examples")
    shell = Shell(folder)
    shell.run("set -o pipefail")

    print("the service and its rules")
    serve, exports, passwords = block("cordon serve --development").splitlines()
    start = len(shell.said)
    shell.run(f"PATH={products}:$PATH {serve}")
    announced = json.loads(shell.wait(r'(\{[^\n]*"rootKey"[^\n]*\})', start)[1])
    shell.run(exports)
    people = dict(line.split()[:2] for line in shell.run(passwords).splitlines() if len(line.split()) >= 2)
    for person in ("ada", "worker-a", "worker-b"):
        expect(any(name.split("@")[0] == person for name in people), f"{person} has no password: {list(people)}")
    people = {name.split("@")[0]: (name, password) for name, password in people.items()}
    shell.run(block("targetApps"))

    print("1. two apps")
    text = PAGE.read_text()
    install = re.search(r"`(install -m 0755 [^`]*)`", text)
    expect(install, "the page does not install cordon")
    shell.run(install[1])
    shell.run(block("groupadd --system"))

    print("2. the rules")
    shell.run(re.search(r"`(install -d -m 0755 /etc/cordon)`", text)[1])
    pathlib.Path("/etc/cordon/broker.json").write_text(block("sharedDeviceMode", "json"))
    signed = shell.run(block("openssl ecparam").replace("TENANT", announced["tenant"]))
    expect("warning:" not in signed, f"the page's rules are warned about: {signed}")
    shell.run("thumbprint=" + re.search(r"--trust (\S+)", signed)[1])

    print("3. the broker")
    unit = block("systemctl enable").splitlines()
    shell.run("\n".join(line for line in unit if not line.startswith("systemctl")))
    if shutil.which("systemd-analyze"):
        said = shell.run("systemd-analyze verify --man=no /etc/systemd/system/cordon-broker.service")
        expect("cordon-broker" not in said, f"systemd does not take the page's unit: {said}")
    start = len(shell.said)
    shell.run(block("setpriv --reuid cordon-broker").rstrip() + " &")
    shell.wait(re.escape(BROKER) + '"', start)

    print("4. join")
    before, join, after = (line.split("  ")[0] for line in block("cordon device join").splitlines())
    said = shell.run(before, status=1)
    expect(said.startswith("not shared yet") and "missing       registration: " in said, said)
    joining = Program(["bash", "-c", join], cwd=folder)
    sign_in(page_of(joining), *people["ada"])
    expect(joining.process.wait(PATIENCE) == 0, joining.said)
    said = shell.run(after)
    expect(said.startswith("shared\n") and announced["tenant"] in said, said)
    expect("problem" not in said.replace("problem       fs.protected_hardlinks", ""), f"the page's device has a fault: {said}")

    print("when something is wrong")
    table = text[text.index("### When something is wrong") :]
    for words, fault, remedy in FAULTS:
        expect(words in table, f"the page's table does not know: {words}")
        shell.run(fault)
        # The status says more of what is wrong with apps than with the way to the broker: then it is still shared.
        said = shell.run(f"{after} || true")
        expect(words in said, f"after {fault}: {said}")
        shell.run(remedy)
        said = shell.run(after)
        expect(words not in said, f"after {remedy}: {said}")
    ward = "setpriv --reuid ward --regid ward --clear-groups --reset-env"
    said = shell.run(f"{ward} {after} || true")
    expect("this program is not allowed" in said and "this program is not allowed" in table, said)

    board, notes = re.split(r"\n(?=setpriv)", block("THE-ROOTKEY").strip())
    for fault, remedy in (("gpasswd -a ward shiftboard-app", "gpasswd -d ward shiftboard-app"), ("true", "true")):
        shell.run(fault)
        app = Program(["bash", "-c", "exec " + board], cwd="/")
        said = app.wait("not allowed|no one has the shift", app.type("account"))[0]
        expect((said == "not allowed") == (fault != "true"), f"after {fault}: {app.said}")
        app.process.kill()
        shell.run(remedy)

    print("5. three shifts")
    board = Program(["bash", "-c", "exec " + board], cwd="/")
    notes = Program(["bash", "-c", "exec " + notes.replace("THE-ROOTKEY-THAT-SERVE-PRINTED", announced["rootKey"])], cwd="/")
    board.wait("no one has the shift")
    since = len(notes.said)
    sign_in(page_of(board, board.type("sign-in")), *people["worker-a"])
    board.wait("worker-a@\\S+ has the shift")
    notes.wait("worker-a@\\S+ is signed in on this device", since)
    board.wait("X-ray", board.type("post bed 4 needs an X-ray"))
    notes.wait("written", notes.type("note Round bed 4"))
    asked = notes.wait("sign-out worker-a@\\S+ yes", notes.type("sign-out"))[0]
    start = len(board.said)
    notes.type(asked)
    board.wait("no one has the shift", start)

    start = len(board.said)
    sign_in(page_of(notes, notes.type("sign-in")), *people["worker-b"])
    board.wait("worker-b@\\S+ has the shift", start)
    shown = board.type("show")
    board.wait("text: ", board.type("post after the board was shown"))
    expect("X-ray" not in board.said[shown:], "worker-b sees what worker-a posted")
    start = len(board.said)
    shell.run(f"cordon device sign-out --socket {BROKER}")
    board.wait("no one has the shift", start)


def main() -> int:
    if len(sys.argv) < 2 or os.geteuid() != 0:
        print(__doc__, file=sys.stderr)
        return 2
    if len(sys.argv) == 2:
        return isolated()
    products, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    try:
        arrange(work)
        rehearse(work, products)
    except Failed as failure:
        print(f"sharing: {failure}", file=sys.stderr)
        return 1
    print("sharing: the page works as it stands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
