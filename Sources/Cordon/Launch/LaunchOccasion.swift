/// When the launch gate is passed, and why Cordon's screens come (SDK-CL-01).
public enum LaunchOccasion: String, Sendable, Hashable, CaseIterable {
    /// The app was started.
    case launch
    /// The app came back to the front.
    case resume
    /// Another account's data is about to be shown.
    case identitySwitch
    /// A limit passed while the app was in front.
    case timer
    /// The person wants another PIN; see ``LaunchGates/changePIN(of:)``.
    case pinChange
    /// The app tells the person of a denial, as with ``EgressOutlets/showSharingBlocked(_:of:)``; no gate is passed.
    case denial
}

extension LaunchOccasion {
    /// Whether it comes while the person uses the app, where the gate is open: nobody has been away, and nobody is let in.
    var isDuringUse: Bool { self == .timer || self == .pinChange }
}
