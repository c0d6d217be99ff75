internal import CordonIdentity

/// A fact of a device with the values that two policies can tell apart, in words for people.
struct LaunchFact {
    /// Values that every condition of both policies answers alike.
    struct Class {
        /// Where the values begin and end; nil where there is no end, and for values that are not numbers.
        fileprivate let ends: (lower: End?, upper: End?)
        fileprivate let words: String
        let isUnknown: Bool
        let choose: QuestionClasses.Choice
    }

    /// An end of a range: a threshold, which may belong to the range.
    fileprivate struct End: Equatable {
        let words: String
        let isIncluded: Bool
    }

    let field: QuestionField
    let classes: [Class]
    /// What stands for the fact in a sentence, such as `System version`; empty where each class says it all.
    private let name: String

    init(_ field: QuestionField, of policies: [AppProtectionPolicy]) {
        self.field = field
        name = Self.names[field] ?? ""
        classes = Self.classes(field, policies)
    }

    /// Some neighbouring classes as a person says them.
    func words(for range: ArraySlice<Class>) -> String {
        guard let first = range.first, let last = range.last else { return name }
        guard !name.isEmpty else {
            let rest = range.dropFirst().map { " or " + $0.words.prefix(1).lowercased() + $0.words.dropFirst() }
            return first.words + rest.joined()
        }
        if range.count == 1, first.isUnknown { return "\(name) not known" }
        switch (first.ends.lower, last.ends.upper) {
        case (nil, nil):
            return first.words.isEmpty ? name : "\(name) \(range.map(\.words).joined(separator: " or "))"
        case (let lower?, let upper?) where lower == upper: return "\(name) \(lower.words)"
        case (let lower, let upper):
            let parts = [
                lower.map { ($0.isIncluded ? "from " : "above ") + $0.words },
                upper.map { ($0.isIncluded ? "up to " : "below ") + $0.words },
            ]
            return "\(name) \(parts.compactMap(\.self).joined(separator: " and "))"
        }
    }

    private static let names: [QuestionField: String] = [
        .os: "System version", .app: "App version", .sdk: "Version of the protection library",
        .threat: "Threat level", .model: "Device model", .offline: "Time without contact to the service",
        .clockedOut: "Clocked out for a time", .attempts: "Wrong PINs in a row", .pinAge: "Age of the PIN",
        .idle: "Time since the PIN was entered", .signIn: "Time since the sign-in",
    ]

    private static func classes(_ field: QuestionField, _ policies: [AppProtectionPolicy]) -> [Class] {
        switch field {
        case .os: return versions(policies, \.osVersion, \.osVersion)
        case .app: return versions(policies, \.appVersion, \.appVersion)
        case .sdk: return versions(policies, \.sdkVersion, \.sdkVersion)
        case .offline: return times(offlineLimits(policies), \.sinceCheckIn)
        case .clockedOut: return times(policies.compactMap(\.launch.offClockGracePeriod), \.sinceClockOut)
        case .idle: return times(policies.map(\.access.periodOnlineBeforeAccessCheck), \.sincePIN)
        case .signIn: return times(policies.map(\.access.periodOnlineBeforeAccessCheck), \.sinceSignIn)
        case .pinAge: return times(policies.map(\.access.periodBeforePinReset), \.pinAge)
        case .attempts: return attempts(policies)
        case .rooted: return flag(\.rooted, "The device is jailbroken or rooted", "The device is not rooted")
        case .disabled: return flag(\.accountDisabled, "The account is disabled", "The account is not disabled")
        case .passcode: return flag(\.devicePINSet, "The device has a passcode", "The device has no passcode")
        case .threat: return threats
        case .model: return models(policies)
        case .clock: return clocks
        default: return []
        }
    }

    private static func offlineLimits(_ policies: [AppProtectionPolicy]) -> [Duration] {
        policies.map(\.launch.periodOfflineBeforeWipe) + policies.map(\.launch.periodOfflineBeforeAccessCheck)
    }

    private static func attempts(_ policies: [AppProtectionPolicy]) -> [Class] {
        ranges(
            \.failedPINAttempts, policies.map(\.access.maximumPinRetries), words: { String($0) },
            below: { $0 > 0 ? $0 - 1 : nil }, above: { $0 < .max ? $0 + 1 : nil })
    }

