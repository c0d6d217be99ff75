"""What scripts do with Microsoft's own Graph packages, done against the service at CORDON_BASE.

Prints one line for each step and ends with status 0 only if every expectation held.
"""

import asyncio
import os
from datetime import timedelta

from kiota_abstractions.authentication import (
    AccessTokenProvider,
    AllowedHostsValidator,
    BaseBearerTokenAuthenticationProvider,
)
from kiota_abstractions.base_request_configuration import RequestConfiguration

from graph_step_up import step_up

BASE = os.environ["CORDON_BASE"]
TOKEN = os.environ["CORDON_TOKEN"]
USER = os.environ["CORDON_USER"]
GROUP = os.environ["CORDON_GROUP"]
BUNDLE = os.environ["CORDON_BUNDLE"]


class Token(AccessTokenProvider):
    async def get_authorization_token(self, uri, additional_authentication_context={}):
        return TOKEN

    def get_allowed_hosts_validator(self):
        return AllowedHostsValidator(["127.0.0.1"])


def authentication():
    return BaseBearerTokenAuthenticationProvider(Token())


async def refused(call, status):
    """The error of a call that must be refused with this status."""
    try:
        await call
    except Exception as error:
        found = getattr(error, "response_status_code", None)
        assert found == status, f"{found} in place of {status}: {error}"
        assert error.error.code and error.error.inner_error.request_id, "not Graph's envelope"
        return error
    raise AssertionError(f"not refused with {status}")


def options(builder, **members):
    return RequestConfiguration(query_parameters=builder(**members))


