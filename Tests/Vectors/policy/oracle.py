"""Interprets the hand-written rows for every cell of the table.

It shares nothing with the engine: it reads rows/*.json and table.json and knows how to look at a cell.
Usage: oracle.py GROUP STRIDE OFFSET      one letter per cell: a(llow) r(estrict) n(otice) b(lock) w(ipe)
       oracle.py GROUP --count            the number of cells
"""

import fnmatch
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
GRAVITY = {"allow": 0, "restrict": 1, "warn": 2, "block": 3, "wipe": 4}
LETTER = "arnbw"

DEFAULTS = {
    "allowedInboundDataTransferSources": "allApps",
    "allowedOutboundDataTransferDestinations": "allApps",
    "allowedOutboundClipboardSharingLevel": "allApps",
    "allowedOutboundClipboardSharingExceptionLength": 0,
    "saveAsBlocked": False,
    "allowedDataStorageLocations": [],
    "blockDataIngestionIntoOrganizationDocuments": False,
    "allowedDataIngestionLocations": ["oneDriveForBusiness", "sharePoint", "camera"],
    "appDataEncryptionType": "whenDeviceLocked",
    "pinRequired": True,
    "disableAppPinIfDevicePinIsSet": False,
    "organizationalCredentialsRequired": False,
    "deviceComplianceRequired": True,
    "appActionIfDeviceComplianceRequired": "block",
    "maximumAllowedDeviceThreatLevel": "notConfigured",
    "periodBeforePinReset": "PT0S",
    "maximumPinRetries": 5,
    "periodOfflineBeforeAccessCheck": "P1D",
    "periodOfflineBeforeWipeIsEnforced": "P90D",
    "exemptedAppProtocols": [{"name": "Default", "value": "skype;app-settings;calshow;itms"}],
    "exemptedUniversalLinks": ["https://maps.apple.com"],
    "managedUniversalLinks": [],
    "purviewContentEvaluationRequired": "notRequired",
    "managedBrowserToOpenLinksRequired": False,
    "thirdPartyKeyboardsBlocked": False,
}

SAVE = {
    "oneDriveForBusiness": "oneDriveForBusiness", "sharePoint": "sharePoint", "box": "box",
    "localDrive": "localStorage", "cameraRoll": "photoLibrary", "iManage": "iManage", "egnyte": "egnyte",
    "dropbox": "", "googleDrive": "", "accountDocument": "", "other": "",
}
OPEN = {
    "oneDriveForBusiness": "oneDriveForBusiness", "sharePoint": "sharePoint", "camera": "camera",
    "photos": "photoLibrary", "localStorage": "localStorage", "accountDocument": "", "box": "", "iManage": "",
    "egnyte": "", "other": "",
}
MINUTES = {"PT12H": 720, "0:30:00": 30, "P1D": 1440, "90 days, 0:00:00": 129600, "P90D": 129600, "PT0S": 0}
THREATS = ["secured", "low", "medium", "high"]


