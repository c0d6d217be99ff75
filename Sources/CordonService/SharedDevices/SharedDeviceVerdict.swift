/// What a shared device is told of the session that it reported (SI-182).
public enum SharedDeviceVerdict: Sendable, Equatable {
    /// Nothing is known against it.
    case stays
    /// The person's sessions were revoked since they signed in there, or the account is disabled: the device ends it.
    case ends
    /// The device has reported a newer session before, of this number: it runs on an older copy of itself. It ends the session and
    /// counts on from there.
    case isOlderCopy(newest: Int64)
}
