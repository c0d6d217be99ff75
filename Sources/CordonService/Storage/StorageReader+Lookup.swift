internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StorageReader {
    /// Whether there is neither a person nor an app.
    func isWithoutPeople() throws(ServiceError) -> Bool {
        guard try identifiers(DirectoryUser.self, of: .all, after: nil, limit: 1).isEmpty else { return false }
        return try identifiers(Registration.self, of: .all, after: nil, limit: 1).isEmpty
    }

    /// The commands of a registration that its app may still be told, wipes apart.
    func openCommands(of registrationID: String) throws(ServiceError) -> [IssuedCommand] {
        try records(IssuedCommand.self, where: (.registration, registrationID)).filter(\.state.isOpen)
    }

    /// The person of a device's access token, provided that app protection serves them.
    ///
    /// - Throws: ``ServiceError`` with status 200 for a person who is unknown or not entitled (SRV-CI-033), and with code
    ///   `accountDisabled` as well for an account that was disabled or removed (SRV-TG-32).
    func entitledUser(_ account: ManagedAccount) throws(ServiceError) -> DirectoryUser {
        let known = try record(DirectoryUser.self, folded(account.id.rawValue))
        guard try !isDisabled(account.id, known) else { throw .accountDisabled("the account was disabled or removed") }
        guard let user = known, user.isEntitled else {
            throw .enrollment(.notLicensed, "the account is not entitled to app protection")
        }
        guard user.isNamed(by: account.id) else {
            throw .enrollment(
                .notLicensed, "the account's id differs in case from that of the directory, and so is another person's")
        }
        return user
    }

    /// Whether the directory says that an account is disabled, or was there and is gone; a person whom it never knew is
    /// neither (SRV-TG-32).
    func isDisabled(_ id: AccountID) throws(ServiceError) -> Bool {
        try isDisabled(id, try record(DirectoryUser.self, folded(id.rawValue)))
    }

    private func isDisabled(_ id: AccountID, _ known: DirectoryUser?) throws(ServiceError) -> Bool {
        if let known { return !known.accountEnabled }
        return try record(RemovedPerson.self, folded(id.rawValue)) != nil
    }

    /// A registration, provided that it is the caller's own.
    ///
    /// - Throws: ``ServiceError``: status 220 when unknown, `wrongKey`, or status 214 for another account.
    func registration(_ id: String, of caller: DeviceCaller) throws(ServiceError) -> Registration {
        guard let registration = try record(Registration.self, id) else {
            throw .enrollment(.registrationGone, "the registration is not known")
        }
        guard registration.key.thumbprint == caller.keyThumbprint else {
            throw ServiceError(.wrongKey, "the request is signed with another key than the registration's")
        }
        guard registration.account.id == caller.account.id else {
            throw .enrollment(.notEnrolledAccount, "the access token is of another account than the registration")
        }
        return registration
    }

    /// Refuses what apps and devices ask while the store was put back from a backup and no administrator has confirmed it: blocks,
    /// revocations, leaked keys and cancelled wipes since the backup are not known.
    func requireConfirmed() throws(ServiceError) {
        guard try settings().restoration == nil else { throw .restored }
    }

    /// A registration of the caller that still counts, in a store that may be told from.
    ///
    /// - Throws: ``ServiceError`` as ``requireConfirmed()`` and ``openRegistration(_:of:at:lifetime:)``.
    func activeRegistration(
        _ id: String, of caller: DeviceCaller, at now: Date, lifetime: Duration
    ) throws(ServiceError) -> Registration {
        try requireConfirmed()
        return try openRegistration(id, of: caller, at: now, lifetime: lifetime)
    }

    /// A registration of the caller that still counts.
    ///
    /// - Throws: ``ServiceError`` as ``registration(_:of:)``, and status 220 when it is closed or has not checked in
    ///   for too long (SRV-CI-069).
    func openRegistration(
        _ id: String, of caller: DeviceCaller, at now: Date, lifetime: Duration
    ) throws(ServiceError) -> Registration {
        let registration = try registration(id, of: caller)
        guard registration.state == .active,
            now.timeIntervalSince(registration.lastSync) < Double(lifetime.wholeSeconds)
        else { throw .enrollment(.registrationGone, "the registration has ended") }
        return registration
    }

    /// A registration, whosever it is.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func knownRegistration(_ id: String) throws(ServiceError) -> Registration {
        guard let registration = try record(Registration.self, id) else {
            throw ServiceError(.notFound, "no registration has this id", place: id)
        }
        return registration
    }

    /// The registrations of a person that are active.
    func activeRegistrations(of personID: String) throws(ServiceError) -> [Registration] {
        try records(Registration.self, where: (.user, folded(personID))).filter { $0.state == .active }
    }

    /// A policy at the expected version.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` or `preconditionFailed`.
    func policy(_ id: String, ifVersion version: String? = nil) throws(ServiceError) -> ManagedAppPolicy {
        guard let policy = try record(ManagedAppPolicy.self, id) else {
            throw ServiceError(.notFound, "no policy has this id", place: id)
        }
        guard version == nil || version == policy.version else {
            throw ServiceError(.preconditionFailed, "the policy has another version", place: id)
        }
        return policy
    }

    /// The wipes of a registration that a device may still be told to do.
    func openOperations(of registrationID: String) throws(ServiceError) -> [WipeOperation] {
        try records(WipeOperation.self, where: (.registration, registrationID)).filter(\.state.isOpen)
    }

    /// The ids of what the same app on the same device has or had for a person, with the registration's own.
    func installs(of registration: Registration) throws(ServiceError) -> Set<String> {
        let ofPerson = try records(Registration.self, where: (.user, folded(registration.account.id.rawValue)))
        return Set(ofPerson.filter { $0.isSameInstall(as: registration) }.map(\.id)).union([registration.id])
    }

    /// The last wipe of an app on a device that was asked for and failed, whichever key the app had; nil where one has succeeded since.
    func lastFailedWipe(of registration: Registration) throws(ServiceError) -> WipeOperation? {
        let installs = try installs(of: registration)
        let last = try records(WipeOperation.self, where: (.user, folded(registration.account.id.rawValue)))
            .filter { wipe in
                installs.contains(wipe.registrationID)
                    && (wipe.state == .succeeded || wipe.state == .failed && wipe.reason != .conditional)
            }
            .max { ($0.modified, $0.attempt) < ($1.modified, $1.attempt) }
        return last?.state == .failed ? last : nil
    }

    /// Whether a wipe of a registration is open or, since it lapsed without a receipt, still owed.
    func hasWipe(of registration: Registration) throws(ServiceError) -> Bool {
        guard registration.missedWipe == nil else { return true }
        return try !openOperations(of: registration.id).isEmpty
    }

    /// Whether a person is blocked.
    func isBlocked(_ account: AccountID) throws(ServiceError) -> Bool {
        try record(UserBlock.self, folded(account.rawValue)) != nil
    }

    /// A wipe.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func operation(_ id: String) throws(ServiceError) -> WipeOperation {
        guard let operation = try record(WipeOperation.self, id) else {
            throw ServiceError(.notFound, "no operation has this id", place: id)
        }
        return operation
    }
}

