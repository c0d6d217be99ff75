internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Shows the service that this app is itself, where the platform can and the service asks for it (SRV-CI-082). Nothing depends on the outcome.
actor EvidenceReports: AccountFollower {
    /// What a registration remembers of the evidence that was shown for it.
    struct Shown: Codable, Equatable, Sendable {
        /// The platform's name of the key that the service knows, or may know.
        var key: String?
        /// When evidence is shown next, by the device's clock.
        var next: Date
    }

    /// How long after a failure it is tried again, in seconds.
    private static let pause: TimeInterval = 3600
    /// The longest time between two showings, whatever the service asks for.
    private static let longestPause = 30 * Intervals.day

    private let context: ProtectionContext
    private let service: ServiceAccess
    /// When each registration is tried next, also where its record could not be written.
    private var planned: [String: Date] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext, service: ServiceAccess) {
        self.context = context
        self.service = service
    }

    func accountLeft(_ account: AccountID, from before: AccountState?) { planned = [:] }

    func performDueWork(isFirst: Bool) async {
        guard let source = context.configuration.evidence, source.isSupported else { return }
        for account in context.accounts.enrolled {
            guard let record = context.accounts[account], isDue(record) else { continue }
            await show(record, source)
        }
    }

    func nextAttempts() -> [Date] {
        guard context.configuration.evidence?.isSupported == true else { return [] }
        return context.accounts.records.values.compactMap { planned[$0.registrationID] ?? $0.evidence?.next }
    }

    /// A moment that lies further away than any pause comes from a clock that was set.
    private func isDue(_ record: RegistrationRecord) -> Bool {
        guard let next = planned[record.registrationID] ?? record.evidence?.next else { return true }
        return !(0...Self.longestPause).contains(next.timeIntervalSince(context.configuration.clock.now()))
    }

    private func show(_ record: RegistrationRecord, _ source: any AppEvidenceSource) async {
        var key = record.evidence?.key
        var pause = Self.pause
        do {
            let asked = try await shown(record, &key, source)
            pause = min(max(TimeInterval(asked.nextEvidenceSeconds), Self.pause), Self.longestPause)
        } catch {
            // A service that asks for none is asked again the next day.
            if (error as? ServiceFailure)?.isNotThere == true { pause = Intervals.day }
            context.configuration.logger.debug("no evidence was shown", metadata: ["reason": "\(Self.reason(error))"])
        }
        // A moment beyond the longest pause would count as one of a clock that was set.
        let spread = min(context.intervals.spreadOut(pause), Self.longestPause)
        let shown = Shown(key: key, next: context.configuration.clock.now() + spread)
        planned[record.registrationID] = shown.next
        guard context.accounts.holds(record) else { return }
        do { try context.accounts.change(record.account.id) { $0.evidence = shown } } catch {
            context.configuration.logger.error("the evidence that was shown could not be noted")
        }
    }

    /// Shows evidence by the known key, and by a new one where there is none, or the platform or the service knows it no more.
    private func shown(
        _ record: RegistrationRecord, _ key: inout String?, _ source: any AppEvidenceSource
    ) async throws -> AppEvidenceResult {
        let session = try await service.session(for: record.account.id, discovery: record.discovery)
        let (client, registration) = (session.client, record.registrationID)
        let nonce = try await client.evidenceNonce(registration: registration, token: session.token)
        let challenge = AppEvidence.challenge(
            registrationID: registration, keyThumbprint: client.signer.publicKey.thumbprint, nonce: nonce)
        if let known = key, let name = Self.wireName(known),
            let assertion = await answer({ try await source.assertion(of: challenge, by: known) })
        {
            let evidence = AppEvidence(
                .appleAppAttest, keyID: name, nonce: nonce, assertion: Base64URL.encode(assertion))
            do {
                return try await client.show(evidence, registration: registration, token: session.token)
            } catch {
                guard error.saysUnknownEvidenceKey else { throw error }
            }
        }
        key = nil
        guard let (made, attestation) = await answer({ try await source.attest(challenge) }),
            let name = Self.wireName(made)
        else { throw ProtectionError(.outletFailed, "the platform cannot attest a key at the moment") }
        key = made
        return try await client.show(
            AppEvidence(.appleAppAttest, keyID: name, nonce: nonce, attestation: Base64URL.encode(attestation)),
            registration: registration, token: session.token)
    }

    /// What the platform answers in time; nil where it fails, or does not answer.
    private func answer<Value: Sendable>(_ ask: @escaping @Sendable () async throws -> Value) async -> Value? {
        await Deadline.answer(within: ServiceClient.timeout, by: context.configuration.clock) { try? await ask() }
            ?? nil
    }

    /// The platform's name of a key as the wire has it; nil where it is none.
    private static func wireName(_ key: String) -> String? {
        Data(base64Encoded: key).flatMap { $0.count == 32 ? Base64URL.encode($0) : nil }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? ServiceFailure)?.reason ?? (error as? ProtectionError)?.reason ?? "\(type(of: error))"
    }
}
