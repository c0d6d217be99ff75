#if canImport(Intents)
    public import Cordon
    internal import Crypto
    internal import Foundation
    public import Intents

    /// Interactions that are donated to Siri and the system's suggestions with the rules' leave, and taken back with the account's data (SDK-SI-01).
    ///
    /// It follows the protection's wipes, and accounts that leave; make one at the start of the app and keep it. Main actor. An App Intent answers with
    /// ``EnforcedRules/whenAllowed(_:isolation:_:)`` and offers entities by ``EnforcedRules/only(_:for:owner:)``.
    @MainActor public final class ProtectedDonations {
        private let protection: AppProtection
        private var follower: EventFollower?

        /// Makes a donor.
        public init(_ protection: AppProtection) {
            self.protection = protection
            follower = EventFollower(protection) { [weak self] in await self?.note($0) }
        }

        /// Donates what a person did, if the account's rules let Siri know of it.
        ///
        /// - Throws: ``ProtectionError`` with code `denied`, or `outletFailed` where the system took nothing.
        public func donate(_ interaction: INInteraction, of owner: Identity) async throws {
            let question = Question.may(.siriIntent, of: owner)
            try await protection.rules.whenAllowed(question) {
                interaction.groupIdentifier = Self.group(owner.account)
                let isTaken = await withCheckedContinuation { continuation in
                    interaction.donate { continuation.resume(returning: $0 == nil) }
                }
                guard isTaken else { throw ProtectionError(.outletFailed, "the system took no donation") }
                // Meanwhile the account may have gone, and what was donated of it been taken back already.
                if !protection.rules.verdict(for: question).permits { takeBack(owner.account) }
            }
        }

        /// Takes back what was donated of an account whose data is removed, or that has left.
        private func note(_ event: ProtectionEvent) {
            switch event {
            case .wipeStarted(let account, _), .wipeFinished(let account, _, _): takeBack(account)
            case .status(let report) where report.operation == .unenrollment: takeBack(report.account)
            default: break
            }
        }

        /// Takes back what was donated of an account; nil is the person's own.
        public func takeBack(_ account: AccountID?) { INInteraction.delete(with: Self.group(account), completion: nil) }

        /// A name of the account's that tells the system nothing of the account, one for all that the account is called.
        private static func group(_ account: AccountID?) -> String {
            guard let account else { return "cordon.personal" }
            let name = IdentityContext.canonical(account).rawValue.lowercased()
            let digest = SHA256.hash(data: Data(name.utf8))
            return "cordon." + digest.prefix(16).map { String($0, radix: 16) }.joined(separator: "-")
        }
    }
#endif

#if canImport(AppIntents)
    public import AppIntents
    public import Cordon

    /// What Siri says where an App Intent was refused: the reason, as everywhere else.
    extension ProtectionError: CustomLocalizedStringResourceConvertible {
        /// The reason, and what would help.
        public var localizedStringResource: LocalizedStringResource {
            LocalizedStringResource(stringLiteral: "\(reason) \(hint)")
        }
    }
#endif
