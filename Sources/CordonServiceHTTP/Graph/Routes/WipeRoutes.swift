import CordonPolicy
import CordonService
import HTTPTypes

/// Wipes and blocks of a person (SRV-OP-057, 058, 060…063).
struct WipeRoutes: Sendable {
    let service: any ManagementService

    var routes: [GraphRoute] {
        // The plural is the name in v1.0, the singular the one that sample scripts use.
        let byTag = ["wipeManagedAppRegistrationsByDeviceTag", "wipeManagedAppRegistrationByDeviceTag"]
        return byTag.map { action in
            GraphRoute(.post, "users/*/\(action)", .writeApps) { exchange throws(GraphRefusal) in
                guard let tag = try await exchange.object()["deviceTag"]?.string, !tag.isEmpty else {
                    throw PolicyInput.refusal("deviceTag", "the tag of a device is missing")
                }
                let user = try await user(exchange)
                _ = try await exchange.ask { () throws(ServiceError) in
                    try await service.requestWipe(ofUser: user.id, deviceTag: tag, as: exchange.administrator)
                }
                return .done
            }
        } + blocking
    }

    private var blocking: [GraphRoute] {
        [
            GraphRoute(.post, "users/*/wipeAndBlockManagedApps", .writeApps) { exchange throws(GraphRefusal) in
                let user = try await user(exchange)
                try await exchange.ask { () throws(ServiceError) in
                    try await service.blockUser(user.id, as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.post, "users/*/unblockManagedApps", .writeApps) { exchange throws(GraphRefusal) in
                let user = try await user(exchange)
                try await exchange.ask { () throws(ServiceError) in
                    try await service.unblockUser(user.id, as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.get, "users/*/isManagedAppUserBlocked", .readApps) { exchange throws(GraphRefusal) in
                let user = try await user(exchange)
                let blocked = try await blocked(exchange)
                return .value(.bool(blocked.contains(user.id)), of: "Edm.Boolean")
            },
            GraphRoute(.get, "users/getManagedAppBlockedUsers", .readApps) { exchange throws(GraphRefusal) in
                let people = try await blocked(exchange).map { id in
                    ["@odata.type": "#microsoft.graph.user", "id": .string(id)] as JSONValue
                }
                return .collection(people, of: "users")
            },
        ]
    }

    private func user(_ exchange: GraphExchange) async throws(GraphRefusal) -> DirectoryUser {
        try await exchange.ask(isDirectory: true) { () throws(ServiceError) in
            try await service.user(exchange.keys[0], as: exchange.administrator)
        }
    }

    private func blocked(_ exchange: GraphExchange) async throws(GraphRefusal) -> [String] {
        try await exchange.ask { () throws(ServiceError) in
            try await service.blockedUsers(as: exchange.administrator)
        }
    }
}
