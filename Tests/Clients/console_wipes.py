"""A wipe that failed for good, in a headless Chromium: the list says so and why, and the phone is wiped again with the keyboard alone.

Takes the console's address in CORDON_CONSOLE. The phone of the test reports three failures, and then a success. Ends with 1 and says where, if a page is
not as it should be.
"""

import re
import sys
import tempfile

from console_browser import browser, check, faults, path, sign_in

PERSON = "/console/people/oid-worker"
AGAIN = "Wipe again…"


def confirm(walk, device):
    """Looks which device of the person it is, repeats the number and wipes."""
    walk.wait("the number", lambda: path(walk) == PERSON + "/wipe" and "Repeat the number" in walk.text())
    check(f"Wipe {device} of Worker A" in walk.text(), f"the one device of the person is named: {walk.text()[:600]}")
    walk.keys("number", re.search(r"Repeat the number (\d{4})", walk.text()).group(1))
    walk.keys("Wipe")
    walk.wait("the list of wipes", lambda: path(walk) == "/console/wipes")


def rows(walk, words):
    return [row for row in walk.rows() if words in row]


def main():
    with tempfile.TemporaryDirectory() as profile:
        walk = browser(profile, "ada")
        try:
            sign_in(walk, "oid-ada", PERSON)
            walk.wait("the person's phone", lambda: any("com.contoso.notes" in row for row in walk.rows()))
            device = walk.labels("main td a")[-1]
            walk.press("Wipe a device…")
            confirm(walk, device)
            walk.wait("the failure that is not tried again, without loading the page again", lambda: AGAIN in walk.labels("main a"))
            check(walk.labels("main td a").count(AGAIN) == 1, f"the last attempt alone is offered again: {walk.rows()}")
            check(len(rows(walk, "notes.db is in use")) == 3, f"each attempt says what was left: {walk.rows()}")
            check(len(rows(walk, "wiped again")) == 2, f"the attempts before say that they were made again: {walk.rows()}")
            check(len(rows(walk, "attempt 3")) == 1, f"the last attempt has its number: {walk.rows()}")
            walk.look("a wipe that has failed")
            walk.open("/console")
            check(walk.tile("failed") == "1", f"the overview counts the failed wipe: {walk.labels('main .tiles li')}")
            walk.open("/console/wipes?state=failed")
            walk.wait("the failed wipes", lambda: AGAIN in walk.labels("main a"))
            walk.keys(AGAIN)
            confirm(walk, device)
            walk.wait("the verified receipt, without loading the page again", lambda: len(rows(walk, "4 of 4: done, receipt verified")) == 1)
            check(len(rows(walk, "notes.db is in use")) == 3, f"the failures stay in the list: {walk.rows()}")
            check(AGAIN not in walk.labels("main a") and len(rows(walk, "wiped again")) == 3, f"a wipe that was made again is not offered any more: {walk.rows()}")
            walk.look("a wipe that was made again")
            walk.open("/console")
            check(walk.tile("failed") == "0", f"the overview counts no wipe that was made again: {walk.labels('main .tiles li')}")
        finally:
            walk.browser.quit()
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
