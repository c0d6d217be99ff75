import CordonPolicy
import CordonService
import HTTPTypes

/// Ends a person's sessions at once, as Graph's `revokeSignInSessions` does (SI-182).
struct SessionRoutes: Sendable {
    let administration: Administration
    let revoked: RevokedSessions
    /// The embedded provider, whose sessions end as well; another provider's administrator ends them there.
    let provider: DevelopmentIdentityProvider?

    var routes: [GraphRoute] {
        [
            GraphRoute(.post, "users/*/revokeSignInSessions", .revokeSessions) { exchange throws(GraphRefusal) in
                let person = try await exchange.ask(isDirectory: true) { () throws(ServiceError) in
                    let person = try await administration.revokeSessions(
                        ofUser: exchange.keys[0], as: exchange.administrator)
                    try await revoked.reload()
                    return person
                }
                await provider?.revokeGrants(ofPerson: person)
                return .value(.bool(true), of: "Edm.Boolean")
            }
        ]
    }
}
