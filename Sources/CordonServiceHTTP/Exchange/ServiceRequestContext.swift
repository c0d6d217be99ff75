import CordonBase
import Foundation
package import Hummingbird

/// What the service knows of a request while it answers it.
package struct ServiceRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The request's id in its answer and in the log; random, so that it tells nothing of other requests.
    package let requestID: String
    /// What the line in the log will say.
    package let notes: RequestNotes
    /// The thumbprint of the key that the sender holds in this process, so that no proof of it need come with the request; nil
    /// for what came over the network.
    let heldKey: String?
    /// Who asks, once ``Authentication`` has found out.
    var administrator: Authentication.Administrator?
    /// The token that said so.
    var token: AccessToken?

    package init(source: Source) {
        coreContext = .init(source: source)
        requestID = UUID().uuidString.lowercased()
        notes = RequestNotes()
        heldKey = nil
    }

    private init(within batch: ServiceRequestContext, holding key: String?) {
        coreContext = batch.coreContext
        requestID = UUID().uuidString.lowercased()
        notes = RequestNotes(batch: batch.requestID)
        heldKey = key
    }

    /// The context of a request inside a batch: with an id of its own, and in the log the batch's as well (SRV-OP-012).
    ///
    /// - Parameter key: The thumbprint of a key that the caller has at hand, of a request that the service makes of itself.
    package func item(holding key: String? = nil) -> ServiceRequestContext {
        ServiceRequestContext(within: self, holding: key)
    }
}

extension RequestContext {
    /// A key of the path as it stands there; empty where the route has none of this name.
    func key(_ name: String) -> String { parameters.get(name) ?? "" }

    /// A key of the path without its percent encoding.
    package func decodedKey(_ name: String) -> String { key(name).removingPercentEncoding ?? key(name) }
}

/// What is found out about a request on its way, for its line in the log.
package final class RequestNotes: Sendable {
    struct Facts {
        /// The route's own name; nil for the pattern of its path.
        var route: String?
        /// The code that a device is told.
        var code: String?
        /// What kind of refusal it was.
        var failure: String?
        /// Whether the sender was let in.
        var isKnown = false
    }

    /// The id of the batch that the request came in, nil for one that came alone.
    package let batch: String?
    /// When work on it began.
    let started = ContinuousClock.now
    private let known = Locked(Facts())

    init(batch: String? = nil) { self.batch = batch }

    var facts: Facts { known.withLock { $0 } }

    /// Notes that the request's sender was let in.
    package func noteKnown() { known.withLock { $0.isKnown = true } }

    package func note(route: String) { known.withLock { $0.route = route } }

    package func refused(_ failure: String?, code: String? = nil) {
        known.withLock {
            $0.failure = failure
            $0.code = code
        }
    }
}
