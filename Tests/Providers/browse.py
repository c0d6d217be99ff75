"""Walks a headless Chromium through a provider's pages as a person would.

Reads one JSON object a line: page, destination (an address or a text), user, password. Opens the page, fills in whatever form comes, presses the
button that goes on, and answers with one line when the browser arrives at the destination. Cookies last from line to
line; the browser closes with standard input.
"""

import json
import signal
import sys
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By

GOING_ON = (
    "continue", "next", "sign in", "log in", "login", "accept", "allow", "grant", "yes", "log out", "logout", "ok",
    "submit",
)


def visible(browser, selector):
    return [element for element in browser.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()]


def step(browser, user, password):
    """Does the next thing a person would do on this page; whether there was any."""
    for selector, text in (("input[type=password]", password), ("input[type=text], input[type=email]", user)):
        for field in visible(browser, selector):
            if not field.get_attribute("value") and field.is_enabled():
                field.send_keys(text)
    if any(not field.get_attribute("value") for field in visible(browser, "input[type=password]")):
        return False
    buttons = visible(browser, "button, input[type=submit], a.button, a.btn")
    for word in GOING_ON:
        for button in buttons:
            label = (button.text or button.get_attribute("value") or "").strip().lower()
            if label.startswith(word) and button.is_enabled():
                button.click()
                return True
    return False


def has_arrived(browser, destination):
    """Whether the browser is at an address, or shows a text."""
    if destination.startswith("http"):
        return browser.current_url.startswith(destination)
    return destination in browser.find_element(By.TAG_NAME, "body").text


def visit(browser, page, destination, user, password):
    """Goes from a page to where it leads; what happened, as a record."""
    browser.get(page)
    deadline = time.monotonic() + 90
    while not has_arrived(browser, destination):
        if time.monotonic() > deadline:
            text = browser.find_element(By.TAG_NAME, "body").text
            return {"stuck": browser.current_url.split("?")[0], "text": text[:400]}
        try:
            step(browser, user, password)
        except WebDriverException:
            pass  # The page changed under the hand; look again.
        time.sleep(0.2)
    return {"arrived": browser.current_url.split("?")[0]}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={profile}")
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        try:
            for line in sys.stdin:
                try:
                    result = visit(browser, **json.loads(line))
                except WebDriverException as error:
                    result = {"stuck": str(error.msg)}
                print(json.dumps(result), flush=True)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
