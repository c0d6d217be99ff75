import Foundation

/// One Mach-O image, read and range-checked in full before any of it is used (TL-GN-08, TL-MO).
struct MachOImage {
    struct Section {
        let name: String
        let segment: String
        let fileOffset: Int
        let size: UInt64
        /// Occupies no bytes of the file.
        let isZeroFill: Bool
    }

    struct Segment {
        let name: String
        let command: LoadCommand
        let address: UInt64
        let memorySize: UInt64
        let fileOffset: Int
        let fileSize: Int
        let flags: UInt32
        let sections: [Section]
    }

    struct Library: Equatable {
        let path: String
        let command: LoadCommand

        static func == (left: Self, right: Self) -> Bool {
            left.path == right.path && left.command.kind == right.command.kind
        }
    }

    static let largestCommands = 1 << 20
    /// Large apps have some hundred; what is done with commands compares them with one another.
    private static let mostCommands = 4096

    let reader: ByteReader
    let cpu: CPUType
    let is64Bit: Bool
    /// 2 executable, 6 dynamic library, 8 bundle, 10 debug symbols.
    let fileType: UInt32
    let commands: [LoadCommand]
    let commandsSize: Int
    private(set) var segments: [Segment] = []
    private(set) var libraries: [Library] = []
    private(set) var rpaths: [String] = []
    private(set) var identifier: String?
    private(set) var platform: MachOPlatform?
    private(set) var minimumVersion: UInt32?
    private(set) var sdkVersion: UInt32?
    private(set) var uuidCount = 0
    private(set) var isEncrypted = false
    /// The blob area of the code signature, counted from the image's first byte.
    private(set) var signature: Range<Int>?
    private(set) var signatureCommand: LoadCommand?

    var headerSize: Int { is64Bit ? 32 : 28 }
    /// Whether this is a dSYM's file: never loaded, patched or signed.
    var isSymbolFile: Bool { fileType == 10 }
    /// Whether this is what a compiler writes for a linker.
    var isRelocatable: Bool { fileType == 1 }
    var data: Data { reader.data }

    static func isImage(_ data: Data) -> Bool {
        let magic = [UInt8](data.prefix(4))
        return magic == [0xCF, 0xFA, 0xED, 0xFE] || magic == [0xCE, 0xFA, 0xED, 0xFE]
    }

    /// - Parameter size: The whole length when `data` is only the header and load commands.
    init(_ data: Data, size: Int? = nil) throws(AppToolsError) {
        reader = ByteReader(data, count: size)
        guard Self.isImage(data) else { throw reader.failure("not a Mach-O image", at: 0) }
        is64Bit = data.first == 0xCF
        cpu = CPUType(type: try reader.little32(at: 4), subtype: try reader.little32(at: 8))
        fileType = try reader.little32(at: 12)
        let count = Int(try reader.little32(at: 16))
        commandsSize = Int(try reader.little32(at: 20))
        commands = try Self.commands(reader, header: is64Bit ? 32 : 28, count: count, size: commandsSize)
        for command in commands { try read(command) }
    }

    private static func commands(
        _ reader: ByteReader, header: Int, count: Int, size: Int
    ) throws(AppToolsError) -> [LoadCommand] {
        guard count <= mostCommands else {
            throw reader.failure("\(count) load commands, more than \(mostCommands)", at: 16)
        }
        guard size <= largestCommands, size <= reader.count - header, count <= size / 8 else {
            throw reader.failure("load commands do not fit the file", at: 16)
        }
        let alignment = header == 32 ? 8 : 4
        var commands: [LoadCommand] = []
        var offset = header
        for _ in 0..<count {
            guard offset + 8 <= header + size else { throw reader.failure("load commands are cut off", at: offset) }
            let length = Int(try reader.little32(at: offset + 4))
            guard length >= 8, length % alignment == 0, length <= header + size - offset else {
                throw reader.failure("load command of \(length) bytes", at: offset)
            }
            commands.append(LoadCommand(kind: try reader.little32(at: offset), offset: offset, size: length))
            offset += length
        }
        guard offset == header + size else { throw reader.failure("load commands and their size disagree", at: 20) }
        return commands
    }

