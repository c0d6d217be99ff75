/// What the configurator is asked to do beyond its fixed rules.
public struct ConfiguratorOptions: Sendable {
    /// What happens to the main storyboard and nib keys (TL-CF-23).
    public enum MainInterface: String, Sendable, CaseIterable {
        /// Left as they are.
        case keep
        /// Moved from the settings to the top level.
        case restore
        /// Moved from the top level into the settings, as SDKs before 12.0.12 wanted.
        case move
    }

    /// Whose names to use.
    public var names: NamingProfile
    /// Build settings for `$(NAME)`.
    public var defines: [String: String] = [:]
    /// A scheme to add, with its twin, when the app has none.
    public var ensuredScheme: String?
    /// Leave out twins of schemes that belong to apps known to be managed (TL-CF-17).
    public var hasMinimalQueries = false
    /// Major version of the SDK the app is linked with; read from the plist when nil.
    public var sdkVersion: Int?
    /// The identifier of the app that contains this extension (TL-CF-21).
    public var containingApp: String?
    /// Whether this is an Open-In extension.
    public var isOpenIn = false
    /// The app's name, for the display name of its Open-In extension.
    public var openInName: String?
    /// What happens to the main interface keys.
    public var mainInterface = MainInterface.keep
    /// Write the default scene configuration when there is none.
    public var fixesScenes = false
    /// Rewrite the activation rule for managed types, a dictionary of constants included.
    public var rewritesActivationRule = false
    /// Missing required settings are errors.
    public var isStrict = false
    /// The build is meant for the store.
    public var isRelease = false
    /// Settings to write.
    public var settings: [(key: String, value: PropertyListValue)] = []
    /// Write the entitlements file; otherwise missing lines are only reported (TL-CF-29).
    public var writesEntitlements = false
    /// Remove the withdrawn keychain group.
    public var prunes = false

    /// Starts from the fixed rules alone.
    public init(names: NamingProfile) {
        self.names = names
    }
}
