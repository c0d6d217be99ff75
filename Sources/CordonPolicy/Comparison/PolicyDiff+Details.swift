extension PolicyDiff {
    /// What people notice although no answer differs: what a PIN must be like, which app takes a link, how much text is let out.
    static func details(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [String] {
        pin(old.access, new.access) + targets(old, new) + limits(old, new)
    }

    private static func pin(_ old: AccessRequirements, _ new: AccessRequirements) -> [String] {
        guard new.pinRequired else { return [] }
        guard old.pinRequired else {
            let kind = new.pinCharacterSet == .numeric ? "digits" : "characters, a letter or symbol among them"
            return ["People set a PIN of at least \(new.minimumPinLength) \(kind)."]
        }
        var details: [String] = []
        if old.minimumPinLength != new.minimumPinLength {
            details.append(
                "A PIN has at least \(new.minimumPinLength) characters; until now \(old.minimumPinLength)."
                    + (new.minimumPinLength > old.minimumPinLength ? " People with a shorter one set a new one." : ""))
        }
        if old.pinCharacterSet != new.pinCharacterSet {
            details.append(
                new.pinCharacterSet == .numeric
                    ? "A PIN is made of digits; until now it had a letter or a symbol."
                    : "A PIN has a letter or a symbol; until now it was made of digits.")
        }
        if old.simplePinBlocked != new.simplePinBlocked {
            details.append("A PIN such as 1234 or 1111 is \(new.simplePinBlocked ? "refused" : "taken") now.")
        }
        if old.previousPinBlockCount != new.previousPinBlockCount {
            details.append(
                "A new PIN differs from the last \(new.previousPinBlockCount); until now from the last "
                    + "\(old.previousPinBlockCount).")
        }
        for (name, was, now) in [
            ("A finger", old.fingerprintBlocked, new.fingerprintBlocked),
            ("A face", old.faceIdBlocked, new.faceIdBlocked),
        ] where was != now {
            details.append("\(name) \(now ? "no longer stands" : "may stand") in for the PIN.")
        }
        let (was, now) = (old.pinRequiredInsteadOfBiometricTimeout, new.pinRequiredInsteadOfBiometricTimeout)
        if was != now, !(new.fingerprintBlocked && new.faceIdBlocked) {
            func words(_ time: Duration) -> String { time == .zero ? "never" : "after \(LaunchFact.words(for: time))" }
            details.append("The PIN is asked for in place of a finger or face \(words(now)); until now \(words(was)).")
        }
        return details
    }

    /// The app that takes a link where both policies send it to one.
    private static func targets(_ old: AppProtectionPolicy, _ new: AppProtectionPolicy) -> [String] {
        let links = [
            ("Web links open", "managedBrowserToOpenLinksRequired", "http://example.com"),
            ("Numbers are dialled", "customDialerAppProtocol", "tel:100"),
            ("Text messages are sent", "messagingRedirectAppUrlScheme", "sms:100"),
        ]
        let applies: [Bool] = [
            old.transfer.managedBrowserRequired && new.transfer.managedBrowserRequired,
            old.transfer.dialer == .customApp && new.transfer.dialer == .customApp,
            old.transfer.messaging == .specificApps && new.transfer.messaging == .specificApps,
        ]
        return zip(links, applies).compactMap { link, applies -> String? in
            guard applies else { return nil }
            func scheme(_ policy: AppProtectionPolicy) -> String? {
                EffectivePolicy(policy).address(for: link.2, by: link.1).flatMap { URLRule.scheme(of: $0) }
            }
            let (was, now) = (scheme(old), scheme(new))
            guard was != now else { return nil }
            return "\(link.0) by \(now ?? "no named app"); until now by \(was ?? "no named app")."
        }
    }

    private static func limits(_ old: AppProtectionPolicy, _ new: AppProtectionPolicy) -> [String] {
        var details: [String] = []
        let (was, now) = (old.transfer.clipboardExceptionLength, new.transfer.clipboardExceptionLength)
        if was != now, old.transfer.clipboard != .allApps, new.transfer.clipboard != .allApps {
            details.append("Up to \(now) characters may be copied into any app; until now up to \(was).")
        }
        let (level, newLevel) = (old.storage.encryption, new.storage.encryption)
        if level != newLevel, level != .useDeviceSettings, newLevel != .useDeviceSettings {
            let words: [EncryptionLevel: String] = [
                .whenDeviceLocked: "while the device is locked",
                .whenDeviceLockedExceptOpenFiles: "while the device is locked, unless they are open",
                .afterDeviceRestart: "until the device is first unlocked",
            ]
            details.append(
                "Organisation files are closed \(words[newLevel] ?? ""); until now \(words[level] ?? "").")
        }
        return details
    }
}
