import CordonPolicy

/// What the service says of its own SCIM (RFC 7643 §5, §6, §7).
enum SCIMDescription {
    static func configuration(base: String) -> JSONValue {
        [
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
            "patch": ["supported": true],
            "bulk": ["supported": false, "maxOperations": 0, "maxPayloadSize": 0],
            "filter": ["supported": true, "maxResults": .integer(Int64(SCIMRoutes.largestPage))],
            "changePassword": ["supported": false], "sort": ["supported": false], "etag": ["supported": false],
            "authenticationSchemes": [
                [
                    "type": "oauthbearertoken", "name": "OAuth bearer token",
                    "description": "An access token of the service's OpenID provider, for administration.",
                ]
            ],
            "meta": [
                "resourceType": "ServiceProviderConfig", "location": .string(base + "/ServiceProviderConfig"),
            ],
        ]
    }

    static func resourceTypes(base: String) -> JSONValue {
        list([
            type("User", schema: SCIMUser.schema, extensions: SCIMUser.extensions, base: base),
            type("Group", schema: SCIMGroup.schema, extensions: [], base: base),
        ])
    }

    static let schemas = list([
        schema(
            SCIMUser.schema, "User",
            [
                attribute("userName", required: true, unique: true), attribute("externalId"), attribute("displayName"),
                attribute("title"), attribute("active", type: "boolean"), attribute("name", type: "complex"),
                attribute("emails", type: "complex", many: true),
            ]),
        schema(SCIMUser.enterprise, "EnterpriseUser", [attribute("department")]),
        schema(
            SCIMGroup.schema, "Group",
            [
                attribute("displayName", required: true), attribute("externalId"),
                attribute("members", type: "complex", many: true),
            ]),
    ])

    private static func list(_ resources: [JSONValue]) -> JSONValue {
        [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": .integer(Int64(resources.count)), "startIndex": 1,
            "itemsPerPage": .integer(Int64(resources.count)), "Resources": .array(resources),
        ]
    }

    private static func type(_ name: String, schema: String, extensions: [String], base: String) -> JSONValue {
        [
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"], "id": .string(name),
            "name": .string(name), "endpoint": .string("/\(name)s"), "schema": .string(schema),
            "schemaExtensions": .array(extensions.map { ["schema": .string($0), "required": false] }),
            "meta": ["resourceType": "ResourceType", "location": .string("\(base)/ResourceTypes/\(name)")],
        ]
    }

    private static func schema(_ id: String, _ name: String, _ attributes: [JSONValue]) -> JSONValue {
        [
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"], "id": .string(id), "name": .string(name),
            "attributes": .array(attributes),
        ]
    }

    private static func attribute(
        _ name: String, type: String = "string", many: Bool = false, required: Bool = false, unique: Bool = false
    ) -> JSONValue {
        [
            "name": .string(name), "type": .string(type), "multiValued": .bool(many), "required": .bool(required),
            "caseExact": false, "mutability": "readWrite", "returned": "default",
            "uniqueness": .string(unique ? "server" : "none"),
        ]
    }
}