async def version_one():
    from msgraph import GraphServiceClient
    from msgraph.generated.device_app_management.ios_managed_app_protections.ios_managed_app_protections_request_builder import (  # noqa: E501
        IosManagedAppProtectionsRequestBuilder as Protections,
    )
    from msgraph.generated.device_app_management.ios_managed_app_protections.item.ios_managed_app_protection_item_request_builder import (  # noqa: E501
        IosManagedAppProtectionItemRequestBuilder as Protection,
    )
    from msgraph.generated.device_app_management.managed_app_policies.item.target_apps.target_apps_post_request_body import (  # noqa: E501
        TargetAppsPostRequestBody,
    )
    from msgraph.generated.device_app_management.managed_app_registrations.managed_app_registrations_request_builder import (  # noqa: E501
        ManagedAppRegistrationsRequestBuilder as Registrations,
    )
    from msgraph.generated.device_app_management.targeted_managed_app_configurations.item.assign.assign_post_request_body import (  # noqa: E501
        AssignPostRequestBody,
    )
    from msgraph.generated.groups.groups_request_builder import GroupsRequestBuilder as Groups
    from msgraph.generated.models.all_licensed_users_assignment_target import AllLicensedUsersAssignmentTarget
    from msgraph.generated.models.android_managed_app_protection import AndroidManagedAppProtection
    from msgraph.generated.models.default_managed_app_protection import DefaultManagedAppProtection
    from msgraph.generated.models.group_assignment_target import GroupAssignmentTarget
    from msgraph.generated.models.ios_managed_app_protection import IosManagedAppProtection
    from msgraph.generated.models.ios_mobile_app_identifier import IosMobileAppIdentifier
    from msgraph.generated.models.key_value_pair import KeyValuePair
    from msgraph.generated.models.managed_app_data_transfer_level import ManagedAppDataTransferLevel
    from msgraph.generated.models.managed_app_policy import ManagedAppPolicy
    from msgraph.generated.models.managed_mobile_app import ManagedMobileApp
    from msgraph.generated.models.targeted_managed_app_configuration import TargetedManagedAppConfiguration
    from msgraph.generated.models.targeted_managed_app_policy_assignment import TargetedManagedAppPolicyAssignment
    from msgraph.generated.users.item.wipe_managed_app_registrations_by_device_tag.wipe_managed_app_registrations_by_device_tag_post_request_body import (  # noqa: E501
        WipeManagedAppRegistrationsByDeviceTagPostRequestBody,
    )
    from msgraph.graph_request_adapter import GraphRequestAdapter
    from msgraph_core.tasks.page_iterator import PageIterator

    adapter = GraphRequestAdapter(authentication())
    adapter.base_url = BASE + "/v1.0"
    client = GraphServiceClient(request_adapter=adapter)
    apps = client.device_app_management

    made = await apps.ios_managed_app_protections.post(
        IosManagedAppProtection(
            odata_type="#microsoft.graph.iosManagedAppProtection",
            display_name="Notes o'clock",
            pin_required=True,
            period_offline_before_access_check=timedelta(hours=12),
            period_offline_before_wipe_is_enforced=timedelta(days=90),
            allowed_outbound_data_transfer_destinations=ManagedAppDataTransferLevel.ManagedApps,
        )
    )
    assert isinstance(made, IosManagedAppProtection) and made.id.startswith("T_") and made.version
    read = await apps.ios_managed_app_protections.by_ios_managed_app_protection_id(made.id).get()
    assert read.display_name == "Notes o'clock" and read.pin_required is True
    assert read.period_offline_before_access_check == timedelta(hours=12)
    assert read.period_offline_before_wipe_is_enforced == timedelta(days=90)
    assert read.allowed_outbound_data_transfer_destinations is ManagedAppDataTransferLevel.ManagedApps
    print("created and read, with durations as Python spells them")

    item = apps.ios_managed_app_protections.by_ios_managed_app_protection_id(made.id)
    await item.patch(
        IosManagedAppProtection(odata_type="#microsoft.graph.iosManagedAppProtection", print_blocked=True)
    )
    read = await item.get()
    assert read.print_blocked is True and read.pin_required is True and read.version != made.version
    print("updated, the rest unchanged")

    for number in range(24):
        await apps.ios_managed_app_protections.post(
            IosManagedAppProtection(
                odata_type="#microsoft.graph.iosManagedAppProtection", display_name=f"Page {number:02}"
            )
        )
    seen = []
    first = await apps.ios_managed_app_protections.get(
        options(Protections.IosManagedAppProtectionsRequestBuilderGetQueryParameters, top=7, count=True)
    )
    assert first.odata_count == 26, first.odata_count  # one was there before
    pages = PageIterator(first, adapter)
    await pages.iterate(lambda policy: seen.append(policy.id) or True)
    assert len(seen) == len(set(seen)) == 26, len(seen)
    print("paged through", len(seen), "policies in pages of seven")

    found = await apps.ios_managed_app_protections.get(
        options(
            Protections.IosManagedAppProtectionsRequestBuilderGetQueryParameters,
            filter="startswith(displayName,'Page') and not (displayName eq 'Page 03') and displayName le 'Page 05'",
            orderby=["displayName desc"],
            select=["displayName"],
            top=3,
            skip=1,
            count=True,
            search='"page"',
        )
    )
    assert [policy.display_name for policy in found.value] == ["Page 04", "Page 02", "Page 01"]
    assert found.odata_count == 5 and found.value[0].pin_required is None
    quoted = await apps.ios_managed_app_protections.get(
        options(
            Protections.IosManagedAppProtectionsRequestBuilderGetQueryParameters,
            filter="displayName eq 'Notes o''clock'",
        )
    )
    assert [policy.id for policy in quoted.value] == [made.id]
    count = await apps.ios_managed_app_protections.count.get()
    assert int(count) == 26, count
    print("filtered, ordered, searched, selected, counted")

    app = ManagedMobileApp(
        mobile_app_identifier=IosMobileAppIdentifier(
            odata_type="#microsoft.graph.iosMobileAppIdentifier", bundle_id=BUNDLE
        )
    )
    await apps.managed_app_policies.by_managed_app_policy_id(made.id).target_apps.post(
        TargetAppsPostRequestBody(apps=[app])
    )
    target = GroupAssignmentTarget(odata_type="#microsoft.graph.groupAssignmentTarget", group_id=GROUP)
    assigned = await item.assignments.post(TargetedManagedAppPolicyAssignment(target=target))
    assert assigned.id and assigned.target.group_id == GROUP
    whole = await item.get(
        options(
            Protection.IosManagedAppProtectionItemRequestBuilderGetQueryParameters,
            expand=["apps", "assignments", "deploymentSummary"],
        )
    )
    assert whole.is_assigned is True and whole.deployed_app_count == 1
    assert whole.apps[0].mobile_app_identifier.bundle_id == BUNDLE
    assert whole.assignments[0].target.group_id == GROUP
    assert whole.deployment_summary.configuration_deployed_user_count == 0
    listed = await item.assignments.get()
    assert [entry.id for entry in listed.value] == [assigned.id]
    one = await item.assignments.by_targeted_managed_app_policy_assignment_id(assigned.id).get()
    assert one.target.group_id == GROUP
    second = await item.apps.post(
        ManagedMobileApp(
            mobile_app_identifier=IosMobileAppIdentifier(
                odata_type="#microsoft.graph.iosMobileAppIdentifier", bundle_id="org.example.second"
            )
        )
    )
    assert {entry.id for entry in (await item.apps.get()).value} == {BUNDLE + ".ios", second.id}
    await item.apps.by_managed_mobile_app_id(second.id).delete()
    assert len((await item.apps.get()).value) == 1
    summary = await item.deployment_summary.get()
    assert summary.version and summary.last_refresh_time
    print("targeted, assigned, expanded, apps added and removed")

    [narrow] = (
        await apps.ios_managed_app_protections.get(
            options(
                Protections.IosManagedAppProtectionsRequestBuilderGetQueryParameters,
                filter=f"id eq '{made.id}'",
                select=["displayName"],
                expand=["apps", "assignments"],
            )
        )
    ).value
    assert narrow.apps[0].mobile_app_identifier.bundle_id == BUNDLE and narrow.assignments[0].target.group_id == GROUP
    assert narrow.pin_required is None
    android = await apps.android_managed_app_protections.post(
        AndroidManagedAppProtection(
            odata_type="#microsoft.graph.androidManagedAppProtection",
            display_name="Other phones",
            period_offline_before_access_check=timedelta(hours=12),
            period_offline_before_wipe_is_enforced=timedelta(days=90),
        )
    )
    read = await apps.android_managed_app_protections.by_android_managed_app_protection_id(android.id).get()
    assert read.period_offline_before_access_check == timedelta(hours=12)
    assert read.period_offline_before_wipe_is_enforced == timedelta(days=90)
    default = await apps.default_managed_app_protections.post(
        DefaultManagedAppProtection(
            odata_type="#microsoft.graph.defaultManagedAppProtection", display_name="Everybody else"
        )
    )
    # What the package does not know it keeps apart: v1.0 must show nothing of beta.
    for policy in (made, android, default):
        unknown = [name for name in policy.additional_data if "@odata" not in name]
        assert unknown == [], unknown
    await apps.default_managed_app_protections.by_default_managed_app_protection_id(default.id).delete()
    print("selected and expanded at once; durations of Android read back; nothing of beta shown")

    configuration = await apps.targeted_managed_app_configurations.post(
        TargetedManagedAppConfiguration(
            odata_type="#microsoft.graph.targetedManagedAppConfiguration",
            display_name="Servers",
            custom_settings=[KeyValuePair(name="server", value="https://notes.example")],
            apps=[app],
        )
    )
    settings = apps.targeted_managed_app_configurations.by_targeted_managed_app_configuration_id(configuration.id)
    await settings.assign.post(
        AssignPostRequestBody(
            assignments=[
                TargetedManagedAppPolicyAssignment(
                    target=AllLicensedUsersAssignmentTarget(
                        odata_type="#microsoft.graph.allLicensedUsersAssignmentTarget"
                    )
                )
            ]
        )
    )
    read = await settings.get()
    assert read.is_assigned is True and read.custom_settings[0].name == "server"
    policies = (await apps.managed_app_policies.get()).value
    kinds = {type(policy).__name__ for policy in policies}
    assert {"IosManagedAppProtection", "TargetedManagedAppConfiguration"} <= kinds, kinds
    assert all(isinstance(policy, ManagedAppPolicy) for policy in policies)
    print("configured an app; the mixed list has", " and ".join(sorted(kinds)))

    registrations = await apps.managed_app_registrations.get(
        options(
            Registrations.ManagedAppRegistrationsRequestBuilderGetQueryParameters,
            filter=f"userId eq '{USER}' and flaggedReasons/any(reason:reason eq 'none')",
            expand=["operations", "intendedPolicies"],
        )
    )
    [registration] = registrations.value
    assert registration.app_identifier.bundle_id == BUNDLE and registration.device_tag
    assert registration.operations == [] and made.id in {policy.id for policy in registration.intended_policies}
    of_user = await client.users.by_user_id(USER).managed_app_registrations.get()
    assert [entry.id for entry in of_user.value] == [registration.id]
    device = apps.managed_app_registrations.by_managed_app_registration_id(registration.id)
    intended = {policy.id for policy in (await device.intended_policies.get()).value}
    assert {made.id, configuration.id} <= intended
    applied = (await device.applied_policies.get()).value
    assert isinstance(applied, list)
    flagged = await apps.managed_app_registrations.get_user_ids_with_flagged_app_registration.get()
    assert flagged.value == []
    statuses = (await apps.managed_app_statuses.get()).value
    assert {"appregistrationsummary", "userstatus"} <= {status.id for status in statuses}
    user = client.users.by_user_id(USER)
    assert {policy.id for policy in (await user.get_managed_app_policies.get()).value} >= {made.id}
    found = (await user.get_managed_app_diagnostic_statuses.get()).value
    checks = {check.validation_name: check.state for check in found}
    assert checks["Intune License"] == "Pass" and checks["App checked in"] == "Pass", checks
    # The package has no model for this list; the call itself must be answered.
    assert await user.export_device_and_app_management_data.get() is not None
    assert await user.export_device_and_app_management_data_with_skip_with_top(1, 2).get() is not None
    print("read registrations, statuses, checks and the person's data")

    wipe = user.wipe_managed_app_registrations_by_device_tag
    await refused(wipe.post(WipeManagedAppRegistrationsByDeviceTagPostRequestBody(device_tag="no such tag")), 400)
    await wipe.post(WipeManagedAppRegistrationsByDeviceTagPostRequestBody(device_tag=registration.device_tag))
    [operation] = (await device.operations.get()).value
    assert operation.state == "pending" and operation.display_name == "Wipe"
    await device.operations.by_managed_app_operation_id(operation.id).delete()
    [operation] = (await device.operations.get()).value
    assert operation.state == "cancelled"
    await refused(device.operations.by_managed_app_operation_id(operation.id).delete(), 409)
    print("asked for a wipe and took it back")

    assert (await client.me.get()).user_principal_name
    assert (await client.users.by_user_id("worker-a@contoso.example").get()).id == USER
    groups = await client.groups.get(
        options(Groups.GroupsRequestBuilderGetQueryParameters, filter="displayName eq 'Field workers'")
    )
    assert [group.id for group in groups.value] == [GROUP]
    members = await client.groups.by_group_id(GROUP).members.get()
    assert [member.id for member in members.value] == [USER]
    people = client.groups.by_group_id(GROUP).members.graph_user
    assert [(person.id, bool(person.user_principal_name)) for person in (await people.get()).value] == [(USER, True)]
    assert int(await people.count.get()) == 1
    assert (await client.organization.get()).value[0].id == "contoso"
    print("read who is there")

    from msgraph_core.requests.batch_request_content import BatchRequestContent
    from msgraph_core.requests.batch_request_item import BatchRequestItem

    content = BatchRequestContent(
        {
            name: BatchRequestItem(request)
            for name, request in {
                "list": apps.managed_app_policies.to_get_request_information(),
                "one": item.to_get_request_information(),
                "none": apps.managed_app_registrations.by_managed_app_registration_id(
                    "none"
                ).to_get_request_information(),
            }.items()
        }
    )
    answers = (await client.batch.post(content)).responses
    assert sorted(answer.status for answer in answers.values()) == [200, 200, 404]
    print("three requests in one batch")

    error = await refused(apps.ios_managed_app_protections.by_ios_managed_app_protection_id("T_none").get(), 404)
    assert error.error.code == "ResourceNotFound"
    await item.delete()
    await refused(item.get(), 404)
    await settings.delete()
    print("deleted")


