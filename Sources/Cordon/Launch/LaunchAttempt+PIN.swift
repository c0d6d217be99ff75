internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// PIN and sign-in at the gate.
extension LaunchAttempt {
    /// Asks for the PIN, or for a new one where there is none.
    nonisolated(nonsending) mutating func askPIN() async -> Next {
        let contents: SealedState<PINRecord>.Contents
        do { contents = try tools.pins.contents(of: account) } catch {
            return await showFailure(error)
        }
        guard case .value(let record) = contents, record.verifier != nil, !tools.pins.hasEnded(record, of: account)
        else {
            guard case .absent = contents, !tools.context.launchRecord(of: account).hadPIN else {
                return await resetPIN(Texts.gatePinIsNotThereAnyMore)
            }
            // Another app may have had one: this app's counter does not know of a record that was removed before it was met here.
            return tools.pins.isShared ? await resetPIN(Texts.gateSharedPINIsChosenAfterSign) : await choosePIN()
        }
        let isClosed = await tools.guards.isClosed(account)
        // A key that hangs on its share is opened with the PIN also where the rules have come to ask for none.
        guard
            let access = tools.rules.policy(of: .managed(account))?.policy.access
                ?? (isClosed ? AccessRequirements() : nil)
        else { return .again }
        // Only who knows the old PIN changes it.
        let isToChange =
            session.occasion == .pinChange || reasons.contains { $0.rule == Rule.launchPINAge.rawValue }
        let opensByPINAlone = isClosed && (configuration.biometryItems == nil || biometryFailed)
        let biometry = isToChange || opensByPINAlone ? nil : await biometryAllowed(by: access, since: record.entered)
        let prompt = PINPrompt(
            account: holder, digitsOnly: access.pinCharacterSet == .numeric,
            attemptsLeft: max(0, access.maximumPinRetries - Int(record.failed)), lastWasWrong: lastPINWasWrong,
            wait: pinWait, biometry: biometry, canCancel: mayCancel)
        let answer = await session.ask(.pin) { await $0.enterPIN(prompt) }
        switch answer {
        case nil: return .end(.blocked)
        case .cancelled?:
            session.steps.append(LaunchStep(.pin, .cancelled))
            return cancelled
        case .forgotten?:
            session.steps.append(LaunchStep(.pin, .refused))
            return await resetPIN(Texts.gateForgottenPINIsReplacedAfterSign)
        case .recognised(let recognised)?:
            var counts = recognised == biometry
            if counts, isClosed { counts = await openKeyByBiometry() }
            session.steps.append(LaunchStep(.pin, counts ? .done : .refused))
            if counts {
                await tools.recordActivity(
                    of: account, at: ClockReading(configuration.clock), letInAskingAfter: pinPeriod)
                shown.insert(.pin)
            }
            return .again
        case .entered(let pin)?: return await check(pin, access)
        }
    }

    private nonisolated(nonsending) mutating func check(_ pin: String, _ access: AccessRequirements) async -> Next {
        (pinWait, lastPINWasWrong) = (.zero, false)
        do {
            let (check, known) = try await tools.pins.guess(pin, of: account, limit: access.maximumPinRetries)
            if let known {
                try await openKey(with: GivenPIN(key: known.key, verifier: known.verifier))
                enteredPIN = known.verifier
                shown.insert(.pin)
                try tools.context.changeLaunchRecord(of: account) { $0.hadPIN = true }
                session.steps.append(LaunchStep(.pin, .done))
                return .again
            }
            switch check {
            case .wrong: lastPINWasWrong = true
            case .tooSoon(let wait): pinWait = wait
            case .right, .exhausted, .noPIN: break
            }
            session.steps.append(LaunchStep(.pin, .refused))
            return .again
        } catch { return await showFailure(error) }
    }

    /// The policy wants a new PIN: for its age the old one must be known, for anything else a fresh sign-in is needed.
    nonisolated(nonsending) mutating func renewPIN() async -> Next {
        let isUsedUp = reasons.contains {
            $0.rule == Rule.launchPINAttempts.rawValue && !$0.verdict.permits
        }
        if isUsedUp { return await resetPIN(Texts.denialPinWasEnteredWronglyTooOften) }
        return enteredPIN != nil ? await choosePIN() : await askPIN()
    }

    private nonisolated(nonsending) mutating func resetPIN(_ message: String) async -> Next {
        if !hasSignedIn {
            // One sign-in does for both.
            if let step = await startAnewIfLost() { return step }
            let step = await freshSignIn(message)
            guard hasSignedIn else { return step }
        }
        return await choosePIN()
    }

