internal import CordonIdentity
internal import CordonPolicy

/// PIN and sign-in at the gate.
extension AppProtection {
    /// Asks for the PIN, or for a new one where there is none.
    func askPIN(_ account: AccountID, _ passage: inout GatePassage) async -> GateStep {
        let contents: SealedState<PINRecord>.Contents
        do throws(ProtectionError) { contents = try pins.contents(of: account) } catch {
            return await showFailure(error, account, &passage)
        }
        guard case .value(let record) = contents, record.verifier != nil else {
            if case .absent = contents, !launches.record(of: account).hadPIN {
                return await choosePIN(account, &passage)
            }
            return await resetPIN("The PIN is not there any more.", account, &passage)
        }
        guard let access = policy(of: .managed(account))?.policy.access else { return .again }
        // Only who knows the old PIN changes it.
        let isToChange =
            passage.occasion == .pinChange || passage.reasons.contains { $0.rule == Rule.launchPINAge.rawValue }
        let biometry = isToChange ? nil : await biometryAllowed(by: access, since: record.entered)
        let prompt = PINPrompt(
            account: holder(of: account), digitsOnly: access.pinCharacterSet == .numeric,
            attemptsLeft: max(0, access.maximumPinRetries - record.failed), lastWasWrong: passage.lastPINWasWrong,
            wait: passage.pinWait, biometry: biometry, canCancel: mayTurnAway(passage))
        let answer = await ask(.pin, in: &passage) { await $0.enterPIN(prompt) }
        switch answer {
        case nil: return .end(.blocked)
        case .cancelled?:
            passage.steps.append(LaunchStep(.pin, .cancelled))
            return turnedAway()
        case .forgotten?:
            passage.steps.append(LaunchStep(.pin, .refused))
            return await resetPIN("A forgotten PIN is replaced after a sign-in.", account, &passage)
        case .recognised(let recognised)?:
            let counts = recognised == biometry
            passage.steps.append(LaunchStep(.pin, counts ? .done : .refused))
            if counts { await noteActivity(of: account) }
            return .again
        case .entered(let pin)?: return await check(pin, account, access, &passage)
        }
    }

    private func check(
        _ pin: String, _ account: AccountID, _ access: AccessRequirements, _ passage: inout GatePassage
    ) async -> GateStep {
        (passage.pinWait, passage.lastPINWasWrong) = (.zero, false)
        do throws(ProtectionError) {
            switch try await pins.check(pin, of: account, limit: access.maximumPinRetries) {
            case .right:
                passage.hasEnteredPIN = true
                try launches.change(account) { $0.hadPIN = true }
                passage.steps.append(LaunchStep(.pin, .done))
                return .again
            case .wrong: passage.lastPINWasWrong = true
            case .tooSoon(let wait): passage.pinWait = wait
            case .exhausted, .noPIN: break
            }
            passage.steps.append(LaunchStep(.pin, .refused))
            return .again
        } catch { return await showFailure(error, account, &passage) }
    }

    /// The policy wants a new PIN: for its age the old one must be known, for anything else a fresh sign-in is needed.
    func renewPIN(_ account: AccountID, _ passage: inout GatePassage) async -> GateStep {
        let isUsedUp = passage.reasons.contains {
            $0.rule == Rule.launchPINAttempts.rawValue && !$0.verdict.permits
        }
        if isUsedUp { return await resetPIN("The PIN was entered wrongly too often.", account, &passage) }
        guard passage.hasEnteredPIN || passage.hasSignedIn else { return await askPIN(account, &passage) }
        return await choosePIN(account, &passage)
    }

    private func resetPIN(
        _ message: String, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        if !passage.hasSignedIn {
            let step = await freshSignIn(message, account, &passage)
            guard passage.hasSignedIn else { return step }
        }
        return await choosePIN(account, &passage)
    }

    /// Has a PIN made until one will do or the person turns away.
    func choosePIN(_ account: AccountID, _ passage: inout GatePassage) async -> GateStep {
        guard let access = policy(of: .managed(account))?.policy.access else { return .again }
        var problems: [PINRequirements.Problem] = []
        while !Task.isCancelled {
            let prompt = NewPINPrompt(
                account: holder(of: account), minimumLength: access.minimumPinLength,
                characters: access.pinCharacterSet, simpleIsBlocked: access.simplePinBlocked, problems: problems,
                canCancel: mayTurnAway(passage))
            guard let answer = await ask(.newPIN, in: &passage, { await $0.choosePIN(prompt) }) else {
                return .end(.blocked)
            }
            guard case .chosen(let pin) = answer else {
                passage.steps.append(LaunchStep(.newPIN, .cancelled))
                return turnedAway()
            }
            do throws(ProtectionError) {
                problems = try await pins.set(pin, of: account, requirements: PINRequirements(access))
                passage.steps.append(LaunchStep(.newPIN, problems.isEmpty ? .done : .refused))
                guard problems.isEmpty else { continue }
                try launches.change(account) { $0.hadPIN = true }
                passage.hasEnteredPIN = true
                return .again
            } catch { return await showFailure(error, account, &passage) }
        }
        return .end(.cancelled)
    }

    /// Has the person sign in afresh. Without a network this cannot be done, and the person is told so.
    func freshSignIn(
        _ message: String, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        let holder = holder(of: account)
        let prompt = SignInPrompt(account: holder, message: message, canCancel: mayTurnAway(passage))
        switch await ask(.signIn, in: &passage, { await $0.signIn(prompt) }) {
        case nil: return .end(.blocked)
        case .cancelled?:
            passage.steps.append(LaunchStep(.signIn, .cancelled))
            return turnedAway()
        case .unavailable(let why)?:
            passage.steps.append(LaunchStep(.signIn, .unavailable))
            let reason = PolicyReason(
                rule: .launchCredentials, message: "\(message) \(why)", remedy: "Go online and sign in.",
                verdict: .block)
            return await showBlock([reason], account, &passage)
        case .signedIn(let who)? where who == account || who == AccountID(holder.userPrincipalName):
            passage.steps.append(LaunchStep(.signIn, .done))
            passage.hasSignedIn = true
            let now = ClockReading(configuration.clock)
            do throws(ProtectionError) { try launches.change(account) { $0.signedIn = now } } catch {
                return await showFailure(error, account, &passage)
            }
            return .again
        case .signedIn?:
            passage.steps.append(LaunchStep(.signIn, .refused))
            let reason = PolicyReason(
                rule: .launchCredentials, message: "Somebody else signed in.",
                remedy: "Sign in as \(holder.userPrincipalName).", verdict: .block)
            return await showBlock([reason], account, &passage)
        }
    }

    /// The biometry that may stand in for the PIN now (SRV-RS-050, 051, 080); after a restart of the machine, none.
    private func biometryAllowed(by access: AccessRequirements, since entered: ClockReading?) async -> Biometry? {
        guard let interface = configuration.interface,
            let biometry = await Deadline.answer(
                within: configuration.interfaceDeadline, by: configuration.clock, { await interface.biometry }) ?? nil
        else { return nil }
        let since = entered?.sameRun(until: ClockReading(configuration.clock))
        return PINRequirements(access).biometricsAllowed(face: biometry == .face, sincePIN: since) ? biometry : nil
    }
}
