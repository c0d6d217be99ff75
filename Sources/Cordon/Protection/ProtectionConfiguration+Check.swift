internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension ProtectionConfiguration {
    /// Looks at what a typing mistake would otherwise show only after a person has signed in.
    ///
    /// An app that tries out debug policies has no service, so neither its address nor a root key is looked at.
    ///
    /// - Throws: ``ProtectionError`` with code `invalidConfiguration`.
    func check() throws(ProtectionError) {
        guard debugPolicies == nil else { return }
        try Self.check(service: service)
        guard
            [rootKey, nextRootKey].compactMap(\.self).allSatisfy({
                $0.utf8.count == 43 && Base64URL.decode($0)?.count == 32
            })
        else {
            throw ProtectionError(
                .invalidConfiguration, "the root key's thumbprint is not 43 characters of base64url",
                hint: "Give the rootKey that the service prints when it starts.")
        }
    }

    /// Looks at a service's address.
    ///
    /// - Throws: ``ProtectionError`` with code `invalidConfiguration`; the address itself is not repeated, since it may
    ///   hold a password.
    static func check(service: URL) throws(ProtectionError) {
        guard let flaw = AddressFlaw(of: service) else { return }
        throw ProtectionError(
            .invalidConfiguration, "the service's address \(flaw.predicate)",
            hint: "Give https:// and the service's host, or http:// with an address of this machine such as 127.0.0.1.")
    }
}
