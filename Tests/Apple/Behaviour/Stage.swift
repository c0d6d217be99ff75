import CordonApple
import CordonSwiftUI
import CordonUIKit
import Foundation
import HTTPTypes
import LocalAuthentication
import Security
import Testing
import UIKit

@testable import Cordon

/// An app on stand-ins: its protection without any service, its scenes, and Cordon's screens over them.
@MainActor final class Stage {
    let interface: ScreenInterface
    let protection: AppProtection
    private let scenes: SceneProtection?
    let folder: URL

    /// The account whose rules a stage may have.
    nonisolated static let account: AccountID = "dev@contoso.example"

    /// - Parameters:
    ///   - rules: Rules of a property list; nil for none. They act without a service, in debug builds alone.
    ///   - asksOfCapture: Whether the rules say which windows may be recorded, and not ``rule``.
    convenience init(rules: [String: JSONValue]? = nil, asksOfCapture: Bool = false) async throws {
        let configuration = Self.configuration(rules: rules)
        let protection = try await AppProtection(configuration)
        let interface = try #require(configuration.interface as? ScreenInterface)
        let capture = CaptureRule()
        let ownRule: @MainActor (WindowID) -> Bool = { _ in capture.isAllowed }
        let scenes = SceneProtection(
            protection, interface: interface, mayBeCaptured: asksOfCapture ? nil : ownRule)
        self.init(protection, interface, scenes, capture, folder: configuration.dataDirectory)
    }

    /// What `app` has started.
    convenience init(of app: ProtectedApp, _ configuration: ProtectionConfiguration) throws {
        let interface = try #require(configuration.interface as? ScreenInterface)
        self.init(
            try #require(app.protection), interface, nil, CaptureRule(), folder: configuration.dataDirectory)
    }

    private init(
        _ protection: AppProtection, _ interface: ScreenInterface, _ scenes: SceneProtection?, _ rule: CaptureRule,
        folder: URL
    ) {
        (self.protection, self.interface, self.scenes, self.rule, self.folder) = (
            protection, interface, scenes, rule, folder
        )
    }

    static func configuration(rules: [String: JSONValue]? = nil) -> ProtectionConfiguration {
        StubKeychain.shared.reset()
        let folder = FileManager.default.temporaryDirectory.appending(path: "apple-\(UUID().uuidString)")
        let interface = ScreenInterface(biometry: DeviceBiometry(), pause: { _ in })
        var configuration = ProtectionConfiguration(
            application: ApplicationFacts(bundleID: "example.notes", version: "1.0"), device: .ofThisDevice,
            service: URL(string: "https://cordon.invalid") ?? folder,
            rootKey: String(repeating: "A", count: 43), dataDirectory: folder, keyStore: KeychainKeys(),
            transport: NoNetwork(), sessions: NoSessions())
        configuration.interface = interface
        configuration.language = "en"
        configuration.stateCounter = KeychainStateCounter(SystemKeychain())
        if let rules {
            configuration.settings.allowsDebugPolicies = true
            configuration.debugPolicies = DebugPolicies(account: Self.account, settings: DeviceSettings(rules))
            configuration.deviceFacts = { _ in .ofThisDevice(RootTraces(exists: { _ in false }, writes: { _ in false }))
            }
        }
        return configuration
    }

    let rule: CaptureRule

    /// A scene in front, with the app's own window.
    func scene(_ name: String) -> UIWindowScene {
        let scene = UIWindowScene(stubName: name)
        let app = UIWindow(windowScene: scene)
        scene.stubConnect()
        scene.stubForeground()
        app.makeKeyAndVisible()
        scene.stubActivate()
        return scene
    }

    /// What stands on the window in front of a scene; nil where that is the app's own.
    func text(of scene: UIWindowScene) -> [String]? {
        guard let front = scene.stubFront, front.windowLevel != .normal else { return nil }
        return front.rootViewController.map { Self.texts($0.view) }
    }

    /// The buttons on the window in front of a scene.
    func buttons(of scene: UIWindowScene) -> [UIButton] {
        scene.stubFront?.rootViewController.map { Self.views($0.view).compactMap { $0 as? UIButton } } ?? []
    }

    func field(of scene: UIWindowScene) -> UITextField? {
        scene.stubFront?.rootViewController.flatMap { Self.views($0.view).compactMap { $0 as? UITextField }.first }
    }

    private static func views(_ view: UIView) -> [UIView] {
        [view] + (view.subviews + ((view as? UIStackView)?.arrangedSubviews ?? [])).flatMap(views)
    }

    private static func texts(_ view: UIView) -> [String] { views(view).compactMap { ($0 as? UILabel)?.text } }

    /// Presses what goes on, and types the PIN where one is asked for, until the account's gate is open.
    func passGate(in scene: UIWindowScene, pin: String = "4711") async throws {
        try await until {
            guard !protection.gate.isOpen(for: Self.account) else { return true }
            field(of: scene)?.text = pin
            buttons(of: scene).first?.stubTrigger()
            return false
        }
        try await until { text(of: scene) == nil }
    }

    /// Has the account's gate passed, with a scene in front.
    func open(in scene: UIWindowScene) async throws {
        async let launched = protection.launch(Self.account)
        try await passGate(in: scene)
        #expect(await launched.isOpen)
    }

    /// Puts rules in force for the account, with a configuration.
    func activate(_ rules: AccountState.Rules, _ configuration: [String: JSONValue] = [:]) {
        var state = AccountState(rules: rules, sequence: 0, lastCheckIn: .now)
        state.delivery.configuration = AppConfiguration([TargetedAppConfiguration(values: configuration)])
        protection.context.accounts.activate(state, of: Self.account)
    }

    /// Puts rules in force for the account that allow nothing.
    func denyEverything() { activate(.unreadable) }

    /// Has the account's rules ask for the PIN at every return.
    func askAtEveryReturn() throws {
        guard case .policy(let rules)? = protection.context.accounts.state(of: Self.account)?.rules else {
            throw CancellationError()
        }
        var policy = rules.policy
        policy.access.periodOnlineBeforeAccessCheck = .zero
        activate(.policy(EffectivePolicy(policy)))
    }

    /// Waits until something holds, as the tasks that make it hold go on.
    func until(_ holds: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while !holds() {
            guard .now < end else { throw CancellationError() }
            await Task.yield()
        }
    }
}

@MainActor final class CaptureRule {
    var isAllowed = true
}

struct NoNetwork: HTTPTransport {
    func send(_ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration) async throws(TransportError)
        -> HTTPAnswer
    {
        throw TransportError(.unreachable, reason: "there is no network")
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "there is no network")
    }
}

struct NoSessions: AccountSessions {
    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken { throw SignInError(.storage, .storeUnavailable, "no one is signed in") }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner { SoftwareSigningKey() }

    func end(_ account: AccountID) async throws(SignInError) {}
}
