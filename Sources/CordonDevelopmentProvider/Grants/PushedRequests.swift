import Foundation

/// An authorization request that its client handed over directly (RFC 9126).
struct ProviderPushedRequest: Sendable {
    let destination: ProviderAuthorizationRequest.Destination
    let parameters: ProviderParameters
    /// Until when its page may be opened; once it was, until when it may be loaded again.
    var expires: Date
    /// How long a page is good, in seconds.
    let pageLifetime: TimeInterval
    fileprivate(set) var wasShown = false
}

/// The authorization requests that were handed over and not yet used.
struct PushedRequests: Sendable {
    private static let prefix = "urn:ietf:params:oauth:request_uri:"
    /// How long a reference is good, in seconds.
    static let lifetime = 60

    private let environment: ProviderEnvironment
    private var waiting: ProviderBoundedTable<String, ProviderPushedRequest>

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        waiting = .init(capacity: environment.configuration.capacity)
    }

    /// Keeps a request that was found correct; its reference.
    mutating func keep(
        _ parameters: ProviderParameters, to destination: ProviderAuthorizationRequest.Destination
    ) -> String {
        let now = environment.now
        let reference = Self.prefix + environment.randomText()
        let expires = now.addingTimeInterval(TimeInterval(Self.lifetime))
        // Kept for longer than it is good, so that the client learns that it came too late and can push again.
        waiting.insert(
            ProviderPushedRequest(
                destination: destination, parameters: parameters, expires: expires,
                pageLifetime: environment.seconds(\.page)),
            for: ProviderEnvironment.digest(reference), until: expires + environment.seconds(\.page), at: now)
        return reference
    }

    /// The request that a reference of ours stands for; nil when the parameters hold none. A person may load its page again
    /// (RFC 9126 §4) until ``finish(_:)``.
    mutating func open(
        _ parameters: ProviderParameters
    ) throws(OAuthError) -> (key: String, request: ProviderPushedRequest)? {
        guard let reference = try parameters.value("request_uri"), reference.hasPrefix(Self.prefix) else {
            return nil
        }
        let key = ProviderEnvironment.digest(reference)
        let now = environment.now
        let clientID = try parameters.required("client_id")
        guard let found = waiting.value(key, at: now), found.destination.client.id == clientID else {
            throw OAuthError(.invalidRequestURI, "request_uri is not known or was used")
        }
        waiting.update(key, at: now) { request in
            guard !request.wasShown, request.expires > now else { return }
            request.wasShown = true
            request.expires = now + request.pageLifetime
        }
        return (key, found)
    }

    /// A code was given out for it, or the person refused: it is used.
    mutating func finish(_ key: String?) {
        if let key { waiting.remove(key, at: environment.now) }
    }
}