extension StorageReader {
    /// A person, by object id or sign-in name.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func user(_ idOrName: String) throws(ServiceError) -> DirectoryUser {
        guard let user = try knownUser(idOrName) else {
            throw ServiceError(.notFound, "no person has this id or sign-in name")
        }
        return user
    }

    /// A person, by object id or sign-in name, nil where there is none.
    func knownUser(_ idOrName: String) throws(ServiceError) -> DirectoryUser? {
        let name = folded(idOrName)
        if let user = try record(DirectoryUser.self, name) { return user }
        return try records(DirectoryUser.self, where: (.name, name)).first
    }

    /// The object id of a person whom the directory knows, or whose registrations are all that is left of them.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func personID(_ idOrName: String) throws(ServiceError) -> String {
        if let user = try record(DirectoryUser.self, folded(idOrName)) { return user.id }
        if let registration = try records(Registration.self, where: (.user, folded(idOrName))).first {
            return registration.account.id.rawValue
        }
        return try user(idOrName).id
    }

    /// A group, by object id.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func group(_ id: String) throws(ServiceError) -> DirectoryGroup {
        DirectoryGroup(try groupEntry(id), members: try members(ofGroup: id))
    }

    /// A group without its members, by object id.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func groupEntry(_ id: String) throws(ServiceError) -> GroupEntry {
        guard let group = try record(GroupEntry.self, folded(id)) else {
            throw ServiceError(.notFound, "no group has this id")
        }
        return group
    }
}

