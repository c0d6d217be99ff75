"""The members of policies that Microsoft's own Graph packages know, as JSON: for each type those of v1.0 and those of
beta."""

import importlib
import json

TYPES = {
    "iosManagedAppProtection": ("IosManagedAppProtection", "ios_managed_app_protection"),
    "androidManagedAppProtection": ("AndroidManagedAppProtection", "android_managed_app_protection"),
    "defaultManagedAppProtection": ("DefaultManagedAppProtection", "default_managed_app_protection"),
    "targetedManagedAppConfiguration": ("TargetedManagedAppConfiguration", "targeted_managed_app_configuration"),
}


def members(package, name, module):
    models = importlib.import_module(f"{package}.generated.models.{module}")
    return sorted(getattr(models, name)().get_field_deserializers())


print(
    json.dumps(
        {
            kind: {"v1": members("msgraph", *model), "beta": members("msgraph_beta", *model)}
            for kind, model in TYPES.items()
        }
    )
)
