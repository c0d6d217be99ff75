import CordonPolicy
import CordonService
import CordonServiceHTTP
import HTTPTypes

/// Ends a person's sessions at once, as Graph's `revokeSignInSessions` does (SI-182).
struct SessionRoutes: Sendable {
    let administration: Administration
    let revoked: RevokedSessions
    /// Ends a person's sessions at the embedded provider; another provider's administrator ends them there.
    let endSessions: SessionEnding?

    var routes: [GraphRoute] {
        [
            GraphRoute(.post, "users/*/revokeSignInSessions", .revokeSessions) { exchange in
                let person = try await exchange.directory {
                    let person = try await administration.revokeSessions(
                        ofUser: exchange.keys[0], as: exchange.administrator)
                    try await revoked.reload(person: person)
                    return person
                }
                await endSessions?(person)
                return .value(.bool(true), of: "Edm.Boolean")
            }
        ]
    }
}
