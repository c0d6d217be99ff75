public import CordonProtocol

/// The answer to a registration.
public struct RegistrationOutcome: Sendable, Equatable {
    /// What the device is told.
    public var result: RegistrationResult
    /// Whether the registration is new (201) rather than found by its key (200).
    public var isNew: Bool
    /// Whether the person is blocked (423); the envelope then carries a wipe (SRV-TG-24).
    public var isUserBlocked: Bool

    /// Makes an outcome.
    public init(result: RegistrationResult, isNew: Bool, isUserBlocked: Bool) {
        self.result = result
        self.isNew = isNew
        self.isUserBlocked = isUserBlocked
    }
}

/// The answer to a check-in.
public struct CheckInOutcome: Sendable, Equatable {
    /// What the device is told.
    public var response: CheckInResponse
    /// Whether the person is blocked (423); the envelope then carries a wipe (SRV-CI-019).
    public var isUserBlocked: Bool

    /// Makes an outcome.
    public init(response: CheckInResponse, isUserBlocked: Bool) {
        self.response = response
        self.isUserBlocked = isUserBlocked
    }
}
