"""IntuneCD, unmodified: a backup of the service at CORDON_BASE, a restore into the empty one at CORDON_EMPTY, and a
backup of that, which must be the same.

The client has the addresses of the public cloud built in; it reaches the services through a proxy (cloud_stand_in.py)
and signs in with its own flow. Prints one line for each step and ends with status 0 only if every expectation held.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from cloud_stand_in import Proxy

CLIENT = ("intunecd", "a secret of the test")
EVERYTHING_ELSE = """
    Compliance NotificationTemplate Profiles GPOConfigurations AppleEnrollmentProfile WindowsEnrollmentProfile
    EnrollmentStatusPage Filters Intents ProactiveRemediation PowershellScripts ShellScripts ConfigurationPolicies
    ConditionalAccess EnrollmentConfigurations DeviceManagementSettings CustomAttributes DeviceCategories Roles
    DeviceCompliancePolicies ComplianceScripts ReusablePolicySettings
""".split()
BACKUP_ONLY = """
    APNs VPP Applications ManagedGooglePlay CompliancePartner ManagementPartner RemoteAssistancePartner
    windowsDriverUpdates windowsFeatureUpdates windowsQualityUpdates SettingsCatalog
""".split()
WRITES = {"POST", "PATCH", "PUT", "DELETE"}


def client(proxy, program, *arguments):
    environment = {
        **os.environ,
        "HTTPS_PROXY": proxy.address,
        "https_proxy": proxy.address,
        "NO_PROXY": "",
        "no_proxy": "",
        "REQUESTS_CA_BUNDLE": str(proxy.authority),
        "TENANT_NAME": "contoso.example",
        "CLIENT_ID": CLIENT[0],
        "CLIENT_SECRET": CLIENT[1],
    }
    start = f"from IntuneCD.{program} import start; start()"
    proxy.seen.clear()
    done = subprocess.run(
        [sys.executable, "-c", start, "-m", "1", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "error" not in done.stdout.lower(), done.stdout[-4000:]
    return done.stdout


def backup(proxy, folder, *arguments):
    folder.mkdir()
    client(
        proxy, "run_backup", "-p", str(folder), "-o", "json", *arguments, "-e", *EVERYTHING_ELSE, *BACKUP_ONLY
    )
    return {path.name: path.read_bytes() for path in sorted((folder / "App Protection").glob("*.json"))}


def update(proxy, folder, *arguments):
    output = client(proxy, "run_update", "-p", str(folder), "-u", *arguments, "-e", *EVERYTHING_ELSE)
    writes = [(method, path) for method, path in proxy.seen if method in WRITES and "$batch" not in path]
    return writes, output


def main():
    token, count = os.environ["CORDON_TOKEN"], int(os.environ["CORDON_POLICIES"])
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        folders = {}
        for side in ("filled", "empty"):
            folders[side] = work / (side + "-proxy")
            folders[side].mkdir()
        filled = Proxy(folders["filled"], os.environ["CORDON_BASE"], token, CLIENT)
        empty = Proxy(folders["empty"], os.environ["CORDON_EMPTY"], token, CLIENT)

        first = backup(filled, work / "first", "--audit")
        assert filled.sign_ins == 1, "not through the client's own sign-in"
        assert len(first) == count, f"{len(first)} files of {count} policies"
        assert any("skiptoken" in path for _, path in filled.seen), "no second page was asked for"
        assert any("auditEvents" in path for _, path in filled.seen), "no audit event was asked for"
        assert any(b"Field workers" in text for text in first.values()), "no assignment was kept"
        print("backed up", len(first), "policies")

        writes, _ = update(filled, work / "first")
        assert writes == [], f"an update without a change wrote {writes[:3]}"
        print("an update without a change writes nothing")

        writes, output = update(empty, work / "first", "-g")
        created = [path for method, path in writes if method == "POST" and path.endswith("s/")]
        assert len(created) == count, f"{len(created)} of {count} restored\n{output[-2000:]}"
        print("restored into an empty service with", len(writes), "writes")

        second = backup(empty, work / "second")
        assert first.keys() == second.keys(), first.keys() ^ second.keys()
        for file, text in first.items():
            assert second[file] == text, f"{file} differs"
        print("backed up again: byte for byte the same")

        changed = work / "first" / "App Protection" / sorted(first)[0]
        changed.write_text(changed.read_text().replace('"printBlocked": false', '"printBlocked": true'))
        writes, _ = update(empty, work / "first")
        assert [method for method, _ in writes] == ["PATCH"], writes
        changed.unlink()
        writes, _ = update(empty, work / "first", "--remove")
        assert [method for method, _ in writes] == ["DELETE"], writes
        print("a changed file is one PATCH, a removed one one DELETE")
    print("every expectation held")


main()
