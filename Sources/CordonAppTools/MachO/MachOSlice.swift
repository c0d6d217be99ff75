import Foundation

/// One processor's part of a file: an image or a static archive.
public struct MachOSlice: Sendable {
    enum Content: Sendable {
        case image(MachOImage)
        /// An archive of objects, with the platform of its first Mach-O member (TL-TH-07).
        case archive(MachOPlatform?)
    }

    /// The processor.
    public let cpu: CPUType
    let rawSubtype: UInt32
    let offset: Int
    let alignment: UInt32
    let data: Data
    let content: Content

    init(
        cpu: CPUType, rawSubtype: UInt32, offset: Int, alignment: UInt32, data: Data
    ) throws(AppToolsError) {
        self.cpu = cpu
        self.rawSubtype = rawSubtype
        self.offset = offset
        self.alignment = alignment
        self.data = data
        content = try Self.content(data)
        if case .image(let image) = content, image.cpu != cpu {
            throw AppToolsError(.malformed, "the slice holds \(image.cpu) code", at: "offset \(offset)")
        }
    }

    init(thin data: Data) throws(AppToolsError) {
        content = try Self.content(data)
        switch content {
        case .image(let image): cpu = image.cpu
        case .archive:
            guard let image = StaticArchive.firstImage(data) else {
                throw AppToolsError(.unsupported, "an archive without Mach-O members")
            }
            cpu = image.cpu
        }
        rawSubtype = cpu.subtype
        offset = 0
        alignment = cpu.alignment
        self.data = data
    }

    private static func content(_ data: Data) throws(AppToolsError) -> Content {
        if StaticArchive.isArchive(data) { return .archive(StaticArchive.firstImage(data)?.platform) }
        return .image(try MachOImage(data))
    }

    /// The image, unless this is an archive.
    var image: MachOImage? { if case .image(let image) = content { image } else { nil } }

    /// Where the code runs; nil when the file does not say.
    public var platform: MachOPlatform? {
        switch content {
        case .image(let image): image.platform
        case .archive(let platform): platform
        }
    }
}
