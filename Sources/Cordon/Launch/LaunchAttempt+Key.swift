internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol

/// The key behind the gate: a gate does not open while the account's key waits for its share.
extension LaunchAttempt {
    /// Has the person open the account's key, where a share guards it and it is not in memory; nil where there is nothing to do.
    ///
    /// The rules alone may not ask for the person: the process started within the time for which they trust them, or the rules no longer
    /// ask for a PIN.
    nonisolated(nonsending) mutating func openKey() async -> Next? {
        if let step = await startAnewIfLost() { return step }
        guard await tools.guards.isClosed(account) else { return nil }
        // A right PIN that opens nothing is one that was made since the share was sealed.
        return enteredPIN != nil || hasSignedIn || !isGuessLeft ? await recoverKey() : await askPIN()
    }

    /// Has the person continue without files whose key is lost; nil where there is nothing to do.
    nonisolated(nonsending) mutating func startAnewIfLost() async -> Next? {
        guard await tools.guards.hasLostKey(account) else { return nil }
        return await startAnew(Texts.gateThisDeviceHasLostKeyThat)
    }

    /// Opens a guarded key with the PIN's key; one that this PIN does not open stays closed, and is recovered.
    nonisolated(nonsending) mutating func openKey(with pin: GivenPIN) async throws(ProtectionError) {
        givenPIN = pin
        guard await tools.guards.isClosed(account) else { return }
        _ = try await tools.guards.open(account, with: pin.key)
    }

    /// Opens a guarded key with what the system gives out for a finger or a face; whether it is open. Without that the PIN is asked for.
    nonisolated(nonsending) mutating func openKeyByBiometry() async -> Bool {
        biometryFailed = true
        guard let items = configuration.biometryItems else { return false }
        let name = tools.guards.itemName(of: account)
        guard let key = await items.key(named: name).key,
            let isOpen = try? await tools.guards.open(account, with: key), isOpen
        else { return false }
        biometryFailed = false
        // What the service has lost is left there anew after a finger as after the PIN.
        givenPIN = GivenPIN(key: key, verifier: nil)
        return true
    }

    /// Opens the key with what the service holds, after a sign-in.
    private nonisolated(nonsending) mutating func recoverKey() async -> Next {
        if !hasSignedIn {
            let step = await freshSignIn(Texts.gateThisAccountFilesAreOpenedWith)
            guard hasSignedIn else { return step }
        }
        let keyID = tools.guards.guardedKeyID(of: account)
        let isEnrolled = tools.context.accounts[account] != nil
        let share: RecoveryShare
        do { share = try await releasedShare() } catch {
            // The service may have said meanwhile that its data is to go.
            if isEnrolled, tools.context.accounts[account] == nil { return .again }
            if error.saysNoShare, await !tools.guards.isClosed(account) { return await renewShare() }
            if error.saysNoShare, let step = await goOn(withoutShareOf: keyID, given: nil) { return step }
            // What the service did not take for fresh is not offered again.
            hasSignedIn = false
            return await showUnopened(Texts.gateAccountFilesCannotBeOpened(reason: error.reason.withoutFullStop))
        }
        do {
            guard try await tools.guards.open(account, with: share, andThen: givenPIN) else {
                if await !tools.guards.isClosed(account) { return await renewShare() }
                if let step = await goOn(withoutShareOf: keyID, given: share) { return step }
                return await showUnopened(Texts.gateWhatServiceHoldsDoesNotOpen)
            }
            recovered = share
            return .again
        } catch { return await showFailure(error) }
    }

    /// What the service holds. A sign-in after the session was lost has brought a key that the service does not know yet: then the registration
    /// is made anew, which takes over what the former one has left, and the service is asked once more.
    private nonisolated(nonsending) func releasedShare() async throws(ServiceFailure) -> RecoveryShare {
        do { return try await tools.guardService.release(account) } catch {
            guard error.wantsNewRegistration else { throw error }
            _ = await checkIn(within: Self.checkInDeadline)
            return try await tools.guardService.release(account)
        }
    }

    /// Opens the key in another way before the PIN that opens it is replaced. The person may still remember that PIN, and it may be all
    /// that opens the files. Nil where there is such a way, or the PIN's key stays.
    nonisolated(nonsending) mutating func openKeyBeforeNewPIN() async -> Next? {
        if await tools.guards.isClosed(account) {
            let step =
                await tools.guards.isLost(account) ? startAnew(Texts.gateThisDeviceHasLostKeyThat) : recoverKey()
            return await tools.guards.isClosed(account) ? step : nil
        }
        guard givenPIN == nil, recovered == nil, await tools.guards.isGuarded(account) else { return nil }
        let step = await recoverKey()
        return recovered == nil ? step : nil
    }

    /// Has a key that is in memory hang on another share, where the service has none that opens it.
    private nonisolated(nonsending) mutating func renewShare() async -> Next {
        do {
            recovered = try await tools.guards.renewShare(of: account, through: tools.guardService)
            return .again
        } catch { return await showFailure(error) }
    }

    /// Has the PIN that was just made open the key from now on.
    nonisolated(nonsending) mutating func keepRecoveredKey() async throws(ProtectionError) {
        guard let recovered, let givenPIN else { return }
        self.recovered = nil
        _ = try await tools.guards.open(account, with: recovered, andThen: givenPIN)
    }

