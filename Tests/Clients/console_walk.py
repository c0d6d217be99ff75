"""Walks a headless Chromium through the console as an administrator would, and looks at every page with axe.

Takes the console's address in CORDON_CONSOLE, the declared paths of its pages in CORDON_ROUTES, and a folder for pictures in CORDON_PICTURES where there
shall be some. Devices of the test check in meanwhile. Ends with 1 and says where, if a page is not as it should be.
"""

import json
import os
import re
import sys
import tempfile
import time
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import console_pages
import console_people
import console_policies
from console_browser import browser, check, faults, path, sign_in

# The paths of pages that the sources declare.
ROUTES = json.loads(os.environ["CORDON_ROUTES"])
# Pages that are files to download.
FILES = ("/export", "/data")
PICTURED = {"/console": "overview", "/console/policies": "policies", "/console/people/:id": "person", "/console/reports": "reports",
            "/console/policies/:id/edit/:group": "edit"}


def protect(walk):
    """Protects a pilot group, beginning with the console's first page; the policy's path."""
    walk.open("/console")
    walk.press("Make the first policy")
    walk.fill("name", "Pilot <b>group</b>")
    walk.tick("[value=level2]")
    walk.press("Make the policy")
    walk.wait("the policy", lambda: "This policy is not assigned yet." in walk.text())
    policy = path(walk)
    check("Pilot <b>group</b>" in walk.text(), "the name is shown as it was typed")
    check(walk.labels("main .links a.main") == ["Apps"], "the next step of a policy without apps is its apps")
    walk.press("Apps")
    walk.fill("apps", "com.contoso.notes")
    walk.press("Save the apps")
    walk.wait("the policy", lambda: path(walk) == policy)
    check(walk.labels("main .links a.main") == ["Assign"], "the next step of a policy with apps is whom it reaches")
    walk.press("Assign")
    walk.tick("[name=included]")
    walk.press("Preview")
    walk.expect("Who is affected: 2 people", "the preview names who is affected")
    walk.look("preview of an assignment")
    walk.press("Publish")
    walk.press("Change: Data protection")
    walk.tick("[name='s.printBlocked']")
    walk.press("Preview")
    walk.expect("stricter", "the preview says what gets stricter")
    walk.picture("preview")
    walk.look("preview")
    walk.press("Publish")
    walk.wait("the policy's page", lambda: path(walk) == policy)
    # The devices of the test check in; the page is not loaded again.
    walk.browser.execute_script("window.notLoadedAgain = true")
    walk.wait("the devices with the new version, without loading the page again",
              lambda: re.search(r"Apps that have not confirmed it\s+none", walk.text()) and re.search(r"People whose apps have it, in any version\s+2", walk.text()))
    check(walk.browser.execute_script("return window.notLoadedAgain") is True, "the page was loaded again")
    walk.picture("policy")
    return policy


