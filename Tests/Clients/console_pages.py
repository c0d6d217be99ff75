"""What holds for many pages of the console: empty ones, errors, reports and their files, and hostile texts in every form."""

import csv
import io
import json
import urllib.parse

from selenium.webdriver.common.keys import Keys

from console_browser import check, path

REPORTS = ("flagged", "drift", "expiring", "versions", "wipes", "alerts")
# Breaks out of text, of an attribute and of a template, where it is not escaped.
HOSTILE = """x"><img class="hostile" src=x onerror="window.hostile=1"><script class='hostile'>window.hostile=1</script> onfocus=1 '`{{csrf}}"""


def empty(walk):
    """Pages of an organisation that has nothing yet say so, and what to do."""
    walk.wait("what to do first", lambda: "No person is protected yet: there is no policy." in walk.text() and "Make the first policy" in walk.labels("main a"))
    check("Nothing needs attention" not in walk.text(), "without a policy something is to do")
    walk.look("the first page of all")
    for page in ("/console/policies", "/console/configurations", "/console/people?search=zzz", "/console/people?state=unprotected", "/console/blocked",
                 "/console/devices", "/console/wipes", "/console/approvals", "/console/audit?what=zzz", "/console/service/groups?search=zzz",
                 "/console/service/catalogue", *(f"/console/reports/{name}" for name in REPORTS)):
        walk.open(page)
        walk.wait(f"what {page} says where there is nothing", lambda: any(walk.labels("main .empty")))
        walk.look(page + ", empty")


def fail(walk):
    """Pages that say what went wrong."""
    for page, words in (("/console/nothing", "There is nothing here"), ("/console/policies/none", "There is nothing here"),
                        ("/console/people/none", "There is nothing here"), ("/console/reports/none", "There is nothing here"),
                        ("/console/signed-in?state=x", "This sign-in is not known here any more.")):
        walk.open(page)
        walk.expect(words, f"what {page} says")
        walk.browser.get_log("browser")  # Which has the status of the answer.
        walk.look(page)
    walk.open("/console/policies/new")
    walk.fill("name", "Foreign")
    walk.browser.execute_script("document.querySelector('main [name=csrf]').value = 'another'")
    walk.press("Make the policy")
    walk.expect("This form was not sent from a page of your session.", "what a foreign form is told")
    walk.browser.get_log("browser")
    walk.look("a foreign form")


def reports(walk):
    """Each report as a page, as CSV and as JSON, with the rows that are looked for."""
    walk.open("/console/reports")
    check(len(walk.labels("main figure")) >= 2, "figures are drawn")
    for name in REPORTS:
        page = f"/console/reports/{name}"
        walk.open(page)
        walk.wait(f"the report {name}", lambda: "CSV" in walk.labels("main a"))
        walk.look(page)
        columns, rows = walk.labels("main th"), walk.rows()
        sheet = list(csv.reader(io.StringIO(walk.download("CSV", f"{name}.csv"), newline="")))
        records = json.loads(walk.download("JSON", f"{name}.json") or "null")
        check(bool(sheet) and isinstance(records, list), f"{name} is a table in both files")
        check(len(sheet) - 1 == len(records) >= len(rows), f"{name}: {len(sheet) - 1} lines, {len(records)} records, {len(rows)} rows")
        check(not columns or sheet[:1] == [columns], f"{name}: the columns {sheet[:1]} are those of the page, {columns}")
        check(bool(rows) or name not in ("versions", "wipes", "alerts"), f"{name} has rows by now")
    walk.open("/console/reports/wipes?search=oid-worker")
    walk.wait("the rows that were looked for", lambda: len(walk.rows()) == 1)
    sheet = list(csv.reader(io.StringIO(walk.download("CSV", "wipes.csv"), newline="")))
    check(len(sheet) == 2 and sheet[1][:3] == ["oid-worker", "com.contoso.notes", "succeeded"], f"the file has what was looked for: {sheet}")
    walk.open("/console/audit")
    lines = [json.loads(line) for line in walk.download("Download the log", "audit.jsonl").splitlines()]
    check(len(lines) > 20, f"the log has {len(lines)} lines")


