"""Answers from an exported history alone which rules a registration had at a moment, who made them, what changed and why.

    curl -H "Authorization: Bearer $TOKEN" https://mam.example.org/admin/v1/history > history.jsonl
    python3 history_reader.py history.jsonl REGISTRATION 2026-03-03T09:00:00Z

Without a registration and a time it reads questions, one `REGISTRATION TIME` in a line, and prints one answer in a line.
It needs nothing but Python, and refuses an export that was changed: each document by its digest, every line before the audit
log by the digest in the log's newest record, and each record by the one after it. Who signed that record `cordon audit verify
--root-key ROOT-KEY` tells of the lines after the one of type `audit`.
"""

import datetime
import hashlib
import json
import sys


class Unsound(Exception):
    """The export is not what the service wrote."""


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def present(members):
    return {name: value for name, value in members.items() if value is not None}


class History:
    def __init__(self, lines):
        self.documents, self.versions, self.registrations, self.deliveries, self.log = {}, {}, {}, {}, []
        self.head = None
        running, count = hashlib.sha256(), 0
        lines = iter(lines)
        for line in lines:
            running.update(line.encode())
            count += 1
            entry = json.loads(line)
            kind = entry.pop("type", None)
            if kind == "history":
                self.head = entry
            elif kind == "document":
                if sha256(entry["text"]) != entry["digest"]:
                    raise Unsound(f"line {count}: the document is not the one that its digest names")
                self.documents[entry["digest"]] = json.loads(entry["text"])
            elif kind == "version":
                self.versions[entry["entity"], entry["version"]] = entry
            elif kind == "registration":
                self.registrations[entry["id"]] = entry
            elif kind == "delivery":
                self.deliveries.setdefault(entry["registrationID"], []).append(entry)
            elif kind == "audit":
                break
            else:
                raise Unsound(f"line {count}: what {kind} is, is not known")
        if self.head is None or self.head["format"] != 1:
            raise Unsound("the first line names no form that is known")
        self.read_log(lines, running.hexdigest(), count)
        for deliveries in self.deliveries.values():
            deliveries.sort(key=lambda delivery: delivery["sequence"])

    def read_log(self, lines, digest, count):
        previous, is_sealed = "0" * 64, False
        for line in lines:
            record = json.loads(line)
            if "checkpoint" in record:
                is_sealed = True
                break
            claimed = record.pop("hash")
            if sha256(json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)) != claimed:
                raise Unsound(f"record {record['sequence']} was changed")
            if record["previousHash"] != previous or record["sequence"] != len(self.log) + 1:
                raise Unsound(f"before record {record['sequence']} one is missing")
            previous = claimed
            self.log.append(record)
        if not is_sealed or not self.log:
            raise Unsound("the export breaks off")
        newest = self.log[-1]
        if newest["action"] != "history.seal" or newest["details"]["digest"] != digest:
            raise Unsound("the lines before the audit log are not those that were exported")
        if newest["details"]["lines"] != str(count):
            raise Unsound("lines before the audit log are missing")

    def answer(self, registration, at):
        """The rules in force, and those under way to the app, at a moment."""
        time = moment(at)
        if time >= moment(self.head["until"]):
            raise ValueError(f"the export says nothing of {self.head['until']} and later")
        deliveries = self.deliveries.get(registration, [])
        if not deliveries and registration not in self.registrations:
            raise ValueError(f"the export knows no registration {registration}")

        def applied(delivery):
            return "applied" in delivery and moment(delivery["applied"]) <= time

        in_force = next((one for one in reversed(deliveries) if applied(one)), None)
        after = in_force["sequence"] if in_force else 0
        under_way = next(
            (one for one in reversed(deliveries) if moment(one["delivered"]) <= time and one["sequence"] > after), None)
        return present({
            "registrationID": registration,
            "at": at,
            "registration": self.registrations.get(registration),
            "inForce": in_force and self.rules(in_force, time),
            "underWay": under_way and self.rules(under_way, time),
            "changes": in_force and self.changes(registration, in_force),
        })

    def rules(self, delivery, time):
        policies = []
        for reference in delivery["policies"]:
            version = self.version(reference)
            policies.append(present({
                "id": reference["id"],
                "version": reference["version"],
                "made": version,
                "document": self.document(version),
            }))
        applied = delivery.get("applied")
        return present({
            "version": delivery["version"],
            "delivered": delivery["delivered"],
            "applied": applied if applied and moment(applied) <= time else None,
            "allowedAccounts": delivery.get("allowedAccounts"),
            "policies": policies,
            "settings": self.documents.get(delivery.get("settings")),
        })

    def version(self, reference):
        return self.versions.get(("policy/" + reference["id"].lower(), reference["version"]))

    def document(self, version):
        return self.documents.get(version.get("digest")) if version else None

    def changes(self, registration, delivery):
        """Each policy that the rules before did not have so: who wrote it, when, why and what; and what else was recorded of
        the policies, the person and the groups between the two deliveries."""
        all_deliveries = self.deliveries[registration]
        place = all_deliveries.index(delivery)
        before = all_deliveries[place - 1] if place else None
        old = {one["id"]: one["version"] for one in before["policies"]} if before else {}
        new = {one["id"]: one["version"] for one in delivery["policies"]}
        written, about = [], set()
        for policy in sorted(old.keys() | new.keys()):
            if old.get(policy) == new.get(policy):
                continue
            about.add("policy/" + policy)
            for version in filter(None, (old.get(policy), new.get(policy))):
                for assignment in (self.document(self.version({"id": policy, "version": version})) or {}).get(
                        "assignments") or []:
                    about.add("group/" + str(assignment.get("target", {}).get("groupId")))
            version = self.version({"id": policy, "version": new[policy]}) if policy in new else None
            if version is None or policy not in old:
                written.append({"policy": policy, "is": "new" if policy in new else "gone"})
                continue
            # The app may have passed versions by: each of them has its author.
            while version and version["version"] != old[policy]:
                written.append(present({
                    "policy": policy,
                    "version": version["version"],
                    "author": version.get("author"),
                    "time": version["time"],
                    "reason": version.get("reason"),
                    "request": version.get("request"),
                    "members": self.members(version),
                }))
                version = self.versions.get((version["entity"], version.get("previous")))
        person = "user/" + self.registrations.get(registration, {}).get("user", "")
        about = {name.lower() for name in about | {person}}
        start = moment(before["delivered"]).timestamp() if before else 0
        end = moment(delivery["delivered"]).timestamp()
        recorded = [
            record for record in self.log
            if start <= record["time"] <= end and record["outcome"] == "done" and (
                record["target"].lower() in about
                or person.lower() in self.named(record)
            )
        ]
        return {"policies": written, "recorded": recorded}

    @staticmethod
    def named(record):
        details = record["details"]
        return (details.get("addedMembers", "") + ", " + details.get("removedMembers", "")).lower().split(", ")

    def members(self, version):
        old = self.document(self.versions.get((version["entity"], version.get("previous")))) or {}
        new = self.document(version) or {}
        return [
            {"member": name, "from": old.get(name), "to": new.get(name)}
            for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)
        ]


def main(arguments):
    try:
        with open(arguments[0], encoding="utf-8", newline="\n") as file:
            history = History(file)
        if len(arguments) == 3:
            print(json.dumps(history.answer(arguments[1], arguments[2]), indent=2, ensure_ascii=False))
            return 0
        for question in sys.stdin:
            print(json.dumps(history.answer(*question.split()), ensure_ascii=False))
        return 0
    except Unsound as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    except (ValueError, KeyError, TypeError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
