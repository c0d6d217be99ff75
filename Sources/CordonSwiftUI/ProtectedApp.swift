#if canImport(SwiftUI) && canImport(UIKit)
    public import Cordon
    internal import CordonApple
    internal import CordonScreens
    internal import CordonUIKit
    public import Foundation
    public import Observation

    /// An app under protection, for SwiftUI: it starts the protection when the device is unlocked, watches the scenes, and says which gates are open.
    ///
    /// ```swift
    /// @State private var cordon = ProtectedApp(service: service, rootKey: rootKey)
    /// WindowGroup { NotesView().cordon(cordon) }
    /// ```
    @MainActor @Observable public final class ProtectedApp {
        /// The protection; nil until it has started.
        public private(set) var protection: AppProtection?
        /// Why it has not started; nil while it starts, and when it has.
        public private(set) var failure: String?
        /// The accounts that are enrolled.
        public private(set) var accounts: [ManagedAccount] = []
        private var openGates: Set<AccountID> = []
        @ObservationIgnored private var scenes: SceneProtection?
        @ObservationIgnored private let configure: @MainActor () async throws -> ProtectionConfiguration

        /// Names the service; nothing happens before ``run()``, which the modifier `cordon(_:)` calls.
        ///
        /// - Parameters:
        ///   - change: Changes the configuration before the protection is made of it.
        public init(
            service: URL, rootKey: String,
            _ change: @escaping @MainActor (inout ProtectionConfiguration) -> Void = { _ in }
        ) {
            configure = {
                var configuration = try await ProtectionConfiguration.ofThisApp(service: service, rootKey: rootKey)
                change(&configuration)
                return configuration
            }
        }

        /// Makes one of a configuration of the app's own; ``ProtectionConfiguration/interface`` has to be a ``ScreenInterface`` to be drawn.
        public init(_ configure: @escaping @MainActor () async throws -> ProtectionConfiguration) {
            self.configure = configure
        }

        /// Whether an account's data may be shown.
        public func isOpen(_ account: AccountID) -> Bool { openGates.contains(account) }

        /// Starts the protection where it has not started, and keeps it up until the calling task is cancelled.
        public func run() async {
            guard protection == nil else { return }
            do {
                let made = try await AppProtection.whenUnlocked { try await start() }
                await withDiscardingTaskGroup { group in
                    group.addTask { await made.keepUp() }
                    for await event in made.events() { await note(event, made) }
                    group.cancelAll()
                }
            } catch let error as ProtectionError {
                failure = error.reason
            } catch { failure = "The organisation's protection could not be started." }
        }

        private func start() async throws -> AppProtection {
            let configuration = try await configure()
            let made = try await AppProtection(configuration)
            if let interface = configuration.interface as? ScreenInterface {
                scenes = SceneProtection(made, interface: interface)
            }
            protection = made
            await refresh(made)
            _ = await made.launch()
            return made
        }

        private func note(_ event: ProtectionEvent, _ protection: AppProtection) async {
            switch event {
            case .gate(let account, .opened): openGates.insert(account)
            case .gate(let account, .closed), .wipeStarted(let account, _): openGates.remove(account)
            default: break
            }
            await refresh(protection)
        }

        private func refresh(_ protection: AppProtection) async {
            accounts = protection.enrolledAccounts
            openGates = Set(accounts.map(\.id).filter { protection.gate.isOpen(for: $0) })
        }
    }
#endif
