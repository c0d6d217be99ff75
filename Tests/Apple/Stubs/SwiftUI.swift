// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// SwiftUI, as far as CordonSwiftUI and the example use it. `StubHost` draws what tests look at: states, tasks, texts, buttons, and the
// system's views and controllers.

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
extension Optional: View, StubLeaf, StubDrawn where Wrapped: View {
    public typealias Body = Never
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        if let self { host.draw(self, values, path) }
    }
}
@resultBuilder public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        var views: [any View] = []
        repeat views.append(each content)
        return TupleView(views: views)
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<A: View, B: View>(first: A) -> _ConditionalContent<A, B> {
        _ConditionalContent(view: first, branch: "first")
    }
    public static func buildEither<A: View, B: View>(second: B) -> _ConditionalContent<A, B> {
        _ConditionalContent(view: second, branch: "second")
    }
}
public struct EmptyView: StubLeaf { public init() {} }
public struct TupleView<T>: StubLeaf, StubDrawn {
    let views: [any View]
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        for (index, view) in views.enumerated() { host.draw(view, values, "\(path)/\(index)") }
    }
}
public struct _ConditionalContent<A: View, B: View>: StubLeaf, StubDrawn {
    let view: any View
    let branch: String
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.draw(view, values, "\(path)/\(branch)")
    }
}
public struct ModifiedContent<Content, Modifier>: StubLeaf, StubDrawn {
    let content: Content
    let modifier: Modifier
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        guard let modifier = modifier as? any ViewModifier, let content = content as? any View else { return }
        host.draw(modifier, around: content, values, path)
    }
}

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = _ViewModifier_Content<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct _ViewModifier_Content<Modifier>: StubLeaf, StubDrawn {
    let content: any View
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.draw(content, values, path + "/content")
    }
}

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable, Sendable {
    let text: String
    public init(stringLiteral value: String) { text = value }
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

public struct Text: StubLeaf, StubDrawn {
    let text: String
    public init<S: StringProtocol>(_ content: S) { text = String(content) }
    public init(_ key: LocalizedStringKey) { text = key.text }
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) { host.texts.append(text) }
}
public struct Image: StubLeaf {
    public init(_ name: String) {}
    public init(systemName: String) {}
}
public struct Spacer: StubLeaf { public init() {} }
public struct TextEditor: StubLeaf { public init(text: Binding<String>) {} }
public struct ButtonRole: Sendable, Equatable { public static let destructive = Self(), cancel = Self() }
public struct Button: StubLeaf, StubDrawn {
    let title: String
    let action: @MainActor () -> Void
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {
        (self.title, self.action) = (String(title), action)
    }
    public init<S: StringProtocol>(_ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void) {
        self.init(title, action: action)
    }
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) { host.buttons[title] = action }
}
public struct VStack: StubLeaf, StubDrawn {
    let content: any View
    public init<C: View>(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> C
    ) { self.content = content() }
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.draw(content, values, path)
    }
}
public struct HStack: StubLeaf {
    public init<C: View>(spacing: CGFloat? = nil, @ViewBuilder content: () -> C) {}
}
public struct ZStack: StubLeaf, StubDrawn {
    let content: any View
    public init<C: View>(alignment: Alignment = .center, @ViewBuilder content: () -> C) { self.content = content() }
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.draw(content, values, path)
    }
}
public struct NavigationStack: StubLeaf { public init<C: View>(@ViewBuilder root: () -> C) {} }
public struct List: StubLeaf {
    public init<C: View>(@ViewBuilder content: () -> C) {}
}
public struct ForEach: StubLeaf, StubDrawn {
    let views: [any View]
    public init<D: RandomAccessCollection, ID: Hashable, C: View>(
        _ data: D, id: KeyPath<D.Element, ID>, @ViewBuilder content: @escaping (D.Element) -> C
    ) { views = data.map { content($0) } }
    public init<D: RandomAccessCollection, C: View>(_ data: D, @ViewBuilder content: @escaping (D.Element) -> C)
    where D.Element: Identifiable { views = data.map { content($0) } }
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        for (index, view) in views.enumerated() { host.draw(view, values, "\(path)/\(index)") }
    }
}
public struct NavigationLink: StubLeaf {
    public init<S: StringProtocol, V: View>(_ title: S, @ViewBuilder destination: () -> V) {}
}
public struct ToolbarItem: StubLeaf { public init<C: View>(@ViewBuilder content: () -> C) {} }
public struct ProgressView: StubLeaf { public init() {} }
extension View {
    public func modifier<T>(_ modifier: T) -> ModifiedContent<Self, T> {
        ModifiedContent(content: self, modifier: modifier)
    }
    public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        StubEnvironmentView(content: self) { $0[keyPath: keyPath] = value }
    }
    public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { StubTaskView(content: self, id: 0, action: action) }
    public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { StubTaskView(content: self, id: value, action: action) }
    public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void)
        -> some View
    { StubChangeView(content: self, value: value, action: action) }
    public func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View {
        StubBackgroundView(content: self, background: content())
    }
    public func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { self }
    public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func privacySensitive(_ sensitive: Bool = true) -> some View { self }
    public func ignoresSafeArea() -> some View { self }
    public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { self }
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
    /// A view is made anew for each drawing, and is given the box of the one before.
    private final class Place { var box: Box; init(_ box: Box) { self.box = box } }
    private let place: Place
    public init(wrappedValue: Value) { place = Place(Box(wrappedValue)) }
    public init(initialValue: Value) { self.init(wrappedValue: initialValue) }
    public var wrappedValue: Value {
        get { place.box.value }
        nonmutating set { place.box.value = newValue }
    }
    public var projectedValue: Binding<Value> { Binding(get: { wrappedValue }, set: { wrappedValue = $0 }) }
}
protocol StubState { func stubKeep(in box: inout AnyObject?) }
extension State: StubState {
    func stubKeep(in box: inout AnyObject?) {
        if let kept = box as? Box { place.box = kept } else { box = place.box }
    }
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
extension UIViewRepresentable where Coordinator == Void {
    public func makeCoordinator() {}
}
@MainActor public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
}

