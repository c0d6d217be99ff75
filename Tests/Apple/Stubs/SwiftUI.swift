// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// SwiftUI, as far as CordonSwiftUI and the example use it. Nothing is drawn.

public import Foundation
@_exported public import Observation
public import UIKit

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View {
    public var body: Never { fatalError() }
}
public protocol StubLeaf: View where Body == Never {}
extension StubLeaf {
    public var body: Never { fatalError() }
}
extension Optional: View, StubLeaf where Wrapped: View {
    public typealias Body = Never
}
@resultBuilder public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<A: View, B: View>(first: A) -> _ConditionalContent<A, B> { _ConditionalContent() }
    public static func buildEither<A: View, B: View>(second: B) -> _ConditionalContent<A, B> { _ConditionalContent() }
}
public struct EmptyView: StubLeaf { public init() {} }
public struct TupleView<T>: StubLeaf { init() {} }
public struct _ConditionalContent<A: View, B: View>: StubLeaf { init() {} }
public struct ModifiedContent<Content, Modifier>: StubLeaf { init() {} }

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = _ViewModifier_Content<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct _ViewModifier_Content<Modifier>: StubLeaf {}

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable, Sendable {
    public init(stringLiteral value: String) {}
}
public struct Font: Sendable, Hashable {
    public static let title = Font()
    public static let headline = Font()
    public static let body = Font()
    public static let footnote = Font()
}
public struct Color: StubLeaf, Sendable, Hashable {
    public enum RGBColorSpace: Sendable { case sRGB }
    public init(_ colorSpace: RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1) {}
    public static let red = Color(red: 1, green: 0, blue: 0)
    public static let primary = Color(red: 0, green: 0, blue: 0)
    public static let secondary = primary
    public static let clear = Color(red: 0, green: 0, blue: 0, opacity: 0)
    public static let accentColor = primary
}
public protocol ShapeStyle: Sendable {}
extension Color: ShapeStyle {}
public struct BackgroundStyle: ShapeStyle {}
extension ShapeStyle where Self == BackgroundStyle {
    public static var background: BackgroundStyle { BackgroundStyle() }
}
public struct HorizontalAlignment: Sendable { public static let leading = Self(), center = Self() }
public struct Alignment: Sendable { public static let center = Self() }
public struct Edge: Sendable {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let all = Set(rawValue: 15)
    }
}
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }
public struct AccessibilityTraits: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let isHeader = AccessibilityTraits(rawValue: 1)
    public static let isModal = AccessibilityTraits(rawValue: 2)
}

public struct Text: StubLeaf {
    public init<S: StringProtocol>(_ content: S) {}
    public init(_ key: LocalizedStringKey) {}
}
public struct Image: StubLeaf {
    public init(_ name: String) {}
    public init(systemName: String) {}
}
public struct Spacer: StubLeaf { public init() {} }
public struct SecureField: StubLeaf {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
}
public struct TextEditor: StubLeaf { public init(text: Binding<String>) {} }
public struct ButtonRole: Sendable, Equatable { public static let destructive = Self(), cancel = Self() }
public struct Button: StubLeaf {
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
    public init<S: StringProtocol>(_ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}
public struct VStack: StubLeaf {
    public init<C: View>(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> C
    ) {}
}
public struct HStack: StubLeaf {
    public init<C: View>(spacing: CGFloat? = nil, @ViewBuilder content: () -> C) {}
}
public struct ZStack: StubLeaf {
    public init<C: View>(alignment: Alignment = .center, @ViewBuilder content: () -> C) {}
}
public struct ScrollView: StubLeaf { public init<C: View>(@ViewBuilder content: () -> C) {} }
public struct NavigationStack: StubLeaf { public init<C: View>(@ViewBuilder root: () -> C) {} }
public struct List: StubLeaf {
    public init<C: View>(@ViewBuilder content: () -> C) {}
}
public struct ForEach: StubLeaf {
    public init<D: RandomAccessCollection, ID: Hashable, C: View>(
        _ data: D, id: KeyPath<D.Element, ID>, @ViewBuilder content: @escaping (D.Element) -> C
    ) {}
    public init<D: RandomAccessCollection, C: View>(_ data: D, @ViewBuilder content: @escaping (D.Element) -> C)
    where D.Element: Identifiable {}
}
public struct NavigationLink: StubLeaf {
    public init<S: StringProtocol, V: View>(_ title: S, @ViewBuilder destination: () -> V) {}
}
public struct ToolbarItem: StubLeaf { public init<C: View>(@ViewBuilder content: () -> C) {} }
public struct ProgressView: StubLeaf { public init() {} }
public struct SubmitTriggers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let text = SubmitTriggers(rawValue: 1)
}