    /// What follows where the service has given nothing that opens the key; nil where a PIN or what was left with the service may open it.
    private nonisolated(nonsending) mutating func goOn(
        withoutShareOf keyID: String?, given share: RecoveryShare?
    ) async -> Next? {
        guard let keyID, tools.context.accounts[account] != nil else { return nil }
        let isGone = await isShareGone(given: share)
        // The service may have said meanwhile that its data is to go.
        guard tools.context.accounts[account] != nil else { return .again }
        guard isGone else { return nil }
        if let step = await askFormerPIN() { return step }
        guard tools.context.accounts[account] != nil else { return .again }
        return await startAnew(Texts.gateNeitherPINNorServiceOpensFiles, withoutShareOf: keyID)
    }

    /// Has the person open the key with the PIN that the app had of its own before it came to share one: the share may still be sealed under
    /// it. Nil where there is none, the person does not know it any more, or it opens nothing.
    private nonisolated(nonsending) mutating func askFormerPIN() async -> Next? {
        guard tools.pins.isShared, let own = tools.ownPINs else { return nil }
        var (wait, lastWasWrong) = (Duration.zero, false)
        while true {
            let known: SealedState<PINRecord>.Contents
            do { known = try own.known(of: account) } catch { return await showFailure(error) }
            guard case .value(let record) = known, isGuessLeft(at: record), !own.hasEnded(record, of: account) else {
                return nil
            }
            let limit = mostGuesses
            // Other rules than today's may have said what it is made of.
            let prompt = PINPrompt(
                account: holder, digitsOnly: false, attemptsLeft: max(0, limit - Int(record.failed)),
                lastWasWrong: lastWasWrong, wait: wait, biometry: nil, canCancel: mayCancel, isFormer: true)
            switch await session.ask(.pin, { await $0.enterPIN(prompt) }) {
            case nil: return .end(.blocked)
            case .cancelled?, .recognised?:
                session.steps.append(LaunchStep(.pin, .cancelled))
                return cancelled
            case .forgotten?:
                session.steps.append(LaunchStep(.pin, .refused))
                return nil
            case .entered(let pin)?:
                (wait, lastWasWrong) = (.zero, false)
                do {
                    let (check, former) = try await own.guess(pin, of: account, limit: limit)
                    if let former, try await tools.guards.open(account, with: former.key) {
                        session.steps.append(LaunchStep(.pin, .done))
                        return .again
                    }
                    session.steps.append(LaunchStep(.pin, .refused))
                    switch check {
                    case .wrong: lastWasWrong = true
                    case .tooSoon(let pause): wait = pause
                    case .right, .exhausted, .noPIN: return nil
                    }
                } catch { return await showFailure(error) }
            }
        }
    }

    /// Whether no PIN of today's gives the share that the account's key hangs on, whatever the person remembers, and the service has it no
    /// more either.
    ///
    /// So it is where the app's folder was put back from an older copy, whose PIN does not count, after the registration had ended. What
    /// cannot be told counts as not so.
    private nonisolated(nonsending) func isShareGone(given share: RecoveryShare?) async -> Bool {
        do {
            switch try tools.context.guards.known(of: account) {
            case .absent, .doubtful: return true
            case .newer: return false
            case .value: break
            }
            switch try tools.pins.known(of: account) {
            case .absent, .doubtful: break
            case .newer: return false
            // A PIN that was right and has opened nothing is another one than the share was sealed under.
            case .value(let record): guard enteredPIN != nil || !isGuessLeft(at: record) else { return false }
            }
            if tools.pins.isShared, case .newer? = try tools.ownPINs?.known(of: account) { return false }
            return try await isLeftShareUseless(given: share)
        } catch { return false }
    }

    /// Whether the share that was left with the service does not open the key, or the service itself says that it no longer has it. Anybody
    /// on the way to the service can refuse a share or give another one; its answers to check-ins are signed.
    private nonisolated(nonsending) func isLeftShareUseless(given share: RecoveryShare?) async throws(ProtectionError)
        -> Bool
    {
        let guards = tools.context.guards
        guard let registrationID = tools.context.accounts[account]?.registrationID else { return false }
        try await guards.noteRegistration(registrationID, of: account)
        if let left = guards.leftShare(of: account, registrationID: registrationID) {
            if share?.digest == left { return true }
            _ = await checkIn(within: Self.checkInDeadline)
        }
        guard case .value(let record) = try guards.known(of: account) else { return false }
        return record.left == nil
    }

    /// Nothing opens the account's files any more: the person learns so, and continues without them after a sign-in.
    private nonisolated(nonsending) mutating func startAnew(
        _ message: String, withoutShareOf keyID: String? = nil
    ) async -> Next {
        // A sign-in before this was found does not say that the person agrees.
        hasSignedIn = false
        let step = await freshSignIn(message)
        guard hasSignedIn else { return step }
        do {
            try await tools.guards.startAnew(account, withoutShareOf: keyID)
            return .again
        } catch { return await showFailure(error) }
    }

    private nonisolated(nonsending) mutating func showUnopened(_ message: String) async -> Next {
        let reason = PolicyReason(
            rule: .launchCredentials, message: message, remedy: Texts.gateGoOnlineAndSignInWith,
            verdict: .block)
        reasons.insert(reason, at: 0)
        return await showBlock([reason])
    }
}