class Cell:
    """One cell; derived attributes are worked out when a row asks for them."""

    def __init__(self, values):
        self.values = values
        self.known = {}

    def __getitem__(self, name):
        if name in self.known:
            return self.known[name]
        if name in self.values:
            value = self.values[name]
            if value is None and name[:2] in ("P.", "Q."):
                value = DEFAULTS.get(name[2:])
        elif name[:2] in ("P.", "Q."):
            value = DEFAULTS.get(name[2:])
        elif name[:2] in ("q.", "d."):
            value = None
        else:
            value = getattr(self, name, "own" if name == "owner" else "missing")
            if callable(value):
                value = value()
        self.known[name] = value
        return value

    def kinds(self):
        return SAVE if self["q.action"] == "saveTo" else OPEN

    def location(self):
        place = self["q.location"]
        return "missing" if place is None else "fit" if place in self.kinds() else "unfit"

    def excepted(self):
        wanted = self.kinds().get(self["q.location"], "")
        setting = "P.allowedDataStorageLocations" if self["q.action"] == "saveTo" else "P.allowedDataIngestionLocations"
        return wanted != "" and wanted in self[setting]

    def placeAccount(self):
        account = self["q.locationAccount"]
        if self["q.location"] in ("cameraRoll", "camera", "photos"):
            return "right" if account is None else "wrong"
        return "right" if (account or "").lower() == "oid-a" else "wrong"

    def placeOwner(self):
        account = (self["q.locationAccount"] or "").lower()
        if self["q.location"] in (None, "cameraRoll", "camera", "photos") or self["owner"] == "missing":
            return "nobody"
        if account == "oid-b":
            return "b"
        return "a" if account == "oid-a" and self["owner"] != "own" else "nobody"

    def some(self, name, values):
        return self["P." + name] in values or self["Q." + name] in values

    def someInbound(self):
        return self.some("allowedInboundDataTransferSources", ("none", "managedApps"))

    def someOutbound(self):
        return self.some("allowedOutboundDataTransferDestinations", ("none", "managedApps"))

    def somePasteIn(self):
        return self.some("allowedOutboundClipboardSharingLevel", ("blocked", "managedApps")) or self.some(
            "allowedInboundDataTransferSources", ("none",))

    def someCopyOut(self):
        return self.some("allowedOutboundClipboardSharingLevel", ("blocked", "managedApps", "managedAppsWithPasteIn"))

    def somePolicy(self):
        return self.someInbound() or self.someOutbound() or self.somePasteIn() or self.someCopyOut()

    def viewed(self):
        viewer = self["q.viewer"]
        if viewer is None:
            return "outside" if self["q.webViewersUnmanaged"] else "own"
        return "outside" if viewer == "unmanaged" else "own"

    def here(self):
        """Which side of the line this side of a copy or paste stands on."""
        return "inside" if self["owner"] == "own" and self["viewed"] == "own" else "outside"

    def scheme(self):
        url = (self["q.url"] or "").lower()
        if ":" not in url:
            return "none"
        scheme = url.split(":")[0]
        return {"http": "web", "https": "web", "telprompt": "tel", "tel": "tel", "sms": "sms", "mailto": "mailto"}.get(
            scheme, "other")

    def exemptScheme(self):
        listed = ";".join(pair["value"] for pair in self["P.exemptedAppProtocols"]).lower().split(";")
        return self.scheme() != "none" and self["q.url"].lower().split(":")[0] in listed

    def host(self):
        url = self["q.url"] or ""
        return url.split("://")[1].split("/")[0].lower() if "://" in url else ""

    def exemptLink(self):
        url = (self["q.url"] or "").lower()
        for link in self["P.exemptedUniversalLinks"]:
            scheme, rest = link.split("://")
            host, _, path = rest.partition("/")
            if fnmatch.fnmatchcase(self.host(), host) and url.startswith(scheme + "://") and (
                    path == "" or fnmatch.fnmatchcase("/".join(url.split("/")[3:]), path)):
                return True
        return False

    def threat(self):
        most, level = self["P.maximumAllowedDeviceThreatLevel"], self["d.threatLevel"]
        if most == "notConfigured":
            return "off"
        if level in (None, "unknown"):
            return "unknown"
        return "above" if THREATS.index(level) > THREATS.index(most) else "fine"

    def model(self):
        models = self["P.allowedIosDeviceModels"]
        if models is None:
            return "off"
        if self["d.model"] is None:
            return "unknown"
        return "listed" if self["d.model"].lower() in models.lower().split(";") else "unlisted"

    def versions(self):
        worst = "fine"
        for word, fact in (("Os", "osVersion"), ("App", "appVersion"), ("Sdk", "sdkVersion")):
            limit = {
                kind: self["P." + kind + word + "Version"]
                for kind in ("minimumWipe", "minimumRequired", "minimumWarning", "maximumWipe", "maximumRequired",
                             "maximumWarning")}
            if not any(limit.values()):
                continue
            here = "fine"
            if self["d." + fact] is None:
                here = "block"
            else:
                have = number(self["d." + fact])
                is_below = lambda kind: limit[kind] is not None and have < number(limit[kind])
                is_above = lambda kind: limit[kind] is not None and have > number(limit[kind])
                is_at = fact != "sdkVersion" and limit["minimumWipe"] is not None and have == number(limit["minimumWipe"])
                if is_below("minimumWipe") or is_at or is_above("maximumWipe"):
                    here = "wipe"
                elif is_below("minimumRequired") or is_above("maximumRequired"):
                    here = "block"
                elif is_below("minimumWarning") or is_above("maximumWarning"):
                    here = "warn"
            if GRAVITY.get(here, 0) > GRAVITY.get(worst, 0):
                worst = here
        return worst

    def inGrace(self):
        since = self["d.minutesSinceClockOut"]
        return self["P.gracePeriodToBlockAppsDuringOffClockHours"] == "PT10M" and since is not None and 0 <= since < 10

    def offlineBlock(self):
        since = self["d.minutesSinceCheckIn"]
        return since is not None and since > MINUTES[self["P.periodOfflineBeforeAccessCheck"]]

    def offlineWipe(self):
        since, limit = self["d.minutesSinceCheckIn"], MINUTES[self["P.periodOfflineBeforeWipeIsEnforced"]]
        return since is not None and limit > 0 and since > limit

    def pin(self):
        return self["P.pinRequired"] and not (self["P.disableAppPinIfDevicePinIsSet"] and self["d.devicePINSet"] is True)

    def tooManyAttempts(self):
        failed = self["d.failedPINAttempts"]
        return failed is not None and failed >= self["P.maximumPinRetries"]

    def refusal(self, side):
        """What a refused copy amounts to: short texts may pass (SRV-RS-027)."""
        limit, length = self[side + ".allowedOutboundClipboardSharingExceptionLength"], self["q.characters"]
        if limit == 0:
            return "block"
        if self["q.action"] == "webPaste" and length is None:
            return "restrict"
        if length is None:
            return "restrict"
        return "allow" if length <= limit else "block"