extension View {
    public func modifier<T>(_ modifier: T) -> ModifiedContent<Self, T> { ModifiedContent() }
    public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        StubEnvironmentView(content: self) { $0[keyPath: keyPath] = value }
    }
    public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
    public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
    public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void)
        -> some View
    { self }
    public func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { self }
    public func background<S: ShapeStyle>(_ style: S) -> some View { self }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public func tint(_ tint: Color?) -> some View { self }
    public func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func privacySensitive(_ sensitive: Bool = true) -> some View { self }
    public func ignoresSafeArea() -> some View { self }
    public func keyboardType(_ type: UIKeyboardType) -> some View { self }
    public func onSubmit(of triggers: SubmitTriggers = .text, _ action: @escaping () -> Void) -> some View { self }
    public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { self }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }
    public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
    public func toolbar<C: View>(@ViewBuilder content: () -> C) -> some View { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
    public func alert<A: View>(_ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A) -> some View
    { self }
    public func id<ID: Hashable>(_ id: ID) -> some View { self }
    @available(iOS 18.0, *)
    public func writingToolsBehavior(_ behavior: WritingToolsBehavior) -> some View { self }
}
public enum ColorScheme: Sendable, CaseIterable { case light, dark }
@available(iOS 18.0, *)
public struct WritingToolsBehavior: Sendable { public static let disabled = Self(), automatic = Self() }

@propertyWrapper public struct Binding<Value> {
    public var wrappedValue: Value {
        get { get_() }
        nonmutating set { set_(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
    private let get_: () -> Value
    private let set_: (Value) -> Void
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (get_, set_) = (get, set) }
}
@propertyWrapper public struct State<Value> {
    private final class Box { var value: Value; init(_ value: Value) { self.value = value } }
    private let box: Box
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> { Binding(get: { box.value }, set: { box.value = $0 }) }
}
extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}
@propertyWrapper public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { path = keyPath }
    public var wrappedValue: Value { EnvironmentValues.stubCurrent[keyPath: path] }
}
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues: @unchecked Sendable {
    /// Those of the view that is being drawn.
    nonisolated(unsafe) static var stubCurrent = EnvironmentValues()
    private var stubValues: [ObjectIdentifier: Any] = [:]
    public init() {}
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { stubValues[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { stubValues[ObjectIdentifier(key)] = newValue }
    }
    public var scenePhase: ScenePhase {
        get { .active }
        set {}
    }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App {
    public static func main() {}
}
@MainActor @preconcurrency public protocol Scene {}
@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup: Scene {
    public init<C: View>(@ViewBuilder content: @escaping () -> C) {}
}

@MainActor @preconcurrency public protocol UIViewControllerRepresentable: View where Body == Never {
    associatedtype UIViewControllerType: UIViewController
    typealias Context = UIViewControllerRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIViewController(context: Context) -> UIViewControllerType
    @MainActor @preconcurrency func updateUIViewController(_ uiViewController: UIViewControllerType, context: Context)
}
extension UIViewControllerRepresentable {
    public var body: Never { fatalError() }
}
@MainActor public struct UIViewControllerRepresentableContext<Representable> {}

@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
    @MainActor @preconcurrency func makeUIView(context: Context) -> UIViewType
    @MainActor @preconcurrency func updateUIView(_ uiView: UIViewType, context: Context)
}
extension UIViewRepresentable {
    public var body: Never { fatalError() }
}
@MainActor public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
}

@MainActor protocol StubDrawn {
    func stubDraw(_ values: EnvironmentValues, in host: StubHost)
}
struct StubEnvironmentView<Content: View>: StubLeaf, StubDrawn {
    let content: Content
    let change: (inout EnvironmentValues) -> Void

    func stubDraw(_ values: EnvironmentValues, in host: StubHost) {
        var values = values
        change(&values)
        host.draw(content, values)
    }
}
/// Shows a system's view that stands below modifiers of the environment, and updates it each time.
@MainActor public final class StubHost {
    public private(set) var view: UIView?
    private var coordinator: Any?

    public init() {}
    public func show<V: View>(_ view: V) { draw(view, EnvironmentValues()) }

    func draw<V: View>(_ view: V, _ values: EnvironmentValues) {
        if let modified = view as? any StubDrawn { return modified.stubDraw(values, in: self) }
        if let shown = view as? any UIViewRepresentable { update(shown, values) }
    }

    private func update<R: UIViewRepresentable>(_ shown: R, _ values: EnvironmentValues) {
        EnvironmentValues.stubCurrent = values
        defer { EnvironmentValues.stubCurrent = EnvironmentValues() }
        let coordinator = self.coordinator as? R.Coordinator ?? shown.makeCoordinator()
        let context = UIViewRepresentableContext<R>(coordinator: coordinator)
        let view = self.view as? R.UIViewType ?? shown.makeUIView(context: context)
        shown.updateUIView(view, context: context)
        (self.coordinator, self.view) = (coordinator, view)
    }
}