    private static var threats: [Class] {
        let levels = ThreatLevel.allCases.filter { $0 != .notConfigured }
        return levels.map { level in named(level.rawValue) { $0.device.threatLevel = level } }
            + [unknown { $0.device.threatLevel = nil }]
    }

    private static func models(_ policies: [AppProtectionPolicy]) -> [Class] {
        let listed = Set(policies.flatMap { $0.launch.allowedModels ?? [] })
        let unlisted = UnlistedText.word("unlisted-model", notIn: listed)
        return listed.sorted().map { model in named(model) { $0.device.model = model } }
            + [named("that is not listed") { $0.device.model = unlisted }, unknown { $0.device.model = nil }]
    }

    private static var clocks: [Class] {
        let statuses: [(ClockStatus, String)] = [
            (.clockedIn, "Clocked in"), (.clockedOut, "Clocked out"), (.unknown, "Working time not known"),
        ]
        return statuses.map { status, words in named(words) { $0.device.clockStatus = status } }
    }

    private static func named(_ words: String, _ choose: @escaping QuestionClasses.Choice) -> Class {
        Class(ends: (nil, nil), words: words, isUnknown: false, choose: choose)
    }

    private static func unknown(_ choose: @escaping QuestionClasses.Choice) -> Class {
        Class(ends: (nil, nil), words: "not known", isUnknown: true, choose: choose)
    }

    private typealias Fact<Value> = WritableKeyPath<DeviceFacts, Value?>

    private static func flag(_ fact: Fact<Bool>, _ yes: String, _ no: String) -> [Class] {
        let unknown = Class(
            ends: (nil, nil), words: "Whether \(yes.prefix(1).lowercased() + yes.dropFirst()) is not known",
            isUnknown: true,
            choose: { $0.device[keyPath: fact] = nil })
        return [
            named(yes) { $0.device[keyPath: fact] = true }, named(no) { $0.device[keyPath: fact] = false }, unknown,
        ]
    }

    private static func versions(
        _ policies: [AppProtectionPolicy], _ limits: KeyPath<ConditionalLaunch, VersionLimits>,
        _ fact: Fact<VersionNumber>
    ) -> [Class] {
        let thresholds = policies.flatMap { policy -> [VersionNumber] in
            let own = policy.launch[keyPath: limits]
            return [
                own.minimumWarning, own.minimumRequired, own.minimumWipe, own.maximumWarning, own.maximumRequired,
                own.maximumWipe,
            ].compactMap(\.self)
        }
        return ranges(fact, thresholds, words: \.description, below: \.before, above: \.after)
    }

    private static func times(_ thresholds: [Duration], _ fact: Fact<Duration>) -> [Class] {
        ranges(
            fact, thresholds, words: words(for:), below: { $0 > .zero ? $0 - .milliseconds(1) : nil },
            above: { $0 + .milliseconds(1) })
    }

    /// Every threshold, what lies between two, and what lies outside all of them.
    private static func ranges<Value: Comparable & Hashable>(
        _ fact: Fact<Value>, _ thresholds: [Value], words: (Value) -> String, below: (Value) -> Value?,
        above: (Value) -> Value?
    ) -> [Class] {
        let sorted = Set(thresholds).sorted()
        var classes: [Class] = []
        func add(_ value: Value, _ lower: End?, _ upper: End?) {
            classes.append(
                Class(ends: (lower, upper), words: "", isUnknown: false, choose: { $0.device[keyPath: fact] = value }))
        }
        var last: Value?
        for threshold in sorted {
            let own = words(threshold)
            if let value = below(threshold), last.map({ value > $0 }) ?? true {
                add(value, last.map { End(words: words($0), isIncluded: false) }, End(words: own, isIncluded: false))
            }
            add(threshold, End(words: own, isIncluded: true), End(words: own, isIncluded: true))
            last = threshold
        }
        if let last, let value = above(last) { add(value, End(words: words(last), isIncluded: false), nil) }
        return classes + [unknown { $0.device[keyPath: fact] = nil }]
    }

    /// A time in the largest unit in which it is a whole number.
    static func words(for time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        guard attoseconds == 0 else { return DurationText.format(time) }
        let units: [(Int64, String)] = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
        let (length, unit) = units.first { seconds >= $0.0 && seconds % $0.0 == 0 } ?? (1, "second")
        let count = seconds / length
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
