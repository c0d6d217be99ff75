/// What a file is called, as its header seals it.
enum SealedName: Equatable {
    /// Nothing: a file at a path of the app's own.
    case none
    /// A file of a ``SealedFolder``, under this name.
    case file(String)
    /// The directory of a ``SealedFolder``.
    case directory
}

/// What a header of version 2 says of its file and shows only to a holder of the account's key. 2,048 bytes:
///
///     0     4     features a reader has to know; none so far
///     4     1     0 no name, 1 a name, 2 a folder's directory
///     5     1     0
///     6     2     length n of the name, 0 to 1,024
///     8     1024  name, UTF-8 in NFC, zeros after it
///     1032  1016  room: written as zeros, ignored by a reader
struct SealedFacts: Equatable {
    static let size = 2048
    static let longestName = 1024
    private static let nameOffset = 8

    var name: SealedName

    init(name: SealedName) { self.name = name }

    /// Reads what a header held sealed.
    ///
    /// - Throws: `unsupportedFormat` for a feature this version does not know, `damaged` for what is not well formed.
    init(_ memory: RawMemory) throws(VaultError) {
        guard memory.load(0, as: UInt32.self) == 0 else {
            throw VaultError(.unsupportedFormat, "The file needs a feature that this version does not know.")
        }
        let length = Int(memory.load(6, as: UInt16.self))
        let kind = memory.load(4, as: UInt8.self)
        guard memory.load(5, as: UInt8.self) == 0, length <= (kind == 1 ? Self.longestName : 0),
            memory.isZero(from: Self.nameOffset + length, to: Self.nameOffset + Self.longestName),
            let text = String(validating: memory.array(Self.nameOffset, length), as: UTF8.self)
        else { throw Self.malformed }
        switch kind {
        case 0: name = .none
        case 1: name = .file(text)
        case 2: name = .directory
        default: throw Self.malformed
        }
    }

    /// The facts as a header seals them.
    ///
    /// - Throws: `invalidArgument` for a name that is too long.
    func bytes() throws(VaultError) -> [UInt8] {
        let memory = RawMemory(Self.size)
        switch name {
        case .none: break
        case .file(let text):
            let bytes = Array(text.utf8)
            guard bytes.count <= Self.longestName else {
                throw VaultError(.invalidArgument, "A name has at most \(Self.longestName) bytes.")
            }
            memory.store(UInt8(1), at: 4)
            memory.store(UInt16(bytes.count), at: 6)
            memory.store(bytes, at: Self.nameOffset)
        case .directory: memory.store(UInt8(2), at: 4)
        }
        return memory.array(0, Self.size)
    }

    private static var malformed: VaultError { VaultError(.damaged, "The header's sealed part is not well formed.") }
}
