internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import Crypto
public import Foundation

/// Certificate pins that the organisation sends for its hosts, by itself or as the value of the app configuration's
/// `CordonCertificatePins` (SDK-CP-01, SDK-CP-02). New pins take effect together with the rules they arrive with.
///
/// Use it as ``AppProtection/pinning``. Any thread, no waiting.
public struct CertificatePinning: Sendable {
    private let rules: EnforcedRules

    init(_ rules: EnforcedRules) { self.rules = rules }

    /// Whether the account has any pins, or may have. An app checks its connections either way.
    public func hasCertificatePins(_ account: AccountID) -> Bool {
        guard let delivery = delivery(of: account) else { return false }
        return delivery.isUnknown || !delivery.pins.isEmpty
    }

    /// Checks the public keys of a host's chain for an account; returns if the connection may be used.
    ///
    /// On Apple platforms call it from the session delegate's challenge, after the system's own trust evaluation. Cordon
    /// itself pins the service's root key inside the messages and does not depend on this.
    ///
    /// - Parameters:
    ///   - publicKeys: The subject public key info of each certificate, DER, the server's first. Take those of the chain that the system
    ///     evaluated: anything else that a host shows proves nothing.
    ///   - host: The host that you asked for.
    ///   - account: Whose connection it is; nil is the identity that the work at hand is for (SDK-NA-13). Personal work has no pins;
    ///     work whose identity was lost has those of every account, and before any identity was declared those of every account that name
    ///     the host. For an account that is named, nothing passes while it is not known what the organisation has pinned
    ///     (`algorithmNotSupported`). Name none for the transport that Cordon itself uses: only a check-in or an enrolment mends that.
    /// - Throws: ``ProtectionError`` with code `connectionRefused` when the connection must not be used; its
    ///   ``ProtectionError/pinning`` says why.
    public func checkPins(
        of publicKeys: [Data], for host: String?, account: AccountID? = nil
    ) throws(ProtectionError) {
        guard let host, !host.isEmpty else { throw ProtectionError(.nilHost) }
        guard !publicKeys.isEmpty, publicKeys.allSatisfy({ !$0.isEmpty }) else {
            throw ProtectionError(.invalidCertificateChain)
        }
        if let account, delivery(of: account)?.isUnknown == true { throw ProtectionError(.algorithmNotSupported) }
        let hashes = publicKeys.map { SHA256.hash(data: $0).withUnsafeBytes { Data($0) } }
        // Not reported as lost: the system asks about connections where no scope follows.
        let everyPin = pins(of: account.map { .managed($0) } ?? IdentityContext.current)
        let answers = everyPin.map { $0.answer(to: hashes, for: host) }
        if answers.contains(.refused) { throw ProtectionError(.matchNotFound) }
        if answers.contains(.notUnderstood) { throw ProtectionError(.algorithmNotSupported) }
    }

    /// Checks the chain of certificates that the system evaluated for a host, as ``checkPins(of:for:account:)`` checks their keys.
    ///
    /// It looks at names alone and leaves dates and signatures to the system. So give it the system's chain
    /// (`SecTrustCopyCertificateChain` after the evaluation), not what the host showed: anyone can put the pinned certificate behind one of
    /// their own that names it as its issuer.
    ///
    /// - Parameters:
    ///   - certificates: Each certificate, DER, the server's first and its issuer's next (SDK-CP-02).
    ///   - host: The host that was asked for.
    ///   - account: Whose connection it is; nil is the identity that the work at hand is for.
    /// - Throws: ``ProtectionError`` with code `connectionRefused` when the connection must not be used; its
    ///   ``ProtectionError/pinning`` is `errorAccessingCertificate` for data that is not a certificate,
    ///   `failedFormationEvaluation` where one does not name the next as its issuer.
    public func checkPins(
        ofCertificates certificates: [Data], for host: String?, account: AccountID? = nil
    ) throws(ProtectionError) {
        var chain: [PinnedCertificate] = []
        for certificate in certificates { chain.append(try PinnedCertificate(certificate)) }
        guard PinnedCertificate.areChained(chain) else { throw ProtectionError(.failedFormationEvaluation) }
        try checkPins(of: chain.map(\.publicKey), for: host, account: account)
    }

    private func delivery(of account: AccountID) -> Delivery? {
        rules.accounts.state(of: rules.accounts.resolved(account))?.delivery
    }

    /// The pins that a connection has to keep to.
    private func pins(of owner: EffectiveIdentity) -> [CertificatePins] {
        let inForce = rules.accounts.rules
        return switch rules.accounts.resolved(owner) {
        case .managed(let account): [inForce[account]?.delivery.pins].compactMap(\.self)
        case .lost: inForce.accounts.values.map(\.delivery.pins)
        // Cordon's own exchanges, before the app has opened anything: pins that cannot be read must not keep those away that mend them.
        case .unset: inForce.accounts.values.map(\.delivery.pins.named)
        case .personal: []
        }
    }
}

/// Why a pinned connection must not be used; the field's numbers (SDK-CP-02).
public enum PinningFailure: Int, Sendable, CaseIterable {
    /// The challenge is missing or unusable.
    case invalidChallenge = 100
    /// The chain is empty or unusable.
    case invalidCertificateChain = 101
    /// No host was named.
    case nilHost = 102
    /// The system does not trust the chain.
    case failedTrustEvaluation = 103
    /// The chain is not well formed.
    case failedFormationEvaluation = 104
    /// A certificate could not be read.
    case errorAccessingCertificate = 105
    /// The pins cannot be read, or their hash is not known here.
    case algorithmNotSupported = 106
    /// No pin of the host matches.
    case matchNotFound = 107
}

extension PinningFailure {
    /// What was wrong with the connection, in one line.
    var reason: String {
        switch self {
        case .invalidChallenge: "the server's challenge is missing or unusable"
        case .invalidCertificateChain: "the server showed no chain of certificates"
        case .nilHost: "the connection names no host"
        case .failedTrustEvaluation: "the system does not trust the server's certificates"
        case .failedFormationEvaluation: "a certificate of the server does not name the next one as its issuer"
        case .errorAccessingCertificate: "a certificate of the server cannot be read"
        case .algorithmNotSupported: "the organisation's pins for the server cannot be read"
        case .matchNotFound: "no key of the server is one that the organisation pinned"
        }
    }
}
