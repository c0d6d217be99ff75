#if canImport(SwiftUI) && canImport(UIKit)
    public import Cordon
    internal import CordonApple
    internal import CordonScreens
    internal import CordonUIKit
    public import Foundation
    public import Observation

    /// Protection for a SwiftUI app: starts the protection once the device is unlocked, watches the scenes, and knows which gates are open.
    ///
    /// ```swift
    /// @State private var cordon = ProtectedApp(service: service, rootKey: rootKey)
    /// WindowGroup { NotesView().cordon(cordon) }
    /// ```
    @MainActor @Observable public final class ProtectedApp {
        /// The protection; nil until it has started.
        public private(set) var protection: AppProtection?
        /// Why the protection did not start; nil while it starts, and once it has.
        public private(set) var failure: String?
        /// The accounts that are enrolled.
        public private(set) var accounts: [ManagedAccount] = []
        /// Counts events. A view that has asked whether an account is open reads it, and so asks again.
        private var changes = 0
        @ObservationIgnored private var running: Task<Void, Never>?
        @ObservationIgnored private var starting: Task<AppProtection, any Error>?
        @ObservationIgnored private var companions: [AccountID: Task<Void, Never>] = [:]
        @ObservationIgnored private var background: BackgroundWork?
        @ObservationIgnored private var scenes: SceneProtection?
        @ObservationIgnored private let configure: @MainActor () async throws -> ProtectionConfiguration

        /// Names the service. Nothing happens before ``run()``, which the modifier `cordon(_:)` calls.
        ///
        /// - Parameters:
        ///   - backgroundTask: The permitted identifier of a background task that does what is due while the app is not in front; nil for none.
        ///   - change: Changes the configuration before it is used.
        public convenience init(
            service: URL, rootKey: String, backgroundTask: String? = nil,
            _ change: @escaping @MainActor (inout ProtectionConfiguration) -> Void = { _ in }
        ) {
            self.init(backgroundTask: backgroundTask) {
                var configuration = try await ProtectionConfiguration.ofThisApp(service: service, rootKey: rootKey)
                change(&configuration)
                return configuration
            }
        }

        /// Takes the app's own configuration; its ``ProtectionConfiguration/interface`` has to be a ``ScreenInterface`` to be drawn.
        public init(
            backgroundTask: String? = nil, _ configure: @escaping @MainActor () async throws -> ProtectionConfiguration
        ) {
            self.configure = configure
            // The system takes no registration after the launch.
            background = backgroundTask.flatMap { identifier in
                BackgroundWork(identifier) { [weak self] in await self?.performDueWork() ?? .distantFuture }
            }
        }

        /// Whether an account's data may be shown.
        public func isOpen(_ account: AccountID) -> Bool {
            _ = changes
            return protection?.rules.mayShow(account) ?? false
        }

        /// Starts the protection if needed and keeps it running. Every scene of the app may call it; after a failure, the next call tries again.
        public func run() async {
            let task = running ?? Task { await work() }
            running = task
            await task.value
        }

        private func work() async {
            failure = nil
            do {
                let made = try await started()
                try? background?.schedule(notBefore: .now)
                Task { await made.keepUp() }
                // The events are read meanwhile: the gate's are among them.
                Task { await made.launch() }
                for await event in made.events() { note(event, made) }
            } catch let error as ProtectionError {
                failure = error.reason
            } catch { failure = "The organisation's protection could not be started." }
            running = nil
        }

        /// The protection, started once, also in a launch without a scene.
        private func started() async throws -> AppProtection {
            let task = starting ?? Task { try await AppProtection.whenUnlocked { try await start() } }
            starting = task
            do { return try await task.value } catch {
                starting = nil
                throw error
            }
        }

        private func performDueWork() async -> Date {
            guard let protection = try? await started() else { return Date(timeIntervalSinceNow: 900) }
            return await protection.performDueWork()
        }

        private func start() async throws -> AppProtection {
            let configuration = try await configure()
            let made = try await AppProtection(configuration)
            if let interface = configuration.interface as? ScreenInterface {
                scenes = SceneProtection(made, interface: interface)
            }
            protection = made
            refresh(made)
            return made
        }

        private func note(_ event: ProtectionEvent, _ protection: AppProtection) {
            switch event {
            case .wipeStarted, .wipeFinished:
                // What is left of it may wait for the network, and the time that was asked for last may be hours away.
                try? background?.schedule(notBefore: .now)
                refresh(protection)
            case .gate, .status, .policyChanged: refresh(protection)
            default: break
            }
        }

        private func refresh(_ protection: AppProtection) {
            let now = protection.enrolledAccounts
            if now != accounts { accounts = now }
            changes += 1
            for account in now.map(\.id) where companions[account] == nil {
                companions[account] = Task {
                    // New rules and wipes are heard of at once, and a limit that passes closes the gate.
                    async let watching: Void = protection.gate.watch(account)
                    await protection.stayInTouch(for: account)
                    await watching
                }
            }
            for (account, companion) in companions where !now.contains(where: { $0.id == account }) {
                companion.cancel()
                companions[account] = nil
            }
        }
    }
#endif
