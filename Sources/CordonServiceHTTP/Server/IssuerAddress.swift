import CordonBase
import Foundation

/// The embedded provider's issuer, which is known once the port is bound; nothing asks before that.
final class IssuerAddress: Sendable {
    private let known = Locked<URL?>(nil)

    func set(_ url: URL) { known.withLock { $0 = url } }

    var url: URL { known.withLock { $0 } ?? URL(filePath: "/") }
}
