"""Walks a headless Chromium through the console as an administrator would, and looks at every page with axe.

Takes the console's address in CORDON_CONSOLE, and a folder for pictures in CORDON_PICTURES where there shall be some. A device of the test checks in
meanwhile. Ends with 1 and says where, if a page is not as it should be.
"""

import json
import os
import re
import sys
import tempfile
import time
import urllib.parse

from axe_selenium_python import Axe
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

ADDRESS = os.environ["CORDON_CONSOLE"]
PICTURES = os.environ.get("CORDON_PICTURES")
faults = []


def check(condition, what):
    if not condition:
        faults.append(what)
        print("FAULT", what, flush=True)


class Walk:
    def __init__(self, browser, name):
        self.browser, self.name = browser, name

    def open(self, path):
        self.browser.get(ADDRESS + path)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self):
        return self.find("body").text

    def wait(self, what, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except Exception:
                pass
            time.sleep(0.1)
        check(False, f"{what}: not within {seconds} s at {self.browser.current_url}: {self.text()[:600]}")

    def press(self, label):
        """Presses what is called so, on a page that may be shown anew meanwhile, and waits until something else is there."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                for button in self.browser.find_elements(By.CSS_SELECTOR, "main button, main a"):
                    if button.text.strip() == label:
                        page = self.find("html")
                        button.click()
                        WebDriverWait(self.browser, 10).until(expected_conditions.staleness_of(page))
                        return
            except StaleElementReferenceException:
                pass
            time.sleep(0.1)
        check(False, f"no {label} at {self.browser.current_url}: {self.text()[:400]}")

    def fill(self, name, value):
        field = self.find(f"main [name='{name}']")
        field.clear()
        field.send_keys(value)

    def look(self, place):
        """What axe finds, whether the page is wider than the window, and what the browser complained of."""
        axe = Axe(self.browser)
        axe.inject()
        for violation in axe.run()["violations"]:
            nodes = [node["html"][:160] for node in violation["nodes"][:3]]
            check(False, f"{self.name} {place}: {violation['id']}: {violation['help']}: {nodes}")
        wide = self.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"{self.name} {place}: {wide} pixels wider than the window")
        for line in self.browser.get_log("browser"):
            # The provider's page has no picture; it is not a page of the console.
            check(line["level"] != "SEVERE" or "/favicon.ico" in line["message"], f"{self.name} {place}: {line['message'][:300]}")

    def picture(self, name):
        if PICTURES:
            self.browser.save_screenshot(os.path.join(PICTURES, f"{name}-{self.name}.png"))


def browser(profile, dark, width):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 f"--window-size={width},900"):
        options.add_argument(flag)
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    made.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    # Narrow windows are not made smaller than 500 pixels; pages can be.
    made.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    return made


def sign_in(walk, person):
    walk.open("/console")
    walk.wait("the provider's page", lambda: "Who are you?" in walk.text())
    walk.find(f"#{person}").click()
    walk.wait("the overview", lambda: walk.browser.current_url.endswith("/console"))


def work(walk):
    """What an administrator does with a pilot group, up to a verified receipt."""
    sign_in(walk, "oid-ada")
    walk.open("/console/policies/new")
    walk.fill("name", "Pilot <b>group</b>")
    walk.find("[value=level2]").click()
    walk.press("Make the policy")
    walk.wait("the policy", lambda: "This policy is not assigned yet." in walk.text())
    policy = urllib.parse.urlsplit(walk.browser.current_url).path
    check("Pilot <b>group</b>" in walk.text(), "the name is shown as it was typed")
    walk.press("Apps")
    walk.fill("apps", "com.contoso.notes")
    walk.press("Save the apps")
    walk.press("Assign")
    walk.find("[name=included]").click()
    walk.press("Preview")
    check("Who is affected: one person" in walk.text(), f"the preview names who is affected: {walk.text()[:400]}")
    walk.look("preview of an assignment")
    walk.press("Publish")
    walk.press("Change: Data protection")
    walk.find("[name='s.printBlocked']").click()
    walk.press("Preview")
    check("stricter" in walk.text(), "the preview says what gets stricter")
    walk.picture("preview")
    walk.look("preview")
    walk.press("Publish")
    walk.wait("the policy's page", lambda: walk.browser.current_url.endswith(policy))
    # The device of the test checks in; the page is not loaded again.
    walk.browser.execute_script("window.notLoadedAgain = true")
    walk.wait("the device with the new version, without loading the page again",
              lambda: re.search(r"Apps that wait for this version\s+none", walk.text()) and re.search(r"People with it in force\s+1", walk.text()), 30)
    check(walk.browser.execute_script("return window.notLoadedAgain") is True, "the page was loaded again")
    walk.picture("policy")
    walk.open("/console/ask?person=worker@contoso.example&action=print")
    check("No." in walk.text() and "Block printing" in walk.text(), f"printing is refused: {walk.text()[:500]}")
    walk.picture("ask")
    walk.look("ask, answered")
    walk.open("/console/people/oid-worker/wipe")
    walk.find("main td a").click()
    walk.picture("wipe")
    walk.look("wipe")
    number = re.search(r"Repeat the number (\d{4})", walk.text()).group(1)
    walk.fill("number", number)
    walk.press("Wipe")
    walk.wait("the verified receipt, without loading the page again", lambda: "4 of 4: done, receipt verified" in walk.text(), 30)
    walk.picture("wipes")
    return policy


def keyboard(walk):
    """The page is reached past the menu, and every part of a form, without a pointer."""
    walk.open("/console/policies/new")
    walk.find("body").send_keys(Keys.TAB)
    check(walk.browser.switch_to.active_element.text == "Skip to the page", "the first stop skips the menu")
    walk.browser.switch_to.active_element.send_keys(Keys.ENTER)
    seen = set()
    for _ in range(12):
        active = walk.browser.switch_to.active_element
        active.send_keys(Keys.TAB)
        seen.add(walk.browser.switch_to.active_element.get_attribute("name") or walk.browser.switch_to.active_element.text)
    check({"name", "description", "level", "Make the policy"} <= seen, f"the keyboard reaches all of the form: {seen}")


def main():
    pages = ["", "/policies", "/policies/new", "/configurations", "/configurations/new", "/people", "/people/oid-worker", "/devices", "/wipes", "/ask",
             "/audit", "/audit/verify", "/reports", "/reports/wipes", "/reports/drift", "/roles", "/roles/new", "/service", "/service/accounts",
             "/service/filters/new", "/service/api", "/policies/import",
             "/approvals", "/blocked", "/people/oid-worker/block", "/people/oid-worker/erase", "/nowhere"]
    with tempfile.TemporaryDirectory() as profile:
        made = browser(profile, False, 1280)
        try:
            walk = Walk(made, "light")
            policy = work(walk)
            keyboard(walk)
        finally:
            made.quit()
    own = [policy[len("/console"):] + part for part in ("", "/edit/transfer", "/edit/access", "/edit/launch", "/edit/storage", "/apps", "/assignments", "/delete")]
    for name, dark, width in (("light", False, 1280), ("dark", True, 1280), ("narrow", False, 360)):
        with tempfile.TemporaryDirectory() as profile:
            made = browser(profile, dark, width)
            try:
                walk = Walk(made, name)
                sign_in(walk, "oid-ada")
                for path in pages + own:
                    walk.open("/console" + path)
                    if path == "/nowhere":
                        walk.browser.get_log("browser")
                    walk.look(path or "/")
                    if path in ("", "/policies", "/people/oid-worker", "/reports"):
                        walk.picture(path.strip("/").replace("/", "-") or "overview")
                    if path.endswith("/edit/transfer"):
                        walk.picture("edit")
            finally:
                made.quit()
    print(json.dumps({"faults": len(faults)}))
    sys.exit(1 if faults else 0)


main()
