extension DeviceFacts {
    /// Reads the `device` object of a question.
    init(_ fields: QuestionReader) throws(PolicyError) {
        do throws(PolicyError) {
            try fields.refuseMisspelt(of: Self.memberNames)
            osVersion = try fields.version("osVersion")
            appVersion = try fields.version("appVersion")
            sdkVersion = try fields.version("sdkVersion")
            rooted = try fields.flag("rooted")
            sinceCheckIn = try fields.minutes("minutesSinceCheckIn")
            sincePIN = try fields.minutes("minutesSincePIN")
            sinceSignIn = try fields.minutes("minutesSinceSignIn")
            pinAge = try fields.minutes("minutesSincePINSet")
            failedPINAttempts = try fields.count("failedPINAttempts")
            devicePINSet = try fields.flag("devicePINSet")
            threatLevel = try fields.name("threatLevel", ThreatName.self).flatMap(\.level)
            model = try fields.text("model")
            accountDisabled = try fields.flag("accountDisabled")
            sinceClockOut = try fields.minutes("minutesSinceClockOut")
            online = try fields.flag("online")
            if let number = try fields.count("clockStatus") {
                guard let status = ClockStatus(rawValue: number) else {
                    throw PolicyError(
                        .unknownName, "\(number) is not a clock status", at: "clockStatus", hint: "0 to 5")
                }
                clockStatus = status
            }
        } catch {
            throw error.inside("device")
        }
    }

    /// The members of a question's `device` object.
    static let memberNames = [
        "osVersion", "appVersion", "sdkVersion", "rooted", "minutesSinceCheckIn", "minutesSincePIN",
        "minutesSinceSignIn", "minutesSincePINSet", "failedPINAttempts", "devicePINSet", "threatLevel", "model",
        "accountDisabled", "clockStatus", "minutesSinceClockOut", "online",
    ]

    /// The `device` object of a question; facts that are not known are left out.
    var json: JSONValue {
        var members: [String: JSONValue] = [:]
        members["osVersion"] = osVersion.map { .string($0.description) }
        members["appVersion"] = appVersion.map { .string($0.description) }
        members["sdkVersion"] = sdkVersion.map { .string($0.description) }
        members["rooted"] = rooted.map { .bool($0) }
        members["minutesSinceCheckIn"] = sinceCheckIn.map(Self.minutes)
        members["minutesSincePIN"] = sincePIN.map(Self.minutes)
        members["minutesSinceSignIn"] = sinceSignIn.map(Self.minutes)
        members["minutesSincePINSet"] = pinAge.map(Self.minutes)
        members["failedPINAttempts"] = failedPINAttempts.map { .integer(Int64($0)) }
        members["devicePINSet"] = devicePINSet.map { .bool($0) }
        members["threatLevel"] = threatLevel.map { .string($0 == .notConfigured ? "unknown" : $0.rawValue) }
        members["model"] = model.map { .string($0) }
        members["accountDisabled"] = accountDisabled.map { .bool($0) }
        members["clockStatus"] = clockStatus.map { .integer(Int64($0.rawValue)) }
        members["minutesSinceClockOut"] = sinceClockOut.map(Self.minutes)
        members["online"] = online.map { .bool($0) }
        return .object(members)
    }

    private static func minutes(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = duration.components
        if seconds % 60 == 0 && attoseconds == 0 { return .integer(seconds / 60) }
        let minutes = (Double(seconds) + Double(attoseconds) / 1e18) / 60
        return JSONNumber(literal: "\(minutes)").map(JSONValue.number) ?? .integer(seconds / 60)
    }
}

/// Threat levels as a question names them.
private enum ThreatName: String, CaseIterable {
    case secured, low, medium, high, unknown

    var level: ThreatLevel? { ThreatLevel(rawValue: rawValue) }
}
