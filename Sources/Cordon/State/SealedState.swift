internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// A small state file that only this device can read, that cannot be changed unseen, and whose number is known outside the folder:
/// one that is gone, or older than what was written last, is recognised.
///
/// A file is `{"sealed":"…","version":4}`: AES-GCM over `{"generation":…,"value":{…}}`, bound to the purpose and the file's name. The
/// counter holds twice the generation of what is there, and one more where nothing is there any more, or not yet. A record is written
/// before its number is raised, and removed after; so whatever instant the process dies at, what is there is never taken for older. Who
/// reads asks for the number first: then a record that is written meanwhile is not taken for older either.
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
        /// Whether the counter knows of it, be it only that it is gone; also where it cannot be asked what it knows of a damaged one.
        var isCounted = false
    }

    private enum Opened {
        case sealed(generation: Int64, Value)
        case former(Value)
        case newer
        case damaged
    }
}

// The type itself asks nothing of the value: the runtime would look through every conformance of the program when it first meets it.
extension SealedState where Value: Codable & JSONReadable {
    /// Counts a missing record as absent, where earlier versions have counted nothing.
    func noteAbsence() throws(ProtectionError) {
        let found = try look()
        if case .absent = found.contents, !found.isCounted { try raise(try counterName, to: 1) }
    }

    /// Reads the file.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func read() throws(ProtectionError) -> Contents { try look().contents }

    /// Reads the file with what is known of it.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func look() throws(ProtectionError) -> Found {
        let found = try lookOnce()
        // Another process may have removed it between the two looks, or sealed it.
        if case .doubtful = found.contents { return try lookOnce() }
        return found
    }

    /// Replaces the file; when this returns the value survives a crash, and what was before it is recognised as older.
    ///
    /// The caller lets no other process write meanwhile.
    ///
    /// - Parameters:
    ///   - floor: What the record's generation is to be above, besides all that is known.
    ///   - build: The value, given its generation.
    /// - Returns: What was written, and whether its number could be raised.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func write(
        above floor: Int64 = 0, _ build: (Int64) -> Value
    ) throws(ProtectionError) -> (value: Value, isCounted: Bool) {
        let name = try counterName
        let counted = try? seal.counter.value(of: name)
        let known = max((try? look())?.generation ?? 0, floor, (counted ?? 0) / 2)
        guard (0..<Self.limit).contains(known) else {
            throw ProtectionError(.stateUnwritable, "\(purpose) was counted beyond all bounds")
        }
        let generation = known + 1
        let value = build(generation)
        guard let plain = try? MessageCoding.encode(Counted(generation: generation, value: value)),
            let box = try? AES.GCM.seal(plain, using: try key, authenticating: context).combined,
            let bytes = try? MessageCoding.encode(Form(sealed: Base64URL.encode(box), version: StateSeal.version))
        else { throw ProtectionError(.stateUnwritable, "\(purpose) has no stored form") }
        // A counter that knows nothing of a record that is there was lost; so it has to know of the first one before.
        if let counted, counted % 2 == 1 || counted == 0 { try? raise(name, to: 2 * generation - 1) }
        try file.write(bytes)
        do { try raise(name, to: 2 * generation) } catch { return (value, false) }
        seal.noteSealed()
        return (value, true)
    }

    /// Replaces the file, see ``write(above:_:)``.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also where the number cannot be raised.
    func write(_ value: Value) throws(ProtectionError) {
        guard try write({ _ in value }).isCounted else {
            throw ProtectionError(.stateUnwritable, "the state counter could not be raised")
        }
    }

    /// Takes a record over that a version before wrote, as it is but for its generation; nothing for any other. The caller lets no
    /// other process write meanwhile.
    func takeOver(_ build: (Value, Int64) -> Value) throws(ProtectionError) {
        let found = try look()
        guard found.isFormer, case .value(let value) = found.contents else { return }
        guard try write({ build(value, $0) }).isCounted else {
            throw ProtectionError(.stateUnwritable, "the state counter could not be raised")
        }
    }

    /// Counts the record as absent, then removes the file with every copy of it; a missing file is no error.
    func remove() throws(ProtectionError) {
        let name = try counterName
        let counted = (try? seal.counter.value(of: name)) ?? 0
        // A record of an earlier version was not counted; it must not come back either.
        let isUncounted = try file.read() != nil && !isShared && counted == 0
        if counted > 0 && counted % 2 == 0 || isUncounted { try raise(name, to: counted + 1) }
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
        let counted = try? seal.counter.value(of: name)
        guard let bytes = try file.read() else {
            guard let counted else { return Found(contents: .doubtful(.uncounted)) }
            let isAbsent = counted == 0 || counted % 2 == 1
            return Found(
                contents: isAbsent ? .absent : .doubtful(.missing), generation: counted / 2, isCounted: counted > 0)
        }
        let least = (counted ?? 0) / 2
        switch try open(bytes) {
        case .sealed(let stored, let value):
            let generation = max(stored, least)
            guard let counted, counted > 0 || isShared else {
                return Found(contents: .doubtful(.uncounted), value: value, generation: generation)
            }
            var contents = Contents.value(value)
            if stored < counted - stored { contents = .doubtful(counted % 2 == 1 ? .removed : .older) }
            return Found(contents: contents, value: value, generation: generation, isCounted: counted > 0)
        case .former(let value):
            // Once this device has counted the record, one that was not is older.
            guard counted == 0, isShared || former == .unsealed || !seal.refusesUncounted else {
                return Found(contents: .doubtful(.older), value: value, generation: least, isFormer: true)
            }
            return Found(contents: .value(value), value: value, isFormer: true)
        case .newer: return Found(contents: .newer, generation: least)
        case .damaged: return Found(contents: .doubtful(.damaged), generation: least, isCounted: counted != 0)
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
            let generation = try? record.number("generation"), (1...Self.limit).contains(generation),
            let value: Value = try? record.read("value")
        else { return .damaged }
        return .sealed(generation: generation, value)
    }

    private struct Form: Encodable {
        var sealed: String
        var version: Int64
    }

    private struct Counted: Encodable {
        var generation: Int64
        var value: Value
    }

    private static var limit: Int64 { 1 << 60 }

    private var key: SymmetricKey { get throws(ProtectionError) { try seal.key("cordon-state-seal-2") } }
    var counterName: String {
        get throws(ProtectionError) { try seal.counterName(purpose, file.url.lastPathComponent, isShared: isShared) }
    }
    fileprivate var fileName: [UInt8] { Array(file.url.lastPathComponent.utf8) }
    private var context: [UInt8] { Array("\(purpose)/\(file.url.lastPathComponent)".utf8) }

    private func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        do { try seal.counter.raise(name, to: number) } catch {
            throw ProtectionError(.stateUnwritable, "the state counter could not be raised")
        }
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
