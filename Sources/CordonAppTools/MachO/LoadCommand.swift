/// One load command: its kind and its place counted from the image's first byte.
struct LoadCommand {
    let kind: UInt32
    let offset: Int
    let size: Int

    static let segment: UInt32 = 0x1
    static let symbolTable: UInt32 = 0x2
    static let dynamicSymbolTable: UInt32 = 0xB
    static let loadDylib: UInt32 = 0xC
    static let idDylib: UInt32 = 0xD
    static let segment64: UInt32 = 0x19
    static let uuid: UInt32 = 0x1B
    static let rpath: UInt32 = 0x8000_001C
    static let codeSignature: UInt32 = 0x1D
    static let encryptionInfo: UInt32 = 0x21
    static let encryptionInfo64: UInt32 = 0x2C
    static let dataInCode: UInt32 = 0x29
    static let sourceVersion: UInt32 = 0x2A
    static let versionMinimumIPhone: UInt32 = 0x25
    static let buildVersion: UInt32 = 0x32

    /// The kinds that count as libraries, in the order of ordinals (TL-MO-08).
    static let libraries: Set<UInt32> = [0xC, 0x8000_0018, 0x8000_001F, 0x8000_0023, 0x20]
    /// Commands that hold an offset and a size in the link-edit segment.
    static let linkEditData: Set<UInt32> = [0x1D, 0x1E, 0x26, 0x29, 0x2B, 0x2E, 0x8000_0033, 0x8000_0034]
    /// The older version commands of macOS, tvOS and watchOS with their platform numbers.
    static let minimumVersions: [UInt32: UInt32] = [0x24: 1, 0x2F: 3, 0x30: 4]
}