async def beta():
    from msgraph_beta import GraphServiceClient
    from msgraph_beta.generated.device_app_management.ios_managed_app_protections.has_payload_links.has_payload_links_post_request_body import (  # noqa: E501
        HasPayloadLinksPostRequestBody,
    )
    from msgraph_beta.generated.models.device_and_app_management_assignment_filter import (
        DeviceAndAppManagementAssignmentFilter,
    )
    from msgraph_beta.generated.models.ios_managed_app_protection import IosManagedAppProtection
    from msgraph_beta.generated.models.managed_app_remediation_action import ManagedAppRemediationAction
    from msgraph_beta.generated.models.targeted_managed_app_group_type import TargetedManagedAppGroupType
    from msgraph_beta.graph_request_adapter import GraphRequestAdapter

    adapter = GraphRequestAdapter(authentication())
    adapter.base_url = BASE + "/beta"
    client = GraphServiceClient(request_adapter=adapter)
    apps = client.device_app_management

    made = await apps.ios_managed_app_protections.post(
        IosManagedAppProtection(
            odata_type="#microsoft.graph.iosManagedAppProtection",
            display_name="Beta",
            app_group_type=TargetedManagedAppGroupType.AllApps,
            app_action_if_maximum_pin_retries_exceeded=ManagedAppRemediationAction.Wipe,
            pin_required_instead_of_biometric_timeout=timedelta(minutes=45),
            third_party_keyboards_blocked=True,
            role_scope_tag_ids=["0"],
        )
    )
    read = await apps.ios_managed_app_protections.by_ios_managed_app_protection_id(made.id).get()
    assert read.app_group_type is TargetedManagedAppGroupType.AllApps
    assert read.app_action_if_maximum_pin_retries_exceeded is ManagedAppRemediationAction.Wipe
    assert read.pin_required_instead_of_biometric_timeout == timedelta(minutes=45)
    assert read.third_party_keyboards_blocked is True and read.role_scope_tag_ids == ["0"]
    links = await apps.ios_managed_app_protections.has_payload_links.post(
        HasPayloadLinksPostRequestBody(payload_ids=[made.id])
    )
    assert [(link.payload_id, link.has_link) for link in links.value] == [(made.id, False)]
    print("beta: created and read with the members that beta alone has")

    tags = (await client.device_management.role_scope_tags.get()).value
    assert [(tag.id, tag.display_name) for tag in tags][0] == ("0", "Default")
    kept = await client.device_management.assignment_filters.post(
        DeviceAndAppManagementAssignmentFilter(display_name="New systems", rule='(app.osVersion -ge "17.0")')
    )
    assert (await client.device_management.assignment_filters.get()).value[0].rule == '(app.osVersion -ge "17.0")'
    await refused(
        client.device_management.assignment_filters.post(
            DeviceAndAppManagementAssignmentFilter(display_name="Wrong", rule="(app.osVersion -near 17)")
        ),
        400,
    )
    await client.device_management.assignment_filters.by_device_and_app_management_assignment_filter_id(
        kept.id
    ).delete()
    events = (await client.device_management.audit_events.get()).value
    assert events and all(event.resources and event.actor for event in events)
    print("beta: scope tags, assignment filters and", len(events), "audit events")

    user = client.users.by_user_id(USER)
    await user.wipe_and_block_managed_apps.post()
    assert (await user.is_managed_app_user_blocked.get()).value is True
    assert (await client.users.get_managed_app_blocked_users.get()).value == [USER]
    await user.unblock_managed_apps.post()
    assert (await user.is_managed_app_user_blocked.get()).value is False
    for empty in (apps.windows_information_protection_policies, apps.mobile_app_configurations):
        assert (await empty.get()).value == []
    registrations = (await apps.managed_app_registrations.get()).value
    assert registrations[0].device_manufacturer == "Apple" and registrations[0].device_model
    await apps.ios_managed_app_protections.by_ios_managed_app_protection_id(made.id).delete()
    print("beta: blocked and unblocked, empty collections, deleted")


asyncio.run(version_one())
asyncio.run(beta())
asyncio.run(step_up(BASE, USER, TOKEN, Token, refused))
print("every expectation held")