    private mutating func read(_ command: LoadCommand) throws(AppToolsError) {
        switch command.kind {
        case LoadCommand.segment, LoadCommand.segment64:
            guard (command.kind == LoadCommand.segment64) == is64Bit else {
                throw reader.failure("segment of the wrong width", at: command.offset)
            }
            let segment = MachOSegmentReader(
                reader: reader, command: command, is64Bit: is64Bit, isSymbolFile: isSymbolFile)
            segments.append(try segment.segment())
        case _ where LoadCommand.libraries.contains(command.kind):
            libraries.append(Library(path: try path(command, minimum: 24), command: command))
        case LoadCommand.idDylib: identifier = try path(command, minimum: 24)
        case LoadCommand.rpath: rpaths.append(try path(command, minimum: 12))
        case LoadCommand.uuid: uuidCount += 1
        case LoadCommand.buildVersion:
            try require(command, 24)
            platform = MachOPlatform(number: try reader.little32(at: command.offset + 8))
            minimumVersion = try reader.little32(at: command.offset + 12)
            sdkVersion = try reader.little32(at: command.offset + 16)
        case LoadCommand.versionMinimumIPhone:
            try require(command, 16)
            // Before build versions, x86 code for this system was always simulator code.
            platform = platform ?? (cpu.type & 0xFF == 7 ? .iOSSimulator : .iOS)
            if minimumVersion == nil { minimumVersion = try reader.little32(at: command.offset + 8) }
            if sdkVersion == nil { sdkVersion = try reader.little32(at: command.offset + 12) }
        case LoadCommand.encryptionInfo, LoadCommand.encryptionInfo64:
            try require(command, 20)
            if try reader.little32(at: command.offset + 16) != 0 { isEncrypted = true }
        case LoadCommand.symbolTable:
            try require(command, 24)
            try checkTable(command, offsetAt: 8, countAt: 12, width: is64Bit ? 16 : 12)
            try checkTable(command, offsetAt: 16, countAt: 20, width: 1)
        case _ where LoadCommand.linkEditData.contains(command.kind): try readLinkEdit(command)
        default:
            if let number = LoadCommand.minimumVersions[command.kind] {
                platform = platform ?? MachOPlatform(number: number)
            }
        }
    }

    private mutating func readLinkEdit(_ command: LoadCommand) throws(AppToolsError) {
        try require(command, 16)
        try checkTable(command, offsetAt: 8, countAt: 12, width: 1)
        guard command.kind == LoadCommand.codeSignature else { return }
        guard signature == nil else { throw reader.failure("two code signatures", at: command.offset) }
        let offset = Int(try reader.little32(at: command.offset + 8))
        signature = offset..<offset + Int(try reader.little32(at: command.offset + 12))
        signatureCommand = command
    }

    private func checkTable(
        _ command: LoadCommand, offsetAt: Int, countAt: Int, width: Int
    ) throws(AppToolsError) {
        let offset = Int(try reader.little32(at: command.offset + offsetAt))
        let size = Int(try reader.little32(at: command.offset + countAt)) * width
        guard size == 0 || (offset <= reader.count && size <= reader.count - offset) else {
            throw reader.failure("a table lies outside the file", at: command.offset)
        }
    }

    private func require(_ command: LoadCommand, _ size: Int) throws(AppToolsError) {
        guard command.size >= size else { throw reader.failure("load command too short", at: command.offset) }
    }

    private func path(_ command: LoadCommand, minimum: Int) throws(AppToolsError) -> String {
        try require(command, minimum)
        let start = Int(try reader.little32(at: command.offset + 8))
        guard start >= minimum, start < command.size else {
            throw reader.failure("a path lies outside its load command", at: command.offset)
        }
        return try reader.field(at: command.offset + start, count: command.size - start)
    }
}

extension MachOImage {
    /// File offset of the first section with content: where room for load commands ends (TL-MO-05).
    var firstContent: Int {
        let offsets = segments.flatMap(\.sections).filter { !$0.isZeroFill && $0.size > 0 && $0.fileOffset > 0 }
        let end = segments.first { $0.name == "__TEXT" }.map { min($0.fileSize, Int(clamping: $0.memorySize)) }
        return min(offsets.map(\.fileOffset).min() ?? reader.count, end ?? reader.count, reader.count)
    }

    /// Bytes free between the load commands and the first content.
    var padding: Int { max(0, firstContent - headerSize - commandsSize) }

    /// Whether compiling was left to the store: there is bitcode, and the code segment is empty.
    var isBitcodeOnly: Bool {
        segment("__LLVM") != nil && segment("__TEXT").map { $0.sections.allSatisfy { $0.size == 0 } } ?? true
    }

    /// Bytes that follow the signature; none where there is no signature.
    var bytesBehindSignature: Int { signature.map { max(0, reader.count - $0.upperBound) } ?? 0 }

    func segment(_ name: String) -> Segment? { segments.first { $0.name == name } }
}
