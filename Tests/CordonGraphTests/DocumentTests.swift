import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// SRV-OP-015, 088: what the service says of its own shape, and answers without a body.
@Suite struct DocumentTests {
    /// The elements of a document, each with its attributes.
    private final class Elements: NSObject, XMLParserDelegate {
        private(set) var all: [(name: String, attributes: [String: String])] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            all.append((name, attributes))
        }

        /// The values of an attribute of every element of a name.
        func values(_ attribute: String, of name: String) -> [String] {
            all.filter { $0.name == name }.compactMap { $0.attributes[attribute] }
        }
    }

    @Test(arguments: ["v1.0", "beta"])
    func `the schema is XML that names every set, and every type it names is there`(_ version: String) async throws {
        try await TestService().test { client in
            let answer = try await client.administer(.get, "/\(version)/$metadata")
            #expect(answer.headers[.contentType]?.hasPrefix("application/xml") == true)
            let parser = XMLParser(data: Data(answer.body.readableBytesView))
            let elements = Elements()
            parser.delegate = elements
            #expect(parser.parse(), "\(String(describing: parser.parserError))")
            #expect(Set(elements.values("Name", of: "EntitySet")) == ["users", "groups", "organization"])
            #expect(Set(elements.values("Name", of: "Singleton")) == ["deviceAppManagement", "deviceManagement"])
            let links = Set(elements.values("Name", of: "NavigationProperty"))
            #expect(
                links.isSuperset(of: [
                    "managedAppPolicies", "iosManagedAppProtections", "managedAppRegistrations", "auditEvents",
                    "roleScopeTags",
                ]))
            let types = elements.values("Name", of: "EntityType")
            #expect(Set(types).count == types.count)
            let used =
                elements.values("BaseType", of: "EntityType") + elements.values("EntityType", of: "EntitySet")
                + elements.values("Type", of: "Singleton") + elements.values("Type", of: "NavigationProperty")
            for name in used {
                let plain = name.replacing("Collection(", with: "").replacing(")", with: "")
                #expect(plain.hasPrefix("microsoft.graph.") && types.contains(String(plain.dropFirst(16))), "\(name)")
            }
            // Names of CSDL are simple identifiers.
            for name in types + links {
                #expect(name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil, "\(name)")
            }
        }
    }

    @Test(arguments: ["/v1.0", "/beta", "/beta/", "/V1.0/"])
    func `the service document leads to what the schema names`(_ path: String) async throws {
        try await TestService().test { client in
            let answer = try await client.administer(.get, path)
            #expect(answer.status == .ok)
            #expect(answer.json["@odata.context"]?.string?.hasSuffix("/$metadata") == true)
            let entries = answer.json["value"]?.array ?? []
            #expect(
                Set(entries.compactMap { $0["name"]?.string }) == [
                    "deviceAppManagement", "deviceManagement", "users", "groups", "organization",
                ])
            for entry in entries where entry["kind"] == "EntitySet" {
                let url = "/v1.0/" + (entry["url"]?.string ?? "")
                #expect(try await client.administer(.get, url).status == .ok, "\(url)")
            }
            for (name, count) in [("deviceAppManagement", 8), ("deviceManagement", 3)] {
                let folder = try await client.administer(.get, "/v1.0/\(name)").json
                let links = (folder.object ?? [:]).filter { $0.key.hasSuffix("@odata.navigationLink") }
                #expect(links.count == count)
                for (_, link) in links {
                    let url = try #require(link.string.flatMap(URL.init(string:)))
                    #expect(try await client.administer(.get, url.path()).status == .ok, "\(url)")
                }
            }
            #expect(try await client.client.execute(uri: path, method: .get).status == .unauthorized)
        }
    }

    @Test func `HEAD has the headers of GET and no body`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            for path in ["/v1.0/users", "/v1.0/deviceAppManagement/iosManagedAppProtections('\(policy.id)')"] {
                let get = try await client.administer(.get, path)
                let head = try await client.administer(.head, path)
                #expect(head.status == .ok && head.body.readableBytes == 0)
                #expect(head.headers[.contentLength] == String(get.body.readableBytes))
                #expect(head.headers[.contentType] == get.headers[.contentType])
                #expect(head.headers[.eTag] == get.headers[.eTag])
            }
            #expect(try await client.administer(.head, "/v1.0/users/nobody").status == .notFound)
        }
    }
}
