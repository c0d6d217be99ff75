public import CordonSignIn
internal import Foundation

extension ProtectionSettings {
    /// What a sign-in client is made with, so that the app's own sign-in and Cordon's are one (SDK-AU-02, SDK-ST-01…04).
    ///
    /// - Parameter bundleID: The app's bundle id, which a redirect scheme is completed with.
    /// - Throws: ``ProtectionError`` with code `serviceUnusable`, naming the setting that is missing (SDK-AU-03).
    public func signInConfiguration(bundleID: String) throws(ProtectionError) -> SignInConfiguration {
        guard let clientID else { throw Self.missing("ClientID") }
        guard let authority else { throw Self.missing("Authority") }
        let redirect = redirectURI ?? redirectScheme.map { "\($0)://\(bundleID)" }
        guard let redirect, let url = URL(string: redirect) else { throw Self.missing("RedirectURI") }
        var configuration = SignInConfiguration(issuer: authority, clientID: clientID)
        // Without it a provider that demands protected apps gives no token at all (SDK-CA-01).
        configuration.capabilities = ["protapp"]
        configuration.redirect =
            if url.scheme == "http", url.host() == "127.0.0.1" || url.host() == "localhost" {
                .loopback(
                    path: url.path().isEmpty ? "/" : url.path(),
                    ports: url.port.flatMap { UInt16(exactly: $0) }.map { [$0] } ?? [])
            } else {
                .application(url)
            }
        return configuration
    }

    private static func missing(_ key: String) -> ProtectionError {
        ProtectionError(
            .serviceUnusable, "the setting \(key) is missing", hint: "Add \(key) to CordonSettings in the Info.plist.")
    }
}
