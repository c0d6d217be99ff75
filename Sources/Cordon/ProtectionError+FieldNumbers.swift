internal import CordonVault

/// The documented error numbers for a failure to protect a file or a buffer; nil for every other error.
extension ProtectionError {
    /// The number of a failure to protect a file, 100 to 107 (SDK-FP-16): 100 where the app has no managed account, 106 where it has
    /// one and this is none.
    public var fileNumber: Int? {
        if let vaultCode { return vaultCode.fileNumber }
        return switch code {
        case .notEnrolled: isAppManaged ? 106 : 100
        case .identityLost: 106
        case .nothingThere: 104
        case .gateClosed, .wipeUnderWay, .damagedContent: 103
        case .stateUnreadable, .stateUnwritable: 107
        default: nil
        }
    }

    /// The number of a failure to protect bytes or text, 100 to 105 (SDK-DP-07): 100 also where only this account is not managed.
    public var dataNumber: Int? {
        if let vaultCode { return vaultCode.dataNumber }
        return switch code {
        case .notEnrolled, .identityLost: 100
        case .gateClosed, .wipeUnderWay, .damagedContent: 103
        case .stateUnreadable, .stateUnwritable: 102
        default: nil
        }
    }
}
