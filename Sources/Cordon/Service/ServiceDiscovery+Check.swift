internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension ServiceDiscovery {
    /// An account as a member of the service's organisation; nil for a member of another one.
    ///
    /// A provider without organisations names none in its ID tokens, and the account then carries the provider's issuer in
    /// that place. Where this is the service's own provider, its people are the service's people.
    func member(_ account: ManagedAccount) -> ManagedAccount? {
        if account.tenant == tenant { return account }
        guard account.tenant.rawValue == issuer.absoluteString else { return nil }
        return ManagedAccount(id: account.id, tenant: tenant, userPrincipalName: account.userPrincipalName)
    }

    /// The longest of the document's texts, in bytes.
    private static let longestText = 2_048

    /// Looks at everything that a device acts on. The document is not signed: any server that answers at the service's address
    /// may have written it.
    ///
    /// - Throws: ``ServiceFailure/unacceptable(_:)``, naming the member but never its value.
    func check() throws(ServiceFailure) {
        guard versions.contains(Self.currentVersion) else {
            throw .unacceptable(
                ProtocolError(.unsupported, "the service does not speak protocol version \(Self.currentVersion)"))
        }
        for (name, url) in [("issuer", issuer), ("checkIn", checkIn), ("keys", keys)] {
            guard let flaw = AddressFlaw(of: url) else { continue }
            throw .unacceptable(ProtocolError(.malformed, "the service's \(name) address \(flaw.predicate)"))
        }
        let texts = [("tenant", tenant.rawValue), ("resource", resource), ("scope", scope)]
        let asked = (tokenRequest?.scopes ?? []) + [tokenRequest?.resource].compactMap(\.self)
        for (name, text) in texts + asked.map({ ("tokenRequest", $0) }) {
            guard
                text.isEmpty || text.utf8.count > Self.longestText
                    || text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else { continue }
            throw .unacceptable(ProtocolError(.malformed, "the service's \(name) is empty, too long or not printable"))
        }
    }
}
