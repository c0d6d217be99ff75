// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// UIKit's views and controllers, as far as Cordon's screens are made of them.

public import Foundation

open class UIColor: NSObject, @unchecked Sendable {
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
    public static var systemBackground: UIColor { UIColor(red: 1, green: 1, blue: 1, alpha: 1) }
    public static var label: UIColor { UIColor(red: 0, green: 0, blue: 0, alpha: 1) }
    public static var secondaryLabel: UIColor { label }
    public static var systemRed: UIColor { label }
    public static var tintColor: UIColor { label }
}
open class UIImage: NSObject, @unchecked Sendable {
    public init?(named name: String) {}
}
open class UIFont: NSObject, @unchecked Sendable {
    public struct TextStyle: Sendable, Hashable {
        let name: String
        public static let title1 = TextStyle(name: "title1")
        public static let body = TextStyle(name: "body")
        public static let footnote = TextStyle(name: "footnote")
    }
    open class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}
public enum NSTextAlignment: Int, Sendable { case left = 0, center = 1, right = 2, justified = 3, natural = 4 }
public struct UIAccessibilityTraits: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let header = UIAccessibilityTraits(rawValue: 1)
}
public enum UIAccessibility {
    public struct Notification: Sendable, Hashable {
        let name: String
        public static let screenChanged = Notification(name: "screen")
    }
    @MainActor public static func post(notification: Notification, argument: Any?) {
        stubSaid.append(argument as? String ?? "")
    }
    @MainActor public static var stubSaid: [String] = []
}