def hold(walk, policy):
    """A page that changes by itself waits while a button is held down or a field is filled in, and loses nothing meanwhile."""
    script = walk.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const Source = window.EventSource;
        window.EventSource = class extends Source { constructor(address) { super(address); window.stream = this; } };
        """})
    walk.open(policy)

    def send(words):
        walk.browser.execute_script(
            "stream.close(); stream.dispatchEvent(new MessageEvent('page', {data: JSON.stringify(arguments[0])}))", words)

    def point(name):
        walk.browser.execute_script("document.querySelector('main').dispatchEvent(new PointerEvent(arguments[0], {bubbles: true}))", name)

    point("pointerdown")
    send("<p>the first</p><input id='field' aria-label='Field'>")
    check("the first" not in walk.text(), "nothing is replaced under a pressed button")
    point("pointerup")
    walk.wait("what came while a button was pressed", lambda: "the first" in walk.text())
    walk.find("#field").click()
    send("<p>the second</p>")
    check("the second" not in walk.text(), "nothing is replaced while a field is filled in")
    walk.browser.execute_script("document.activeElement.blur()")
    walk.expect("the second", "what came while a field was filled in")
    send("<input id='field' aria-label='Field'>")
    walk.find("#field").send_keys("x")
    walk.browser.execute_script("document.activeElement.blur()")
    send("<p>the third</p>")
    check("the third" not in walk.text(), "nothing is replaced that is filled in and not sent yet")
    walk.find("#field").send_keys(Keys.BACKSPACE)
    walk.browser.execute_script("document.activeElement.blur()")
    walk.expect("the third", "what came while something was filled in")
    walk.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def wipe(walk):
    """Asks what a person may do, and wipes their phone, up to the verified receipt."""
    walk.open("/console/ask")
    walk.fill("person", "worker@contoso.example")
    walk.tick("[name=action] [value=print]")
    walk.press("Ask")
    walk.expect("The smallest change that would allow it", "the answer")
    check("No." in walk.text() and any(row.startswith("Block printing yes Pilot <b>group</b>") for row in walk.rows()), f"printing is refused: {walk.rows()}")
    check("Pilot <b>group</b> Block printing yes no" in walk.rows(), f"what would allow it: {walk.rows()}")
    walk.picture("ask")
    walk.look("ask, answered")
    walk.open("/console/people")
    walk.press("Worker A")
    walk.press("Wipe a device…")
    walk.wait("the number", lambda: "Repeat the number" in walk.text())
    walk.picture("wipe")
    walk.look("wipe")
    number = re.search(r"Repeat the number (\d{4})", walk.text()).group(1)
    walk.fill("number", number)
    walk.press("Wipe")
    walk.wait("the verified receipt, without loading the page again", lambda: "4 of 4: done, receipt verified" in walk.text())
    time_of_step = r"\s+\d{4}-\d\d-\d\d \d\d:\d\d UTC\s+"
    check(re.search(time_of_step.join(["requested", "delivered", "under way", "done", ""]), walk.text()),
          f"each step of the wipe has its time: {walk.text()[:600]}")
    walk.picture("wipes")


def find_device(walk):
    """Which device is which, why a person is not protected, and that the audit log says who did what and is whole."""
    walk.open("/console/devices")
    check({"Worker A", "Worker B"} <= set(walk.labels("main td a")), f"each device has its person: {walk.text()[:600]}")
    walk.follow("main td a")
    for fact in ("Model", "Device tag", "Last contact", "Protection library", "In force", "Meant to be in force"):
        walk.expect(fact, f"the page of a device says {fact}")
    walk.open("/console/people/oid-ada")
    walk.expect("No app of this person is enrolled at present:", "a person who is not protected")
    walk.expect("Assign a protection policy to a group of the person.", "what would protect them")
    walk.open("/console/audit?what=policy")
    walk.expect("policy.assign", "the audit names the change")
    walk.expect("Block printing: no → yes", "the audit says what was changed, in the words of the other pages")
    check("registration.create" not in walk.text(), "the audit is filtered")
    walk.press("Verify the whole log")
    walk.expect("The log is complete: no record was changed, removed or added.", "the log is verified")


def count(walk):
    """What a filter fits is counted on its page, and the page of a report names the versions in use."""
    walk.open("/console/service/filters/new")
    walk.fill("name", "First versions")
    walk.fill("rule", '(app.appVersion -startsWith "1")')
    walk.press("Save the filter")
    walk.wait("what the filter fits", lambda: re.search(r"Fits \d+ of \d+ apps on devices at present", walk.text()))
    walk.look("a filter")
    walk.open("/console/reports/versions")
    check(re.search(r"com\.contoso\.notes\s+app\s+1\.0", walk.text()), f"versions in use: {walk.text()[:400]}")
    walk.look("versions in use")


def approve(walk, other, policy):
    """A change that removes more data than one administrator may alone waits for the second, whose release it passes with once."""
    walk.open(policy + "/edit/launch")
    walk.fill("s.minimumWipeOsVersion", "99")
    walk.press("Preview")
    walk.expect("This can remove organisation data from devices:", "the preview says what can remove data")
    walk.expect("A second administrator has to release this change", "the preview says that it will wait")
    walk.press("Publish")
    walk.wait("the waiting change", lambda: "/console/approvals/" in walk.browser.current_url)
    change = path(walk)
    walk.expect("Send them the address of this page", "its author is told whom to ask")
    check("Release" not in walk.labels("main button"), "its author cannot release it")
    walk.look("approval, as its author sees it")
    sign_in(other, "oid-bea", change)
    other.look("approval, as the second person sees it")
    other.press("Release")
    # The author's page says so by itself.
    walk.wait("the release, without loading the page again", lambda: "A second administrator released this change." in walk.text())
    walk.press("Open the form")
    check(walk.value("s.minimumWipeOsVersion") == "99", "what was filled in is still there")
    walk.press("Preview")
    walk.press("Publish")
    walk.wait("the policy's page", lambda: path(walk) == policy)
    walk.wait("the condition with its action", lambda: "Lowest system version: wipe below 99 wipe" in walk.rows())
    other.open(change)
    other.wait("the change, done", lambda: re.search(r"State\s+done", other.text()))


def meet(walk, other, policy):
    """Two administrators on one policy: the second is told, and nothing is overwritten."""
    walk.open(policy + "/edit/storage")
    walk.tick("[name='s.dataBackupBlocked']", on=False)  # Level 2 blocks backups.
    walk.press("Preview")
    walk.expect("This gets weaker:", "the preview says what gets weaker")
    other.open(policy + "/edit/transfer")
    other.fill("description", "By the other")
    other.press("Preview")
    other.press("Publish")
    walk.press("Publish")
    walk.expect("Another administrator changed this policy while you did.", "the second is told")
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.look("conflict")
    walk.open(policy)
    check("By the other" in walk.text(), "nothing was overwritten")


def return_later(walk):
    """The back button, a second tab and an ended session lose nothing of what was filled in."""
    walk.open("/console/policies/import")
    walk.fill("json", "not yet JSON")
    walk.press("Make the policy")
    walk.browser.back()
    walk.wait("what was filled in, after the back button", lambda: walk.find("[name=json]").get_attribute("value") == "not yet JSON")
    walk.browser.get_log("browser")
    first = walk.browser.current_window_handle
    walk.open("/console/configurations/new")
    walk.fill("name", "First tab")
    walk.browser.switch_to.new_window("tab")
    walk.open("/console/configurations/new")
    walk.fill("name", "Second tab")
    walk.press("Save")
    walk.browser.close()
    walk.browser.switch_to.window(first)
    walk.press("Save")
    walk.open("/console/configurations")
    check("First tab" in walk.text() and "Second tab" in walk.text(), "each of two tabs saves what was filled in there")
    walk.browser.delete_all_cookies()

    def begin_briefly():
        # On a slow machine the session may have ended before its first page is there.
        walk.open("/console/policies/new")
        if "Who are you?" in walk.text():
            walk.follow("#oid-ada-briefly")
        return path(walk) == "/console/policies/new"

    walk.wait("the form", begin_briefly)
    walk.fill("name", "Kept over the end")
    # Asking for a page neither prolongs a session nor leaves the form.
    walk.wait("the end of the session", lambda: walk.browser.execute_async_script(
        "const done = arguments[0]; fetch('/console/policies/new', {redirect: 'manual'}).then((answer) => done(answer.type === 'opaqueredirect'), () => done(false));"))
    walk.press("Make the policy")
    walk.expect("What you filled in is kept for you.", "an ended session says what became of the form")
    walk.look("ended session")
    walk.press("Sign in")
    walk.follow("#oid-ada")
    walk.wait("the form", lambda: path(walk) == "/console/policies/new")
    check(walk.value("name") == "Kept over the end", "the form is filled in after signing in again")


def help_desk(walk, policy):
    """A person of the help desk publishes neither by page nor by a request made by hand."""
    walk.browser.delete_all_cookies()
    sign_in(walk, "oid-hedy", policy)
    check("Change:" not in walk.text() and "Assign" not in walk.labels("main a"),
          "the help desk is offered no change")
    walk.open(policy + "/edit/transfer")
    check("You may not do this" in walk.text(), f"the help desk has no editor: {walk.text()[:300]}")
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.look("a page that a role may not see")
    walk.open(policy)
    answers = walk.browser.execute_async_script("""
        const done = arguments[arguments.length - 1], csrf = document.querySelector("[name=csrf]").value;
        const send = (path, fields) => fetch(arguments[0] + path, {method: "POST", body: new URLSearchParams({csrf, ...fields})}).then((answer) => answer.status);
        Promise.all([send("/publish/transfer", {"s.printBlocked": "", "name": "x"}), send("/assign", {everybody: "true"}), send("/apps", {apps: ""})]).then(done, (error) => done([String(error)]));
        """, policy)
    check(answers == [403, 403, 403], f"requests made by hand are refused: {answers}")
    walk.browser.get_log("browser")
    walk.follow("header form[action='/console/sign-out'] button")
    walk.expect("You are signed out of the console.", "the end of the session")
    walk.look("signed out")


def govern(walk, policy):
    """A person is blocked and unblocked; values for apps, an app of the catalogue, a scope tag, a role and a new key are made."""
    walk.open("/console/people/oid-hedy")
    walk.press("Wipe everything and block…")
    walk.press("Wipe and block")
    walk.expect("This person is blocked", "the person is blocked")
    walk.open("/console/blocked")
    check(any(re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC ada@contoso\.example", row) for row in walk.rows()), f"since when and by whom a person is blocked: {walk.rows()}")
    walk.follow("main td a")
    walk.press("Unblock…")
    walk.look("unblock")
    walk.press("Unblock")
    walk.wait("the person, not blocked", lambda: path(walk) == "/console/people/oid-hedy" and "This person is blocked" not in walk.text())
    walk.open("/console/configurations/new")
    for name, value in (("name", "Server"), ("key.0", "server"), ("value.0", "https://notes.contoso.example"), ("key.1", "token"), ("value.1", "hush"),
                        ("key.2", "account"), ("value.2", "{{userprincipalname}}")):
        walk.fill(name, value)
    walk.tick("[name='secret.1']")
    walk.press("Save")
    walk.wait("the configuration", lambda: walk.value("value.0") == "https://notes.contoso.example")
    check("hush" not in walk.browser.page_source, "a secret value is on the page")
    configuration = path(walk)
    walk.fill("person", "worker@contoso.example")
    walk.press("Show")
    walk.expect("Values of Worker A", "the values of a person")
    check({"account worker@contoso.example", "token secret"} <= set(walk.rows()), f"what the person's apps get: {walk.rows()}")
    walk.look("values of a person")
    walk.press("Apps")
    walk.fill("apps", "com.contoso.notes")
    walk.press("Save the apps")
    walk.wait("the configuration", lambda: path(walk) == configuration)
    walk.press("Assign")
    walk.tick("[name=included]")
    walk.press("Preview")
    walk.press("Publish")
    walk.wait("the configuration", lambda: path(walk) == configuration)
    walk.open("/console/people/oid-second/rules?app=com.contoso.notes")
    walk.wait("the configuration among a person's rules", lambda: "account second@contoso.example Server" in walk.rows())
    for page, fields, button, shown in (
            ("/console/service/catalogue/new", (("name", "Contoso Notes"), ("bundle", "com.contoso.notes")), "Save the app", "Contoso Notes"),
            ("/console/service/tags/new", (("name", "North"),), "Save the scope tag", "North"),
            ("/console/roles/new", (("name", "Readers"), ("members", "user:oid-worker")), "Save the role", "Readers")):
        walk.open(page)
        for name, value in fields:
            walk.fill(name, value)
        if page == "/console/roles/new":
            walk.tick("[name='permissions'][value='read']")
        walk.press(button)
        walk.wait(f"what {page} made", lambda: path(walk) == page.rsplit("/", 1)[0] and shown in walk.text())
        if page == "/console/service/catalogue/new":
            check(any("com.contoso.notes" in row and row.endswith(" 1.0") for row in walk.rows()), f"the versions in use: {walk.rows()}")
    walk.press("Readers")
    check(walk.value("members") == "user:oid-worker", "the role's member is named")
    check(walk.find("[name='permissions'][value='read']").is_selected(), "the role's permission is ticked")
    # A tag on a policy, and off no other member of it.
    walk.open(policy + "/edit/transfer")
    walk.tick_label("North")
    walk.press("Preview")
    walk.press("Publish")
    walk.wait("the policy", lambda: path(walk) == policy)
    walk.open(policy + "/edit/transfer")
    walk.tick_label("North")
    walk.press("Preview")
    walk.expect("Nothing would change.", "a tag that is there already is no change")
    walk.open("/console/service/connections")
    walk.expect("can be reached", "the identity provider's state")
    check("/scim/v2" in walk.text() and "not connected" in walk.text(), "what directories and alerts are connected with")
    walk.open("/console/service/groups")
    walk.fill("search", "Night")
    walk.press("Search")
    walk.wait("the group that was searched for", lambda: [row[:21] for row in walk.rows()] == ["Night shift kept here"])
    walk.open("/console/service/keys")
    walk.press("Make a new key")
    walk.wait("the new key", lambda: path(walk) == "/console/service" and walk.text().count("Rules for apps") == 2)


def come_and_go(walk):
    """A page that is not seen holds no connection, and asks for one when it is seen again."""
    script = "window.opened = 0; const Source = window.EventSource; window.EventSource = class extends Source { constructor(address) { super(address); window.opened += 1; window.stream = this; } };"
    added = walk.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    walk.open("/console/approvals")
    walk.wait("a stream", lambda: walk.browser.execute_script("return window.opened") == 1)
    for is_hidden in (True, False):
        walk.browser.execute_script(
            "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true}); document.dispatchEvent(new Event('visibilitychange'))", is_hidden)
        state = walk.browser.execute_script("return [stream.readyState === EventSource.CLOSED, window.opened]")
        check(state == ([True, 1] if is_hidden else [False, 2]), f"hidden {is_hidden}: {state}")
    walk.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def keyboard(walk):
    """The menu can be skipped, and a policy is made from the overview with the keyboard alone."""
    walk.open("/console")
    walk.find("body").send_keys(Keys.TAB)
    walk.wait("the first stop, which skips the menu", lambda: walk.browser.switch_to.active_element.text == "Skip to the page")
    walk.keys("Policies")
    walk.keys("New policy from a baseline")
    walk.keys("name", "By keyboard")
    walk.keys("level2", Keys.SPACE)
    walk.keys("Make the policy")
    walk.wait("the policy that the keyboard alone has made", lambda: "By keyboard" in walk.find("h1").text)


def pattern(address):
    """The declared path that an address belongs to."""
    names = address.split("?")[0].strip("/").split("/")
    fitting = [route for route in ROUTES if len(route.strip("/").split("/")) == len(names)
               and all(part.startswith(":") or part == name for part, name in zip(route.strip("/").split("/"), names))]
    return min(fitting, key=lambda route: route.count(":"), default=None)


def every_page(walk, policy):
    """Follows links to one page of each declared path and looks at it, beginning with a policy that is assigned; the addresses."""
    waiting, seen, elsewhere = ["/console", policy, "/console/people/oid-worker"], {}, set()
    while waiting:
        address = waiting.pop(0)
        route = pattern(address)
        if route is None or route in seen or address in elsewhere:
            continue
        if route.endswith(FILES):
            seen[route] = address
            continue
        walk.open(address)
        if pattern(path(walk)) != route:
            elsewhere.add(address)  # An app configuration among a person's policies has a page of its own.
            continue
        seen[route] = address
        walk.look(route)
        if route in PICTURED:
            for is_dark, name in ((False, "light"), (True, "dark")):
                walk.dark(is_dark)
                walk.picture_as(PICTURED[route], name)
            walk.dark(False)
        for link in walk.links():
            href = urllib.parse.urlsplit(link)
            waiting.append(href.path + ("?" + href.query if href.query else ""))
    # A person who is not blocked has no link to unblock them.
    missing = set(ROUTES) - set(seen) - {"/console/people/:id/unblock"}
    check(not missing, f"no link leads to {sorted(missing)}")
    return [address for route, address in seen.items() if not route.endswith(FILES)]


def in_german(walk, addresses):
    """The language is chosen in the header, and holds on every page; longer words need no wider window."""
    walk.open("/console/policies")
    [one for one in walk.browser.find_elements(By.CSS_SELECTOR, "header button") if one.text == "Deutsch"][0].click()
    walk.wait("the policies in German", lambda: walk.find("h1").text == "Richtlinien")
    walk.axe("policies in German", {})
    walk.size(360)
    for address in addresses:
        walk.open(address)
        check(walk.find("html").get_attribute("lang") == "de", f"{address} is not in German")
        walk.narrow(address + " in German at 360 pixels")


def main():
    began = time.monotonic()

    def lap(what):
        print(f"{time.monotonic() - began:6.1f} s {what}", flush=True)

    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        ada, bea = browser(first, "ada"), browser(second, "bea")
        try:
            sign_in(ada, "oid-ada")
            console_pages.empty(ada)
            lap("empty pages")
            policy = protect(ada)
            lap("a pilot group is protected")
            hold(ada, policy)
            console_policies.mistake(ada, policy)
            find_device(ada)
            wipe(ada)
            lap("a phone is wiped")
            count(ada)
            approve(ada, bea, policy)
            meet(ada, bea, policy)
            lap("two administrators have met")
            console_policies.many(ada, policy)
            lap("several policies")
            console_people.lose(bea)
            help_desk(bea, policy)
            bea.browser.quit()
            bea = None
            console_policies.put_back(ada, policy)
            console_people.erase(ada)
            lap("a person is erased")
            govern(ada, policy)
            console_policies.default_values(ada)
            console_pages.reports(ada)
            console_pages.keep(ada)
            console_pages.fail(ada)
            come_and_go(ada)
            lap("what administrators do less often")
            return_later(ada)
            keyboard(ada)
            lap("the keyboard alone")
            addresses = every_page(ada, policy)
            lap(f"{len(addresses)} pages")
            console_pages.attack(ada, addresses)
            lap("hostile texts")
            in_german(ada, addresses)
            lap("in German")
        finally:
            ada.browser.quit()
            if bea:
                bea.browser.quit()
    print(json.dumps({"faults": len(faults)}))
    sys.exit(1 if faults else 0)


main()
