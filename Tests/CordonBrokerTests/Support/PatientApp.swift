import CordonBroker

@testable import CordonSignIn

extension SharedDeviceMode {
    /// An app of a test, which waits a minute for every answer: that a machine stalls says nothing about the broker.
    static func patient(
        at socket: String, clientID: String, cleanUp: CleanUpHandler? = nil,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SignInError) -> SharedDeviceMode {
        try SharedDeviceMode(
            socket: socket, clientID: clientID, isDevelopment: true, deadline: { max($0.deadline, .seconds(60)) },
            cleanUp: cleanUp,
            warn: warn)
    }
}

extension BrokerLimits {
    /// The usual limits, with times that a machine that stalls keeps to.
    static var patient: BrokerLimits {
        var limits = BrokerLimits()
        limits.greetingTime = .seconds(60)
        limits.frameTime = .seconds(60)
        limits.unreadTime = .seconds(60)
        return limits
    }
}
