/// Which registrations to list; nil members do not narrow.
public struct RegistrationFilter: Sendable, Equatable {
    /// The person's object id.
    public var userID: String?
    /// The device tag.
    public var deviceTag: String?
    /// The app's bundle id, compared without case.
    public var bundleID: String?
    /// Whether closed registrations are listed too.
    public var includesClosed: Bool

    /// Makes a filter; without arguments it lists every active registration.
    public init(
        userID: String? = nil, deviceTag: String? = nil, bundleID: String? = nil, includesClosed: Bool = false
    ) {
        self.userID = userID
        self.deviceTag = deviceTag
        self.bundleID = bundleID
        self.includesClosed = includesClosed
    }
}
