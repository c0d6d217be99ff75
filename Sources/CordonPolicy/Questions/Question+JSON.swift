internal import CordonIdentity

extension Question {
    /// Reads the JSON that `cordon policy explain` takes.
    ///
    /// A member that cannot be read is an error, and so is one that is misspelt; see ``unknownMembers(of:)`` for others that
    /// this version does not know, which are left aside.
    /// - Throws: ``PolicyError``: `wrongType`, `invalidValue`, `unknownName` or `missingField`, with the field's name.
    public init(json: JSONValue) throws(PolicyError) {
        let fields = try QuestionReader(json, "question")
        try fields.refuseMisspelt(of: Self.memberNames)
        guard let action = try fields.name("action", Action.self) else {
            throw PolicyError(.missingField, "the action is missing", at: "action")
        }
        self.init(action, owner: try fields.object("owner").map(Question.identity))
        for json in try fields.list("alsoOpen") {
            coVisibleIdentities.append(try Self.declared(QuestionReader(json, "alsoOpen")))
        }
        location = try fields.name("location", Location.self)
        locationAccount = try fields.text("locationAccount").flatMap { $0.isEmpty ? nil : AccountID($0) }
        peer = try fields.object("peer").map(Question.peer)
        url = try fields.text("url")
        loaded = try fields.flag("loaded")
        characters = try fields.count("characters")
        viewer = try fields.name("viewer", ViewerName.self)?.policy ?? .unset
        webViewersUnmanaged = try fields.flag("webViewersUnmanaged") ?? false
        contentEvaluation = try fields.name("contentEvaluation", ContentEvaluation.self)
        if let facts = try fields.object("device") { device = try DeviceFacts(facts) }
    }

    /// The members of a question's JSON that this version does not know and leaves aside, in the order of their names; those of
    /// the objects inside it with the object's name and a point before.
    public static func unknownMembers(of json: JSONValue) -> [String] {
        func unknown(_ json: JSONValue, _ known: [String]) -> [String] {
            (json.object ?? [:]).keys.filter { !known.contains($0) }
        }
        let nested = [
            ("owner", identityNames), ("alsoOpen", identityNames), ("peer", peerNames),
            ("device", DeviceFacts.memberNames),
        ]
        let inside = nested.flatMap { name, known in
            let objects = json[name].map { $0.array ?? [$0] } ?? []
            return objects.flatMap { unknown($0, known) }.map { "\(name).\($0)" }
        }
        return Set(unknown(json, memberNames) + inside).sorted()
    }

    private static let memberNames = [
        "action", "owner", "alsoOpen", "location", "locationAccount", "peer", "url", "loaded", "characters", "viewer",
        "webViewersUnmanaged", "contentEvaluation", "device",
    ]
    private static let identityNames = ["account", "id"]
    private static let peerNames = ["app", "account", "id", "bundleId"]

    private static func identity(_ fields: QuestionReader) throws(PolicyError) -> EffectiveIdentity {
        try fields.refuseMisspelt(of: identityNames)
        let id = try fields.text("id") ?? ""
        guard let account = try fields.name("account", OwnerName.self) else {
            throw PolicyError(.missingField, "the owner's kind of account is missing", at: "owner.account")
        }
        return switch account {
        case .managed: .managed(AccountID(id))
        case .unmanaged, .personal, .none: .personal
        case .unset: .unset
        case .lost: .lost
        }
    }

    private static func declared(_ fields: QuestionReader) throws(PolicyError) -> Identity {
        switch try identity(fields) {
        case .managed(let account): return .managed(account)
        case .personal: return .personal
        case .unset, .lost:
            throw PolicyError(
                .invalidValue, "what is shown beside belongs to an account, or is personal", at: "alsoOpen",
                hint: "managed, unmanaged, personal or none")
        }
    }

    private static func peer(_ fields: QuestionReader) throws(PolicyError) -> Peer {
        try fields.refuseMisspelt(of: peerNames)
        guard let app = try fields.name("app", PeerAppName.self) else {
            throw PolicyError(.missingField, "the kind of app is missing", at: "peer.app")
        }
        let id = try fields.text("id").flatMap { $0.isEmpty ? nil : AccountID($0) }
        let account: Peer.Account =
            switch try fields.name("account", PeerAccountName.self) {
            case .managed: .managed(id)
            case .unmanaged: .unmanaged
            case .some(.none), nil: .none
            }
        return Peer(app: app.app, account: account, bundleID: try fields.text("bundleId"))
    }
}

/// Words of the question's JSON.
private enum OwnerName: String, CaseIterable { case managed, unmanaged, personal, none, unset, lost }
private enum PeerAccountName: String, CaseIterable { case managed, unmanaged, none }

private enum PeerAppName: String, CaseIterable {
    case managed, unmanaged, exempt

    var app: Peer.App {
        switch self {
        case .managed: .managed
        case .unmanaged: .unmanaged
        case .exempt: .exempt
        }
    }
}

private enum ViewerName: String, CaseIterable {
    case unset, unmanaged, currentIdentity, currentIdentityWithoutUploadAndPaste

    var policy: WebViewerPolicy {
        switch self {
        case .unset: .unset
        case .unmanaged: .unmanaged
        case .currentIdentity: .currentIdentity
        case .currentIdentityWithoutUploadAndPaste: .currentIdentityWithoutUploadAndPaste
        }
    }

    init(_ policy: WebViewerPolicy) {
        switch policy {
        case .unset: self = .unset
        case .unmanaged: self = .unmanaged
        case .currentIdentity: self = .currentIdentity
        case .currentIdentityWithoutUploadAndPaste: self = .currentIdentityWithoutUploadAndPaste
        }
    }
}

extension Question {
    /// The JSON of this question; fields that are nil are left out.
    public var json: JSONValue {
        var members: [String: JSONValue] = ["action": .string(action.rawValue)]
        members["owner"] = owner.map(Self.json)
        if !coVisibleIdentities.isEmpty {
            members["alsoOpen"] = .array(coVisibleIdentities.map { Self.json(EffectiveIdentity($0)) })
        }
        members["location"] = location.map { .string($0.rawValue) }
        members["locationAccount"] = locationAccount.map { .string($0.rawValue) }
        members["peer"] = peer.map(Self.json)
        members["url"] = url.map { .string($0) }
        members["loaded"] = loaded.map { .bool($0) }
        members["characters"] = characters.map { .integer(Int64($0)) }
        if viewer != .unset { members["viewer"] = .string(ViewerName(viewer).rawValue) }
        if webViewersUnmanaged { members["webViewersUnmanaged"] = true }
        members["contentEvaluation"] = contentEvaluation.map { .string($0.rawValue) }
        if device != .unknown { members["device"] = device.json }
        return .object(members)
    }

    private static func json(_ identity: EffectiveIdentity) -> JSONValue {
        switch identity {
        case .managed(let account): ["account": "managed", "id": .string(account.rawValue)]
        case .personal: ["account": "unmanaged"]
        case .unset: ["account": "unset"]
        case .lost: ["account": "lost"]
        }
    }

    private static func json(_ peer: Peer) -> JSONValue {
        var members: [String: JSONValue] = ["app": .string(peer.app.rawValue)]
        members["bundleId"] = peer.bundleID.map { .string($0) }
        switch peer.account {
        case .managed(let id):
            members["account"] = "managed"
            members["id"] = id.map { .string($0.rawValue) }
        case .unmanaged: members["account"] = "unmanaged"
        case .none: members["account"] = "none"
        }
        return .object(members)
    }
}

extension Question: Codable {
    /// Reads the JSON that `cordon policy explain` takes.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Writes that JSON.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
