internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

/// What the service hears of a wipe: that it has begun, and the receipt. Nothing of it changes what is removed.
struct WipeReceipts: Sendable {
    private let context: ProtectionContext
    private let service: ServiceAccess

    init(_ context: ProtectionContext, service: ServiceAccess) {
        self.context = context
        self.service = service
    }

    private var configuration: ProtectionConfiguration { context.configuration }
    /// For how long a wipe waits for a key that does not sign, in seconds: it may never sign again, and the account is closed meanwhile.
    private static let longestWait = 86_400.0

    /// Hands in every receipt that the service has not got yet, with growing pauses until it has; returns when nothing is left,
    /// or when the calling task is cancelled.
    func deliver() async {
        var failures = 0
        while !Task.isCancelled {
            guard await handInAll() > 0 else { return }
            failures += 1
            try? await configuration.clock.sleep(context.intervals.reconnection(after: failures))
        }
    }

    /// Tries once to hand in every receipt; how many are left.
    func handInAll() async -> Int {
        for wipe in waitingReceipts { await handIn(wipe) }
        return waitingReceipts.count
    }

    private var waitingReceipts: [WipeRecord] {
        ((try? context.wipes.load().records) ?? []).filter { $0.stage == .forgotten }
    }

    /// Gives the service a signed receipt and puts the wipe away once it has it.
    func handIn(_ wipe: WipeRecord) async {
        configuration.wipeObserver("hand-in")
        do {
            if let receipt = wipe.receipt {
                let phase: Acknowledgement.Phase = wipe.failures.isEmpty ? .succeeded : .failed
                try await ServiceClient.handIn(
                    acknowledgement(phase, of: wipe, receipt: receipt), registration: wipe.registration.registrationID,
                    at: wipe.registration.discovery, over: configuration.transport)
            }
        } catch ServiceFailure.refused(let problem) where problem.closesTheMatter {
            // The service has closed or forgotten the matter: there is no one left to tell.
        } catch {
            return
        }
        configuration.wipeObserver("put-away")
        do { try context.wipes.remove(wipe) } catch {
            configuration.logger.error(
                "a finished wipe could not be put away",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Tells the service that the wipe has begun, if it can be told; nothing depends on it.
    func reportBegun(_ wipe: WipeRecord) async {
        let registration = wipe.registration
        guard case .success(let signer)? = await service.signer(for: registration.account.id) else { return }
        try? await service.client(signer, discovery: registration.discovery).acknowledge(
            acknowledgement(.started, of: wipe, receipt: nil), registration: registration.registrationID)
    }

    private func acknowledgement(
        _ phase: Acknowledgement.Phase, of wipe: WipeRecord, receipt: String?
    ) -> Acknowledgement {
        Acknowledgement(
            commandID: wipe.command.id, phase: phase, time: configuration.clock.now(), receipt: receipt)
    }

    /// The signed receipt; nil when the session whose key signs it is gone, or the key signs no receipts.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` when the key only cannot be had at present, or has not signed for less than a
    ///   day since the wipe began.
    func receipt(of wipe: WipeRecord) async throws(ProtectionError) -> String? {
        let registration = wipe.registration
        let receipt = WipeReceipt(
            commandID: wipe.command.id, tenant: registration.account.tenant,
            registrationID: registration.registrationID, account: registration.account.id,
            bundleID: configuration.application.bundleID, destroyedKeyIDs: wipe.vault?.destroyedKeyIDs ?? [],
            files: wipe.vault?.files ?? 0, bytes: wipe.vault?.bytes ?? 0, started: wipe.started,
            finished: configuration.clock.now(), failures: wipe.failures, cause: wipe.cause)
        // A person who reads this wants to know first whether the data is gone.
        let done = wipe.failures.isEmpty ? "the data is gone" : "the wipe could not remove everything"
        let notNow = ProtectionError(
            .stateUnreadable, "\(done); its receipt waits for the device key, which is not available at present",
            hint: "Keep the app: it delivers the receipt as soon as it can.")
        switch await service.signer(for: registration.account.id) {
        case .success(let signer)?:
            do { return try receipt.signed(by: signer) } catch {
                // Where the clock was ahead when the wipe began, the time since then would be negative for as long.
                let waited = abs(configuration.clock.now().timeIntervalSince(wipe.started))
                guard error.code != .signingFailed || waited >= Self.longestWait else { throw notNow }
            }
        case .failure(let error)? where !error.isPassing: break
        case .failure?, nil: throw notNow
        }
        configuration.logger.error("the device key that signs a wipe's receipt is not available")
        return nil
    }
}

extension SignInError {
    /// Whether the same call may succeed later without a person signing in.
    fileprivate var isPassing: Bool {
        [.network, .serverBusy, .server, .brokerUnavailable, .cancelled, .storage].contains(code)
            && fault != .storeDamaged
    }
}

extension ProblemDetails {
    /// Whether the service itself says that it has no use for a receipt, and not something on the way to it.
    fileprivate var closesTheMatter: Bool {
        [401, 404, 409, 410].contains(status) && (type.hasPrefix("urn:cordon:problem:") || code != nil)
    }
}
