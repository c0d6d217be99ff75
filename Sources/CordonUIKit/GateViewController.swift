#if canImport(UIKit)
    public import Cordon
    public import CordonScreens
    public import Foundation
    public import UIKit

    /// Draws a ``GateScreen``, in the app's colours, in the size of text that the person has chosen, in the direction of their language, and as a
    /// screen reader reads it. It decides nothing.
    @MainActor public final class GateViewController: UIViewController {
        package var answer: @MainActor (GateAction, String, Int) -> Void
        private let stack = UIStackView()
        private var shown: ShownScreen?
        private var field: UITextField?

        /// Makes a controller.
        ///
        /// - Parameter answer: Told of what the person did, what stands in the field, and the number of the screen.
        public init(_ answer: @escaping @MainActor (GateAction, String, Int) -> Void) {
            self.answer = answer
            super.init(nibName: nil, bundle: nil)
            isModalInPresentation = true
        }

        /// Not from a storyboard.
        @available(*, unavailable)
        public required init?(coder: NSCoder) { nil }

        /// Lays the screen out.
        public override func viewDidLoad() {
            super.viewDidLoad()
            let scroll = UIScrollView()
            for part in [scroll, stack] as [UIView] { part.translatesAutoresizingMaskIntoConstraints = false }
            stack.axis = .vertical
            stack.spacing = 16
            scroll.addSubview(stack)
            view.addSubview(scroll)
            view.accessibilityViewIsModal = true
            NSLayoutConstraint.activate([
                scroll.leadingAnchor.constraint(equalTo: view.readableContentGuide.leadingAnchor),
                scroll.trailingAnchor.constraint(equalTo: view.readableContentGuide.trailingAnchor),
                scroll.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor),
                scroll.bottomAnchor.constraint(equalTo: view.safeAreaLayoutGuide.bottomAnchor),
                stack.topAnchor.constraint(equalTo: scroll.contentLayoutGuide.topAnchor, constant: 32),
                stack.bottomAnchor.constraint(equalTo: scroll.contentLayoutGuide.bottomAnchor, constant: -32),
                stack.leadingAnchor.constraint(equalTo: scroll.contentLayoutGuide.leadingAnchor),
                stack.trailingAnchor.constraint(equalTo: scroll.contentLayoutGuide.trailingAnchor),
                stack.widthAnchor.constraint(equalTo: scroll.frameLayoutGuide.widthAnchor),
            ])
        }

        /// Shows a screen in place of the one before; what was typed there is gone.
        public func show(_ shown: ShownScreen) {
            guard shown != self.shown else { return }
            self.shown = shown
            for part in stack.arrangedSubviews {
                stack.removeArrangedSubview(part)
                part.removeFromSuperview()
            }
            field = nil
            let (screen, theme) = (shown.screen, shown.screen.theme)
            // Otherwise what the organisation left to the system is as by day.
            overrideUserInterfaceStyle = theme.supportsDarkMode ? .unspecified : .light
            view.backgroundColor = theme.background.map(UIColor.init) ?? .systemBackground
            view.tintColor = theme.accent.map(UIColor.init)
            if screen.kind == .cover, let icon = theme.splashIcon {
                stack.addArrangedSubview(UIImageView(image: UIImage(named: icon)))
            }
            stack.addArrangedSubview(
                label(screen.title, .title1, theme.textColor.map(UIColor.init) ?? .label, isHeader: true))
            for line in screen.lines { stack.addArrangedSubview(self.line(line, theme)) }
            if let described = screen.field { stack.addArrangedSubview(makeField(described, screen)) }
            for button in screen.buttons { stack.addArrangedSubview(makeButton(button)) }
            UIAccessibility.post(notification: .screenChanged, argument: screen.announcement)
            field?.becomeFirstResponder()
        }

        private func line(_ line: GateScreen.Line, _ theme: ProtectionTheme) -> UILabel {
            let usual = theme.textColor.map(UIColor.init) ?? .label
            return switch line.role {
            case .message: label(line.text, .body, usual)
            case .problem: label(line.text, .body, .systemRed)
            case .account, .remedy:
                label(line.text, .footnote, theme.secondaryTextColor.map(UIColor.init) ?? .secondaryLabel)
            }
        }

        private func label(_ text: String, _ style: UIFont.TextStyle, _ color: UIColor, isHeader: Bool = false)
            -> UILabel
        {
            let label = UILabel()
            label.text = text
            label.font = .preferredFont(forTextStyle: style)
            label.adjustsFontForContentSizeCategory = true
            label.textColor = color
            label.numberOfLines = 0
            label.textAlignment = .natural
            if isHeader { label.accessibilityTraits = .header }
            return label
        }

        private func makeField(_ described: GateScreen.Field, _ screen: GateScreen) -> UITextField {
            let field = UITextField(frame: .zero)
            field.placeholder = described.label
            field.accessibilityLabel = described.label
            field.isSecureTextEntry = true
            field.keyboardType = described.digitsOnly ? .numberPad : .default
            field.autocorrectionType = .no
            // Not a password of the system's: nothing offers to keep it.
            field.textContentType = nil
            field.borderStyle = .roundedRect
            field.font = .preferredFont(forTextStyle: .body)
            field.adjustsFontForContentSizeCategory = true
            if let main = screen.buttons.first(where: \.isMain) {
                field.addAction(UIAction { [weak self] _ in self?.give(main.action) }, for: .primaryActionTriggered)
            }
            self.field = field
            return field
        }

        private func makeButton(_ described: GateScreen.Button) -> UIButton {
            var look: UIButton.Configuration = described.isMain ? .filled() : .plain()
            look.title = described.label
            let button = UIButton(
                configuration: look, primaryAction: UIAction { [weak self] _ in self?.give(described.action) })
            button.accessibilityLabel = described.label
            return button
        }

        private func give(_ action: GateAction) {
            guard let shown else { return }
            let typed = field?.text ?? ""
            field?.text = nil
            answer(action, typed, shown.id)
        }
    }

    extension UIColor {
        convenience init(_ color: ProtectionTheme.Color) {
            self.init(
                red: CGFloat(color.red) / 255, green: CGFloat(color.green) / 255, blue: CGFloat(color.blue) / 255,
                alpha: 1)
        }
    }
#endif