def keep(walk):
    """A search of a report is saved under a name with the keyboard, found on the page of reports, and removed."""
    walk.open("/console/reports/wipes?search=oid-worker")
    walk.wait("the rows that were looked for", lambda: len(walk.rows()) == 1)
    walk.keys("Save a filter", Keys.SPACE)
    walk.wait("the form", lambda: walk.value("word") == "oid-worker" and walk.find("main [name=name]").is_displayed())
    walk.look("a filter to save")
    walk.fill("name", "Wipes of Worker A")
    walk.press("Save the filter")
    walk.wait("the saved filter", lambda: "Wipes of Worker A" in walk.labels("main .card a"))
    walk.keys("Save a filter", Keys.SPACE)
    walk.fill("name", "wipes of worker a")
    walk.press("Save the filter")
    walk.wait("a name that is taken", lambda: any("A filter of this name is saved already" in note for note in walk.labels("main .note.bad")))
    walk.browser.get_log("browser")  # Which has the status of the answer.
    walk.open("/console/reports")
    walk.wait("the saved filters", lambda: any(row.startswith("Wipes of Worker A Wipes oid-worker") for row in walk.rows()))
    walk.look("reports with a saved filter")
    walk.press("Wipes of Worker A")
    walk.wait("the filtered report", lambda: path(walk) == "/console/reports/wipes" and len(walk.rows()) == 1 and "oid-worker" in walk.browser.current_url)
    walk.open("/console/reports")
    walk.press("Remove")
    walk.expect("You have saved no filter.", "the filters without the one that was removed")


def forms(walk):
    """The forms of the page with something to type: which one, where it goes, and the names of the fields."""
    return walk.browser.execute_script("""
        return [...document.querySelectorAll("main form")].map((form, index) => ({
          index, method: form.getAttribute("method"), action: form.getAttribute("action"),
          names: [...form.querySelectorAll("input:not([type]), textarea")].filter((one) => !one.matches(":disabled")).map((one) => one.name)
        })).filter((form) => form.names.length > 0);
        """)


def ran(walk):
    """What of a hostile text is more than text on the page."""
    return walk.browser.execute_script("""
        return [window.hostile === 1, document.querySelectorAll(".hostile, [onerror], [onfocus]").length];
        """)


def send(walk, form, names):
    """Sends a form of the page with the hostile text in some of its fields."""
    def submit():
        walk.browser.execute_script("""
            const form = document.querySelectorAll("main form")[arguments[0]];
            for (const field of form.querySelectorAll("input:not([type]), textarea")) if (arguments[1].includes(field.name)) field.value = arguments[2];
            form.requestSubmit();
            """, form["index"], names, HOSTILE)
    walk.patient(f"sending {form['action']}", lambda: walk.leave(submit))
    walk.wait(f"the answer of {form['action']}", lambda: walk.find("main h1").text)
    check(ran(walk) == [False, 0], f"a hostile text runs in the answer of {form['action']}: {ran(walk)}")
    is_refused = bool(walk.labels("main .note.bad, main .error"))
    walk.browser.get_log("browser")  # Which has the status of the answer.
    return is_refused


def attack(walk, addresses):
    """Every form with a hostile text in each field, and then in its name alone, so that some are saved: none runs, there or on any page."""
    sent = set()
    pages = addresses + ["/console/people/oid-second/wipe?tag=tag-5678"]
    # Of each list, what is changed as well as what is new; of a policy, each group of settings.
    for page, prefix in (("/console/roles", "/console/roles/"), ("/console/configurations", "/console/configurations/"),
                         ("/console/service", "/console/service/filters/"), ("/console/service/catalogue", "/console/service/catalogue/"),
                         ("/console/service/tags", "/console/service/tags/")):
        walk.open(page)
        found = [urllib.parse.urlsplit(link).path for link in walk.links()]
        pages += [one for one in found if one.startswith(prefix)][:3]
    edit = next(address for address in addresses if "/edit/" in address).rsplit("/", 1)[0]
    pages += [f"{edit}/{group}" for group in ("transfer", "access", "launch", "storage")]
    for address in dict.fromkeys(pages):
        walk.open(address)
        for form in forms(walk):
            key = form["method"], form["action"]
            if key in sent:
                continue
            sent.add(key)
            for names in (form["names"], [name for name in form["names"] if name in ("name", "description")]):
                walk.open(address)
                if not names or not send(walk, form, names):
                    break
    check(len(sent) >= 25, f"only {len(sent)} forms were found: {sorted(sent)}")
    for address in dict.fromkeys(pages):
        walk.open(address)
        walk.wait(f"the page {address}", lambda: walk.find("main h1").text)
        check(ran(walk) == [False, 0], f"a hostile text runs on {address}: {ran(walk)}")
    walk.open("/console/policies")
    walk.wait("the policies", lambda: path(walk) == "/console/policies" and walk.rows())
    check(any('class="hostile"' in row for row in walk.rows()), f"the hostile name is shown as it is: {walk.rows()}")
    # The control: put there as markup, it would have been found.
    walk.browser.execute_script("document.querySelector('main').insertAdjacentHTML('beforeend', arguments[0])", "<p title=\"" + HOSTILE)
    check(ran(walk)[1] > 0, "a hostile text that is markup is not found")
    walk.browser.get_log("browser")  # Which has what the page's policy refused.
