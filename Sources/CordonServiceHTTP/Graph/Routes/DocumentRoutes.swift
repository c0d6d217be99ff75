import CordonPolicy
import CordonService
import Foundation
import HTTPTypes

/// What the service says of its own shape (SRV-OP-088).
enum DocumentRoutes {
    /// The entity sets: where each is and what it holds.
    private static let sets: [(path: String, type: String)] = [
        ("deviceAppManagement/managedAppPolicies", "managedAppPolicy"),
        ("deviceAppManagement/iosManagedAppProtections", "iosManagedAppProtection"),
        ("deviceAppManagement/androidManagedAppProtections", "androidManagedAppProtection"),
        ("deviceAppManagement/defaultManagedAppProtections", "defaultManagedAppProtection"),
        ("deviceAppManagement/targetedManagedAppConfigurations", "targetedManagedAppConfiguration"),
        ("deviceAppManagement/managedAppRegistrations", "managedAppRegistration"),
        ("deviceAppManagement/managedAppStatuses", "managedAppStatus"),
        ("deviceAppManagement/mobileApps", "mobileApp"),
        ("deviceManagement/roleScopeTags", "roleScopeTag"),
        ("deviceManagement/assignmentFilters", "deviceAndAppManagementAssignmentFilter"),
        ("deviceManagement/auditEvents", "auditEvent"), ("users", "user"), ("groups", "group"),
        ("organization", "organization"),
    ]
    /// The types that are made from another one.
    private static let bases = [
        "managedAppProtection": "managedAppPolicy", "managedAppConfiguration": "managedAppPolicy",
        "targetedManagedAppProtection": "managedAppProtection",
        "iosManagedAppProtection": "targetedManagedAppProtection",
        "androidManagedAppProtection": "targetedManagedAppProtection",
        "defaultManagedAppProtection": "managedAppProtection",
        "targetedManagedAppConfiguration": "managedAppConfiguration",
        "iosManagedAppRegistration": "managedAppRegistration", "managedIOSLobApp": "mobileApp",
        "managedIOSStoreApp": "mobileApp",
    ]

    static var routes: [GraphRoute] {
        [
            GraphRoute(.get, "$metadata", .readSelf) { _ in
                .file(Data(schema.utf8), mediaType: "application/xml", name: "metadata.xml")
            },
            GraphRoute(.get, "deviceAppManagement", .readApps) { exchange in
                let links = sets.filter { $0.path.hasPrefix("deviceAppManagement/") }.map { path, _ in
                    (path.dropFirst("deviceAppManagement/".count) + "@odata.navigationLink", path)
                }
                let members = links.map { name, path in (String(name), JSONValue.string("\(exchange.root)/\(path)")) }
                return .entity(
                    .object(
                        Dictionary(members, uniquingKeysWith: { first, _ in first })
                            .merging(["id": "deviceAppManagement"]) { _, new in new }), of: "deviceAppManagement")
            },
        ]
    }

    /// The schema (OData CSDL 4.0). Types are open: a policy has every member that its document has.
    private static var schema: String {
        let types = Set(sets.map(\.type)).union(bases.keys).union(bases.values).sorted().map { name in
            let base = bases[name] ?? "entity"
            return "<EntityType Name=\"\(name)\" BaseType=\"microsoft.graph.\(base)\" OpenType=\"true\"/>"
        }
        let collections = sets.map { path, type in
            "<EntitySet Name=\"\(path.replacing("/", with: "."))\" EntityType=\"microsoft.graph.\(type)\"/>"
        }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
            <Schema Namespace="microsoft.graph" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
            <EntityType Name="entity" Abstract="true" OpenType="true"><Key><PropertyRef Name="id"/></Key>\
            <Property Name="id" Type="Edm.String" Nullable="false"/></EntityType>\
            \(types.joined())<EntityContainer Name="Cordon">\(collections.joined())</EntityContainer>\
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }
}
