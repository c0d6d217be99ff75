public import CordonProtocol

/// What administrators tell apps to do besides wiping (SRV-CI-006); every call throws ``ServiceError``.
public protocol CommandAdministration: Sendable {
    /// Tells an app to do something, in its envelopes until it reports or the command lapses; asking again while one of
    /// the kind is under way is asking once.
    ///
    /// - Throws: ``ServiceError``: `invalid` for a kind that is not one of ``IssuedCommand/kinds``, `notFound` for a
    ///   registration that is not open.
    func requestCommand(_ kind: Command.Kind, ofRegistration id: String, as administrator: Administrator)
        async throws(ServiceError) -> IssuedCommand

    /// The commands, newest first; of one registration where an id is given.
    func commands(ofRegistration id: String?, as administrator: Administrator) async throws(ServiceError)
        -> [IssuedCommand]

    /// Takes back a pending command.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` once it was delivered.
    func cancelCommand(_ id: String, as administrator: Administrator) async throws(ServiceError) -> IssuedCommand
}
