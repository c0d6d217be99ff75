package import CordonIdentity
package import CordonProtocol

/// Says who the app is; comes once, and first.
package struct HelloCall: BrokerCall {
    package typealias Answer = BrokerGreeting
    package static let verb = BrokerVerb.hello
    package static let answerMember: BrokerMember? = .hello
    /// The protocol versions that the app speaks.
    package var versions: [Int]?
    /// What the app is towards the broker.
    package var clientID: String?
    /// The library and its version, for logs.
    package var library: String?
    /// Whether the app works with one account at a time (SI-002).
    package var singleAccount: Bool?

    package init(versions: [Int], clientID: String) {
        self.versions = versions
        self.clientID = clientID
        library = "cordon-swift"
        singleAccount = true
    }
}

/// Asks to hear of events from now on.
package struct SubscribeCall: BrokerCall {
    package static let verb = BrokerVerb.eventsSubscribe

    package init() {}
}

// MARK: The device

/// Asks for what is known of the device.
package struct DeviceInfoCall: BrokerCall {
    package typealias Answer = DeviceInformation
    package static let verb = BrokerVerb.deviceInfo
    package static let answerMember: BrokerMember? = .device

    package init() {}
}

/// Joins the device to an organisation.
package struct JoinDeviceCall: BrokerCall {
    package typealias Answer = DeviceInformation
    package static let verb = BrokerVerb.deviceJoin
    package static let answerMember: BrokerMember? = .device

    package init() {}
}

/// Ends the device's registration.
package struct LeaveDeviceCall: BrokerCall {
    package typealias Answer = DeviceInformation
    package static let verb = BrokerVerb.deviceLeave
    package static let answerMember: BrokerMember? = .device

    package init() {}
}

// MARK: The account

/// Asks who is signed in, and whom this app saw before.
package struct CurrentAccountCall: BrokerCall {
    package typealias Answer = CurrentAccount
    package static let verb = BrokerVerb.accountCurrent
    package static let answerMember: BrokerMember? = .current

    package init() {}
}

/// Asks for the accounts that the app may use: one or none.
package struct AccountListCall: BrokerCall {
    package typealias Answer = [SignedInAccount]
    package static let verb = BrokerVerb.accountList
    package static let answerMember: BrokerMember? = .accounts

    package init() {}
}

/// Asks for the secret that the app seals data under in this session; answered in base64url.
package struct AccountKeyCall: BrokerCall {
    package typealias Answer = String
    package static let verb = BrokerVerb.accountKey
    package static let answerMember: BrokerMember? = .key
    /// Whose data.
    package var account: AccountID?
    /// The session number that the app last heard of.
    package var session: UInt64?

    package init(account: AccountID, session: UInt64) {
        self.account = account
        self.session = session
    }
}

/// Says that a person is using the device.
package struct ActivityCall: BrokerCall {
    package static let verb = BrokerVerb.accountActivity

    package init() {}
}

/// Asks to remove an account from one app, which a shared device always refuses.
package struct ForgetAccountCall: BrokerCall {
    package static let verb = BrokerVerb.accountForget

    package init() {}
}

/// Signs out for the whole device.
package struct SignOutCall: BrokerCall {
    package typealias Answer = DeviceSignOutReport
    package static let verb = BrokerVerb.accountSignOut
    package static let answerMember: BrokerMember? = .signOut
    /// Whether the browser session is ended too.
    package var endsBrowserSession: Bool?

    package init(endsBrowserSession: Bool) {
        self.endsBrowserSession = endsBrowserSession ? true : nil
    }
}

/// Says how far the app is with removing an earlier person's data.
package struct CleanUpCall: BrokerCall {
    package static let verb = BrokerVerb.cleanUpReport
    /// The session that ended.
    package var session: UInt64?
    /// How far the app is.
    package var stage: CleanUpStage?

    package init(session: UInt64, stage: CleanUpStage) {
        self.session = session
        self.stage = stage
    }
}

