import Foundation

/// Static archives inside frameworks: enough is read to learn the platform.
enum StaticArchive {
    static func isArchive(_ data: Data) -> Bool { data.starts(with: Data("!<arch>\n".utf8)) }

    /// The first member that is a Mach-O image.
    static func firstImage(_ data: Data) -> MachOImage? {
        let reader = ByteReader(data)
        var offset = 8
        // Each member has a 60-byte head: name 16, numbers, size as text at 48.
        while let head = try? reader.data(at: offset, count: 60), head.suffix(2) == Data("`\n".utf8) {
            let sizeText = String(decoding: head.dropFirst(48).prefix(10), as: UTF8.self)
            guard let size = Int(sizeText.trimmingCharacters(in: .whitespaces)), size >= 0 else { return nil }
            let name = String(decoding: head.prefix(16), as: UTF8.self)
            // BSD archives put long names in front of the content.
            let nameSize = name.hasPrefix("#1/") ? Int(name.dropFirst(3).trimmingCharacters(in: .whitespaces)) ?? 0 : 0
            guard nameSize >= 0, nameSize <= size, let member = try? reader.data(at: offset + 60, count: size)
            else { return nil }
            if let image = try? MachOImage(Data(member.dropFirst(nameSize))) { return image }
            offset += 60 + size + size % 2
        }
        return nil
    }
}
