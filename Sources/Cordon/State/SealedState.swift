internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// A small state file that only this device can read, that cannot be changed unseen, and whose number is known outside the folder:
/// one that is gone, or older than what was written last, is recognised.
///
/// - A file is `{"sealed":"…","version":4}`: AES-GCM over `{"after":…,"generation":…,"mark":…,"value":{…}}`, bound to the purpose and the
///   file's name.
/// - The counter holds a ``StateNumber``: twice the record's generation, one more while there is no record, and a random mark that the
///   record holds too.
/// - A record is written before its number is raised, and removed after: a kill never makes the present record an older one.
/// - A record whose number was not raised counts only if it was written after the number that the counter holds; whoever reads it raises the
///   number. So as soon as one of the records that killed processes left is read, or another is written, the rest count for nothing
///   (decision 104).
/// - A reader asks for the number first: then a record that is written meanwhile is not taken for an older one either.
struct SealedState<Value: Sendable>: Sendable {
    let file: StateFile
    /// Says what the value is for; a value of another purpose does not open.
    let purpose: String
    let seal: StateSeal
    /// How a record of the versions before was sealed.
    let former: FormerSeal
    /// Whether the organisation's apps share the record, each with a counter of its own.
    var isShared = false

    /// What is stored.
    enum Contents {
        /// There is none, as was noted.
        case absent
        /// The value that was written last.
        case value(Value)
        /// A newer version of the app has written it; it is left as it is.
        case newer
        /// What was written last is not there: it counts for nothing, and nothing that it closed may open.
        case doubtful(StateDoubt)
    }

    /// What is stored, with what is known of it.
    struct Found {
        var contents: Contents
        /// A value of this device, also one that is in doubt.
        var value: Value?
        /// The highest generation known of the record.
        var generation: Int64 = 0
        /// Whether a version before wrote it.
        var isFormer = false
        /// Whether the counter knows of it, be it only that it is gone; also where it cannot be asked.
        var isCounted = false
        /// What the counter held when it was asked, and by now where this look has counted the record; nil where it could not be.
        fileprivate var number: StateNumber?
        /// Whether the counter says that there is a record, whatever lies there; nil where it cannot be asked.
        var isKnownToCounter: Bool? { number.map { !$0.isAbsent } }
        /// The number of the record that lies there, whatever it counts for.
        fileprivate var stored: StateNumber?
        /// Whether its number cannot be raised because there is no room for it.
        fileprivate(set) var isDiskFull = false
        /// Whether the value counts although its number cannot be raised now: until it is, the record before it would count as well.
        var isUnraised: Bool {
            guard case .value = contents, let number, let stored else { return false }
            return stored.state > number.state
        }
    }
}

// The type itself asks nothing of the value: the runtime would look through every conformance of the program when it first meets it.
extension SealedState where Value: Codable & JSONReadable {
    /// Counts a missing record as absent, where earlier versions have counted nothing.
    func noteAbsence() throws(ProtectionError) {
        let found = try look()
        if case .absent = found.contents, !found.isCounted {
            try raise(try counterName, to: StateNumber(state: 1).counted)
        }
    }

    /// Reads the file.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func read() throws(ProtectionError) -> Contents { try look().contents }

    /// Reads the file, for what may follow from knowledge alone: a counter that does not answer now may count the record in a moment.
    ///
    /// - Throws: ``ProtectionError`` when the file, the device's root key or the counter cannot be read.
    func known() throws(ProtectionError) -> Contents {
        let found = try look()
        guard found.number != nil else {
            throw ProtectionError(.stateUnreadable, "the state counter does not answer")
        }
        return found.contents
    }

