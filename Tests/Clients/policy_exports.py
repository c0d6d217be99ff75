"""Exports of app-protection policies as the models of msgraph-beta-sdk write them.

    policy_exports.py write             prints a list of exports, every property of every model set
    policy_exports.py compare < LIST    compares what came back: [{"export", "kept", "rewritten"}]; exit 1 on a difference

"kept" is the export read and written back: equal in every property, unknown ones included. "rewritten" is every setting
written anew from what was read: what the SDK's own models read from it must be what the export was made of. (Made of, not
read from: the SDK writes 90 days as "90 days, 0:00:00", which it cannot read itself.) Without the package one line says so.
"""
import dataclasses
import datetime
import enum
import importlib
import json
import re
import sys

try:
    from kiota_serialization_json.json_parse_node_factory import JsonParseNodeFactory
    from kiota_serialization_json.json_serialization_writer import JsonSerializationWriter
    from msgraph_beta.generated import models
except ImportError:
    print(json.dumps({"skipped": "msgraph-beta-sdk is not installed"}))
    sys.exit(0)

PROTECTIONS = ["IosManagedAppProtection", "DefaultManagedAppProtection"]
CONFIGURATION = "TargetedManagedAppConfiguration"


def model(name):
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return getattr(importlib.import_module(f"{models.__name__}.{module}"), name)


def is_future(member):
    return str(member.value).lower() == "unknownfuturevalue"


def text(field):
    if field.startswith(("minimum", "maximum")):
        return "17.4"
    if field == "allowed_ios_device_models":
        return "ipad13,1;iphone14,2"
    return "text-" + field.replace("_", "-")


def value(kind, field, turn):
    """A value of that type; the turn chooses among the members of an enumeration."""
    if kind.startswith("list["):
        inner = kind[5:-1]
        if inner == "str":
            return [f"https://{field.replace('_', '-')}.example"]
        if inner == "KeyValuePair":
            pair = model(inner)()
            pair.name, pair.value = "Default", "mailto;skype;"
            return [pair]
        found = value(inner, field, turn)
        return [found] if found is not None else None
    if kind == "str":
        return text(field)
    if kind == "bool":
        return turn % 2 == 0
    if kind == "int":
        return 5 + turn
    if kind == "datetime.timedelta":
        return [datetime.timedelta(days=90), datetime.timedelta(hours=12), datetime.timedelta(minutes=30)][turn % 3]
    if kind == "datetime.datetime":
        return datetime.datetime(2026, 3, 1, 12, 0, tzinfo=datetime.timezone.utc)
    found = model(kind)
    if issubclass(found, enum.Enum):
        members = [m for m in found if is_future(m) == (turn < 0)]
        return members[turn % len(members)] if members else None
    return fill(found(), 0)


def fill(target, turn):
    for field in dataclasses.fields(target):
        kind = re.fullmatch(r"Optional\[(.*)\]", str(field.type))
        if kind and field.name != "odata_type":
            setattr(target, field.name, value(kind[1], field.name, turn))
    return target


def written(target):
    writer = JsonSerializationWriter()
    writer.write_object_value(None, target)
    return json.loads(writer.get_serialized_content())


def targets():
    for name in PROTECTIONS + [CONFIGURATION]:
        for turn in (-1, 0, 1, 2, 3, 4):
            target = fill(model(name)(), turn)
            target.additional_data = {"futureSetting": {"deep": [1, 2.5, "text", None, True]}}
            yield target


def read(document):
    name = document["@odata.type"].rsplit(".", 1)[1]
    name = name[0].upper() + name[1:]
    node = JsonParseNodeFactory().get_root_parse_node("application/json", json.dumps(document).encode())
    return node.get_object_value(model(name))


def plain(found):
    if isinstance(found, list):
        return sorted((plain(each) for each in found), key=str)
    if dataclasses.is_dataclass(found):
        return written(found)
    return found


def differences(entry, before):
    export, kept, rewritten = entry["export"], entry["kept"], entry.get("rewritten")
    for name in sorted(set(export) | set(kept)):
        if export.get(name) != kept.get(name):
            yield f"{name}: {export.get(name)} came back as {kept.get(name)}"
    if rewritten is None:
        return
    after = read({"@odata.type": export["@odata.type"], **rewritten})
    for name in sorted(set(rewritten) & set(before.get_field_deserializers())):
        field = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        one, two = plain(getattr(before, field)), plain(getattr(after, field))
        if isinstance(two, list) and not isinstance(one, list):
            one = [one]  # A set of flags is read as a list, also where there is but one.
        if one != two:
            yield f"{name}: {one} was rewritten as {two}"


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        json.dump([written(target) for target in targets()], sys.stdout)
    else:
        entries = json.load(sys.stdin)
        found = [
            f"{entry['export']['@odata.type']}: {line}"
            for entry, target in zip(entries, targets(), strict=True) for line in differences(entry, target)
        ]
        print(json.dumps({"compared": len(entries), "differences": found}))
        sys.exit(1 if found else 0)