extension StorageReader {
    /// Who and what is directly in a group.
    func members(ofGroup id: String) throws(ServiceError) -> Set<DirectoryGroup.Member> {
        var members: Set<DirectoryGroup.Member> = []
        var last: String?
        while true {
            let page = try page(GroupMembership.self, of: GroupMembership.members(of: id), after: last, limit: 1_000)
            members.formUnion(page.map(\.member))
            guard page.count == 1_000 else { return members }
            last = page.last?.storageID
        }
    }

    /// The records of some members of a group, ordered by id.
    ///
    /// - Parameters:
    ///   - kind: How the names of such members begin.
    ///   - place: The member after which to begin, nil for the first.
    func members<Record: StoredRecord>(
        _ type: Record.Type, _ kind: String, ofGroup group: String, after place: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let beginning = folded(group) + "/" + kind
        var found: [Record] = []
        var last = place.map { folded(group) + "/" + folded($0) }
        while found.count < limit {
            // Of members whom the directory does not know there may be many: they are passed by some at a time.
            let wanted = max(limit - found.count, 16)
            let ids = try identifiers(
                GroupMembership.self, of: .beginning(with: beginning), after: last, limit: wanted)
            found += try records(
                type, ids: ids.map { String(decoding: $0.utf8.dropFirst(beginning.utf8.count), as: UTF8.self) })
            guard ids.count == wanted, let end = ids.last else { break }
            last = end
        }
        return Array(found.prefix(max(0, limit)))
    }

    /// The folded ids of the groups that a person is directly in.
    func directGroups(ofPerson id: String) throws(ServiceError) -> [String] {
        try identifiers(GroupMembership.self, of: GroupMembership.ofPerson(id), after: nil, limit: .max)
            .map(GroupMembership.group(inID:))
    }

    /// Every group with its members, ordered by id.
    func groupsWithMembers() throws(ServiceError) -> [DirectoryGroup] {
        let members = Dictionary(grouping: try records(GroupMembership.self), by: \.group)
        return try records(GroupEntry.self).map { entry in
            DirectoryGroup(entry, members: Set((members[entry.storageID] ?? []).map(\.member)))
        }
    }
}

/// Refuses ids that a URL could not carry as they are (SRV-RS-003).
func checkDirectoryID(_ id: String) throws(ServiceError) {
    try checkID(id, atMost: 128, besides: "-_.~")
}

/// Refuses ids of people that no provider gives: `sub` has up to 255 ASCII characters (OpenID Connect Core §2), and those of
/// common providers are like `auth0|1`, `f:0b5…:ada` or mail addresses. What a path or a list would have to escape twice is none
/// of them.
func checkPersonID(_ id: String) throws(ServiceError) {
    try checkID(id, atMost: 255, besides: "-_.~|:@+=!$*,")
}

