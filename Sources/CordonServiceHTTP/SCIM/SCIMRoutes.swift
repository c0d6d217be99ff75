import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// People and groups by SCIM 2.0 (RFC 7644), for systems that provision them: create, read, replace, change, remove, and
/// filters for equality. Tokens are those of administration; they need the role `directoryAdministrator`, which the
/// permission `Group.ReadWrite.All` of a program includes.
struct SCIMRoutes: Sendable {
    static let mediaType = "application/scim+json"
    static let prefix = "/scim/v2"
    static let largestPage = 1_000
    /// How often a change is tried when others come first; each time, one of those has succeeded.
    private static let mostAttempts = 100

    let origin: RequestOrigin
    let administration: Administration
    let provisioning: Provisioning
    let places = SCIMPlaces()

    init(origin: RequestOrigin, administration: Administration, provisioning: Provisioning) {
        self.origin = origin
        self.administration = administration
        self.provisioning = provisioning
    }

    func add(to routing: AdministrationRouting) {
        let read = routing.allowing(.readDirectory)
        read.get("\(Self.prefix)/ServiceProviderConfig") { request, _ in
            Self.answer(SCIMDescription.configuration(base: base(request)))
        }
        read.get("\(Self.prefix)/ResourceTypes") { request, _ in
            Self.answer(SCIMDescription.resourceTypes(base: base(request)))
        }
        read.get("\(Self.prefix)/Schemas") { _, _ in Self.answer(SCIMDescription.schemas) }
        addUsers(to: routing)
        addGroups(to: routing)
    }

    func base(_ request: Request) -> String { origin.of(request) + Self.prefix }

    /// Reads, edits and writes again until no other change came in between; systems send changes of one group at once.
    func settling(
        _ attempt: () async throws -> Response
    ) async throws -> Response {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await attempt()
            } catch let error as ServiceError where error.code == .preconditionFailed {
                continue
            }
        }
        return try await attempt()
    }

    static func read(_ request: Request) async throws -> JSONValue {
        try await RequestBodyReader.json(request, atMost: AdministrationRouting.largestBody)
    }

    static func answer(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> Response {
        var headers: HTTPFields = [:]
        if status == .created { headers[.location] = value["meta"]?["location"]?.string }
        return Response(status, mediaType, Data(value.text().utf8), headers: headers)
    }
}
