"""A person whose phone is lost: wiped with the keyboard alone, taken back, exported, forgotten and erased."""

import json
import re

from console_browser import check, path, sign_in


def lose(walk):
    """With the keyboard alone, and after a fresh sign-in, a phone that is not heard of is wiped; the wipe waits, and is taken back."""
    walk.browser.delete_all_cookies()
    sign_in(walk, "oid-bea-earlier", "/console/people")
    walk.keys("search", "Worker")
    walk.keys("Search")
    walk.wait("the people that were searched for", lambda: sorted(walk.labels("main td:first-child a")) == ["Worker A", "Worker B", "Worker C"])
    walk.keys("Worker C")
    walk.wait("the person's app", lambda: path(walk) == "/console/people/oid-third" and "com.contoso.notes" in walk.text())
    walk.keys("Wipe a device…")
    walk.expect("The service asks for a fresh sign-in before a wipe.", "what the wipe needs")
    walk.keys("Sign in again first")
    walk.follow("#oid-bea")
    walk.wait("the number, after the sign-in", lambda: "Repeat the number" in walk.text() and "asks for a fresh sign-in" not in walk.text())
    walk.keys("number", re.search(r"Repeat the number (\d{4})", walk.text()).group(1))
    walk.keys("Wipe")
    walk.expect("1 of 4: requested", "the wipe that waits")
    walk.press("Cancel")
    walk.wait("the list", lambda: path(walk) == "/console/wipes")
    for state, is_there in (("cancelled", True), ("open", False)):
        walk.tick(f"[name=state] [value={state}]")
        walk.press("Show")
        walk.wait(f"the wipes that are {state}", lambda: f"state={state}" in walk.browser.current_url
                  and any("Worker C" in row and "cancelled" in row for row in walk.rows()) is is_there)


def erase(walk):
    """What is kept about a person is exported and erased, each after a fresh sign-in, and not while an app of theirs is enrolled."""
    person = "/console/people/oid-third"
    walk.browser.delete_all_cookies()
    sign_in(walk, "oid-ada-earlier", person)
    walk.press("Export personal data")
    walk.expect("Prove that it is you", "what the export needs")
    walk.look("a fresh sign-in is needed")
    walk.press("Sign in again")
    walk.expect("Who are you?", "the provider's page")
    walk.patient("signing in again", lambda: walk.find("#oid-ada").click() or True)
    data = json.loads(walk.file("person.json") or "{}")
    check(data.get("user", {}).get("displayName") == "Worker C" and len(data.get("registrations", [])) == 1, f"what is kept: {str(data)[:300]}")

    walk.open(person)
    walk.browser.delete_all_cookies()
    sign_in(walk, "oid-ada-earlier", person + "/erase")
    walk.tick("[name=wipe]", on=False)
    walk.press("Erase")
    walk.expect("Prove that it is you", "what erasing needs")
    walk.press("Sign in again")
    walk.follow("#oid-ada")
    walk.expect("What you filled in before is here again", "the form after the sign-in")
    check(not walk.find("[name=wipe]").is_selected(), "the box stays without a tick")
    walk.press("Erase")
    walk.expect("Apps of this person still hold organisation data", "what comes first")
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.look("what comes before erasing")

    walk.open(person)
    walk.wait("the person's app", lambda: len(walk.labels("main td a")) == 1)
    walk.follow("main td a")
    walk.press("Forget…")
    walk.look("forgetting an app")
    walk.press("Forget")
    walk.wait("the devices without the lost one", lambda: path(walk) == "/console/devices" and "Worker C" not in walk.text())
    walk.open(person + "/erase")
    walk.tick("[name=wipe]", on=False)
    walk.press("Erase")
    walk.wait("the people", lambda: path(walk) == "/console/people")
    check({"Worker A", "Worker B"} <= set(walk.labels("main td a")) and "Worker C" not in walk.text(), "the person is erased, and no other")
    walk.open(person)
    walk.expect("There is nothing here", "the page of a person who was erased")
    walk.browser.get_log("browser")  # Which has the status of the answer.
