import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import HTTPTypes

/// Wipes and blocks of a person (SRV-OP-057…063).
struct WipeRoutes: Sendable {
    let administration: Administration

    var routes: [GraphRoute] {
        // The plural is the name in v1.0, the singular the one that sample scripts use.
        let byTag = ["wipeManagedAppRegistrationsByDeviceTag", "wipeManagedAppRegistrationByDeviceTag"]
        return byTag.map { action in
            GraphRoute(.post, "users/*/\(action)", .writeApps, stepsUp: true) { exchange in
                guard let tag = try await exchange.object()["deviceTag"]?.string, !tag.isEmpty else {
                    throw PolicyInput.refusal("deviceTag", "the tag of a device is missing")
                }
                _ = try await exchange.directory {
                    try await administration.requestWipe(
                        ofUser: exchange.keys[0], deviceTag: tag, as: exchange.administrator)
                }
                return .done
            }
        } + [byDirectoryDevice] + blocking
    }

    /// The check-in protocol does not tell a directory's name for a device, so that none is ever known here.
    private var byDirectoryDevice: GraphRoute {
        GraphRoute(.post, "users/*/wipeManagedAppRegistrationsByAzureAdDeviceId", .writeApps) { exchange in
            guard let id = try await exchange.object()["azureAdDeviceId"]?.string, !id.isEmpty else {
                throw PolicyInput.refusal("azureAdDeviceId", "the directory's id of a device is missing")
            }
            let user = try await exchange.user(administration)
            let tags = try await exchange.registrations(administration, RegistrationFilter(userID: user.id))
                .map(\.device.tag)
            throw PolicyInput.refusal(
                "azureAdDeviceId",
                "no device has this id; wipe by device tag instead: \(Set(tags).sorted().joined(separator: ", "))")
        }
    }

    /// The service looks for the person itself: a person who left the directory is still wiped, blocked and unblocked.
    private var blocking: [GraphRoute] {
        [
            GraphRoute(.post, "users/*/wipeAndBlockManagedApps", .writeApps, stepsUp: true) { exchange in
                try await exchange.directory {
                    try await administration.blockUser(exchange.keys[0], as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.post, "users/*/unblockManagedApps", .writeApps, stepsUp: true) { exchange in
                try await exchange.directory {
                    try await administration.unblockUser(exchange.keys[0], as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.get, "users/*/isManagedAppUserBlocked", .readApps) { exchange in
                let isBlocked = try await exchange.directory {
                    try await administration.isBlocked(user: exchange.keys[0], as: exchange.administrator)
                }
                return .value(.bool(isBlocked), of: "Edm.Boolean")
            },
            GraphRoute(.get, "users/getManagedAppBlockedUsers", .readApps) { exchange in
                // Ids alone: the form that Microsoft's own package reads.
                .collection(try await blocked(exchange).map(JSONValue.string), of: "Collection(Edm.String)")
            },
        ]
    }

    private func blocked(_ exchange: GraphExchange) async throws -> [String] {
        try await administration.blockedUsers(as: exchange.administrator)
    }
}
