public import Cordon

/// Derives from the system's events which scenes of an app are in front, which to cover, and when the gates close and open again. It is a
/// value without a clock: the same events give the same commands.
///
/// ```swift
/// for command in tracker.apply(.enteredBackground(window)) { carryOut(command) }   // before the callback returns
/// ```
/// Face ID and other dialogs of the system make a scene inactive and send nothing to the background: gates stay as they are then.
public struct FrontTracker: Sendable {
    /// What the system says of a scene.
    public enum Event: Sendable, Hashable {
        /// It was made; it is not in front yet. A prewarmed launch makes none.
        case connected(WindowID)
        /// It is about to be shown.
        case enteringForeground(WindowID)
        /// It receives touches and typing.
        case becameActive(WindowID)
        /// It no longer does: the app switcher, a dialog of the system, a telephone call.
        case resigningActive(WindowID)
        /// It is no longer shown; the system takes its snapshot after this.
        case enteredBackground(WindowID)
        /// It is gone.
        case disconnected(WindowID)
        /// Whether it is recorded or mirrored, and whether the rules allow that.
        case captured(WindowID, Bool, isAllowed: Bool)
    }

    /// What is to be done, in order, before the callback returns.
    public enum Command: Sendable, Hashable {
        /// Put the cover over the window.
        case cover(WindowID)
        /// Take it away.
        case uncover(WindowID)
        /// Close all gates: the app has left the front.
        case leftFront
        /// The app is in front again: gates may be passed.
        case cameToFront
        /// What is asked without a window is asked in this one from now on.
        case makeKey(WindowID)
        /// The window shows no account's data any more.
        case forget(WindowID)
    }

    private enum Stage: Sendable {
        case background, inactive, active
    }

    private struct Scene: Sendable {
        var stage = Stage.background
        var isCovered = true
        var isCaptured = false

        /// A scene shows its data while it is active and not recorded against the rules.
        var wantsCover: Bool { stage != .active || isCaptured }
        var isInFront: Bool { stage != .background }
    }

    private var scenes: [WindowID: Scene] = [:]
    private var order: [WindowID] = []
    private var announcedKey: WindowID?
    private var isSheltered = false

    /// No scene yet.
    public init() {}

    /// Whether any scene is in front.
    public var isInFront: Bool { scenes.values.contains(where: \.isInFront) }

    /// The scene that the last ``Command/makeKey(_:)`` named, if it is still there; nil otherwise.
    public var key: WindowID? { announcedKey }

    /// Whether a window is covered; one that is not known is.
    public func isCovered(_ window: WindowID) -> Bool { scenes[window]?.isCovered ?? true }

    /// While Cordon itself has the system show a dialog, such as for Face ID, a scene that becomes inactive is not covered: nothing but
    /// Cordon's own screen is to be seen there.
    ///
    /// - Returns: What is to be done now that the dialog has come or gone.
    public mutating func shelter(_ isSheltered: Bool) -> [Command] {
        self.isSheltered = isSheltered
        return order.flatMap { resolve($0) }
    }

    /// Notes an event.
    ///
    /// - Returns: What is to be done, in order.
    public mutating func apply(_ event: Event) -> [Command] {
        let wasInFront = isInFront
        switch event {
        case .connected(let window):
            guard scenes[window] == nil else { return [] }
            scenes[window] = Scene()
            order.insert(window, at: 0)
            return [.cover(window)]
        case .enteringForeground(let window): return move(window, to: .inactive) + front(after: wasInFront)
        case .becameActive(let window):
            let covering = move(window, to: .active)
            order.removeAll { $0 == window }
            order.append(window)
            let isNew = announcedKey != window
            announcedKey = window
            return front(after: wasInFront) + (isNew ? [.makeKey(window)] : []) + covering
        case .resigningActive(let window): return move(window, to: .inactive)
        case .enteredBackground(let window): return move(window, to: .background) + front(after: wasInFront)
        case .disconnected(let window):
            guard scenes.removeValue(forKey: window) != nil else { return [] }
            order.removeAll { $0 == window }
            guard announcedKey == window else { return [.forget(window)] + front(after: wasInFront) }
            let next = order.last { scenes[$0]?.isInFront ?? false }
            announcedKey = next
            return [.forget(window)] + front(after: wasInFront) + (next.map { [.makeKey($0)] } ?? [])
        case .captured(let window, let isCaptured, let isAllowed):
            scenes[window, default: Scene()].isCaptured = isCaptured && !isAllowed
            return resolve(window)
        }
    }

    private mutating func move(_ window: WindowID, to stage: Stage) -> [Command] {
        if scenes[window] == nil {
            scenes[window] = Scene()
            order.insert(window, at: 0)
        }
        scenes[window]?.stage = stage
        return resolve(window)
    }

    private mutating func resolve(_ window: WindowID) -> [Command] {
        guard let scene = scenes[window] else { return [] }
        let covers = scene.wantsCover && !(isSheltered && scene.stage == .inactive && !scene.isCaptured)
        // A scene that was covered before the dialog appeared stays covered until it becomes active.
        guard covers != scene.isCovered, covers || scene.stage == .active else { return [] }
        scenes[window]?.isCovered = covers
        return [covers ? .cover(window) : .uncover(window)]
    }

    private func front(after wasInFront: Bool) -> [Command] {
        guard isInFront != wasInFront else { return [] }
        return [isInFront ? .cameToFront : .leftFront]
    }
}