setattr(Cell, "from", Cell.here)


def number(text):
    fields = [int(field) for field in text.split(".")]
    return fields + [0] * (4 - len(fields))


def load_rows():
    rows = []
    for path in sorted((HERE / "rows").glob("*.json")):
        for row in json.loads(path.read_text()):
            tests = [(name, value if isinstance(value, list) else [value]) for name, value in row["if"].items()]
            rows.append((set(row["actions"]) if "actions" in row else None, tests, row["verdict"]))
    return rows


def same(value, wanted):
    return any(value is one or (type(value) is type(one) and value == one) for one in wanted)


def judge(cell, rows):
    worst = 0
    for actions, tests, verdict in rows:
        if actions is not None and cell["q.action"] not in actions:
            continue
        if not all(same(cell[name], wanted) for name, wanted in tests):
            continue
        if verdict.startswith(("deny:", "tell:")):
            # Some conditions deny or destroy, others deny or tell; whatever else is asked for denies.
            taken = "wipe" if verdict.startswith("deny:") else "warn"
            verdict = taken if cell[verdict[5:]] == taken else "block"
        elif verdict.endswith(".refusal"):
            verdict = cell.refusal(verdict[0])
        worst = max(worst, GRAVITY[verdict])
    return worst


def main():
    table = json.loads((HERE / "table.json").read_text())
    dimensions = table["groups"][sys.argv[1]]
    count = 1
    for _, values in dimensions:
        count *= len(values)
    if sys.argv[2] == "--count":
        print(count)
        return
    rows = load_rows()
    letters = []
    for index in range(int(sys.argv[3]), count, int(sys.argv[2])):
        values, rest = {}, index
        for name, choices in reversed(dimensions):
            rest, choice = divmod(rest, len(choices))
            values[name] = choices[choice]
        letters.append(LETTER[judge(Cell(values), rows)])
    print("".join(letters))


main()
