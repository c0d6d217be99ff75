/// Places that stay open for saving although save-as is blocked (SRV-RS-159).
public struct StorageLocations: OptionSet, Hashable, Sendable {
    /// One bit per place.
    public let rawValue: UInt16
    /// Makes a set from bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The account's own cloud drive.
    public static let oneDriveForBusiness = StorageLocations(rawValue: 1)
    /// The organisation's document server.
    public static let sharePoint = StorageLocations(rawValue: 2)
    /// Box.
    public static let box = StorageLocations(rawValue: 4)
    /// Storage that only this app can reach.
    public static let localStorage = StorageLocations(rawValue: 32)
    /// The photo library.
    public static let photoLibrary = StorageLocations(rawValue: 128)
    /// iManage.
    public static let iManage = StorageLocations(rawValue: 256)
    /// Egnyte.
    public static let egnyte = StorageLocations(rawValue: 512)
}

/// Sources that stay open although bringing data into organisation documents is blocked (SRV-RS-160).
public struct IngestionLocations: OptionSet, Hashable, Sendable {
    /// One bit per source.
    public let rawValue: UInt16
    /// Makes a set from bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The account's own cloud drive.
    public static let oneDriveForBusiness = IngestionLocations(rawValue: 1)
    /// The organisation's document server.
    public static let sharePoint = IngestionLocations(rawValue: 2)
    /// A fresh picture.
    public static let camera = IngestionLocations(rawValue: 4)
    /// Storage that only this app can reach; device settings name it, the Graph enumeration does not.
    public static let localStorage = IngestionLocations(rawValue: 8)
    /// A picture from the library.
    public static let photoLibrary = IngestionLocations(rawValue: 16)
}

/// A set of places whose members have names in the Graph JSON.
protocol NamedOptionSet: OptionSet, Hashable, Sendable where RawValue == UInt16, Element == Self {
    static var names: [(name: String, member: Self)] { get }
}

extension StorageLocations: NamedOptionSet {
    static var names: [(name: String, member: StorageLocations)] {
        [
            ("oneDriveForBusiness", .oneDriveForBusiness), ("sharePoint", .sharePoint), ("box", .box),
            ("localStorage", .localStorage), ("photoLibrary", .photoLibrary), ("iManage", .iManage),
            ("egnyte", .egnyte),
        ]
    }
}

extension IngestionLocations: NamedOptionSet {
    static var names: [(name: String, member: IngestionLocations)] {
        [
            ("oneDriveForBusiness", .oneDriveForBusiness), ("sharePoint", .sharePoint), ("camera", .camera),
            ("localStorage", .localStorage), ("photoLibrary", .photoLibrary),
        ]
    }
}
