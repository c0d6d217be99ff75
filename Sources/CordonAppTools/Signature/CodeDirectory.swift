import Foundation

/// The directory of hashes that a signature covers (TL-MO-26).
struct CodeDirectory {
    enum Flag {
        static let adHoc: UInt32 = 2
        /// What a program asks for itself and keeps when it is signed again: hard, kill, expires, restrict, enforcement,
        /// library validation, hardened runtime.
        static let asked: UInt32 = 0x13F00
        static let linkerSigned: UInt32 = 0x20000
    }

    let blob: Data
    let version: UInt32
    let flags: UInt32
    let hash: CodeHash
    let identifier: String
    let team: String?
    /// Whether it says that the system's vendor signed the code as a part of the system.
    let isOfPlatform: Bool
    let codeLimit: Int
    /// Bytes of a page; nil when all code is one page.
    let pageSize: Int?
    let executableFlags: UInt64
    /// The version of the hardened runtime; 0 for none.
    let runtime: UInt32
    let pageCount: Int
    let specialCount: Int
    private let hashOffset: Int

    init(_ blob: Data) throws(AppToolsError) {
        let reader = ByteReader(blob)
        self.blob = blob
        guard try reader.big32(at: 0) == SuperBlob.Magic.codeDirectory else {
            throw reader.failure("not a code directory", at: 0)
        }
        version = try reader.big32(at: 8)
        guard (0x20001..<0x30000).contains(version) else {
            throw reader.failure("code directory of an unknown version", at: 8)
        }
        flags = try reader.big32(at: 12)
        hashOffset = Int(try reader.big32(at: 16))
        specialCount = Int(try reader.big32(at: 24))
        pageCount = Int(try reader.big32(at: 28))
        guard let hash = CodeHash(rawValue: try reader.byte(at: 37)), Int(try reader.byte(at: 36)) == hash.size else {
            throw reader.failure("unknown hash function", at: 37)
        }
        self.hash = hash
        isOfPlatform = try reader.byte(at: 38) != 0
        let pagePower = try reader.byte(at: 39)
        guard pagePower <= 24 else { throw reader.failure("page size out of range", at: 39) }
        pageSize = pagePower == 0 ? nil : 1 << Int(pagePower)
        let long = version >= 0x20300 ? try reader.big64(at: 56) : 0
        codeLimit = long == 0 ? Int(try reader.big32(at: 32)) : Int(clamping: long)
        executableFlags = version >= 0x20400 ? try reader.big64(at: 80) : 0
        runtime = version >= 0x20500 ? try reader.big32(at: 88) : 0
        let scatter = version >= 0x20100 ? try reader.big32(at: 44) : 0
        guard scatter == 0 else { throw reader.failure("scattered code", at: 44) }
        identifier = try Self.text(reader, Int(try reader.big32(at: 20)))
        let teamOffset = version >= 0x20200 ? Int(try reader.big32(at: 48)) : 0
        team = teamOffset == 0 ? nil : try Self.text(reader, teamOffset)
        guard hashOffset <= blob.count, specialCount <= 64, specialCount * hash.size <= hashOffset,
            pageCount <= (blob.count - hashOffset) / hash.size
        else { throw reader.failure("hashes lie outside the code directory", at: 16) }
    }

    private static func text(_ reader: ByteReader, _ offset: Int) throws(AppToolsError) -> String {
        guard offset >= 44, offset < reader.count else { throw reader.failure("text out of range", at: 20) }
        return try reader.field(at: offset, count: reader.count - offset)
    }

    /// The hash of a page, from 0.
    func pageHash(_ index: Int) -> Data {
        blob.dropFirst(hashOffset + index * hash.size).prefix(hash.size)
    }

    /// The hash of a special slot, from 1; nil when the directory has none or a zero one.
    func specialHash(_ slot: Int) -> Data? {
        guard slot <= specialCount else { return nil }
        let value = blob.dropFirst(hashOffset - slot * hash.size).prefix(hash.size)
        return value.allSatisfy { $0 == 0 } ? nil : Data(value)
    }

    /// The first 20 bytes of the directory's own hash, by which systems name signed code.
    var codeHash: Data { hash.hash(blob).prefix(20) }
}

/// What a new code directory says.
struct CodeDirectoryPlan {
    let identifier: String
    let team: String?
    let flags: UInt32
    let executableLimit: UInt64
    let executableFlags: UInt64
    let runtime: UInt32
    /// Content of special slots by number.
    let special: [Int: Data]

    static let pageSize = 4096
    private var headSize: Int { runtime == 0 ? 88 : 96 }

    /// The size of the finished directory.
    func size(_ hash: CodeHash, codeLimit: Int) -> Int {
        let names = identifier.utf8.count + 1 + (team.map { $0.utf8.count + 1 } ?? 0)
        let pages = (codeLimit + Self.pageSize - 1) / Self.pageSize
        return headSize + names + ((special.keys.max() ?? 0) + pages) * hash.size
    }

    /// The directory over code given in pieces.
    func blob(_ hash: CodeHash, code: CodePages) -> Data {
        let names = Data(identifier.utf8) + Data([0]) + (team.map { Data($0.utf8) + Data([0]) } ?? Data())
        let specialCount = special.keys.max() ?? 0
        let hashOffset = headSize + names.count + specialCount * hash.size
        let teamOffset = team == nil ? 0 : headSize + identifier.utf8.count + 1
        var head = Data()
        for number: UInt32 in [
            runtime == 0 ? 0x20400 : 0x20500, flags, UInt32(hashOffset), UInt32(headSize), UInt32(specialCount),
            UInt32(code.count),
            UInt32(clamping: code.size),
        ] {
            head += number.bigBytes
        }
        head += Data([UInt8(hash.size), hash.rawValue, 0, 12]) + Data(count: 4) + Data(count: 4)
        head += UInt32(teamOffset).bigBytes + Data(count: 4)
        head += UInt64(code.size > Int(UInt32.max) ? code.size : 0).bigBytes
        head += UInt64(0).bigBytes + executableLimit.bigBytes + executableFlags.bigBytes
        if runtime != 0 { head += runtime.bigBytes + Data(count: 4) }
        var hashes = Data()
        for slot in stride(from: specialCount, to: 0, by: -1) {
            hashes += special[slot].map { hash.hash($0) } ?? Data(count: hash.size)
        }
        code.forEach { hashes += hash.hash($0) }
        return SuperBlob.blob(SuperBlob.Magic.codeDirectory, head + names + hashes)
    }
}

/// Code cut into pages without copying what lies in one piece.
struct CodePages {
    let head: Data
    let rest: Data
    let size: Int

    var count: Int { (size + CodeDirectoryPlan.pageSize - 1) / CodeDirectoryPlan.pageSize }

    func forEach(_ body: (Data) -> Void) {
        let unit = CodeDirectoryPlan.pageSize
        for start in stride(from: 0, to: size, by: unit) {
            let end = min(start + unit, size)
            let first = head.dropFirst(start).prefix(max(0, end - start))
            let missing = end - start - first.count
            let second = missing == 0 ? Data() : rest.dropFirst(max(0, start - head.count)).prefix(missing)
            let zeros = Data(count: missing - second.count)
            body(first.isEmpty && zeros.isEmpty ? second : first + second + zeros)
        }
    }
}