@MainActor open class UIView: UIResponder {
    public private(set) var subviews: [UIView] = []
    /// Of the root view of a window that was shown, and of what a `StubHost` shows in a scene.
    open private(set) weak var window: UIWindow?
    open func didMoveToWindow() {}
    public func stubMove(to window: UIWindow?) {
        self.window = window
        didMoveToWindow()
    }
    public init(frame: CGRect) {}
    public convenience override init() { self.init(frame: .zero) }
    open var isHidden = false
    open var backgroundColor: UIColor?
    open var tintColor: UIColor?
    open var accessibilityLabel: String?
    open var accessibilityTraits: UIAccessibilityTraits = []
    open var accessibilityViewIsModal = false
    open var translatesAutoresizingMaskIntoConstraints = true
    open var isUserInteractionEnabled = true
    public private(set) var interactions: [any UIInteraction] = []
    open func addSubview(_ view: UIView) { subviews.append(view) }
    open func removeFromSuperview() {}
    open func addInteraction(_ interaction: any UIInteraction) { interactions.append(interaction) }
    open var bounds: CGRect { .zero }
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
    open var safeAreaLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open var readableContentGuide: UILayoutGuide { UILayoutGuide() }
    @discardableResult open func becomeFirstResponder() -> Bool { true }
    @discardableResult open func endEditing(_ force: Bool) -> Bool { true }
}
@MainActor public protocol UIInteraction: AnyObject {}
@MainActor open class NSLayoutConstraint: NSObject {
    open class func activate(_ constraints: [NSLayoutConstraint]) {}
}
@MainActor open class NSLayoutXAxisAnchor: NSObject {
    open func constraint(equalTo anchor: NSLayoutXAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor open class NSLayoutYAxisAnchor: NSObject {
    open func constraint(equalTo anchor: NSLayoutYAxisAnchor, constant: CGFloat = 0) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}
@MainActor open class NSLayoutDimension: NSObject {
    open func constraint(equalTo anchor: NSLayoutDimension, constant: CGFloat = 0) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}
@MainActor open class UILayoutGuide: NSObject {
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
}
@MainActor open class UILabel: UIView {
    open var text: String?
    open var font: UIFont = UIFont()
    open var textColor: UIColor?
    open var numberOfLines = 1
    open var textAlignment = NSTextAlignment.natural
    open var adjustsFontForContentSizeCategory = false
}
@MainActor open class UIImageView: UIView {
    public init(image: UIImage?) { super.init(frame: .zero) }
}
@MainActor open class UIScrollView: UIView {
    open var contentLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open var frameLayoutGuide: UILayoutGuide { UILayoutGuide() }
}
@MainActor open class UIStackView: UIView {
    public enum Axis: Sendable { case horizontal, vertical }
    public private(set) var arrangedSubviews: [UIView] = []
    open var axis = Axis.horizontal
    open var spacing: CGFloat = 0
    open func addArrangedSubview(_ view: UIView) { arrangedSubviews.append(view) }
    open func removeArrangedSubview(_ view: UIView) { arrangedSubviews.removeAll { $0 === view } }
}
open class UIMenuElement: NSObject {}
@MainActor open class UIAction: UIMenuElement {
    let handler: (UIAction) -> Void
    public init(title: String = "", handler: @escaping (UIAction) -> Void) { self.handler = handler }
}
@MainActor open class UIControl: UIView {
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let primaryActionTriggered = Event(rawValue: 1 << 13)
    }
    private var actions: [UIAction] = []
    open var isEnabled = true
    open func addAction(_ action: UIAction, for controlEvents: Event) { actions.append(action) }
    public func stubTrigger() { for action in actions { action.handler(action) } }
}
@MainActor open class UIButton: UIControl {
    @MainActor public struct Configuration {
        public var title: String?
        public static func filled() -> Configuration { Configuration() }
        public static func plain() -> Configuration { Configuration() }
    }
    open var configuration: Configuration?
    public init(configuration: Configuration, primaryAction: UIAction? = nil) {
        self.configuration = configuration
        super.init(frame: .zero)
        if let primaryAction { addAction(primaryAction, for: .primaryActionTriggered) }
    }
}
public enum UIKeyboardType: Int, Sendable { case `default` = 0, numberPad = 4 }
public enum UITextAutocorrectionType: Int, Sendable { case `default`, no, yes }
public struct UITextContentType: Sendable, Hashable {
    let name: String
    public static let password = UITextContentType(name: "password")
}
@MainActor open class UITextField: UIControl {
    public enum BorderStyle: Int, Sendable { case none = 0, roundedRect = 3 }
    open var text: String?
    open var placeholder: String?
    open var isSecureTextEntry = false
    open var keyboardType = UIKeyboardType.default
    open var autocorrectionType = UITextAutocorrectionType.default
    open var textContentType: UITextContentType?
    open var borderStyle = BorderStyle.none
    open var font: UIFont?
    open var adjustsFontForContentSizeCategory = false
}
@available(iOS 18.0, *)
public enum UIWritingToolsBehavior: Int, Sendable { case none = -1, `default` = 0, complete = 1, limited = 2 }
@MainActor open class UITextView: UIScrollView {
    open var text: String = ""
    @available(iOS 18.0, *)
    open var writingToolsBehavior: UIWritingToolsBehavior {
        get { .default }
        set { stubTools = newValue.rawValue }
    }
    @available(iOS 18.0, *)
    open var supportsAdaptiveImageGlyph: Bool {
        get { true }
        set { stubGlyphs = newValue }
    }
    public private(set) var stubTools = 0
    public private(set) var stubGlyphs = true
}

public enum UIUserInterfaceStyle: Int, Sendable { case unspecified = 0, light = 1, dark = 2 }

@MainActor open class UIViewController: UIResponder {
    open var overrideUserInterfaceStyle = UIUserInterfaceStyle.unspecified
    private var loaded: UIView?
    /// Made when it is looked at first, as the system does.
    open var view: UIView {
        get {
            if let loaded { return loaded }
            let made = UIView()
            loaded = made
            viewDidLoad()
            return made
        }
        set { loaded = newValue }
    }
    open var viewIfLoaded: UIView? { loaded }
    public private(set) var presentedViewController: UIViewController?
    public private(set) weak var presentingViewController: UIViewController?
    public private(set) var isBeingDismissed = false
    open var isModalInPresentation = false
    public init(nibName: String? = nil, bundle: Bundle? = nil) {}
    public convenience override init() { self.init(nibName: nil, bundle: nil) }
    @available(*, unavailable)
    public required init?(coder: NSCoder) { nil }
    open func viewDidLoad() {}
    open func viewDidDisappear(_ animated: Bool) {}
    open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {
        // Over another screen the system shows none, and says so in its log alone.
        guard presentedViewController == nil else { return }
        presentedViewController = controller
        controller.presentingViewController = self
        completion?()
    }
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        guard let gone = presentedViewController else {
            presentingViewController?.dismiss(animated: flag, completion: completion)
            return
        }
        // What is going already is not dismissed again, and no one is told.
        guard !gone.isBeingDismissed else { return }
        gone.isBeingDismissed = flag
        let end = { [self] in
            gone.isBeingDismissed = false
            gone.presentingViewController = nil
            presentedViewController = nil
            completion?()
        }
        if flag { Task { end() } } else { end() }
    }
}
