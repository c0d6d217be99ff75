internal import CordonBase
package import Foundation

/// The members of what the broker says.
package enum BrokerMember: String, CodingKey, Sendable {
    case id, error, event, progress, hello, device, current, accounts, key, token, publicKey, signature, signOut
}

/// What the broker says: an answer to a request, a step of one that is under way, or an event.
package enum BrokerMessage: Encodable, Sendable {
    /// The request was carried out; without a member the answer says that and nothing else.
    case answer(id: UInt32, BrokerMember?, any Encodable & Sendable)
    /// The request was not carried out.
    case failure(id: UInt32, SignInError)
    /// The request goes on.
    case progress(id: UInt32, BrokerProgress)
    /// Something happened; no identity is in it.
    case event(AccountEvent)

    /// Answers a call.
    package init<Call: BrokerCall>(_ answer: Call.Answer, to call: Call.Type, id: UInt32) {
        self = .answer(id: id, Call.answerMember, answer)
    }

    package func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: BrokerMember.self)
        switch self {
        case .answer(let id, let member, let answer):
            try message.encode(id, forKey: .id)
            if let member { try message.encode(answer, forKey: member) }
        case .failure(let id, let error):
            try message.encode(id, forKey: .id)
            try message.encode(error, forKey: .error)
        case .progress(let id, let step):
            try message.encode(id, forKey: .id)
            try message.encode(step, forKey: .progress)
        case .event(let event): try message.encode(event, forKey: .event)
        }
    }
}

/// The answer to `hello`.
package struct BrokerGreeting: Codable, Sendable, Equatable {
    /// The protocol version spoken from here on.
    package var version: Int
    /// The broker program's version.
    package var broker: String
    /// The session number in force.
    package var session: UInt64
    /// The verbs that this broker knows.
    package var features: [String]
    /// What every request of this connection repeats; absent in version 1.
    package var nonce: String?

    /// Makes a greeting.
    package init(version: Int, broker: String, session: UInt64, features: [String], nonce: String? = nil) {
        self.version = version
        self.broker = broker
        self.session = session
        self.features = features
        self.nonce = nonce
    }
}

/// A page to show, or a code to type elsewhere.
package struct BrokerProgress: Codable, Sendable, Equatable {
    /// The page.
    package var page: URL
    /// Where the page will end, for a browser that watches for it.
    package var redirect: URL?
    /// The code to type.
    package var userCode: String?
    /// The page with the code filled in.
    package var completePage: URL?
    /// When the code stops working.
    package var expires: Date?

    /// A page to show.
    package init(page: URL, redirect: URL? = nil) {
        self.page = page
        self.redirect = redirect
    }

    /// Reads a step; one with a page that no browser may be sent to is none, as when the provider itself names it.
    package init(from decoder: any Decoder) throws {
        let step = try decoder.container(keyedBy: CodingKeys.self)
        page = try step.decode(URL.self, forKey: .page)
        redirect = try step.decodeIfPresent(URL.self, forKey: .redirect)
        userCode = try step.decodeIfPresent(String.self, forKey: .userCode)
        completePage = try step.decodeIfPresent(URL.self, forKey: .completePage)
        expires = try step.decodeIfPresent(Date.self, forKey: .expires)
        for (key, url) in [(CodingKeys.page, page), (.completePage, completePage)] {
            guard let url else { continue }
            // As long as it is: what is asked of the provider may be much.
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            guard let flaw = parts.map(AddressFlaw.init(of:)) ?? .malformed else { continue }
            throw DecodingError.dataCorruptedError(forKey: key, in: step, debugDescription: flaw.predicate)
        }
    }
}

/// A token with whose it is.
package struct BrokerToken: Codable, Sendable, Equatable {
    /// The token's text.
    package var text: String
    /// When it stops being good.
    package var expires: Date
    /// What was granted.
    package var scopes: [String]
    /// Whether it works only with a proof.
    package var isBound: Bool
    /// The session number it belongs to.
    package var session: UInt64
    /// Interactive sign-in: who signed in.
    package var account: SignedInAccount?
    /// Interactive sign-in: whether it is who was hinted.
    package var matchesHint: Bool?
    /// Interactive sign-in: whether tokens can be renewed silently.
    package var isRenewable: Bool?

    /// Makes the travelling form of a token.
    package init(_ token: AccessToken, session: UInt64) {
        text = token.text
        expires = token.expires
        scopes = token.scopes
        isBound = token.isBound
        self.session = session
    }

    /// The token.
    package var accessToken: AccessToken {
        AccessToken(text: text, expires: expires, scopes: scopes, isBound: isBound)
    }
}
