internal import CordonSignIn
internal import Foundation

/// Identifies a request and its connection.
struct RequestContext: Sendable {
    let key: RequestKey
    /// Ties the logs of app, broker and provider together (SI-079).
    let correlationID: UUID?

    var peer: Int { key.peer }
}

/// How the broker reads and answers one verb.
struct BrokerRoute: Sendable {
    /// Answers a request that was read.
    typealias Work = @Sendable (isolated Broker, RequestContext) async throws -> BrokerMessage

    /// Answers a request at once, without disk and network; nil where that takes either, and nothing was done.
    typealias QuickWork = @Sendable (isolated Broker, RequestContext) throws -> QuickAnswer?

    /// What is answered at once.
    struct QuickAnswer: Sendable {
        let message: BrokerMessage
        /// When the same question has the same answer, and asking changes nothing, unless the broker itself changes; nil for never.
        let lasts: Range<Date>?
    }

    /// An answer that was written before.
    struct KnownAnswer<Answer: Encodable & Sendable>: Sendable {
        let written: WrittenAnswer<Answer>
        /// As ``QuickAnswer/lasts``.
        let lasts: Range<Date>?
    }

    /// What the verb sends and is answered by.
    let call: any BrokerCall.Type
    /// Reads the verb's members.
    let read: @Sendable (any Decoder) throws -> (work: Work, quick: QuickWork?)
    /// The same for members that were read; nil for another verb's.
    let take: @Sendable (any BrokerCall) -> (work: Work, quick: QuickWork?)?

    private init<Call: BrokerCall>(
        _ call: Call.Type,
        quick: (@Sendable (isolated Broker, Call, RequestContext) throws -> Call.Answer?)? = nil,
        _ answer: @escaping @Sendable (isolated Broker, Call, RequestContext) async throws -> Call.Answer
    ) {
        guard let quick else {
            self.init(call, atOnce: nil, answer)
            return
        }
        self.init(
            call,
            atOnce: { broker, call, request in
                try quick(broker, call, request).map {
                    QuickAnswer(message: BrokerMessage($0, to: Call.self, id: request.key.id), lasts: nil)
                }
            }, answer)
    }

    /// - Parameter written: Answers at once with what was written before.
    private init<Call: BrokerCall>(
        _ call: Call.Type, member: BrokerMember,
        written: @escaping @Sendable (isolated Broker, Call, RequestContext) throws -> KnownAnswer<Call.Answer>?,
        _ answer: @escaping @Sendable (isolated Broker, Call, RequestContext) async throws -> Call.Answer
    ) {
        self.init(
            call,
            atOnce: { broker, call, request in
                try written(broker, call, request).map {
                    QuickAnswer(message: .answer(id: request.key.id, member, $0.written), lasts: $0.lasts)
                }
            }, answer)
    }

    private init<Call: BrokerCall>(
        _ call: Call.Type,
        atOnce quick: (@Sendable (isolated Broker, Call, RequestContext) throws -> QuickAnswer?)?,
        _ answer: @escaping @Sendable (isolated Broker, Call, RequestContext) async throws -> Call.Answer
    ) {
        self.call = call
        let begin = { @Sendable (call: Call) -> (work: Work, quick: QuickWork?) in
            let work: Work = { broker, request in
                BrokerMessage(try await answer(broker, call, request), to: Call.self, id: request.key.id)
            }
            guard let quick else { return (work, nil) }
            return (work, { broker, request in try quick(broker, call, request) })
        }
        read = { begin(try Call(from: $0)) }
        take = { call in (call as? Call).map { begin($0) } }
    }

    var verb: BrokerVerb { call.verb }

    /// The route of a verb as it is written; nil for a verb that this broker does not know.
    static func named(_ verb: String) -> BrokerRoute? { routes[verb] }

    private static let routes = Dictionary(
        uniqueKeysWithValues: BrokerVerb.allCases.map { ($0.rawValue, BrokerRoute($0)) })

    init(_ verb: BrokerVerb) {
        switch verb {
        case .hello: self.init(HelloCall.self) { try $0.greet($1, $2) }
        case .eventsSubscribe: self.init(SubscribeCall.self) { try $0.subscribe($2) }
        case .deviceInfo:
            self.init(DeviceInfoCall.self, member: .device, written: { try $0.quickDeviceInformation($2) }) {
                try await $0.deviceInformation($2)
            }
        case .deviceJoin: self.init(JoinDeviceCall.self) { try await $0.join($2) }
        case .deviceLeave: self.init(LeaveDeviceCall.self) { try await $0.leave($2) }
        case .accountCurrent:
            self.init(CurrentAccountCall.self, quick: { try $0.quickCurrentAccount($2) }) { try $0.currentAccount($2) }
        case .accountList:
            self.init(AccountListCall.self, quick: { try $0.accountList($2) }) { try $0.accountList($2) }
        case .accountKey: self.init(AccountKeyCall.self) { try $0.accountKey($1, $2) }
        case .accountActivity:
            self.init(ActivityCall.self, quick: { try $0.noteActivity($2) }) { try $0.noteActivity($2) }
        case .accountForget: self.init(ForgetAccountCall.self) { try $0.forget($2) }
        case .accountSignOut: self.init(SignOutCall.self) { try await $0.signOut($1, $2) }
        case .cleanUpReport: self.init(CleanUpCall.self, quick: { try $0.report($1, $2) }) { try $0.report($1, $2) }
        case .tokenInteractive: self.init(SignInCall.self) { try await $0.signIn($1, $2) }
        case .tokenDevice: self.init(DeviceCodeCall.self) { try await $0.signIn($1, $2) }
        case .tokenReturn: self.init(ReturnCall.self) { $0.endPage($1, $2) }
        case .tokenCancel: self.init(CancelCall.self) { $0.cancel($1, $2) }
        case .tokenSilent:
            self.init(SilentTokenCall.self, member: .token, written: { try $0.knownToken($1, $2) }) {
                try await $0.silentToken($1, $2)
            }
        case .tokenKey: self.init(TokenKeyCall.self) { try await $0.sessionKey($1, $2) }
        case .tokenProof: self.init(ProofCall.self) { try await $0.proof($1, $2) }
        }
    }
}

/// A request as the broker reads it.
struct IncomingRequest: Decodable, Sendable {
    let head: BrokerRequestHead
    let route: BrokerRoute?
    let work: BrokerRoute.Work?
    let quick: BrokerRoute.QuickWork?

    init(from decoder: any Decoder) throws {
        head = try BrokerRequestHead(from: decoder)
        route = BrokerRoute.named(head.verb)
        (work, quick) = try route?.read(decoder) ?? (nil, nil)
    }

    /// Reads a request without a decoder; nil for one that is left to it.
    init?(short payload: Data) {
        guard let short = ShortRequest(payload), let route = BrokerRoute.named(short.head.verb),
            let begun = route.take(short.call)
        else { return nil }
        head = short.head
        self.route = route
        (work, quick) = begun
    }
}
