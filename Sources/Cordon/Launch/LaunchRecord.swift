internal import CordonIdentity
internal import Foundation

/// What an app remembers of an account's launch gate; sealed, and gone after a wipe.
struct LaunchRecord: Codable, Equatable, Sendable {
    /// The person has seen that the organisation manages the account (SDK-CL-10).
    var noticeSeen = false
    /// There was a PIN once: should it be missing, a new one takes a fresh sign-in.
    var hadPIN = false
    /// The last fresh sign-in.
    var signedIn: ClockReading?
    /// The last contact with the service.
    var checkedIn: ClockReading?
}

/// The launch records of an app, one sealed file for each account.
struct LaunchStore: Sendable {
    let folder: StateFolder
    let configuration: ProtectionConfiguration

    /// What is remembered; of a record that cannot be read, what asks the most of the person.
    func record(of account: AccountID) -> LaunchRecord {
        switch try? state(of: account).read() {
        case .value(let record)?: record
        case .absent?: LaunchRecord()
        case .damaged?, nil: LaunchRecord(hadPIN: true)
        }
    }

    /// Changes what is remembered, durably.
    func change(_ account: AccountID, _ change: (inout LaunchRecord) -> Void) throws(ProtectionError) {
        let before = record(of: account)
        var after = before
        change(&after)
        if after != before { try state(of: account).write(after) }
    }

    /// Forgets an account.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try state(of: account).file.remove()
    }

    private func state(of account: AccountID) -> SealedState<LaunchRecord> {
        SealedState(
            file: folder.file(FolderName.of(account)), purpose: "launch", keyStore: configuration.keyStore)
    }
}
