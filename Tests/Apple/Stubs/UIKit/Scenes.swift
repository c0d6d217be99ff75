// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// UIKit's scenes and windows, which take a picture for the app switcher as the system does.

public import Foundation

@MainActor open class UIResponder: NSObject {}

public struct UISceneActivationState: Sendable, Hashable {
    let name: String
    public static let unattached = UISceneActivationState(name: "unattached")
    public static let foregroundActive = UISceneActivationState(name: "active")
    public static let foregroundInactive = UISceneActivationState(name: "inactive")
    public static let background = UISceneActivationState(name: "background")
}

@MainActor open class UISceneSession: NSObject {
    public let persistentIdentifier: String
    init(_ name: String) { persistentIdentifier = name }
}
@MainActor open class UIOpenURLContext: NSObject {
    public let url: URL
    public init(stubURL: URL) { url = stubURL }
}

@MainActor open class UIScene: UIResponder {
    open class ConnectionOptions: NSObject {}
    public let session: UISceneSession
    public fileprivate(set) var activationState = UISceneActivationState.unattached
    public init(stubName: String) { session = UISceneSession(stubName) }

    nonisolated public static let willConnectNotification = NSNotification.Name("UISceneWillConnectNotification")
    nonisolated public static let didDisconnectNotification = NSNotification.Name("UISceneDidDisconnectNotification")
    nonisolated public static let didActivateNotification = NSNotification.Name("UISceneDidActivateNotification")
    nonisolated public static let willDeactivateNotification = NSNotification.Name("UISceneWillDeactivateNotification")
    nonisolated public static let willEnterForegroundNotification = NSNotification.Name(
        "UISceneWillEnterForegroundNotification")
    nonisolated public static let didEnterBackgroundNotification = NSNotification.Name(
        "UISceneDidEnterBackgroundNotification")
}

@MainActor open class UIWindowScene: UIScene, UITraitEnvironment {
    public fileprivate(set) var windows: [UIWindow] = []
    open var traitCollection = UITraitCollection()
    /// The window that is typed into.
    public fileprivate(set) var stubKey: UIWindow?
    fileprivate var registered: [(UIWindowScene, UITraitCollection) -> Void] = []
    /// What the app switcher shows: the front window at the moment the system looked.
    public private(set) var stubPicture: UIWindow?

    @available(iOS 17.0, *)
    @discardableResult
    public func registerForTraitChanges<Self_: UIWindowScene>(
        _ traits: [any UITraitDefinition.Type], handler: @escaping (Self_, UITraitCollection) -> Void
    ) -> any UITraitChangeRegistration {
        registered.append { scene, before in (scene as? Self_).map { handler($0, before) } }
        return StubRegistration()
    }

    public var stubFront: UIWindow? {
        windows.filter { !$0.isHidden }.max { $0.windowLevel.rawValue < $1.windowLevel.rawValue }
    }
    private func post(_ name: NSNotification.Name) { NotificationCenter.default.post(name: name, object: self) }

    public func stubConnect() { UIApplication.shared.connectedScenes.insert(self); post(Self.willConnectNotification) }
    public func stubForeground() { post(Self.willEnterForegroundNotification); activationState = .foregroundInactive }
    public func stubActivate() { activationState = .foregroundActive; post(Self.didActivateNotification) }
    public func stubDeactivate() { post(Self.willDeactivateNotification); activationState = .foregroundInactive }
    public func stubBackground() {
        activationState = .background
        post(Self.didEnterBackgroundNotification)
        // The system looks as soon as the callbacks have returned.
        stubPicture = stubFront
    }
    public func stubDisconnect() {
        UIApplication.shared.connectedScenes.remove(self)
        post(Self.didDisconnectNotification)
    }
    public func stubCapture(_ isCaptured: Bool) {
        let before = traitCollection
        traitCollection = UITraitCollection(stubCapture: isCaptured ? .active : .inactive)
        for handler in registered { handler(self, before) }
    }
}

public enum UISceneCaptureState: Int, Sendable { case unspecified = -1, inactive = 0, active = 1 }
@MainActor public protocol UITraitEnvironment: NSObjectProtocol {
    var traitCollection: UITraitCollection { get }
}
open class UITraitCollection: NSObject, @unchecked Sendable {
    private let capture: UISceneCaptureState
    public init(stubCapture: UISceneCaptureState = .inactive) { capture = stubCapture }
    @available(iOS 17.0, *)
    open var sceneCaptureState: UISceneCaptureState { capture }
}
@available(iOS 17.0, *)
public protocol UITraitDefinition {}
@available(iOS 17.0, *)
public struct UITraitSceneCaptureState: UITraitDefinition {}
@available(iOS 17.0, *)
@MainActor public protocol UITraitChangeRegistration: NSObjectProtocol {}
@MainActor final class StubRegistration: NSObject, UITraitChangeRegistration {}

@MainActor open class UIWindow: UIView {
    public struct Level: Sendable, Hashable, RawRepresentable {
        public var rawValue: CGFloat
        public init(rawValue: CGFloat) { self.rawValue = rawValue }
        public static let normal = Level(rawValue: 0)
        public static let alert = Level(rawValue: 2000)
    }
    public weak var windowScene: UIWindowScene?
    open var windowLevel = Level.normal
    open var rootViewController: UIViewController?
    public init(windowScene: UIWindowScene) {
        self.windowScene = windowScene
        super.init(frame: .zero)
        isHidden = true
        windowScene.windows.append(self)
    }
    open func makeKeyAndVisible() {
        isHidden = false
        rootViewController?.view.stubMove(to: self)
        makeKey()
    }
    open func makeKey() { windowScene?.stubKey = self }
}

public struct UIBackgroundTaskIdentifier: Sendable, Hashable, RawRepresentable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

@MainActor open class UIApplication: UIResponder {
    public static let shared = UIApplication()
    public fileprivate(set) var connectedScenes: Set<UIScene> = []
    open var isProtectedDataAvailable = true
    public private(set) var stubOpened: [URL] = []
    public var stubOpens = true
    public private(set) var stubHeld: Set<UIBackgroundTaskIdentifier> = []
    private var lastHeld = 0

    public struct OpenExternalURLOptionsKey: Sendable, Hashable, RawRepresentable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let universalLinksOnly = OpenExternalURLOptionsKey(rawValue: "universal")
    }
    public struct ExtensionPointIdentifier: Sendable, Hashable, RawRepresentable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let keyboard = ExtensionPointIdentifier(rawValue: "com.apple.keyboard-service")
    }
    open func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool {
        if stubOpens { stubOpened.append(url) }
        return stubOpens
    }
    open func canOpenURL(_ url: URL) -> Bool { stubOpens }
    open func beginBackgroundTask(
        withName taskName: String? = nil, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        lastHeld += 1
        stubHeld.insert(UIBackgroundTaskIdentifier(rawValue: lastHeld))
        return UIBackgroundTaskIdentifier(rawValue: lastHeld)
    }
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { stubHeld.remove(identifier) }

    nonisolated public static let protectedDataDidBecomeAvailableNotification = NSNotification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")
}

@MainActor open class UIDevice: NSObject {
    public static let current = UIDevice()
    open var systemVersion: String { "17.4" }
    open var model: String { "iPhone" }
    open var name: String { "iPhone" }
}
