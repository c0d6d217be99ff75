/// What a store has to take before one that could not be written counts as ready again.
///
/// As large as a change of some rules with its versions: on a full disk there may be room for the smallest change, in a file that is there
/// already, and for no other.
struct StoreProbe: StoredRecord {
    static var storageKind: StorageKind { .probe }
    static let id = "probe"
    var storageID: String { Self.id }

    private let filling: String

    init() { filling = String(repeating: "x", count: Self.size) }

    /// How large it is, in bytes.
    static let size = 256 << 10
}
