import Foundation

@testable import CordonAppTools

/// A code directory in a form that other tools write, or wrote once.
struct DirectoryForm {
    var hash = CodeHash.sha256
    var version: UInt32 = 0x20400
    /// The power of two of a page's size; 0 for one page over all.
    var pagePower: UInt8 = 12
    var flags = CodeDirectory.Flag.adHoc
    var runtime: UInt32 = 0
    var scatter: UInt32 = 0
    /// Content of special slots.
    var special: [Int: Data] = [:]

    func blob(over code: Data) -> Data {
        let sizes: [(UInt32, Int)] = [(0x20500, 96), (0x20400, 88), (0x20300, 64), (0x20200, 52), (0x20100, 48)]
        let size = sizes.first { version >= $0.0 }?.1 ?? 44
        let name = Data("example.form\0".utf8)
        let unit = pagePower == 0 ? max(code.count, 1) : 1 << Int(pagePower)
        let pages = stride(from: 0, to: code.count, by: unit).map { Data(code.dropFirst($0).prefix(unit)) }
        let slots = special.keys.max() ?? 0
        let hashes = size + name.count + slots * hash.size
        var head = Data()
        for number in [
            version, flags, UInt32(hashes), UInt32(size), UInt32(slots), UInt32(pages.count), UInt32(code.count),
        ] { head += number.bigBytes }
        head += Data([UInt8(hash.size), hash.rawValue, 0, pagePower]) + Data(count: 4) + scatter.bigBytes
        head += Data(count: 40) + runtime.bigBytes + Data(count: 8)
        var body = Data()
        for slot in stride(from: slots, to: 0, by: -1) {
            body += special[slot].map { hash.hash($0) } ?? Data(count: hash.size)
        }
        for page in pages { body += hash.hash(page) }
        return SuperBlob.blob(SuperBlob.Magic.codeDirectory, Data(head.prefix(size - 8)) + name + body)
    }
}

/// A thin image whose signature a test lays out itself.
struct SignatureForm {
    private struct Room: SigningIdentity {
        let team: String? = nil

        func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data { Data() }

        func designatedRequirement(of identifier: String) -> Data? { nil }
    }

    static let requirements = SuperBlob.blob(SuperBlob.Magic.requirements, UInt32(0).bigBytes)

    var directories = [DirectoryForm()]
    var blobs: [(slot: UInt32, data: Data)] = []

    /// The image with this signature, with room behind it as for a certificate's.
    func applied(to data: Data) throws -> Data {
        let content = ImageSigner.Content(identifier: "example.form")
        let roomy = try ImageSigner(image: MachOImage(data), content: content, identity: Room()).signed()
            .reduce(Data(), +)
        guard let area = try MachOImage(roomy).signature else { throw AppToolsError(.malformed, "there is no room") }
        let code = Data(roomy.prefix(area.lowerBound))
        var all: [(slot: UInt32, data: Data)] = []
        for (index, form) in directories.enumerated() {
            let slot =
                index == 0 ? SuperBlob.Slot.codeDirectory : SuperBlob.Slot.alternates.lowerBound + UInt32(index) - 1
            var form = form
            form.special[2] = Self.requirements
            all.append((slot, form.blob(over: code)))
        }
        all += [(SuperBlob.Slot.requirements, Self.requirements)] + blobs
        all.append((SuperBlob.Slot.cms, SuperBlob.blob(SuperBlob.Magic.cms, Data())))
        let signature = SuperBlob(all.sorted { $0.slot < $1.slot }).data
        return code + signature + Data(count: area.count - signature.count)
    }
}
