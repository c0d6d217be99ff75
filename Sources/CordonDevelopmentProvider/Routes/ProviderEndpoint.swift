import HTTPTypes

/// Every address of the provider below its issuer.
enum ProviderEndpoint: String, CaseIterable, Sendable {
    case configuration = ".well-known/openid-configuration"
    case metadata = ".well-known/oauth-authorization-server"
    case keys = "keys"
    case pushedRequest = "par"
    case authorization = "authorize"
    case signIn = "sign-in"
    case decision = "decision"
    case deviceAuthorization = "device_authorization"
    case device = "device"
    case token = "token"
    case userInfo = "userinfo"
    case revocation = "revoke"
    case endSession = "logout"

    var methods: [HTTPRequest.Method] {
        switch self {
        case .configuration, .metadata, .keys: [.get]
        case .authorization, .device, .userInfo, .endSession: [.get, .post]
        case .pushedRequest, .signIn, .decision, .deviceAuthorization, .token, .revocation: [.post]
        }
    }

    /// Whether a person looks at the answer; the others answer programs in JSON.
    var isPage: Bool {
        switch self {
        case .authorization, .signIn, .decision, .device, .endSession: true
        case .configuration, .metadata, .keys, .pushedRequest, .deviceAuthorization, .token, .userInfo, .revocation:
            false
        }
    }

    func address(_ issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/" + rawValue
    }
}
