import CordonBase

/// The levels around a task: the process below it, and the windows beside it.
///
/// Two identities are in force at every moment: ``IdentityContext/current`` for files, and
/// ``IdentityContext/currentInterface(in:)`` for what a person does on the screen (SDK-ID-07).
extension IdentityContext {
    /// The process identity, nil while none is set (SDK-ID-41).
    public static var processIdentity: Identity? { levels.withLock { $0.process } }

    /// Declares one identity for all work of a process that serves a single account (SDK-ID-04, SDK-ID-11).
    ///
    /// Nil withdraws the declaration: work outside a scope then reads ``EffectiveIdentity/lost``. An app with several
    /// accounts does not call it (SDK-ID-12).
    public static func setProcessIdentity(_ identity: Identity?) {
        levels.withLock { levels in
            levels.isDeclared = true
            levels.process = identity.map { levels.canonical($0) }
        }
    }

    /// The window in front, which counts where no window is named.
    public static var keyWindow: WindowID { levels.withLock { $0.keyWindow } }

    /// Says which window is in front.
    public static func setKeyWindow(_ window: WindowID) {
        levels.withLock { $0.keyWindow = window }
    }

    /// All identities whose data a window shows; nil while it has no identity (SDK-ID-46).
    ///
    /// - Parameter window: Nil is the window in front (SDK-ID-21).
    public static func windowIdentities(of window: WindowID? = nil) -> [Identity]? {
        levels.withLock { $0.windows[window ?? $0.keyWindow] }
    }

    /// All whose data is shown, by window.
    package static var everyWindow: [WindowID: [Identity]] { levels.withLock { $0.windows } }

    /// The identity whose data a window shows; nil while it has none, and when it shows several (SDK-ID-46).
    ///
    /// - Parameter window: Nil is the window in front (SDK-ID-21).
    public static func windowIdentity(of window: WindowID? = nil) -> Identity? {
        let shown = windowIdentities(of: window)
        return shown?.count == 1 ? shown?.first : nil
    }

    /// The identities in force for what a person does in a window: those of the current scope, else of the window, else of
    /// the process, on any thread (SDK-ID-09). Several only for a window that shows several accounts; never empty.
    ///
    /// - Parameter window: Nil is the window in front.
    public static func currentInterface(in window: WindowID? = nil) -> [EffectiveIdentity] {
        if let interned = scope.interned { return [interned.effective] }
        return levels.withLock { levels in
            guard let shown = levels.windows[window ?? levels.keyWindow], !shown.isEmpty else {
                return [levels.fallback]
            }
            return shown.map { EffectiveIdentity($0) }
        }
    }

    /// Notes whose data a window shows, after the launch conditions were met: the switch itself is the facade's.
    ///
    /// - Parameter identities: Nil gives the window back to the process identity (SDK-NA-01); an empty list is explicitly no account's,
    ///   which is personal (SDK-NA-03).
    package static func setWindowIdentities(_ identities: [Identity]?, of window: WindowID?) {
        levels.withLock { levels in
            levels.isDeclared = true
            let window = window ?? levels.keyWindow
            guard let identities else {
                levels.windows[window] = nil
                return
            }
            var shown: [Identity] = []
            for identity in identities.map({ levels.canonical($0) }) where !shown.contains(identity) {
                shown.append(identity)
            }
            levels.windows[window] = shown.isEmpty ? [.personal] : shown
        }
    }

    /// Notes that an account's object id and its sign-in name are one, for every scope that is opened from now on
    /// (SDK-ID-02).
    public static func learn(_ account: ManagedAccount) {
        levels.withLock { $0.learn(account) }
    }

    /// The object id behind a name where it is known, else the name itself (SDK-ID-02).
    package static func canonical(_ id: AccountID) -> AccountID {
        levels.withLock { $0.names.canonical(id) }
    }

    /// Whether two names are one account's: equal but for case, or known to be one (SDK-ID-02).
    public static func areSame(_ left: AccountID, _ right: AccountID) -> Bool {
        levels.withLock { $0.names.areSame(left, right) }
    }

    /// Whether two identities are the same (SDK-ID-02).
    public static func areSame(_ left: Identity, _ right: Identity) -> Bool {
        levels.withLock { $0.canonical(left) == $0.canonical(right) }
    }
}