    /// Has the person choose a PIN until one is acceptable or the person cancels.
    nonisolated(nonsending) mutating func choosePIN() async -> Next {
        if let step = await openKeyBeforeNewPIN() { return step }
        guard let access = tools.rules.policy(of: .managed(account))?.policy.access else { return .again }
        var problems: [PINRequirements.Problem] = []
        while !Task.isCancelled {
            let prompt = NewPINPrompt(
                account: holder, minimumLength: access.minimumPinLength,
                characters: access.pinCharacterSet, simpleIsBlocked: access.simplePinBlocked, problems: problems,
                canCancel: mayCancel)
            guard let answer = await session.ask(.newPIN, { await $0.choosePIN(prompt) }) else {
                return .end(.blocked)
            }
            guard case .chosen(let pin) = answer else {
                session.steps.append(LaunchStep(.newPIN, .cancelled))
                return cancelled
            }
            guard !Task.isCancelled else { break }
            do {
                let made = try await tools.pins.make(
                    pin, of: account, requirements: PINRequirements(access),
                    inPlace: hasSignedIn ? .any : enteredPIN.map { .of($0) } ?? .empty, keeping: givenPIN?.key)
                problems = made.problems
                session.steps.append(LaunchStep(.newPIN, problems.isEmpty ? .done : .refused))
                guard let known = made.pin else { continue }
                givenPIN = GivenPIN(key: known.key, verifier: known.verifier)
                try tools.context.changeLaunchRecord(of: account) { $0.hadPIN = true }
                enteredPIN = known.verifier
                shown.insert(.pin)
                try await keepRecoveredKey()
                return .again
            } catch { return await showFailure(error) }
        }
        return .end(.cancelled)
    }

    /// Has the person sign in afresh. Without a network this cannot be done, and the person is told so.
    nonisolated(nonsending) mutating func freshSignIn(_ message: String) async -> Next {
        let prompt = SignInPrompt(account: holder, message: message, canCancel: mayCancel)
        switch await session.ask(.signIn, { await $0.signIn(prompt) }) {
        case nil: return .end(.blocked)
        case .cancelled?:
            session.steps.append(LaunchStep(.signIn, .cancelled))
            return cancelled
        case .unavailable(let why)?:
            session.steps.append(LaunchStep(.signIn, .unavailable))
            let reason = PolicyReason(
                rule: .launchCredentials, message: "\(message) \(why)", remedy: Texts.gateGoOnlineAndSignIn,
                verdict: .block)
            return await showBlock([reason])
        case .signedIn(let who)? where who == account || who == AccountID(holder.userPrincipalName):
            session.steps.append(LaunchStep(.signIn, .done))
            hasSignedIn = true
            shown.insert(.signIn)
            let now = ClockReading(configuration.clock)
            do {
                try tools.context.changeLaunchRecord(of: account) { record in
                    record.signedIn = now
                    record.mustSignIn = nil
                }
            } catch { return await showFailure(error) }
            return .again
        case .signedIn?:
            session.steps.append(LaunchStep(.signIn, .refused))
            let reason = PolicyReason(
                rule: .launchCredentials, message: Texts.gateAnotherPersonSignedIn,
                remedy: Texts.screenSignInAs(name: holder.userPrincipalName), verdict: .block)
            return await showBlock([reason])
        }
    }

    /// The biometry that may stand in for the PIN now (SRV-RS-050, 051, 080); after a restart of the machine, none.
    private nonisolated(nonsending) func biometryAllowed(
        by access: AccessRequirements, since entered: ClockReading?
    ) async -> Biometry? {
        guard let biometry = await tools.screens.answer({ await $0.biometry }) ?? nil else { return nil }
        let since = entered?.sameRun(until: ClockReading(configuration.clock))
        return PINRequirements(access).biometricsAllowed(face: biometry == .face, sincePIN: since) ? biometry : nil
    }

    /// Asks for the old PIN and a new one. Cancelling keeps the old one, and the gate that was open stays open.
    nonisolated(nonsending) mutating func changePIN() async -> LaunchOutcome.Result {
        guard !session.steps.contains(LaunchStep(.newPIN, .done)), tools.hasPIN(account) else { return .opened }
        isChangingPIN = true
        defer { isChangingPIN = false }
        while enteredPIN == nil {
            guard !Task.isCancelled, tools.hasPIN(account), isGuessLeft else {
                isChangingPIN = false
                return await runChecks()
            }
            if case .end = await askPIN() { return .opened }
        }
        // A person who forgot the PIN has signed in, and may have chosen a new one already.
        guard !session.steps.contains(LaunchStep(.newPIN, .done)) else { return .opened }
        _ = await choosePIN()
        return .opened
    }

    /// Whether there is a PIN, and a guess at it left.
    var isGuessLeft: Bool {
        guard case .value(let record)? = try? tools.pins.contents(of: account) else { return false }
        return isGuessLeft(at: record)
    }

    /// Whether what is kept is of a PIN, and a guess at it is left.
    func isGuessLeft(at record: PINRecord) -> Bool {
        record.verifier != nil && record.failed < mostGuesses
    }

    /// How many guesses in a row the rules allow.
    var mostGuesses: Int {
        (tools.rules.policy(of: .managed(account))?.policy.access ?? AccessRequirements()).maximumPinRetries
    }
}

extension LaunchTools {
    /// Whether the rules in force ask for a PIN and there is one.
    func hasPIN(_ account: AccountID) -> Bool {
        guard screens.interface != nil, rules.isPINRequired(for: .managed(account)),
            case .value(let record)? = try? pins.contents(of: account)
        else { return false }
        return record.verifier != nil
    }
}