// MARK: Signing in

/// Signs in through a page that the app shows.
package struct SignInCall: BrokerCall {
    package typealias Answer = BrokerToken
    package static let verb = BrokerVerb.tokenInteractive
    package static let answerMember: BrokerMember? = .token
    /// Who must sign in.
    package var account: AccountID?
    /// What the token must allow.
    package var scopes: [String]?
    /// The one audience of the token.
    package var resource: String?
    /// A user name to pre-fill.
    package var loginHint: String?
    /// The home of the user name, for providers that federate.
    package var domainHint: String?
    /// Scopes to consent to that this token will not carry.
    package var extraScopes: [String]?
    /// How many seconds ago the person may have given credentials.
    package var maximumAge: Int64?
    /// How hard to ask.
    package var prompt: String?
    /// Whether the resource takes only tokens that are bound to a key.
    package var requiresProof: Bool?
    /// Claims that a resource demanded, JSON text.
    package var claims: String?

    package init() {}
}

/// Signs in by a code that is typed on another screen.
package struct DeviceCodeCall: BrokerCall {
    package typealias Answer = BrokerToken
    package static let verb = BrokerVerb.tokenDevice
    package static let answerMember: BrokerMember? = .token
    /// Who must sign in.
    package var account: AccountID?
    /// What the token must allow.
    package var scopes: [String]?
    /// The one audience of the token.
    package var resource: String?
    /// Whether the resource takes only tokens that are bound to a key.
    package var requiresProof: Bool?

    package init() {}
}

/// Says that the page of an earlier request was shown.
package struct ReturnCall: BrokerCall {
    package static let verb = BrokerVerb.tokenReturn
    /// The request that is meant.
    package var request: UInt32?
    /// Where the browser ended, where the app's own page saw it.
    package var url: String?

    package init(request: UInt32, url: String?) {
        self.request = request
        self.url = url
    }
}

/// Cancels an earlier request.
package struct CancelCall: BrokerCall {
    package static let verb = BrokerVerb.tokenCancel
    /// The request that is meant.
    package var request: UInt32?

    package init(request: UInt32) {
        self.request = request
    }
}

// MARK: Tokens

/// Asks for a token without a person.
package struct SilentTokenCall: BrokerCall {
    package typealias Answer = BrokerToken
    package static let verb = BrokerVerb.tokenSilent
    package static let answerMember: BrokerMember? = .token
    /// Whose token.
    package var account: AccountID?
    /// The session number that the app last heard of.
    package var session: UInt64?
    /// What the token must allow.
    package var scopes: [String]?
    /// The one audience of the token.
    package var resource: String?
    /// Claims that a resource demanded, JSON text.
    package var claims: String?
    /// Whether a cached token will not do.
    package var forcesRenewal: Bool?

    package init(account: AccountID?, session: UInt64?, scopes: [String]?, resource: String?) {
        self.account = account
        self.session = session
        self.scopes = scopes
        self.resource = resource
    }
}

/// Asks for the public half of the session's key.
package struct TokenKeyCall: BrokerCall {
    package typealias Answer = JSONWebKey
    package static let verb = BrokerVerb.tokenKey
    package static let answerMember: BrokerMember? = .publicKey
    /// Whose key.
    package var account: AccountID?
    /// The session number that the app last heard of.
    package var session: UInt64?

    package init(session: UInt64) {
        self.session = session
    }
}

/// Has the session's key sign a proof of possession or a wipe's receipt; answered in base64url.
package struct ProofCall: BrokerCall {
    package typealias Answer = String
    package static let verb = BrokerVerb.tokenProof
    package static let answerMember: BrokerMember? = .signature
    /// Whose key.
    package var account: AccountID?
    /// The session number that the app last heard of.
    package var session: UInt64?
    /// What is to be signed, header and payload in base64url.
    package var input: String?

    package init(session: UInt64, input: String) {
        self.session = session
        self.input = input
    }
}
