/// An app of a shared device, as the device's broker knows it (SI-157).
public struct SharedDeviceApp: Sendable, Codable, Equatable {
    /// How far an app takes part in shared device mode.
    public enum Support: String, Sendable, Codable, CaseIterable {
        /// It has used the broker on this device: it signs in and out with all the others.
        case used
        /// Its program is there and has not used the broker yet.
        case installed
        /// Its program is not on the device.
        case absent

        /// Reads a word; one that a newer broker knows counts as ``installed``, so that who is on the device is still heard.
        public init(from decoder: any Decoder) throws {
            self = Support(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .installed
        }
    }

    /// The name that the administrator gave it in the broker's list.
    public var name: String
    /// Its bundle id, where the list has one.
    public var bundleID: String?
    /// How far it takes part.
    public var support: Support

    /// Makes an app.
    public init(name: String, bundleID: String?, support: Support) {
        self.name = name
        self.bundleID = bundleID
        self.support = support
    }
}
