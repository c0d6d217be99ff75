internal import CordonBase
internal import CordonProtocol
public import CordonVault
public import Foundation

/// Remembers services' descriptions of themselves for the times when they do not answer. It is sealed and counted, because it says where a
/// person signs in and where tokens are sent.
public struct ServiceMemory: Sendable {
    private let folder: StateFolder
    private let seal: StateSeal

    /// The memory in an app's data folder, before there is an ``AppProtection``; the same arguments as in ``ProtectionConfiguration``.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public init(
        dataDirectory: URL, bundleID: String, keyStore: any KeyStore, stateCounter: (any StateCounter)? = nil
    ) throws(ProtectionError) {
        let folder = try StateFolder(dataDirectory.appending(path: "life"))
        let counter = try StateSeal.counter(stateCounter, in: dataDirectory)
        self.init(
            folder: folder, seal: StateSeal(keyStore: keyStore, folder: folder, counter: counter, bundleID: bundleID))
    }

    init(folder: StateFolder, seal: StateSeal) {
        self.folder = folder
        self.seal = seal
    }

    /// What a service said last; nil for nothing, and for what is not that.
    func discovery(of service: URL) -> ServiceDiscovery? {
        guard case .value(let known)? = try? state(of: service).read(), (try? known.check()) != nil else { return nil }
        return known
    }

    /// What to say of a service that gave no usable answer, and of which nothing is remembered that could stand in for it.
    static func unusable(
        _ service: URL, _ failure: ServiceFailure, rememberedIn memory: ServiceMemory?
    ) -> ProtectionError {
        guard memory?.isInDoubt(of: service) == true else {
            return ProtectionError(.serviceUnusable, failure.reason, hint: failure.hint)
        }
        return ProtectionError(
            .serviceUnusable,
            "\(failure.reason), and what was remembered of the service is gone, damaged, older or another device's",
            hint: "Start the app once where the service answers, with this device's own files and keys.")
    }

    /// Whether something was remembered of a service that counts for nothing now.
    private func isInDoubt(of service: URL) -> Bool {
        guard let found = try? state(of: service).look() else { return true }
        guard case .doubtful(let doubt) = found.contents else { return false }
        // Where the counter does not answer, and there is no record, nothing may have been.
        return doubt != .uncounted || found.value != nil
    }

    /// Remembers what a service says; what cannot be kept is asked for again.
    func keep(_ discovery: ServiceDiscovery, of service: URL) {
        let state = state(of: service)
        try? StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            let found = try? state.look()
            if case .value(discovery)? = found?.contents, found?.isFormer == false { return }
            try state.write(discovery, over: found)
        }
    }

    /// Notes that nothing is known of a service, so that what is found later without having been kept is none of this device's.
    func noteAbsence(of service: URL) {
        let state = state(of: service)
        try? StateLock.exclusively(folder.lock) { () throws(ProtectionError) in try state.noteAbsence() }
    }

    private func state(of service: URL) -> SealedState<ServiceDiscovery> {
        let file = folder.file("service-" + FolderName.hash(service.absoluteString))
        return SealedState(file: file, purpose: "service", seal: seal, former: .unsealed)
    }
}
