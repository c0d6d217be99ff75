extension PolicySentence {
    /// Twelve sentences that say what organisations promise most often of their data.
    ///
    /// They hold of the strictest baseline. A policy need not keep all of them.
    public static let promises: [PolicySentence] = [
        "never copy from managed to personal",
        "never send from managed to personal",
        "never save from managed to personal",
        "never receive from personal to managed",
        "never openURL from managed to unmanaged if scheme is unlisted-scheme",
        "never print from managed",
        "never backUp from managed",
        "never capture from managed",
        "never search from managed",
        "never launch from managed if rooted",
        "launch from managed only if passcode",
        "never wipe launch from managed if rooted is false and offline at most 90d",
    ].compactMap { try? PolicySentence($0) }
}
