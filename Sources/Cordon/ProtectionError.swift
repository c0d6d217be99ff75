package import CordonBase
public import CordonPolicy
internal import CordonVault

/// Why protection could not do what the app asked.
///
/// Branch on ``code``, show people ``denial`` or ``reason``, and log ``reason`` with ``thrownAt``; none of them holds contents, keys or tokens.
///
/// ```swift
/// do throws(ProtectionError) {
///     show(try await protection.files.read("plan.txt", of: account))
/// } catch {
///     switch error.code {
///     case .gateClosed: await protection.resume(account)
///     case .nothingThere: showEmptyNote()
///     default: show(error.denial?.summary ?? "\(error.reason) \(error.hint)")
///     }
/// }
/// ```
public struct ProtectionError: Error, Sendable, Equatable {
    /// What kind of failure it was.
    public enum Code: String, Sendable, CaseIterable {
        /// The account is not enrolled here.
        case notEnrolled
        /// Stored state cannot be read, or is not what was stored.
        case stateUnreadable
        /// State cannot be stored.
        case stateUnwritable
        /// The organisation's files cannot be opened or written.
        case vault
        /// The rules do not allow it; ``ProtectionError/denial`` says why.
        case denied
        /// No permit was issued, or it is for something else.
        case noPermit
        /// The rules changed, or the account's gate was closed, after the permit was issued.
        case permitOutdated
        /// The outlet that takes the content failed.
        case outletFailed
        /// There is nothing to take.
        case nothingThere
        /// The content is damaged.
        case damagedContent
        /// The service did not answer, or not as the protocol says.
        case serviceUnusable
        /// The service's address or the root key's thumbprint is not what the configuration needs.
        case invalidConfiguration
        /// The identity of the work did not follow to the code that asks.
        case identityLost
        /// The app shares nothing with the organisation's other apps.
        case noSharingGroup
        /// The account's launch gate is closed.
        case gateClosed
        /// The account's data is being removed at this moment.
        case wipeUnderWay
        /// A connection must not be used: the organisation pinned none of the server's keys, or they cannot be checked;
        /// ``ProtectionError/pinning`` says which.
        case connectionRefused
    }

    /// What kind of failure it was. Equality compares this and ``pinning``, nothing else.
    public let code: Code
    /// What was wrong and where, without file contents, keys or tokens.
    public let reason: String
    /// What to do about it.
    public let hint: String
    /// Why a connection must not be used; nil for every other kind.
    public let pinning: PinningFailure?
    /// Why the rules do not allow it, with every reason; nil for every other kind.
    public let denial: PolicyDecision?
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package private(set) var codePlace: CodePlace
    /// What kind of failure it was to the vault; nil where it was not the vault's.
    private(set) var vaultCode: VaultError.Code?
    /// Whether there was no room on the disk for what could not be stored.
    private(set) var isDiskFull = false
    /// Whether the app has a managed account, where this one is not enrolled.
    private(set) var isAppManaged = true

    /// Makes an error; the hint is the usual one of its kind.
    public init(
        _ code: Code, _ reason: String, hint: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.hint = hint ?? code.usualHint
        pinning = nil
        denial = nil
        codePlace = CodePlace(file, line)
    }

    /// Makes the error for something that the rules do not allow.
    public init(denied denial: PolicyDecision, file: StaticString = #fileID, line: UInt = #line) {
        code = .denied
        reason = denial.reasons.first?.message ?? "the organisation's rules do not allow it"
        hint = denial.reasons.first?.remedy ?? code.usualHint
        pinning = nil
        self.denial = denial
        codePlace = CodePlace(file, line)
    }

    /// Makes the error for a connection that must not be used.
    public init(_ pinning: PinningFailure, file: StaticString = #fileID, line: UInt = #line) {
        code = .connectionRefused
        reason = pinning.reason
        hint = code.usualHint
        self.pinning = pinning
        denial = nil
        codePlace = CodePlace(file, line)
    }

    /// Makes the error of a state file that cannot be written.
    init(unwritable reason: String, isDiskFull: Bool, file: StaticString = #fileID, line: UInt = #line) {
        self.init(.stateUnwritable, reason, file: file, line: line)
        self.isDiskFull = isDiskFull
    }

    init(_ error: VaultError) {
        self.init(.vault, error.reason, hint: error.hint)
        vaultCode = error.code
        codePlace = error.codePlace
    }

    /// Makes the error of an account that is not enrolled here.
    init(
        notEnrolled reason: String, among accounts: AccountTable, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(.notEnrolled, reason, file: file, line: line)
        isAppManaged = !accounts.rules.managed.isEmpty
    }

    /// Whether both have the same code and, for a refused connection, the same reason.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.pinning == right.pinning
    }
}

extension ProtectionError: CustomStringConvertible {
    /// The code, what was wrong and what to do, in one line: for a log, or a program in a terminal.
    public var description: String {
        "\(code.rawValue): \(reason)\(reason.hasSuffix(".") ? "" : ".") \(hint)"
    }
}

extension ProtectionError.Code {
    fileprivate var usualHint: String {
        switch self {
        case .notEnrolled: "Enrol the account first."
        case .stateUnreadable: "Check in again; until then the organisation's data stays closed."
        case .stateUnwritable: "Check the data folder's permissions and free space."
        case .vault: "See the vault's own error; the file itself was not changed."
        case .denied: "The denial's reasons say what would be allowed."
        case .noPermit, .permitOutdated: "Ask for a permit again, and use it at once."
        case .outletFailed: "Try again, or choose another way."
        case .nothingThere: "Copy or receive something first."
        case .damagedContent: "Ask the sender for it again."
        case .serviceUnusable: "Check the service's address, and whether it runs."
        case .invalidConfiguration: "Check the service's address and the root key's thumbprint."
        case .noSharingGroup: "Give the configuration a sharing group."
        case .identityLost: "Set the account for this piece of work, or link CordonDispatch."
        case .gateClosed: "Pass the launch gate first."
        case .connectionRefused: "Try another network, or tell the administrator."
        case .wipeUnderWay: "Wait until the wipe ends; to use the account again, enrol it anew."
        }
    }
}
