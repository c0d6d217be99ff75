"""Writes to a service from many sides while it is killed with SIGKILL again and again, and compares after each restart.

usage: kill_checker.py CORDON FOLDER ROUNDS [SEED]

Whatever was acknowledged has to be there, nothing may be there twice, sequences go on rising, the audit log has to
continue the one exported before, and what the service logged of it names no person. Prints one line for each round and ends with status 0 only if all of it held.
"""

import base64
import collections
import hashlib
import http.client
import json
import pathlib
import random
import subprocess
import sys
import threading
import time
import uuid

from live_service import Key, Service, encode

CORDON, FOLDER, ROUNDS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
BUNDLE = "org.example.notes"
PROTECTIONS = "/v1.0/deviceAppManagement/iosManagedAppProtections"
# What a call ends with when the service is killed under it: whether it took effect is unknown.
LOST = (OSError, http.client.HTTPException)


class Ledger:
    """What was acknowledged, and what is unknown."""

    def __init__(self):
        self.lock = threading.Lock()
        self.policies = {}
        self.devices = []
        self.acknowledged = 0

    def note(self, what, **facts):
        with self.lock:
            what.update(facts)
            self.acknowledged += 1


class Writer(threading.Thread):
    """Does one thing after the other until the service dies under it."""

    def __init__(self, check):
        super().__init__(daemon=True)
        self.check, self.error = check, None

    def run(self):
        try:
            while not self.check.stopping.is_set():
                self.step()
        except LOST:
            pass
        except BaseException as error:  # noqa: BLE001, told by the main thread
            self.error = error

    def graph(self, method, path, body=None, expected=(200, 201, 204)):
        headers = {"Authorization": "Bearer " + self.check.token}
        status, _, answer = self.check.service.call(method, path, body, headers)
        assert status in expected, (method, path, status, answer[:500])
        return json.loads(answer) if answer else None


class PolicyWriter(Writer):
    """Creates, changes, assigns and deletes policies."""

    def step(self):
        ledger, name = self.check.ledger, str(uuid.uuid4())
        policy = {"id": None, "written": None, "doubt": "made", "assigned": False, "deleted": False}
        with ledger.lock:
            ledger.policies[name] = policy
        made = self.graph("POST", PROTECTIONS, {
            "@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": name, "description": "made"})
        ledger.note(policy, id=made["id"], written="made", doubt=None)
        path = f"{PROTECTIONS}/{made['id']}"
        for number in range(3):
            policy["doubt"] = str(number)
            self.graph("PATCH", path, {"description": str(number)})
            ledger.note(policy, written=str(number), doubt=None)
        policy["assigned"] = None
        self.graph("POST", path + "/assign", {"assignments": [{"target": {
            "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": self.check.group}}]})
        ledger.note(policy, assigned=True)
        if random.random() < 0.7:
            policy["deleted"] = None
            self.graph("DELETE", path)
            ledger.note(policy, deleted=True)


