/// The kinds of URL whose verdict needs nothing but the scheme and the kind of app that would take it.
enum LinkKind: String, CaseIterable {
    case http, https, tel, telprompt, sms

    /// The kind, read from the scheme's bytes in any letter case; nil for every other scheme.
    init?(of url: borrowing String) {
        let found = url.utf8.withContiguousStorageIfAvailable { bytes -> LinkKind? in
            Self.allCases.first { kind in
                let name = kind.rawValue.utf8
                guard bytes.count > name.count, bytes[name.count] == UInt8(ascii: ":") else { return false }
                return zip(name, bytes).allSatisfy { $0 == $1 | 0x20 }
            }
        }
        guard let found, let kind = found else { return nil }
        self = kind
    }

    /// Where a row has the verdict: by kind, and by the app that would take the link.
    func position(to app: Peer.App?) -> Int {
        let column =
            switch app {
            case nil: 0
            case .managed?: 1
            case .unmanaged?, .exempt?: 2
            }
        switch self {
        case .http, .https: return column
        case .tel, .telprompt: return 3 + column
        case .sms: return 6 + column
        }
    }
}
