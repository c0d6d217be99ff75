import Foundation

/// What the loader demands of an image, checked after every install and by verify (TL-FP-30).
enum ImageInvariants {
    private static let readOnlyAfterFixups: UInt32 = 0x10
    /// SDK 18.4, from which on the loader may demand read-only constant data (TL-MO-20).
    private static let strictSDK: UInt32 = 0x0012_0400

    /// SDK 26, from which on the loader rejects duplicates (TL-MO-20).
    private static let uniqueSDK: UInt32 = 0x001A_0000

    static func violations(_ image: MachOImage) -> [String] {
        var found: [String] = []
        if image.headerSize + image.commandsSize > image.firstContent, !image.isBitcodeOnly {
            found.append("load commands reach into the first section")
        }
        if image.sdkVersion ?? 0 >= uniqueSDK { found += repetitions(image) }
        found += duplicates(image.segments.map(\.name)).map { "segment \($0) exists twice" }
        if image.uuidCount > 1 { found.append("more than one UUID") }
        if image.uuidCount == 0, image.fileType == 2, image.sdkVersion ?? 0 >= uniqueSDK {
            found.append("no UUID, which the loader wants of an executable")
        }
        if let constants = image.segment("__DATA_CONST"), constants.flags & readOnlyAfterFixups == 0,
            image.sdkVersion ?? 0 >= strictSDK
        {
            found.append("__DATA_CONST is not read-only, the loader rejects that")
        }
        if let linkEdit = image.segment("__LINKEDIT"), linkEdit.fileOffset + linkEdit.fileSize != image.reader.count {
            found.append("__LINKEDIT does not reach the end of the image")
        }
        if let signature = image.signature, signature.lowerBound % 16 != 0 {
            found.append("the signature is not aligned to 16 bytes")
        }
        return found
    }

    /// What the loader accepts of images that were built with an older SDK.
    static func tolerated(_ image: MachOImage) -> [String] {
        image.sdkVersion ?? 0 >= uniqueSDK ? [] : repetitions(image)
    }

    private static func repetitions(_ image: MachOImage) -> [String] {
        duplicates(image.libraries.map(\.path)).map { "library \($0) is loaded twice" }
            + duplicates(image.rpaths).map { "search path \($0) is listed twice" }
    }

    private static func duplicates(_ names: [String]) -> [String] {
        Dictionary(grouping: names, by: \.self).filter { $1.count > 1 }.keys.sorted()
    }
}