class DeviceWriter(Writer):
    """Enrols, checks in, is wiped and says so, as an app would."""

    def __init__(self, check, device):
        super().__init__(check)
        self.device = device

    def send(self, method, path, body, expected):
        device, service = self.device, self.check.service
        for _ in range(2):
            proof = device["key"].sign("dpop+jwt", {
                "jti": str(uuid.uuid4()), "htm": method, "htu": service.said["address"] + path,
                "iat": int(time.time()), "nonce": device.get("nonce", "none"),
                "ath": encode(hashlib.sha256(device["token"].encode()).digest())}, embeds=True)
            status, answer, text = service.call(
                method, path, body, {"Authorization": "DPoP " + device["token"], "DPoP": proof})
            device["nonce"] = answer.headers.get("DPoP-Nonce", "none")
            if status != 401 or "proof-nonce" not in text.decode():
                break
        assert status in expected, (method, path, status, text[:500])
        return status, json.loads(text) if text else None

    def facts(self):
        return {
            "application": {"bundleID": BUNDLE, "version": "1.0", "sdkVersion": "0.1.0"},
            "device": {"tag": self.device["tag"], "osVersion": "18.1", "model": "iPhone15,2"},
            "nonce": encode(random.randbytes(16))}

    def read(self, envelope):
        """Sequences rise, whatever happened to the service in between."""
        part = envelope.split(".")[1]
        content = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        assert content["sequence"] > self.device["sequence"], (content["sequence"], self.device["sequence"])
        self.check.ledger.note(
            self.device, sequence=content["sequence"], version=content["version"],
            digest=encode(hashlib.sha256(envelope.encode()).digest()))
        return content

    def step(self):
        device, ledger = self.device, self.check.ledger
        if device["state"] == "new":
            status, answer = self.send(
                "POST", "/mam/v1/registrations", self.facts() | {"source": "appRegistered"}, (200, 201))
            assert device["id"] in (None, answer["registrationID"]), "the key has a second registration"
            ledger.note(device, id=answer["registrationID"], state="enrolled")
            self.read(answer["envelope"])
        path = f"/mam/v1/registrations/{device['id']}"
        if device["state"] == "done":
            time.sleep(0.05)
            return
        if device["state"] == "enrolled" and random.random() < 0.1:
            device["state"] = "asking"
        if device["state"] == "asking":
            self.graph("POST", f"/v1.0/users/{self.check.person}/wipeManagedAppRegistrationsByDeviceTag",
                       {"deviceTag": device["tag"]})
            ledger.note(device, state="wiping")
        _, answer = self.send("POST", path + "/checkins", self.facts() | {
            "appliedSequence": device["sequence"], "appliedVersion": device.get("version"),
            "appliedDigest": device.get("digest"), "health": [],
            "clientTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, (200,))
        content = self.read(answer["envelope"]) if answer.get("envelope") else {}
        commands = content.get("commands") or []
        if device["state"] == "wiping":
            assert [command["kind"] for command in commands] == ["wipe"], content
            assert device.setdefault("command", commands[0]["id"]) == commands[0]["id"], "a second wipe"
            device["state"] = "reporting"
        if device["state"] == "reporting":
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            receipt = device["key"].sign("cordon-wipe-receipt+jwt", {
                "commandID": device["command"], "tenant": content["tid"], "registrationID": device["id"],
                "account": content["account"], "bundleID": BUNDLE, "destroyedKeyIDs": ["k"], "files": 1, "bytes": 1,
                "started": now, "finished": now, "failures": []}) if content else device["receipt"]
            device["receipt"] = receipt
            report = {"commandID": device["command"], "phase": "succeeded", "time": now, "receipt": receipt}
            self.send("POST", path + "/acknowledgements", report, (204,))
            ledger.note(device, state="done")


class Check:
    def __init__(self):
        self.ledger, self.stopping, self.exports = Ledger(), threading.Event(), []
        self.service = Service(CORDON, FOLDER)
        self.token = self.service.automation()
        self.owner = self.service.sign_in(
            "ada@contoso.example", "cordon-cli", "DeviceManagementApps.ReadWrite.All", "https://graph.microsoft.com")
        groups = self.get("/v1.0/users/worker-a@contoso.example/memberOf")["value"]
        self.group = groups[0]["id"]
        self.person = self.get("/v1.0/users/worker-a@contoso.example")["id"]
        status, _, text = self.service.call("POST", PROTECTIONS, {
            "@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "base", "description": "base",
            "appGroupType": "allApps", "assignments": [{"target": {
                "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": self.group}}],
        }, {"Authorization": "Bearer " + self.token})
        assert status == 201, text

    def get(self, path, token=None):
        status, _, text = self.service.call("GET", path, headers={"Authorization": "Bearer " + (token or self.token)})
        assert status == 200, (path, status, text[:500])
        return json.loads(text)

    def add_device(self):
        key = Key()
        token = self.service.sign_in(
            "worker-a@contoso.example", "fieldnotes", "mam.checkin", "api://cordon/check-in", key)
        self.ledger.devices.append({
            "key": key, "token": token, "tag": str(uuid.uuid4()), "id": None, "state": "new", "sequence": 0})

    def round(self, number):
        while sum(device["state"] != "done" for device in self.ledger.devices) < 3:
            self.add_device()
        writers = [PolicyWriter(self) for _ in range(2)]
        writers += [DeviceWriter(self, device) for device in self.ledger.devices if device["state"] != "done"]
        for writer in writers:
            writer.start()
        time.sleep(random.uniform(0.2, 2))
        self.service.kill()
        self.stopping.set()
        for writer in writers:
            writer.join(60)
            if writer.error:
                raise writer.error
        self.stopping.clear()
        self.service.start()
        self.compare_policies()
        self.compare_devices()
        self.compare_log(number)

    def compare_policies(self):
        found, path = collections.defaultdict(list), PROTECTIONS + "?$top=500"
        while path:
            page = self.get(path)
            for policy in page["value"]:
                found[policy["displayName"]].append(policy)
            link = page.get("@odata.nextLink")
            path = link and link.removeprefix(self.service.said["address"])
        assert set(found) <= set(self.ledger.policies) | {"base"}, "a policy that was never made"
        for name, known in list(self.ledger.policies.items()):
            there = found[name]
            assert len(there) <= 1, f"{name} is there twice"
            if known["deleted"] is True:
                assert not there, f"{name} was deleted and is there"
            elif known["id"] and known["deleted"] is False:
                assert there, f"{name} was acknowledged and is lost"
            if there:
                assert there[0]["description"] in (known["written"], known["doubt"]), (name, there[0]["description"])
                assert known["assigned"] is None or there[0]["isAssigned"] == known["assigned"], name
                known["written"], known["doubt"] = there[0]["description"], None

    def compare_devices(self):
        tags = collections.Counter()
        for entry in self.get("/v1.0/deviceAppManagement/managedAppRegistrations?$top=1000")["value"]:
            tags[entry["deviceTag"]] += 1
        assert all(count == 1 for count in tags.values()), "a registration is there twice"
        for device in self.ledger.devices:
            if not device["id"]:
                continue
            path = f"/v1.0/deviceAppManagement/managedAppRegistrations/{device['id']}/operations"
            states = [entry["state"] for entry in self.get(path)["value"]]
            assert len(states) <= 1, f"{states}: a wipe is there twice"
            if device["state"] in ("wiping", "reporting"):
                assert states, "a wipe was acknowledged and is lost"
            if device["state"] == "done":
                assert states == ["succeeded"], f"{states}: a receipt was acknowledged and is lost"
            else:
                # A report under way may have been kept; the app then learns of it at its next request.
                assert tags[device["tag"]] == 1 or states == ["succeeded"], "a registration is lost"
                if states == ["succeeded"]:
                    device["state"] = "done"

    def compare_words(self):
        """What the service said of all that: JSON lines, and in none of them a person, a token or a secret."""
        text = (FOLDER / "service.log").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        assert any(line.get("route") == "/mam/v1/registrations/:id/checkins" for line in lines), "nothing was logged"
        for word in ["@contoso.example", "eyJ", self.person] + [device["tag"] for device in self.ledger.devices]:
            assert word not in text, f"{word[:12]} is in the log"

    def compare_log(self, number):
        status, _, log = self.service.call("GET", "/admin/v1/audit", headers={"Authorization": "Bearer " + self.owner})
        assert status == 200, log[:500]
        file = FOLDER / f"audit-{number}.jsonl"
        file.write_bytes(log)
        command = [CORDON, "audit", "verify", str(file), "--pin", self.service.said["rootKey"]]
        if self.exports:
            command += ["--against", str(self.exports[-1])]
        outcome = subprocess.run(command, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        self.exports.append(file)
        once = collections.Counter()
        for line in log.decode().splitlines():
            record = json.loads(line)
            if record.get("action") in ("policy.create", "policy.delete", "registration.create", "wipe.succeeded"):
                once[record["action"], record["target"]] += 1
        assert all(count == 1 for count in once.values()), "a change is in the log twice"


def main():
    random.seed(SEED)
    print(f"seed {SEED}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    check = Check()
    try:
        for number in range(ROUNDS):
            before = check.ledger.acknowledged
            check.round(number)
            print(f"round {number}: {check.ledger.acknowledged - before} acknowledged, all there", flush=True)
    finally:
        check.service.kill()
    check.compare_words()
    wiped = sum(device["state"] == "done" for device in check.ledger.devices)
    print(f"every expectation held: {check.ledger.acknowledged} acknowledged, {wiped} wiped, {ROUNDS} kills")


main()
