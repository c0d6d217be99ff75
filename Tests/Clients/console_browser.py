"""A headless Chromium that presses, fills in and looks as a person at the console would, and the list of what was wrong."""

import os
import pathlib
import re
import time
import urllib.parse

import axe_selenium_python
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ADDRESS = os.environ["CORDON_CONSOLE"]
PICTURES = os.environ.get("CORDON_PICTURES")
AXE = pathlib.Path(axe_selenium_python.__file__).parent.joinpath("node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
# Conditions are waited for, so a long limit costs nothing where they hold: it is for a machine that does much else.
PATIENCE = 90
faults = []


def check(condition, what):
    if not condition:
        faults.append(what)
        print("FAULT", what, flush=True)


def path(walk):
    return urllib.parse.urlsplit(walk.browser.current_url).path


def sign_in(walk, person, page="/console"):
    walk.open(page)
    walk.wait("the provider's page", lambda: "Who are you?" in walk.text())
    walk.follow(f"#{person}")
    walk.wait("the page of the console", lambda: path(walk) == page)


def is_gone(element):
    """Whether an element's page was replaced: the driver knows it no more."""
    try:
        element.is_enabled()
        return False
    except WebDriverException:
        return True


class Walk:
    def __init__(self, browser, name, files):
        self.browser, self.name, self.files = browser, name, pathlib.Path(files)

    def open(self, path):
        self.browser.get(ADDRESS + path)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def patient(self, what, attempt, seconds=PATIENCE):
        """What an attempt answers, made again while the page moves under it, until it is neither None nor False."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                answer = attempt()
                if answer is not None and answer is not False:
                    return answer
            except WebDriverException:
                pass  # The page is being replaced, or is not complete yet, which the driver tells in several ways.
            if time.monotonic() > deadline:
                check(False, f"{what}: not within {seconds} s at {self.browser.current_url}, {self.browser.title}")
                return None
            time.sleep(0.1)

    def text(self):
        return self.patient("the page's text", lambda: self.find("body").text) or ""

    def expect(self, words, what):
        """Waits until the page says these words."""
        self.wait(what, lambda: words in self.text())

    def labels(self, selector):
        """The texts of elements at one moment, so that a page that changes by itself does not take one away meanwhile."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim())", selector)

    def rows(self):
        """The rows of the page's tables, the cells of each with a space between."""
        return [re.sub(r"\s+", " ", row) for row in self.labels("main tbody tr")]

    def tile(self, words):
        """The number of the overview's tile that says this."""
        return next((text.split()[0] for text in self.labels("main .tiles li") if words in text), None)

    def links(self):
        """Where the links of the page lead at one moment."""
        return self.browser.execute_script("return [...document.querySelectorAll('a[href]')].map((one) => one.href)")

    def leave(self, act):
        """Whether another page is there after an act. A page that is being left is waited for, so that nothing is sent twice."""
        page = self.find("html")
        self.browser.execute_script(
            "addEventListener('beforeunload', () => { document.documentElement.dataset.left = 'yes'; })")
        try:
            act()
        except WebDriverException:
            return is_gone(page)
        began = time.monotonic()
        while not is_gone(page):
            try:
                is_leaving = page.get_attribute("data-left") == "yes"
            except WebDriverException:
                return True
            if time.monotonic() - began > (PATIENCE if is_leaving else 5):
                return False  # The page was replaced under the pointer; a person presses again.
            time.sleep(0.05)
        return True

    def follow(self, selector):
        """Clicks on a link or a button, and waits until another page is there."""
        self.patient(f"following {selector}", lambda: self.leave(self.find(selector).click))

    def tick(self, selector, on=True):
        """Makes sure that a box is ticked, or is not, or that an option is chosen."""
        def attempt():
            box = self.find(selector)
            if box.is_selected() is not on:
                box.click()
            return self.find(selector).is_selected() is on
        self.patient(f"ticking {selector}", attempt)

    def unfold(self, words):
        """Makes sure that what stands under these words is shown."""
        def attempt():
            for summary in self.browser.find_elements(By.CSS_SELECTOR, "main summary"):
                if summary.text.strip() == words:
                    details = summary.find_element(By.XPATH, "..")
                    if details.get_attribute("open") is None:
                        summary.click()
                    return details.get_attribute("open") is not None
            return False
        self.patient(f"unfolding {words}", attempt)

    def tick_label(self, words, on=True):
        """Makes sure that the box with this label is ticked, or is not."""
        def attempt():
            for label in self.browser.find_elements(By.CSS_SELECTOR, "main label.check"):
                if label.text.strip() == words:
                    box = label.find_element(By.TAG_NAME, "input")
                    if box.is_selected() is not on:
                        box.click()
                    return box.is_selected() is on
            return False
        self.patient(f"ticking {words}", attempt)

    def file(self, name):
        """The text of a file that was downloaded under this name."""
        place = self.files / name
        self.wait(f"the file {name}", lambda: place.exists() and not list(self.files.glob("*.crdownload")))
        if not place.exists():
            return ""
        text = place.read_bytes().decode("utf-8")
        place.unlink()
        return text

    def download(self, label, name):
        """Follows a link to a file; its text. The page stays, and the answer names the file."""
        def link():
            for one in self.browser.find_elements(By.CSS_SELECTOR, "main a"):
                if one.text.strip() == label:
                    return one
            raise WebDriverException(f"no link is called {label}")

        def told():
            return self.browser.execute_async_script(
                "const done = arguments[1]; fetch(arguments[0]).then((answer) => done(answer.headers.get('content-disposition') || 'none'), (error) => done(String(error)));",
                link().get_attribute("href"))

        page = self.browser.current_url
        disposition = self.patient(f"asking for {label}", told)
        check(disposition == f'attachment; filename="{name}"', f"{name} is sent as {disposition}")
        self.patient(f"following {label}", lambda: link().click() or True)
        text = self.file(name)
        check(self.browser.current_url == page, f"downloading {name} left the page")
        return text

    def value(self, name):
        return self.patient(f"the field {name}", lambda: self.find(f"main [name='{name}']").get_attribute("value"))

    def wait(self, what, condition, seconds=PATIENCE):
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
        """Presses what is called so, on a page that may be shown anew meanwhile, and waits until another page is there."""
        def attempt():
            for button in self.browser.find_elements(By.CSS_SELECTOR, "main button, main a"):
                if button.text.strip() == label:
                    return self.leave(button.click)
            return False
        self.patient(f"pressing {label}", attempt)

    def put(self, name, value):
        """Fills a long text in at once."""
        self.patient(f"putting {name}", lambda: self.browser.execute_script(
            "const field = document.querySelector(`main [name='${arguments[0]}']`); field.value = arguments[1]; return field.value.length > 0;", name, value))

    def fill(self, name, value):
        """Fills a field in, on a page that may not be complete yet."""
        def attempt():
            field = self.find(f"main [name='{name}']")
            field.clear()
            field.send_keys(value)
            return field.get_attribute("value") == value
        self.patient(f"filling in {name}", attempt)

    def axe(self, place, options):
        """What axe finds on the page as it is shown now."""
        if not self.browser.execute_script("return Boolean(window.axe)"):
            self.browser.execute_script(AXE)
        result = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run(document, arguments[0]).then(done, (error) => done({violations: [{id: String(error), help: '', nodes: []}]}));",
            options)
        for violation in result["violations"]:
            nodes = [node["html"][:160] for node in violation["nodes"][:3]]
            check(False, f"{self.name} {place}: {violation['id']}: {violation['help']}: {nodes}")

    def narrow(self, place):
        wide = self.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"{self.name} {place}: {wide} pixels wider than the window")

    def reach(self, place):
        """Everything that can be used is a stop of the keyboard, in the order of the page."""
        missed = self.browser.execute_script("""
            return [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea")]
              .filter((one) => !one.matches(":disabled") && one.tabIndex !== 0).map((one) => one.outerHTML.slice(0, 120));
            """)
        check(not missed, f"{self.name} {place}: the keyboard does not reach {missed[:3]}")

    def still(self, is_still):
        """A page that changes by itself waits while a button is held down."""
        self.browser.execute_script("dispatchEvent(new PointerEvent(arguments[0]))", "pointerdown" if is_still else "pointerup")

    def look(self, place):
        """What axe finds in light and, of contrast, in dark; whether 360 pixels are enough; and what the browser complained of."""
        self.still(True)
        self.axe(place, {})
        self.reach(place)
        self.narrow(place)
        self.size(360)
        self.narrow(place + " at 360 pixels")
        self.size(1280)
        self.dark(True)
        self.axe(place + ", dark", {"runOnly": {"type": "rule", "values": ["color-contrast"]}})
        self.dark(False)
        self.still(False)
        for line in self.browser.get_log("browser"):
            # The provider's page has no picture; it is not a page of the console.
            check(line["level"] != "SEVERE" or "/favicon.ico" in line["message"], f"{self.name} {place}: {line['message'][:300]}")

    def size(self, width):
        # Narrow windows are not made smaller than 500 pixels; pages can be.
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})

    def dark(self, is_dark):
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def keys(self, label, key=Keys.ENTER):
        """Goes to what is called so with the tabulator alone, and presses a key there."""
        for _ in range(120):
            try:
                active = self.browser.switch_to.active_element
                if label not in (active.text.strip(), active.get_attribute("name"), active.get_attribute("value")):
                    active.send_keys(Keys.TAB)
                elif key != Keys.ENTER:
                    return active.send_keys(key)
                elif self.leave(lambda: active.send_keys(key)):
                    return None
            except WebDriverException:
                pass  # The page changed by itself, and gave the focus to what is there now.
        check(False, f"the keyboard does not reach {label} at {self.browser.current_url}")

    def picture(self, name):
        self.picture_as(name, "light")

    def picture_as(self, name, look):
        if PICTURES:
            self.browser.execute_script("window.scrollTo(0, 0)")
            # As docs/pictures has them.
            suffix = "" if look == "light" else "-" + look
            self.browser.save_screenshot(os.path.join(PICTURES, f"console-{name}{suffix}.png"))


def browser(profile, name):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 "--window-size=1280,900", "--lang=en", "--accept-lang=en"):
        options.add_argument(flag)
    files = os.path.join(profile, "files")
    os.makedirs(files)
    options.add_experimental_option("prefs", {
        "download.default_directory": files, "download.prompt_for_download": False, "download.directory_upgrade": True})
    walk = Walk(webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver")), name, files)
    walk.browser.set_script_timeout(30)
    walk.size(1280)
    walk.dark(False)
    return walk
