#if canImport(UIKit)
    public import Cordon
    public import CordonScreens
    internal import Foundation
    public import UIKit

    /// Protects an app's windows: covers them before the system takes its snapshot, closes and opens the gates as the app leaves and comes back,
    /// and shows Cordon's screens over every window. Make one when the app starts, and keep it.
    ///
    /// ```swift
    /// let scenes = SceneProtection(protection, interface: interface)
    /// ```
    /// It listens to the notifications of `UIScene`, which the system posts on the main thread while it waits; no scene delegate has to call
    /// anything. Main actor.
    @MainActor public final class SceneProtection {
        /// The protection of the app.
        public let protection: AppProtection
        /// What asks the person.
        public let interface: ScreenInterface

        private var tracker = FrontTracker()
        private var overlays: [WindowID: OverlayWindow] = [:]
        private let watch = SceneWatch()
        private let mayBeCaptured: @MainActor (WindowID) -> Bool

        /// Begins to watch the scenes of the app, including those that exist already.
        ///
        /// - Parameters:
        ///   - interface: The one in ``ProtectionConfiguration/interface``.
        ///   - mayBeCaptured: Whether the rules let a window be recorded; by default it asks them about the account that the window shows. It is
        ///     called, outside every identity scope, when recording begins, when the scene becomes active, and by ``lookAgain()``: call that when
        ///     anything else changes the answer.
        public init(
            _ protection: AppProtection, interface: ScreenInterface,
            mayBeCaptured: (@MainActor (WindowID) -> Bool)? = nil
        ) {
            self.protection = protection
            self.interface = interface
            self.mayBeCaptured =
                mayBeCaptured ?? { [rules = protection.rules] window in
                    rules.verdict(for: rules.question(.captureScreen, in: window)).permits
                }
            for scene in UIApplication.shared.connectedScenes { begin(scene) }
            observe(UIScene.willConnectNotification) { $0.begin($1) }
            observe(UIScene.willEnterForegroundNotification) { $0.apply(.enteringForeground($1.id), $1) }
            observe(UIScene.didActivateNotification) { $0.apply(.becameActive($1.id), $1) }
            observe(UIScene.willDeactivateNotification) { $0.apply(.resigningActive($1.id), $1) }
            observe(UIScene.didEnterBackgroundNotification) { $0.apply(.enteredBackground($1.id), $1) }
            observe(UIScene.didDisconnectNotification) { $0.apply(.disconnected($1.id), $1) }
            interface.tellOfDialogs { [weak self] isAsking in await self?.shelter(isAsking) }
            protection.windows.whenShown { [weak self] in await self?.lookAgain() }
            watch.showing = Task { [weak self] in
                for await shown in interface.screens() { self?.show(shown) }
            }
        }

        /// While a dialog of the system for Cordon is up the PIN screen stays to be seen.
        private func shelter(_ isAsking: Bool) { carryOut(tracker.shelter(isAsking)) }

        /// Whether a window is covered now.
        public func isCovered(_ window: WindowID) -> Bool { tracker.isCovered(window) }

        private func observe(
            _ name: NSNotification.Name, _ act: @escaping @MainActor (SceneProtection, UIScene) -> Void
        ) {
            // Without a queue the block runs where the notification is posted, before the system goes on.
            watch.observers.append(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
                    guard let scene = note.object as? UIScene else { return }
                    MainActor.assumeIsolated { if let self { act(self, scene) } }
                })
        }

        private func begin(_ scene: UIScene) {
            guard let scene = scene as? UIWindowScene else { return }
            apply(.connected(scene.id), scene)
            switch scene.activationState {
            case .foregroundActive: apply(.becameActive(scene.id), scene)
            case .foregroundInactive: apply(.enteringForeground(scene.id), scene)
            default: break
            }
            scene.registerForTraitChanges([UITraitSceneCaptureState.self]) {
                [weak self] (scene: UIWindowScene, _: UITraitCollection) in
                self?.noteCapture(of: scene)
            }
            noteCapture(of: scene)
        }

        /// Asks again whether the windows being recorded may be.
        ///
        /// Cordon does this when a window gets another account, before ``WindowIdentities/switchIdentity(to:in:)`` returns, and when rules
        /// change. Call it after `IdentityContext.setProcessIdentity`, whose identity windows without their own show.
        public func lookAgain() {
            for scene in overlays.values.compactMap(\.windowScene) { noteCapture(of: scene) }
        }

        private func noteCapture(of scene: UIWindowScene) {
            guard overlays[scene.id] != nil else { return }
            let isCaptured = scene.traitCollection.sceneCaptureState == .active
            // Whose work it is that asks says nothing of what the window shows.
            let isAllowed = !isCaptured || IdentityContext.with(nil) { mayBeCaptured(scene.id) }
            apply(.captured(scene.id, isCaptured, isAllowed: isAllowed), scene)
        }

        private func apply(_ event: FrontTracker.Event, _ scene: UIScene) {
            guard let scene = scene as? UIWindowScene else { return }
            if case .connected = event, overlays[scene.id] == nil {
                overlays[scene.id] = OverlayWindow(scene, interface)
            }
            if case .becameActive = event { noteCapture(of: scene) }
            carryOut(tracker.apply(event))
            if case .becameActive = event { overlays[scene.id]?.show(interface.current) }
        }

        private func carryOut(_ commands: [FrontTracker.Command]) {
            for command in commands {
                switch command {
                case .cover(let window): overlays[window]?.isCovering = true
                case .uncover(let window): overlays[window]?.isCovering = false
                case .leftFront: protection.gate.leftFront()
                case .cameToFront:
                    // The account that the window in front shows comes first; others when they are to be shown.
                    let shown = tracker.key.flatMap { IdentityContext.windowIdentity(of: $0) }
                    protection.gate.cameToFront(shown?.account)
                case .makeKey(let window): IdentityContext.setKeyWindow(window)
                case .forget(let window):
                    overlays.removeValue(forKey: window)?.isHidden = true
                    Task { [windows = protection.windows] in
                        _ = await windows.switchIdentity(to: nil, in: window)
                    }
                }
            }
        }

        private func show(_ shown: ShownScreen?) {
            for overlay in overlays.values { overlay.show(shown) }
        }
    }

    /// What is watched, until the owner goes. A deinit on the main actor would need iOS 18.4.
    private final class SceneWatch {
        var observers: [any NSObjectProtocol] = []
        var showing: Task<Void, Never>?

        deinit {
            for observer in observers { NotificationCenter.default.removeObserver(observer) }
            showing?.cancel()
        }
    }

    extension UIScene {
        /// The scene's name for Cordon: stable as long as the system keeps the scene.
        public var id: WindowID { WindowID(session.persistentIdentifier) }
    }
#endif
