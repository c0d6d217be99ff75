internal import CordonIdentity

/// For each field, one value of every class that policies and sentences can tell apart.
///
/// Between two neighbouring thresholds all numbers are answered alike, so the thresholds themselves, a number on each side
/// of them, and "not known" stand for every number there is; texts are those that a policy lists, and one that none lists.
struct QuestionClasses {
    typealias Choice = (inout Question) -> Void

    private let policies: [AppProtectionPolicy]
    private let mentioned: [Mention]

    /// A value that a sentence names.
    struct Mention: Sendable, Hashable {
        enum Value: Sendable, Hashable {
            case number(Int)
            case duration(Duration)
            case version(VersionNumber)
            case text(String)
        }
        let field: QuestionField
        let value: Value
    }

    init(of policies: [AppProtectionPolicy], mentioning mentioned: [Mention] = []) {
        self.policies = policies + [.lockDown]
        self.mentioned = mentioned
    }

    func choices(of field: QuestionField) -> [Choice] {
        switch field {
        case .owner:
            ([.managed(ModelAccount.own), .personal, .unset, .lost] + [nil]).map { value in { $0.owner = value } }
        case .alsoOpen:
            [[], [Identity.managed(ModelAccount.other)]].map { value in { $0.coVisibleIdentities = value } }
        case .peer: Self.peers.map { value in { $0.peer = value } }
        case .location: (Location.allCases.map(Optional.some) + [nil]).map { value in { $0.location = value } }
        case .account:
            [nil, ModelAccount.own, ModelAccount.other].map { value in { $0.locationAccount = value } }
        case .url: urls.map { value in { $0.url = value } }
        case .loaded: Self.flags.map { value in { $0.loaded = value } }
        case .characters:
            numbers(.characters, policies.map(\.transfer.clipboardExceptionLength)).map { value in
                { $0.characters = value }
            }
        case .viewer:
            WebViewerPolicy.allCases.flatMap { viewer in
                [false, true].map { unmanaged in { ($0.viewer, $0.webViewersUnmanaged) = (viewer, unmanaged) } }
            }
        case .content:
            (ContentEvaluation.allCases.map(Optional.some) + [nil]).map { value in { $0.contentEvaluation = value } }
        case .online: Self.flags.map { value in { $0.device.online = value } }
        default: deviceChoices(of: field)
        }
    }

    private func deviceChoices(of field: QuestionField) -> [Choice] {
        switch field {
        case .rooted: Self.flags.map { value in { $0.device.rooted = value } }
        case .passcode: Self.flags.map { value in { $0.device.devicePINSet = value } }
        case .disabled: Self.flags.map { value in { $0.device.accountDisabled = value } }
        case .threat:
            (ThreatLevel.allCases.map(Optional.some) + [nil]).map { value in { $0.device.threatLevel = value } }
        case .model: models.map { value in { $0.device.model = value } }
        case .os: versions(.os, \.osVersion).map { value in { $0.device.osVersion = value } }
        case .app: versions(.app, \.appVersion).map { value in { $0.device.appVersion = value } }
        case .sdk: versions(.sdk, \.sdkVersion).map { value in { $0.device.sdkVersion = value } }
        case .clock:
            (ClockStatus.allCases.map(Optional.some) + [nil]).map { value in { $0.device.clockStatus = value } }
        case .clockedOut:
            durations(.clockedOut, policies.compactMap(\.launch.offClockGracePeriod)).map { value in
                { $0.device.sinceClockOut = value }
            }
        case .offline:
            durations(
                .offline,
                policies.flatMap { [$0.launch.periodOfflineBeforeWipe, $0.launch.periodOfflineBeforeAccessCheck] }
            ).map { value in { $0.device.sinceCheckIn = value } }
        case .idle:
            durations(.idle, policies.map(\.access.periodOnlineBeforeAccessCheck)).map { value in
                { $0.device.sincePIN = value }
            }
        case .signIn:
            durations(.signIn, policies.map(\.access.periodOnlineBeforeAccessCheck)).map { value in
                { $0.device.sinceSignIn = value }
            }
        case .pinAge:
            durations(.pinAge, policies.map(\.access.periodBeforePinReset)).map { value in { $0.device.pinAge = value }
            }
        case .attempts:
            numbers(.attempts, policies.map(\.access.maximumPinRetries)).map { value in
                { $0.device.failedPINAttempts = value }
            }
        default: [{ _ in }]
        }
    }

    private static let flags: [Bool?] = [true, false, nil]

    private static let peers: [Peer?] = [
        .managed(ModelAccount.own), .managed(ModelAccount.other), .personal, .unmanagedApp, .exemptApp,
        Peer(app: .exempt, account: .managed(ModelAccount.own)),
        Peer(app: .unmanaged, account: .managed(ModelAccount.own)), Peer(app: .managed, account: .managed(nil)),
        Peer(app: .managed, account: .none), nil,
    ]

