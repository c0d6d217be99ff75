/// What a ``LeakScan`` found.
public struct Leaks: Sendable, Equatable {
    /// One value at one place.
    public struct Place: Sendable, Hashable {
        /// Which of the scan's values, counted from 0.
        public let index: Int
        /// How it is written there.
        public let form: Form
        /// The file's path, or `process` with its number.
        public let place: String

        /// Names a value, a form and a place.
        public init(index: Int, form: Form, place: String) {
            self.index = index
            self.form = form
            self.place = place
        }
    }

    /// How a value was written where it was found.
    public enum Form: String, Sendable, CaseIterable {
        /// As it is.
        case plain
        /// In UTF-16, low byte first.
        case utf16
        /// In hexadecimal digits of one case.
        case hexadecimal
        /// In base64 of either alphabet, alone or inside something longer.
        case base64
    }

    /// How many different values were found.
    public var texts: Int { Set(places.map(\.index)).count }
    /// Where they were found: each value once for each form and file.
    public internal(set) var places: [Place] = []
    /// How many files were read.
    public internal(set) var files = 0
    /// How many bytes were read.
    public internal(set) var bytes = 0

    /// What a scan of nothing finds.
    public init() {}

    mutating func add(_ search: LeakSearch, at place: String) {
        bytes += search.bytes
        places += search.found.sorted { ($0.index, $0.form.rawValue) < ($1.index, $1.form.rawValue) }
            .map { Place(index: $0.index, form: $0.form, place: place) }
    }
}