    /// Reads the file with what is known of it.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func look() throws(ProtectionError) -> Found {
        var found = try lookOnce()
        for _ in 0..<Self.mostLooks {
            // Another process may have removed it between the two looks, or sealed it.
            guard case .doubtful = found.contents else { break }
            let before = found.number
            found = try lookOnce()
            if found.number == before { break }
        }
        return found
    }

    /// How often another process may be quicker.
    private static var mostLooks: Int { 64 }

    /// What the counter holds; nil where it does not answer.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` where another process has written since a look.
    @discardableResult
    func number(since read: Found?) throws(ProtectionError) -> StateNumber? {
        let present = try? StateNumber(seal.counter.value(of: counterName))
        if let number = read?.number, let present, present != number {
            throw ProtectionError(.stateUnwritable, "another process has changed \(purpose) meanwhile")
        }
        return present
    }

    /// Replaces the file; when this returns the value survives a crash, and what was before it is recognised as older.
    ///
    /// The caller lets no other process write meanwhile. One that does all the same is noticed: of several, one alone has raised the number.
    ///
    /// - Parameters:
    ///   - floor: What the record's generation is to be above, besides all that is known.
    ///   - read: What the value was made from. Where another process has written since, nothing is written.
    ///   - build: The value, given its generation.
    /// - Returns: What was written, whether its number could be raised, whether there was no room for that, and the number.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func write(
        above floor: Int64 = 0, over read: Found? = nil, _ build: (Int64) -> Value
    ) throws(ProtectionError) -> (value: Value, isCounted: Bool, isDiskFull: Bool, number: StateNumber) {
        let name = try counterName
        let found = if let read { read } else { try? look() }
        let present = try number(since: read)
        // Where the counter does not answer now, the record is written after the one that lies there: it counts if that was the last one.
        var before = read?.number ?? present ?? found?.number
        let known = max(found?.generation ?? 0, floor, before?.generation ?? 0)
        guard (0..<StateNumber.limit - 1).contains(known) else {
            throw ProtectionError(.stateUnwritable, "the counter for \(purpose) has run out of numbers")
        }
        let generation = known + 1
        let value = build(generation)
        // A counter that knows nothing of a record that is there was lost; so it has to know of the first one before.
        if let present = before, present.isAbsent, !present.isBegun {
            let begun = StateNumber(before: generation)
            if (try? claim(name, from: present, to: begun)) == true { before = begun }
        }
        let number = StateNumber(of: generation)
        let after = before ?? found?.stored
        let counted = Counted(after: after?.counted, generation: generation, mark: number.mark, value: value)
        guard let plain = try? MessageCoding.encode(counted),
            let box = try? AES.GCM.seal(plain, using: try key, authenticating: context).combined,
            let bytes = try? MessageCoding.encode(Form(sealed: Base64URL.encode(box), version: StateSeal.version))
        else { throw ProtectionError(.stateUnwritable, "\(purpose) has no stored form") }
        try file.write(bytes)
        var (isCounted, isDiskFull) = (true, false)
        do {
            // A number that was lost, and cannot be told, is replaced.
            if let before {
                isCounted = try claim(name, from: before, to: number)
            } else {
                try raise(name, to: number.counted)
            }
        } catch { (isCounted, isDiskFull) = (false, error.isDiskFull) }
        if isCounted { seal.noteSealed() }
        return (value, isCounted, isDiskFull, number)
    }

    /// Replaces the file, see ``write(above:over:_:)``.
    ///
    /// - Returns: What is there now, for a value that is made from this one.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also where the number cannot be raised.
    @discardableResult
    func write(_ value: Value, over read: Found? = nil) throws(ProtectionError) -> Found {
        let written = try write(over: read) { _ in value }
        guard written.isCounted else { throw Self.unraised() }
        return Found(
            contents: .value(value), value: value, generation: written.number.generation, isCounted: true,
            number: written.number, stored: written.number)
    }

    /// Takes a record over that a version before wrote, as it is but for its generation; nothing for any other. The caller lets no
    /// other process write meanwhile.
    func takeOver(_ build: (Value, Int64) -> Value) throws(ProtectionError) {
        let found = try look()
        guard found.isFormer, case .value(let value) = found.contents else { return }
        guard try write(over: found, { build(value, $0) }).isCounted else { throw Self.unraised() }
    }

    /// Counts the record as absent, then removes the file with every copy of it; a missing file is no error.
    func remove() throws(ProtectionError) {
        let name = try counterName
        let number = StateNumber((try? seal.counter.value(of: name)) ?? 0)
        // A record of an earlier version was not counted; it must not come back either.
        let isUncounted = try file.read() != nil && !isShared && number.state == 0
        if !number.isAbsent || isUncounted { try raise(name, to: StateNumber(state: number.state + 1).counted) }
        // What was begun and not counted must not come back either.
        if number.isBegun { try raise(name, to: StateNumber(state: number.state + 2).counted) }
        try file.remove()
    }

    /// A key of this file's own under the device's root key.
    func key(_ use: String) throws(ProtectionError) -> SymmetricKey {
        try seal.key("cordon-\(purpose)-\(use)-1", salt: fileName)
    }

    // MARK: Looking

    private func lookOnce() throws(ProtectionError) -> Found {
        let name = try counterName
        // Of a number that cannot be told nothing follows but doubt.
        let number = try? StateNumber(seal.counter.value(of: name))
        var found = Found(contents: .doubtful(.uncounted), generation: number?.generation ?? 0, number: number)
        found.isCounted = number?.state != 0
        guard let bytes = try file.read() else {
            if let number { found.contents = number.isAbsent ? .absent : .doubtful(.missing) }
            return found
        }
        switch try open(bytes) {
        case .sealed(let record):
            found.value = record.value
            found.stored = record.number
            found.generation = max(record.generation, found.generation)
            // What another app has written counts where this one's counter knows of none, and not where it may have known more.
            guard let number, number.state > 0 || isShared && !seal.hasLostNumbers else { break }
            (found.contents, found.number, found.isDiskFull) = try contents(record, at: number, name)
        case .former(let value):
            found.value = value
            found.isFormer = true
            // Once this device has counted the record, one that was not is older.
            let isFirst = number.map { $0.state == 0 || $0.isBegun && $0.state == 1 } ?? false
            let isOlder =
                !isFirst || (isShared || former == .unsealed ? seal.hasLostNumbers : seal.refusesUncounted)
            found.contents = isOlder ? .doubtful(.older) : .value(value)
        case .newer: found.contents = .newer
        case .damaged: found.contents = .doubtful(.damaged)
        }
        return found
    }

    /// What a record of this form counts for, its number, and whether there was no room for that. The number of one that a killed process
    /// has left is raised.
    private func contents(
        _ record: Counted, at number: StateNumber, _ name: String
    ) throws(ProtectionError) -> (Contents, StateNumber, isDiskFull: Bool) {
        switch record.number.state {
        case ..<number.state:
            return (.doubtful(number.isBegun ? .uncounted : number.isAbsent ? .removed : .older), number, false)
        case number.state:
            // Versions before have marked none.
            let isSame = number.isUnmarked || record.mark == number.mark
            return (isSame ? .value(record.value) : .doubtful(.older), number, false)
        default:
            let isNext = record.after == number.counted || record.after == nil && number.isUnmarked
            guard isNext || isShared else { return (.doubtful(.older), number, false) }
            do {
                guard try claim(name, from: number, to: record.number) else {
                    return (.doubtful(.older), number, false)
                }
                return (.value(record.value), record.number, false)
            } catch {
                // The counter cannot be raised now: the record that has the number counts as much (`Found.isUnraised`).
                return (.value(record.value), number, error.isDiskFull)
            }
        }
    }

    private func open(_ bytes: Data) throws(ProtectionError) -> Opened {
        guard let members = (try? JSONValue(parsing: bytes))?.object else {
            guard case .raw = former, let value = try former.open(bytes, of: self) else { return .damaged }
            return .former(value)
        }
        let version = members["version"]?.integer ?? 1
        if version > StateSeal.version { return .newer }
        guard version == StateSeal.version else {
            guard let reading = try former.read(members, bytes, of: self) else { return .damaged }
            return switch reading {
            case .read(let value): .former(value)
            case .newer: .newer
            case .damaged: .damaged
            }
        }
        let key = try key
        guard let box = FormerSeal.box(in: members),
            let plain = try? AES.GCM.open(box, using: key, authenticating: context),
            let record = try? JSONMembers(JSONValue(parsing: plain)),
            let generation = try? record.number("generation"), (1..<StateNumber.limit).contains(generation),
            let value: Value = try? record.read("value")
        else { return .damaged }
        let mark = (try? record.number("mark")).flatMap { UInt32(exactly: $0) } ?? 0
        return .sealed(Counted(after: try? record.number("after"), generation: generation, mark: mark, value: value))
    }

    /// What a file holds.
    private struct Counted: Encodable {
        /// The number that the counter had before; nil in records of versions before.
        var after: Int64?
        var generation: Int64
        /// Tells the record from others of its generation; 0 in records of versions before.
        var mark: UInt32
        var value: Value

        var number: StateNumber {
            mark == 0 ? StateNumber(2 * generation) : StateNumber(state: 2 * generation, mark: mark)
        }
    }

    private enum Opened {
        case sealed(Counted)
        case former(Value)
        case newer
        case damaged
    }

    private struct Form: Encodable {
        var sealed: String
        var version: Int64
    }

    private var key: SymmetricKey { get throws(ProtectionError) { try seal.key("cordon-state-seal-2") } }
    var counterName: String {
        get throws(ProtectionError) { try seal.counterName(purpose, file.url.lastPathComponent, isShared: isShared) }
    }
    fileprivate var fileName: [UInt8] { Array(file.url.lastPathComponent.utf8) }
    private var context: [UInt8] { Array("\(purpose)/\(file.url.lastPathComponent)".utf8) }

    private func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        do { try seal.counter.raise(name, to: number) } catch { throw Self.unraised(after: error) }
    }

    /// Raises the number for a record of this process's own, or for one that it has read; false where another process was quicker with
    /// another record.
    private func claim(
        _ name: String, from former: StateNumber, to number: StateNumber
    ) throws(ProtectionError) -> Bool {
        do {
            if try seal.counter.raise(name, from: former.counted, to: number.counted) { return true }
            // Who has read the record meanwhile may have raised it.
            return try seal.counter.value(of: name) == number.counted
        } catch { throw Self.unraised(after: error) }
    }

    private static func unraised(after cause: (any Error)? = nil) -> ProtectionError {
        // Counters of an app's own say it as the system does.
        let isDiskFull =
            (cause as? ProtectionError)?.isDiskFull
            ?? (cause as? POSIXError).map { StateFile.isDiskFull($0.code.rawValue) } ?? false
        return ProtectionError(unwritable: "the state counter could not be raised", isDiskFull: isDiskFull)
    }
}