    private func numbers(_ field: QuestionField, _ thresholds: [Int]) -> [Int?] {
        var all: Set<Int> = [0]
        for case .number(let number) in mentioned.filter({ $0.field == field }).map(\.value) { add(number, to: &all) }
        for number in thresholds { add(number, to: &all) }
        return all.sorted().map(Optional.some) + [nil]
    }

    private func add(_ number: Int, to all: inout Set<Int>) {
        all.insert(number)
        if number > 0 { all.insert(number - 1) }
        if number < .max { all.insert(number + 1) }
    }

    /// A question's JSON knows milliseconds, so a threshold's neighbours are that far away.
    private func durations(_ field: QuestionField, _ thresholds: [Duration]) -> [Duration?] {
        var all: Set<Duration> = [.zero, .milliseconds(-1)]
        let named = mentioned.filter { $0.field == field }.compactMap { mention -> Duration? in
            if case .duration(let duration) = mention.value { duration } else { nil }
        }
        for threshold in thresholds + named {
            all.formUnion([threshold, threshold + .milliseconds(1)])
            if threshold > .zero { all.insert(threshold - .milliseconds(1)) }
        }
        return all.sorted().map(Optional.some) + [nil]
    }

    private func versions(
        _ field: QuestionField, _ limits: KeyPath<ConditionalLaunch, VersionLimits>
    ) -> [VersionNumber?] {
        var all: Set<VersionNumber> = []
        for policy in policies {
            let own = policy.launch[keyPath: limits]
            all.formUnion(
                [
                    own.minimumWarning, own.minimumRequired, own.minimumWipe, own.maximumWarning, own.maximumRequired,
                    own.maximumWipe,
                ].compactMap(\.self))
        }
        for mention in mentioned where mention.field == field {
            if case .version(let version) = mention.value { all.insert(version) }
        }
        let between = all.flatMap { [$0.before, $0.after].compactMap(\.self) }
        all.formUnion(between)
        if all.isEmpty, let any = VersionNumber("1.0") { all.insert(any) }
        return all.sorted().map(Optional.some) + [nil]
    }

    private func texts(_ field: QuestionField) -> [String] {
        mentioned.filter { $0.field == field }.compactMap { mention in
            if case .text(let text) = mention.value { text } else { nil }
        }
    }

    private var models: [String?] {
        let named = Set(policies.flatMap { $0.launch.allowedModels ?? [] } + texts(.model).map { $0.lowercased() })
        // Lists are compared with one another, so each model of each list counts.
        return named.sorted().map(Optional.some) + [UnlistedText.word("unlisted-model", notIn: named), "", nil]
    }

    private var urls: [String?] {
        var schemes: Set<String> = ["http", "https", "tel", "telprompt", "sms", "mailto"]
        schemes.formUnion(policies.flatMap(\.transfer.exemptSchemes))
        schemes.formUnion(texts(.url).map { $0.lowercased() })
        schemes.insert(UnlistedText.word("unlisted-scheme", notIn: schemes))
        let links = Set(policies.flatMap { $0.transfer.exemptUniversalLinks.union($0.transfer.managedUniversalLinks) })
        let letter = UnlistedText.letter(notIn: links)
        // Beneath what a pattern matches, so that it is matched by whatever is listed there as well, and out of it again.
        let listed = Set(links.map { $0.replacing("*", with: letter) }).flatMap { [$0, "\($0)/\(letter)", "\($0)/.."] }
        // A link without a host is none that an app can claim.
        let unlisted = schemes.sorted().flatMap { ["\($0)://\(letter)/\(letter)", $0 + ":page"] }
        return unlisted + listed.sorted() + ["no scheme", "", nil]
    }
}

extension VersionNumber {
    /// A version between this one and every older one that a policy names.
    var before: VersionNumber? {
        var fields = numbers
        guard let position = fields.lastIndex(where: { $0 > 0 }) else { return nil }
        fields[position] -= 1
        for later in fields.indices where later > position { fields[later] = Int(Int32.max) }
        return VersionNumber(fields.map(String.init).joined(separator: "."))
    }

    /// A version between this one and every newer one that a policy names.
    var after: VersionNumber? {
        var fields = numbers
        guard let position = fields.lastIndex(where: { $0 < Int32.max }) else { return nil }
        fields[position] += 1
        for later in fields.indices where later > position { fields[later] = 0 }
        return VersionNumber(fields.map(String.init).joined(separator: "."))
    }

    private var numbers: [Int] {
        let given = description.split(separator: ".").compactMap { Int($0) }
        return given + [Int](repeating: 0, count: max(0, 4 - given.count))
    }
}
