package import CordonBase
package import Foundation
package import HTTPTypes

extension HTTPRequest {
    /// A request to an address, wherever it comes from.
    ///
    /// - Parameter failure: What an address that no request may be sent to is to the caller.
    package init<Failure: Error>(
        _ method: Method, to url: URL, or failure: (AddressFlaw) -> Failure
    ) throws(Failure) {
        if let flaw = AddressFlaw(of: url) { throw failure(flaw) }
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = parts.percentEncodedHost
        else { throw failure(.malformed) }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.init(
            method: method, scheme: parts.scheme?.lowercased(),
            authority: parts.port.map { "\(host):\($0)" } ?? host,
            path: path + (parts.percentEncodedQuery.map { "?" + $0 } ?? ""))
    }
}
