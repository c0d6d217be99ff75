extension VaultError.Code {
    /// The documented number of a failure to protect a file, 101 to 107 (SDK-FP-16). 100, for an app without management, is
    /// not the vault's to say; `ProtectionError.fileNumber` of Cordon says it.
    public var fileNumber: Int {
        switch self {
        case .invalidArgument, .empty: 101
        case .sealingFailed, .noSpace, .alreadyExists, .inUse, .readOnly, .keyExhausted: 102
        case .notSealed, .notProtected, .unsupportedFormat, .damaged, .wrongKey, .locked, .wiped, .wipePending: 103
        case .noSuchFile: 104
        case .isDirectory: 105
        case .unknownAccount: 106
        case .inputOutput, .keyStore, .closed, .overtaken: 107
        }
    }

    /// The documented number of a failure to protect bytes, 101 to 105 (SDK-DP-07); 100 is that of `ProtectionError.dataNumber`.
    public var dataNumber: Int {
        switch self {
        case .empty: 105
        case .notProtected, .notSealed: 104
        case .invalidArgument, .unknownAccount: 101
        case .unsupportedFormat, .damaged, .wrongKey, .locked, .wiped, .wipePending: 103
        default: 102
        }
    }
}
