import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What the service says of its own shape (SRV-OP-088).
enum DocumentRoutes {
    /// The collections below each folder, and of the root itself, with what they hold.
    private static let folders: [(name: String?, sets: [(name: String, type: String)])] = [
        (
            "deviceAppManagement",
            [
                ("managedAppPolicies", "managedAppPolicy"), ("iosManagedAppProtections", "iosManagedAppProtection"),
                ("androidManagedAppProtections", "androidManagedAppProtection"),
                ("defaultManagedAppProtections", "defaultManagedAppProtection"),
                ("targetedManagedAppConfigurations", "targetedManagedAppConfiguration"),
                ("managedAppRegistrations", "managedAppRegistration"), ("managedAppStatuses", "managedAppStatus"),
                ("mobileApps", "mobileApp"),
            ]
        ),
        (
            "deviceManagement",
            [
                ("roleScopeTags", "roleScopeTag"),
                ("assignmentFilters", "deviceAndAppManagementAssignmentFilter"), ("auditEvents", "auditEvent"),
            ]
        ),
        (nil, [("users", "user"), ("groups", "group"), ("organization", "organization")]),
    ]

    static var routes: [GraphRoute] {
        [
            GraphRoute(.get, "$metadata", .readSelf) { _ in
                .file(Data(schema.utf8), mediaType: "application/xml", name: "metadata.xml")
            },
            // Where an OData client begins.
            GraphRoute(.get, "", .readSelf) { _ in
                .value(
                    .array(
                        folders.flatMap { folder, sets -> [JSONValue] in
                            if let folder { return [entry(folder, "Singleton")] }
                            return sets.map { entry($0.name, "EntitySet") }
                        }), of: "")
            },
            folder("deviceAppManagement", .readApps), folder("deviceManagement", .readConfiguration),
        ]
    }

    /// Where the collections of a folder are.
    private static func folder(_ name: String, _ access: AdministrationAccess) -> GraphRoute {
        GraphRoute(.get, name, access) { exchange in
            var members: [String: JSONValue] = ["id": .string(name)]
            for set in folders.first(where: { $0.name == name })?.sets ?? [] {
                members[set.name + "@odata.navigationLink"] = .string("\(exchange.root)/\(name)/\(set.name)")
            }
            return .entity(.object(members), of: name)
        }
    }

    /// One line of the service document.
    private static func entry(_ name: String, _ kind: String) -> JSONValue {
        ["name": .string(name), "kind": .string(kind), "url": .string(name)]
    }

    /// The schema (OData CSDL 4.0). Types are open: a policy has every member that its document has.
    private static var schema: String {
        let bases = EntityType.bases
        let named = Set(folders.flatMap(\.sets).map(\.type)).union(bases.keys).union(bases.values)
        let types = named.sorted().map { name in
            "<EntityType Name=\"\(name)\" BaseType=\"microsoft.graph.\(bases[name] ?? "entity")\" OpenType=\"true\"/>"
        }
        let holders = folders.compactMap { folder, sets in
            folder.map { name in
                let links = sets.map { set in
                    """
                    <NavigationProperty Name="\(set.name)" Type="Collection(microsoft.graph.\(set.type))" \
                    ContainsTarget="true"/>
                    """
                }
                return """
                    <EntityType Name="\(name)" BaseType="microsoft.graph.entity" OpenType="true">\(links.joined())\
                    </EntityType>
                    """
            }
        }
        let collections = folders.flatMap { folder, sets in
            folder.map { ["<Singleton Name=\"\($0)\" Type=\"microsoft.graph.\($0)\"/>"] }
                ?? sets.map { "<EntitySet Name=\"\($0.name)\" EntityType=\"microsoft.graph.\($0.type)\"/>" }
        }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
            <Schema Namespace="microsoft.graph" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
            <EntityType Name="entity" Abstract="true" OpenType="true"><Key><PropertyRef Name="id"/></Key>\
            <Property Name="id" Type="Edm.String" Nullable="false"/></EntityType>\
            \(types.joined())\(holders.joined())<EntityContainer Name="Cordon">\(collections.joined())\
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
    }
}
