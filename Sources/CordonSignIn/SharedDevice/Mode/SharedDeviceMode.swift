internal import CordonIdentity
internal import Foundation

/// The account of a shared device, as one app sees it (SI-028 to SI-068).
///
/// The broker owns the account; this object asks it, hears of changes and makes the app remove what an earlier
/// person left. It remembers nothing that the broker could contradict: every question goes to the broker. Any task may
/// call. Without a broker every call fails with `brokerUnavailable`; the app then keeps its screen neutral (SI-041).
///
/// ```swift
/// let device = try SharedDeviceMode(socket: "/run/cordon/broker.sock", clientID: "fieldnotes") { leaving in
///     await leaving.workStopped()
///     try removeFiles(of: leaving.account)
///     await leaving.dataCleared()
/// }
/// guard let person = try await device.refresh().current else { return showSignIn() }
/// ```
public actor SharedDeviceMode {
    /// The client id by which the broker knows this app.
    public nonisolated let clientID: String

    let link: BrokerLink
    nonisolated let broadcast: AccountEventBroadcaster
    /// How long an app that follows rests after each question.
    nonisolated let rest: Duration
    private let handler: CleanUpHandler?
    private let warn: @Sendable (String) -> Void
    private var hasWarned = false
    private var cleaning: Task<Void, Never>?
    /// The session under which each account was last seen, for asking tokens while it lasts and while cleaning up.
    var sessions: [AccountID: UInt64] = [:]

    /// Makes the app's view of the device.
    ///
    /// - Parameters:
    ///   - socket: The broker's socket.
    ///   - clientID: The client id by which the broker knows this app; the broker must allow it.
    ///   - supportsSeveralAccounts: Whether the app can only work with several accounts at once; such an app is not
    ///     supported on a shared device (SI-002).
    ///   - isDevelopment: Whether to trust a broker that runs as this app's own user, too. Otherwise the broker must run as
    ///     root, or as another user to whom root gave the socket's folder; the app sends nothing to any other.
    ///   - cleanUp: Removes what a person left behind. ``refresh()`` and ``follow()`` call it, one call at a time.
    ///   - warn: Called once, in plain words, when the device is shared and no clean-up handler is installed (SI-003).
    /// - Throws: ``SignInError`` with code `configuration` when the app cannot work with one account or has no client id.
    public init(
        socket: String, clientID: String, supportsSeveralAccounts: Bool = false, isDevelopment: Bool = false,
        cleanUp: CleanUpHandler? = nil, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SignInError) {
        try self.init(
            socket: socket, clientID: clientID, supportsSeveralAccounts: supportsSeveralAccounts,
            isDevelopment: isDevelopment, deadline: { $0.deadline }, cleanUp: cleanUp, warn: warn)
    }

    /// As the public one, with times of its own to wait for answers and to rest.
    package init(
        socket: String, clientID: String, supportsSeveralAccounts: Bool = false, isDevelopment: Bool = false,
        deadline: @escaping @Sendable (BrokerVerb) -> Duration, rest: Duration = .milliseconds(250),
        cleanUp: CleanUpHandler? = nil, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SignInError) {
        guard !supportsSeveralAccounts else {
            throw SignInError(
                .configuration, .invalidParameter, "an app that needs several accounts cannot work on a shared device",
                hint: "Let the app work with one account at a time.")
        }
        guard !clientID.isEmpty else {
            throw SignInError(.configuration, .invalidParameter, "the client id is empty")
        }
        let broadcast = AccountEventBroadcaster()
        self.clientID = clientID
        self.broadcast = broadcast
        self.rest = rest
        self.handler = cleanUp
        self.warn = warn
        link = BrokerLink(
            path: socket, clientID: clientID, trust: isDevelopment ? .development : .device, deadline: deadline
        ) { broadcast.post($0) }
    }

    /// Whether the device is shared, and what is missing if it is not.
    ///
    /// - Throws: ``SignInError``. Unknown is not personal: change nothing on an error (SI-029, SI-075).
    public func deviceInformation() async throws(SignInError) -> DeviceInformation {
        let device = try await link.call(DeviceInfoCall())
        if device.isShared { warnWithoutHandler() }
        return device
    }

    /// Whether a broker answers this app now. It says nothing about the mode, and remembers nothing (SI-129).
    public func hasBroker() async -> Bool { (try? await link.connected()) != nil }

    /// Who is here, and whom this app saw when it last asked; it reports a change once (SI-034).
    ///
    /// It does not run the clean-up; ``refresh()`` does.
    /// - Throws: ``SignInError``: keep the earlier person's data hidden until an answer arrives (SI-041).
    public func currentAccount() async throws(SignInError) -> CurrentAccount {
        let current = try await link.call(CurrentAccountCall())
        warnWithoutHandler()
        if let account = current.current { sessions[account.id] = current.session }
        for owed in current.owed { sessions[owed.account] = owed.session }
        return current
    }

    /// The accounts that this app may use: on a shared device the broker's one, or none (SI-040, SI-124).
    ///
    /// Unlike ``currentAccount()``, asking changes nothing.
    /// - Throws: ``SignInError`` as ``currentAccount()``.
    public func accounts() async throws(SignInError) -> [SignedInAccount] {
        try await link.call(AccountListCall())
    }

    /// Asks who is here, and removes what others left before it returns. Call it at launch, when the app comes back to
    /// the front, before scheduled background work and on every event (SI-037, SI-064).
    ///
    /// - Throws: ``SignInError`` as ``currentAccount()``; `brokerRefused` with fault `cleanUpOwed` when the app's handler
    ///   failed: the app stays locked, and the next call runs the handler again (SI-067).
    @discardableResult
    public func refresh() async throws(SignInError) -> CurrentAccount {
        while let running = cleaning { await running.value }
        let now = try await currentAccount()
        guard !now.owed.isEmpty else { return now }
        // Another call may have begun the clean-up meanwhile.
        guard cleaning == nil else { return try await refresh() }
        guard let handler else { throw Self.owed }
        let work = Task {
            for owed in now.owed { await self.clean(owed, handler) }
            // Before the task ends: who waits for it must not find it again, or they would wait without ever yielding.
            self.cleaning = nil
        }
        cleaning = work
        await work.value
        let after = try await currentAccount()
        guard after.owed.isEmpty else { throw Self.owed }
        return CurrentAccount(
            current: after.current, previous: now.previous, owed: [], session: after.session, began: after.began,
            nonce: after.nonce)
    }

    /// Tells the developer once, as soon as the device is known to be shared (SI-003).
    private func warnWithoutHandler() {
        guard handler == nil, !hasWarned else { return }
        hasWarned = true
        warn("No clean-up handler is installed: an earlier person's data may stay in this app.")
    }

    private func clean(_ owed: CurrentAccount.OwedCleanUp, _ handler: CleanUpHandler) async {
        let cleanUp = CleanUp(owed) { await self.report($0, of: owed.session) }
        do { try await handler(cleanUp) } catch { return }
        await report(.done, of: owed.session)
        sessions[owed.account] = nil
    }

    private func report(_ stage: CleanUpStage, of session: UInt64) async {
        // A report that is lost is made again: the mark stays until the broker heard of it.
        _ = try? await link.call(CleanUpCall(session: session, stage: stage))
    }

    /// Tells the broker that the person is working, which postpones the sign-out for inactivity (SI-159).
    ///
    /// - Throws: ``SignInError`` when there is no broker.
    public func noteActivity() async throws(SignInError) {
        _ = try await link.call(ActivityCall())
    }

    var hasHandler: Bool { handler != nil }

    static var malformed: SignInError {
        SignInError(.brokerUnavailable, .invalidResponse, "the broker's answer lacks what was asked for")
    }

    /// What an app that owes a clean-up is refused with.
    package static var owed: SignInError {
        SignInError(
            .brokerRefused, .cleanUpOwed, "this app has still to remove what an earlier person left",
            hint: "Keep the app locked and try again.")
    }
}