private func checkID(_ id: String, atMost limit: Int, besides others: String) throws(ServiceError) {
    let isSafe = id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: others.utf8.contains(byte)
        }
    }
    // A client takes `.` and `..` out of a path.
    guard isSafe, !["", ".", ".."].contains(id), id.utf8.count <= limit else {
        throw ServiceError(
            .invalid, "id is not acceptable",
            problems: [
                .init(member: "id", reason: "needs 1 to \(limit) letters, digits or \(others), and is not . or ..")
            ])
    }
}

extension StorageReader {
    /// Some records of the list.
    ///
    /// - Parameter last: The record after which they begin, nil for the first.
    func newest<Record: NewestFirst>(
        _ type: Record.Type, after last: Record?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let start = last.map { $0.place + ShownText.separator } ?? ""
        return try records(type, where: .newest, in: start..<"\u{10FFFF}", limit: limit)
    }

    /// A page of the list, and the id after which to go on; nil at the end.
    ///
    /// - Parameter id: The id of the record after which the page begins, nil for the first page.
    /// - Throws: ``ServiceError`` with code `notFound` where there is no record to begin after.
    func newestPage<Record: NewestFirst>(
        _ type: Record.Type, after id: String?, limit: Int
    ) throws(ServiceError) -> (page: [Record], next: String?) {
        var last: Record?
        if let id {
            last = try record(type, id)
            guard last != nil else {
                throw ServiceError(.notFound, "the list has nothing with this id to begin after", place: id)
            }
        }
        // One more than is asked for says whether there are others.
        let found = try newest(type, after: last, limit: limit + 1)
        let page = Array(found.prefix(limit))
        return (page, found.count > limit ? page.last?.id : nil)
    }
}

/// Where a page of a list ends that is ordered by a lookup: its value and the id of the last record.
private struct LookupPlace {
    let value: String
    let id: String

    init?(of record: some StoredRecord, by lookup: StorageLookup) {
        guard let value = record.lookups[lookup] else { return nil }
        (self.value, id) = (value, record.storageID)
    }

    /// Reads a place; ids that are listed so have no slash.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }), let slash = text.lastIndex(of: "/") else { return nil }
        (value, id) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }

    var text: String { value + "/" + id }
}

extension StorageReader {
    /// A page of the records whose lookup is in a range, ordered by its value and then by id; no others are read.
    ///
    /// - Parameters:
    ///   - place: Where the page before ended, nil for the first.
    ///   - limit: The most records of the page.
    /// - Returns: The records, and where the page ends; nil at the end of the list.
    /// - Throws: ``ServiceError`` with code `invalid` for a place that this list does not have.
    func page<Record: StoredRecord>(
        _ type: Record.Type, by lookup: StorageLookup, in range: Range<String>, after place: String?, limit: Int
    ) throws(ServiceError) -> (page: [Record], next: String?) {
        // One more than is asked for says whether there are others.
        let found = try records(type, by: lookup, in: range, after: place, limit: limit + 1)
        let page = Array(found.prefix(limit))
        let last = found.count > limit ? page.last : nil
        return (page, last.flatMap { LookupPlace(of: $0, by: lookup) }?.text)
    }

    private func records<Record: StoredRecord>(
        _ type: Record.Type, by lookup: StorageLookup, in range: Range<String>, after place: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        guard let place else { return try records(type, where: lookup, in: range, limit: limit) }
        // A range whose start is above its end would end the process.
        guard let start = LookupPlace(place), range.contains(start.value) else {
            throw ServiceError(
                .invalid, "the list has no such place to begin after",
                problems: [.init(member: "after", reason: "is not of the Link header of a page before")])
        }
        // Very many may have one value: whom one change has made late.
        let same = try page(type, of: .found(by: lookup, start.value), after: start.id, limit: limit)
        let next = start.value + ShownText.separator
        guard same.count < limit, next < range.upperBound else { return same }
        return same + (try records(type, where: lookup, in: next..<range.upperBound, limit: limit - same.count))
    }
}
