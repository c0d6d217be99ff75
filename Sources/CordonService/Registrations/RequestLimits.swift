internal import CordonProtocol

extension RegistrationRequest {
    /// Refuses texts that no honest app sends.
    func check() throws(ServiceError) {
        try application.check()
        try device.check()
        try checkText(nonce, "nonce", atMost: 128)
        if let former = formerRegistrationID { try checkText(former, "formerRegistrationID", atMost: 128) }
        if let replaced = replacedRegistrationID { try checkText(replaced, "replacedRegistrationID", atMost: 128) }
    }
}

extension CheckInRequest {
    /// The most outcomes, and the most refusals, of one check-in.
    static let mostOutcomes = 64
    /// No device comes near: with this, an envelope that goes on above a device's sequence has one that every reader of JSON
    /// can tell from its neighbours (RFC 8259 §6).
    static let endOfSequences: Int64 = 1 << 52
    /// No app stores its registration as often. A number above would be the highest for ever, and hide every older copy. An app that
    /// takes the service's number over goes on counting from there, up to 2^30.
    static let endOfGenerations: Int64 = 1 << 29

    /// Refuses texts that no honest app sends.
    func check() throws(ServiceError) {
        try application.check()
        try device.check()
        try checkText(nonce, "nonce", atMost: 128)
        guard health.count <= 16 else { throw unacceptable("health", "more than 16 entries") }
        guard (0..<Self.endOfSequences).contains(appliedSequence) else {
            throw unacceptable("appliedSequence", "negative, or not below \(Self.endOfSequences)")
        }
        guard (0..<Self.endOfGenerations).contains(stateGeneration ?? 0) else {
            throw unacceptable("stateGeneration", "negative, or not below \(Self.endOfGenerations)")
        }
        if let digest = recoveryShareDigest { try checkText(digest, "recoveryShareDigest", atMost: 64) }
        guard outcomes?.count ?? 0 <= Self.mostOutcomes, refusedEnvelopes?.count ?? 0 <= Self.mostOutcomes else {
            throw unacceptable("outcomes, refusedEnvelopes", "more than \(Self.mostOutcomes) entries")
        }
        for outcome in outcomes ?? [] {
            try checkText(outcome.check, "outcomes.check", atMost: 64)
            if let text = outcome.threshold { try checkText(text, "outcomes.threshold", atMost: 64) }
            if let text = outcome.observed { try checkText(text, "outcomes.observed", atMost: 64) }
        }
        for refusal in refusedEnvelopes ?? [] { try checkText(refusal.code, "refusedEnvelopes.code", atMost: 64) }
    }
}

extension ApplicationFacts {
    fileprivate func check() throws(ServiceError) {
        try checkText(bundleID, "application.bundleID", atMost: 256, isName: true)
        try checkText(version, "application.version", atMost: 128)
        if let build { try checkText(build, "application.build", atMost: 128) }
        try checkText(sdkVersion, "application.sdkVersion", atMost: 128)
    }
}

extension DeviceDescription {
    fileprivate func check() throws(ServiceError) {
        try checkText(tag, "device.tag", atMost: 128, isName: true)
        try checkText(osVersion, "device.osVersion", atMost: 128)
        try checkText(model, "device.model", atMost: 128)
        if let name { try checkText(name, "device.name", atMost: 256) }
    }
}

private func checkText(
    _ text: String, _ member: String, atMost limit: Int, isName: Bool = false
) throws(ServiceError) {
    guard !text.isEmpty, text.utf8.count <= limit else {
        throw unacceptable(member, "empty or longer than \(limit) bytes")
    }
    if let flaw = ShownText.flaw(of: text, isName: isName) { throw unacceptable(member, flaw) }
}

private func unacceptable(_ member: String, _ reason: String) -> ServiceError {
    ServiceError(.invalid, "\(member) is not acceptable", problems: [.init(member: member, reason: reason)])
}
