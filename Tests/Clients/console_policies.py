"""Policies in the console: typed wrongly, exported, made from a file, listed, compared, in each other's way, and put back."""

import json
import re

from console_browser import check, path


def mistake(walk, policy):
    """A value that is none is told beside its field, the rest of the form stays, and a field without effect says so."""
    walk.open(policy + "/edit/access")
    walk.fill("s.minimumPinLength", "900")
    walk.tick("[name='s.simplePinBlocked']")
    walk.press("Preview")
    walk.expect("900 is out of range (0 to 128)", "what is wrong with the value")
    check(walk.find("[name='s.minimumPinLength']").get_attribute("aria-invalid") == "true", "the field is marked")
    check(walk.value("s.minimumPinLength") == "900", "the value stays")
    check(walk.find("[name='s.simplePinBlocked']").is_selected(), "the other field stays")
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.look("a value that is none")
    walk.open(policy + "/edit/transfer")
    walk.expect("Has no effect at present, because of other settings.", "a field without effect says so")


def copy(walk, pilot):
    """A policy is exported, and another one is made of the file, for a set of apps on devices that are not managed."""
    walk.open(pilot)
    text = walk.download("Export as JSON", "policy.json")
    document = json.loads(text)
    check(document["printBlocked"] is True and document["displayName"] == "Pilot <b>group</b>", f"the export says what the policy does: {text[:300]}")
    document["displayName"] = "Imported"
    walk.open("/console/policies/import")
    walk.put("json", json.dumps(document))
    walk.press("Make the policy")
    walk.expect("This policy is not assigned yet.", "the policy that was made of a file")
    check("com.contoso.notes" in walk.text(), "the apps came along")
    walk.press("Apps")
    walk.fill("apps", "")
    walk.tick("[name=known][value='com.contoso.notes']", on=False)
    walk.tick("[name=set] [value=allMicrosoftApps]")
    walk.tick("[name=level] [value=unmanaged]")
    walk.press("Save the apps")
    walk.expect("all microsoft apps", "the set of apps")
    check("a device that is not managed" in walk.text(), "on which devices the policy counts")


def make(walk):
    """A second policy from another baseline, with a warning and a refusal for one setting and a link that is exempt; its path."""
    walk.open("/console/policies/new")
    levels = walk.labels("main .option:has([name=level]) label")
    check(levels == ["Level 1: basic", "Level 2: enhanced", "Level 3: high"], f"the baselines: {levels}")
    check(len(walk.labels("main .option:has([name=level]) .help")) == 3, "each baseline says what it does")
    audiences = walk.labels("main .option:has([name=for]) label")
    check(audiences == ["People of groups", "Everyone without another policy"], f"for whom a policy can be: {audiences}")
    walk.fill("name", "Night rules")
    walk.tick("[value=level1]")
    walk.press("Make the policy")
    walk.expect("This policy has no app yet.", "the second policy")
    night = path(walk)
    walk.open("/console")
    check(walk.tile("without an assignment") == "2", f"policies without an assignment: {walk.tile('without an assignment')}")
    check(walk.tile("without an app") == "1", f"policies without an app: {walk.tile('without an app')}")
    walk.follow("main .tiles a[href='/console/policies']")
    walk.wait("the list", lambda: sum("not assigned" in row for row in walk.rows()) == 2)
    check(any("a device that is not managed" in row for row in walk.rows()), "the list says on which devices a policy counts")
    walk.open(night + "/apps")
    walk.fill("apps", "com.contoso.notes")
    walk.press("Save the apps")
    walk.wait("the policy", lambda: path(walk) == night)
    walk.open(night + "/edit/launch")
    walk.fill("s.minimumWarningOsVersion", "18.1")
    walk.fill("s.minimumRequiredOsVersion", "17.0")
    walk.press("Preview")
    walk.press("Publish")
    walk.wait("one setting with two actions", lambda: path(walk) == night and {
        "Lowest system version: refuse below 17.0 block", "Lowest system version: warn below 18.1 warn"} <= set(walk.rows()))
    walk.open(night + "/edit/transfer")
    walk.fill("s.exemptedUniversalLinks", "https://maps.contoso.example")
    walk.press("Preview")
    walk.wait("the exempt link", lambda: any("Links that open outside" in row and "maps.contoso.example" in row for row in walk.rows()))
    walk.press("Publish")
    walk.wait("the policy", lambda: path(walk) == night)
    return night


