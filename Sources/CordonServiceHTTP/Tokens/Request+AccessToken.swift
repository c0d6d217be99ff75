import HTTPTypes
import Hummingbird

extension Request {
    /// The one access token that comes with the request, and its scheme: `bearer` or `dpop`.
    ///
    /// - Throws: ``TokenRefusal`` with code `missing`.
    var accessToken: (scheme: String, text: String) {
        get throws(TokenRefusal) {
            let fields = headers[values: .authorization]
            guard fields.count == 1 else {
                throw TokenRefusal(.missing, "exactly one access token must come with the request")
            }
            let parts = fields[0].split(separator: " ", maxSplits: 1)
            let scheme = parts.first?.lowercased() ?? ""
            guard parts.count == 2, scheme == "bearer" || scheme == "dpop" else {
                throw TokenRefusal(.missing, "the access token must be sent with the scheme Bearer or DPoP")
            }
            return (scheme, String(parts[1]))
        }
    }
}