@MainActor @preconcurrency protocol StubDrawn {
    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost)
}
struct StubEnvironmentView<Content: View>: StubLeaf, StubDrawn {
    let content: Content
    let change: (inout EnvironmentValues) -> Void

    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        var values = values
        change(&values)
        host.draw(content, values, path)
    }
}
struct StubBackgroundView<Content: View, Background: View>: StubLeaf, StubDrawn {
    let content: Content
    let background: Background

    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.draw(background, values, path + "/background")
        host.draw(content, values, path)
    }
}
struct StubTaskView<Content: View, ID: Equatable>: StubLeaf, StubDrawn {
    let content: Content
    let id: ID
    let action: @Sendable () async -> Void

    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.keep(id, action, path)
        host.draw(content, values, path)
    }
}
struct StubChangeView<Content: View, V: Equatable>: StubLeaf, StubDrawn {
    let content: Content
    let value: V
    let action: (V, V) -> Void

    func stubDraw(_ values: EnvironmentValues, at path: String, in host: StubHost) {
        host.note(value, action, path)
        host.draw(content, values, path)
    }
}
/// Draws a view in the app's window of a scene, and updates it each time: states stay, tasks begin anew with another id and end with their
/// view.
@MainActor public final class StubHost {
    /// The system's view or controller that was drawn last.
    public private(set) var view: UIView?
    public private(set) var controller: UIViewController?
    public internal(set) var texts: [String] = []
    public internal(set) var buttons: [String: @MainActor () -> Void] = [:]
    private let scene: UIWindowScene?
    private var made: [String: (view: UIView, coordinator: Any)] = [:]
    private var states: [String: AnyObject] = [:]
    private var values: [String: Any] = [:]
    private var tasks: [String: (id: Any, task: Task<Void, Never>)] = [:]
    private var drawnTasks: Set<String> = []
    private var again: () -> Void = {}

    public init(in scene: UIWindowScene? = nil) { self.scene = scene }
    public func show<V: View>(_ view: V) {
        again = { [unowned self] in
            (texts, buttons, drawnTasks) = ([], [:], [])
            draw(view, EnvironmentValues(), "")
            for (path, kept) in tasks where !drawnTasks.contains(path) {
                kept.task.cancel()
                tasks[path] = nil
            }
        }
        again()
    }
    /// Draws the same once more, as the system does when a state has changed.
    public func redraw() { again() }

    func draw<V: View>(_ view: V, _ values: EnvironmentValues, _ path: String) {
        if let drawn = view as? any StubDrawn { return drawn.stubDraw(values, at: path, in: self) }
        if let shown = view as? any UIViewRepresentable { return update(shown, values, path) }
        if let shown = view as? any UIViewControllerRepresentable { return update(shown) }
        guard V.Body.self != Never.self else { return }
        draw(body(of: view, values, path) { view.body }, values, path + "/body")
    }

    func draw<M: ViewModifier>(_ modifier: M, around content: any View, _ values: EnvironmentValues, _ path: String) {
        let drawn = body(of: modifier, values, path) { modifier.body(content: _ViewModifier_Content(content: content)) }
        draw(drawn, values, "\(path)/\(M.self)")
    }

    private func body<B>(of owner: Any, _ values: EnvironmentValues, _ path: String, _ make: () -> B) -> B {
        for member in Mirror(reflecting: owner).children {
            (member.value as? any StubState)?.stubKeep(in: &states["\(path)/\(type(of: owner)).\(member.label ?? "")"])
        }
        EnvironmentValues.stubCurrent = values
        defer { EnvironmentValues.stubCurrent = EnvironmentValues() }
        return make()
    }

    func keep<ID: Equatable>(_ id: ID, _ action: @escaping @Sendable () async -> Void, _ path: String) {
        drawnTasks.insert(path)
        if let kept = tasks[path], kept.id as? ID == id { return }
        tasks[path]?.task.cancel()
        tasks[path] = (id, Task { await action() })
    }

    func note<V: Equatable>(_ value: V, _ action: (V, V) -> Void, _ path: String) {
        let before = values.updateValue(value, forKey: path) as? V
        if let before, before != value { action(before, value) }
    }

    private func update<R: UIViewRepresentable>(_ shown: R, _ values: EnvironmentValues, _ path: String) {
        EnvironmentValues.stubCurrent = values
        defer { EnvironmentValues.stubCurrent = EnvironmentValues() }
        let coordinator = made[path]?.coordinator as? R.Coordinator ?? shown.makeCoordinator()
        let context = UIViewRepresentableContext<R>(coordinator: coordinator)
        let kept = made[path]?.view as? R.UIViewType
        let view = kept ?? shown.makeUIView(context: context)
        shown.updateUIView(view, context: context)
        if kept == nil { view.stubMove(to: scene?.windows.first) }
        made[path] = (view, coordinator)
        self.view = view
    }

    private func update<R: UIViewControllerRepresentable>(_ shown: R) {
        let context = UIViewControllerRepresentableContext<R>()
        let controller = self.controller as? R.UIViewControllerType ?? shown.makeUIViewController(context: context)
        shown.updateUIViewController(controller, context: context)
        self.controller = controller
    }
}
