internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// What an app remembers of an account's launch gate; sealed, counted, and gone after a wipe.
struct LaunchRecord: Codable, Equatable, Sendable {
    /// The person has seen that the organisation manages the account (SDK-CL-10).
    var noticeSeen = false
    /// There was a PIN once: should it be missing, a new one takes a fresh sign-in.
    var hadPIN = false
    /// What was remembered is in doubt: the person signs in afresh before anything is shown. Nil counts as false.
    var mustSignIn: Bool?
    /// The last fresh sign-in.
    var signedIn: ClockReading?
    /// The last contact with the service.
    var checkedIn: ClockReading?
    /// How long the machine had run by then, in milliseconds (``RunTime``); nil in records of older versions.
    var ranAtCheckIn: Int64?

    /// The record that asks the most of the person.
    static let doubtful = LaunchRecord(noticeSeen: true, hadPIN: true, mustSignIn: true)
}

extension LaunchRecord: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        self.init(
            noticeSeen: try members.flag("noticeSeen"), hadPIN: try members.flag("hadPIN"),
            mustSignIn: try members.optionalFlag("mustSignIn"), signedIn: try members.readIfPresent("signedIn"),
            checkedIn: try members.readIfPresent("checkedIn"),
            ranAtCheckIn: try members.optionalNumber("ranAtCheckIn"))
    }
}

/// The launch records of an app, one sealed file for each account.
struct LaunchStore: Sendable {
    let folder: StateFolder
    let seal: StateSeal

    /// What is remembered; the record that asks the most of the person where it cannot be read, or is not what was written last.
    ///
    /// - Parameter isEnrolled: Whether the account is enrolled: then there was a record, made before the registration was.
    func record(of account: AccountID, isEnrolled: Bool) -> LaunchRecord {
        record(in: try? state(of: account).read(), isEnrolled: isEnrolled)
    }

    private func record(in contents: SealedState<LaunchRecord>.Contents?, isEnrolled: Bool) -> LaunchRecord {
        switch contents {
        case .value(let record)?: record
        case .absent?: isEnrolled ? .doubtful : LaunchRecord()
        case .doubtful?, .newer?, nil: .doubtful
        }
    }

    /// Makes the record of an account that is about to be enrolled; one that is there stays.
    func begin(_ account: AccountID, wasEnrolled: Bool) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            let state = state(of: account)
            let found = try state.look()
            guard case .absent = found.contents else { return }
            try state.write(LaunchRecord(hadPIN: wasEnrolled), over: found)
        }
    }

    /// Changes what is remembered, durably.
    ///
    /// - Parameter isStaying: Whether the account is not being removed, and was not; asked while no removal goes on.
    func change(
        _ account: AccountID, isEnrolled: Bool, where isStaying: () -> Bool, _ change: (inout LaunchRecord) -> Void
    ) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            guard isStaying() else { throw Wipes.underWay }
            let state = state(of: account)
            let found = try? state.look()
            let before = record(in: found?.contents, isEnrolled: isEnrolled)
            var after = before
            change(&after)
            if after != before { try state.write(after, over: found) }
        }
    }

    /// Takes over the record of an account that an earlier version has stored.
    func takeOver(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            try state(of: account).takeOver { record, _ in record }
        }
    }

    /// Forgets an account.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in try state(of: account).remove() }
    }

    private func state(of account: AccountID) -> SealedState<LaunchRecord> {
        SealedState(file: folder.file(FolderName.of(account)), purpose: "launch", seal: seal, former: .raw)
    }
}