/// Why a record counts for nothing.
enum StateDoubt: String, Sendable {
    /// It was counted and is not there.
    case missing
    /// It is not the one that was written last.
    case older
    /// It was put back after it had been removed.
    case removed
    /// This device did not write it.
    case damaged
    /// The counter knows nothing of it, or cannot be asked: it was lost, or everything was put back.
    case uncounted
}

/// How records were sealed by the versions before, which did not count them.
enum FormerSeal: Sendable {
    /// JSON: plain (versions 1 and 2), or sealed and bound to the file's name (3).
    case json
    /// The bytes of AES-GCM alone, under a key of the file's own.
    case raw
    /// Plain JSON, which could come from anywhere. It is read for ever, and in doubt once this device counts its records.
    case plain
    /// Plain JSON of a record that versions before did not seal: it is taken over as long as this device has counted nothing of that record.
    case unsealed

    fileprivate func open<Value: Codable & JSONReadable>(
        _ bytes: Data, of state: SealedState<Value>
    ) throws(ProtectionError) -> Value? {
        let key = try state.key("seal")
        guard let box = try? AES.GCM.SealedBox(combined: bytes),
            let text = try? AES.GCM.open(
                box, using: key, authenticating: state.fileName)
        else { return nil }
        return try? JSONDecoder().decode(Value.self, from: text)
    }

    /// What a file of version 1, 2 or 3 holds; nil for a plain one where there is none any more.
    fileprivate func read<Value: Codable & JSONReadable>(
        _ members: [String: JSONValue], _ bytes: Data, of state: SealedState<Value>
    ) throws(ProtectionError) -> StateFormat.Reading<Value>? {
        switch self {
        case .raw: return nil
        case .plain, .unsealed: return StateFormat.read(Value.self, from: bytes)
        case .json: break
        }
        guard members["version"]?.integer == StateSeal.uncounted else {
            return state.seal.refusesPlain ? nil : StateFormat.read(Value.self, from: bytes)
        }
        let key = try state.seal.key("cordon-state-seal-1")
        guard let box = Self.box(in: members),
            let plain = try? AES.GCM.open(
                box, using: key, authenticating: state.fileName)
        else { return nil }
        return StateFormat.read(Value.self, from: plain)
    }

    fileprivate static func box(in members: [String: JSONValue]) -> AES.GCM.SealedBox? {
        guard let text = members["sealed"]?.string, let sealed = Base64URL.decode(text) else { return nil }
        return try? AES.GCM.SealedBox(combined: sealed)
    }
}
