import CordonPolicy
import Foundation

/// The provider's discovery document, fetched at most twice a minute however often it is asked for: the routes that use
/// it are open to every client.
actor DiscoveryCache {
    static let lifetime: TimeInterval = 300
    static let pause: TimeInterval = 30

    private let documents: any IssuerDocuments
    private let now: @Sendable () -> Date
    private var known: [String: JSONValue]?
    private var fetched = Date.distantPast
    private var attempted = Date.distantPast
    private var running: Task<Result<Data, TokenRefusal>, Never>?

    init(documents: any IssuerDocuments, now: @escaping @Sendable () -> Date) {
        self.documents = documents
        self.now = now
    }

    /// The members of the document.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable` when it was never fetched and cannot be now.
    func document(of issuer: String) async throws(TokenRefusal) -> [String: JSONValue] {
        let moment = now()
        // Also where the clock was set back.
        if let known, abs(moment.timeIntervalSince(fetched)) < Self.lifetime { return known }
        guard running != nil || abs(moment.timeIntervalSince(attempted)) >= Self.pause else { return try lastKnown() }
        do throws(TokenRefusal) {
            let bytes = try await fetch(issuer, at: moment)
            guard let members = (try? JSONValue(parsing: bytes))?.object else {
                throw TokenRefusal(.issuerUnavailable, "the provider's discovery document is not a JSON object")
            }
            known = members
            fetched = moment
            return members
        } catch {
            return try lastKnown()
        }
    }

    /// Fetches once for all requests that ask meanwhile.
    private func fetch(_ issuer: String, at moment: Date) async throws(TokenRefusal) -> Data {
        let task =
            running
            ?? Task { [documents] in
                do throws(TokenRefusal) {
                    return .success(try await documents.discovery(of: issuer))
                } catch {
                    return .failure(error)
                }
            }
        if running == nil { attempted = moment }
        running = task
        defer { running = nil }
        return try await task.value.get()
    }

    private func lastKnown() throws(TokenRefusal) -> [String: JSONValue] {
        guard let known else {
            throw TokenRefusal(.issuerUnavailable, "the identity provider cannot be reached")
        }
        return known
    }
}