def find(walk):
    """The list says who changed each policy last, is searched and ordered."""
    walk.open("/console/policies")
    pilot = next((row for row in walk.rows() if row.startswith("Pilot <b>group</b>")), "")
    check(pilot.endswith("UTC by oid-bea"), f"who changed the pilot group's policy last: {pilot}")
    night = next((row for row in walk.rows() if row.startswith("Night rules")), "")
    check(re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC by ada@contoso\.example$", night), f"when and by whom the night's policy was changed: {night}")
    walk.fill("search", "night")
    walk.press("Search")
    walk.wait("what was searched for", lambda: walk.labels("main td a") == ["Night rules"])
    walk.fill("search", "")
    walk.tick("[name=sort] [value=changed]")
    walk.press("Search")
    walk.wait("the policy that changed last", lambda: len(walk.labels("main td a")) == 3 and walk.labels("main td a")[0] == "Night rules")


def meet(walk, pilot, night):
    """Who has two policies has the stricter values, and the preview, the rules of a person and a comparison say which those are."""
    walk.open(night + "/assignments")
    check("First versions" in walk.text(), "a filter is offered")
    walk.tick("[name=included][value='group-night']")
    walk.press("Preview")
    walk.expect("Who is affected: 2 people", "the preview names who is affected")
    walk.expect("Where several policies meet", "the preview names the values that count")
    walk.look("preview where several policies meet")
    walk.press("Publish")
    walk.wait("the policy", lambda: path(walk) == night and "Night shift" in walk.text())
    walk.open("/console/people/oid-second/rules?app=com.contoso.notes")
    wanted = re.compile(r"Block printing yes Pilot <b>group</b> Night rules no")
    walk.wait("which policy's value counts, and which says otherwise", lambda: any(wanted.search(row) for row in walk.rows()))
    walk.open(night + "/compare")
    walk.tick(f"[name=with] [value='{pilot.rsplit('/', 1)[1]}']")
    walk.press("Compare")
    walk.expect("Settings that differ", "the comparison")
    check("Block printing no yes stricter" in walk.rows(), f"what differs, and which is stricter: {walk.rows()[:20]}")
    walk.look("comparison of two policies")


def exclude(walk, pilot):
    """A group cannot be included and excluded at once; the preview of an exclusion says who loses the policy."""
    walk.open(pilot + "/assignments")
    walk.unfold("Leave groups out")
    walk.tick("[name=excluded][value='group-workers']")
    walk.press("Preview")
    walk.expect("A group cannot be included and excluded at once.", "a contradiction is told")
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.tick("[name=included][value='group-workers']", on=False)
    walk.press("Preview")
    walk.expect("2 people lose this policy.", "the preview says who loses the policy")
    walk.look("preview of an exclusion")
    walk.press("Change nothing")
    walk.wait("the policy as it was", lambda: path(walk) == pilot and "Field workers" in walk.text())


def many(walk, pilot):
    copy(walk, pilot)
    night = make(walk)
    find(walk)
    meet(walk, pilot, night)
    exclude(walk, pilot)


def default_values(walk):
    """Values for the apps of everyone: from the tab that has none, over the preview of a policy for everyone, to what one person's apps get."""
    walk.open("/console/configurations")
    walk.press("For everyone")
    walk.expect("There is no policy for everyone yet.", "what to do where there are no default values")
    check(walk.labels("main .tabs [aria-current=page]") == ["For everyone"], "the tab that is shown is marked")
    walk.look("default values, empty")
    walk.keys("New policy for everyone")
    walk.fill("name", "Everyone")
    walk.tick("[value=level1]")
    check(walk.find("[name=for][value=everyone]").is_selected(), "the policy is for everyone")
    walk.press("Make the policy")
    walk.expect("This reaches every person whom no other policy reaches, now and later.", "the preview says whom it reaches")
    walk.look("preview of a policy for everyone")
    walk.press("Publish")
    walk.wait("the policy", lambda: walk.find("h1").text == "Everyone" and "everyone without another policy" in walk.text())
    check("not assigned" not in walk.text() and "Assign" not in walk.labels("main a"), "a policy for everyone is not assigned")
    walk.press("Default values")
    walk.wait("the default values", lambda: walk.find("h1").text == "Default values of Everyone")
    for name, value in (("key.0", "support"), ("value.0", "https://help.contoso.example/{{userid}}"), ("key.1", "token"), ("value.1", "hush-hush")):
        walk.fill(name, value)
    walk.tick("[name='secret.1']")
    walk.press("Save")
    walk.wait("the saved values", lambda: "A secret is set." in walk.text())
    check("hush-hush" not in walk.browser.page_source, "a secret default value is on the page")
    walk.fill("person", "worker@contoso.example")
    walk.press("Show")
    walk.expect("Values of Worker A", "the default values of a person")
    check({"support https://help.contoso.example/oid-worker", "token secret"} <= set(walk.rows()), f"what the person's apps get: {walk.rows()}")
    walk.look("default values")
    walk.open("/console/configurations/defaults")
    walk.wait("the tab with the policy", lambda: any(row.startswith("Everyone 2 every app") for row in walk.rows()))


def put_back(walk, policy):
    """An earlier version is compared and put back; a copy of the policy is made and deleted."""
    walk.open(policy + "/history")
    walk.expect("in force", "the history says which version is in force")
    newest = walk.labels("main tbody tr td:first-child")[0]
    check("in force" in newest, f"the newest version is in force: {newest}")
    walk.follow("main td a")
    walk.expect("What changes", "what putting the version back would change")
    check(any(row.startswith("Description By the other not set") for row in walk.rows()), f"now and then are beside each other: {walk.rows()[:5]}")
    walk.press("Preview putting it back")
    walk.press("Put this version back")
    walk.wait("the policy without what the other wrote", lambda: path(walk) == policy and "By the other" not in walk.text())
    walk.open(policy + "/history")
    check(walk.labels("main tbody tr td:first-child")[0] not in ("", newest), "what was put back is a version of its own")
    walk.open(policy)
    walk.press("Make a copy")
    walk.wait("the copy", lambda: path(walk) != policy and "Copy of" in walk.find("h1").text)
    walk.press("Delete")
    walk.press("Preview")
    walk.press("Delete the policy")
    walk.wait("the policies without the copy", lambda: path(walk) == "/console/policies" and "Copy of" not in walk.text())
