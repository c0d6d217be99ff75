import Foundation

/// Reads PNG images of 8 bits a channel, and the CgBI form that Xcode makes of them (TL-IC-03).
enum PNGReader {
    private static let largestSide = 4096
    private static let signature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

    private struct Header {
        var width = 0
        var height = 0
        var channels = 0
        var isIndexed = false
        var isOptimized = false
        var palette: [UInt8] = []
        var paletteAlpha: [UInt8] = []
        var packed: [UInt8] = []
    }

    static func read(_ data: Data) throws(AppToolsError) -> Bitmap {
        let header = try chunks(data)
        let stride = header.width * header.channels
        let start = header.isOptimized ? 0 : 2
        guard header.packed.count > start else { throw failure("has no image data") }
        let raw = try Inflate.unpack(Array(header.packed[start...]), limit: (stride + 1) * header.height)
        guard raw.count == (stride + 1) * header.height else { throw failure("has too little image data") }
        let samples = try unfiltered(raw, header, stride)
        return bitmap(samples, header)
    }

    /// The width that an image states; nothing of it is unpacked.
    static func width(of data: Data) throws(AppToolsError) -> Int { try chunks(data, upTo: "IHDR").width }

    private static func failure(_ reason: String) -> AppToolsError { AppToolsError(.malformed, "the image \(reason)") }

    private static func chunks(_ data: Data, upTo last: String = "IEND") throws(AppToolsError) -> Header {
        let reader = ByteReader(data)
        guard data.starts(with: signature) else { throw failure("is not a PNG") }
        var header = Header()
        var offset = 8
        while offset + 12 <= data.count {
            let length = Int(try reader.big32(at: offset))
            let name = try reader.text(at: offset + 4, count: 4)
            let body = try reader.data(at: offset + 8, count: length)
            switch name {
            case "CgBI": header.isOptimized = true
            case "IHDR": try read(ByteReader(body), into: &header)
            case "PLTE": header.palette = Array(body)
            case "tRNS": header.paletteAlpha = Array(body)
            case "IDAT": header.packed += body
            default: break
            }
            offset = name == last ? data.count : offset + 12 + length
        }
        guard header.channels > 0 else { throw failure("has no header") }
        guard !header.isOptimized || header.channels == 4 else { throw failure("is CgBI without alpha") }
        return header
    }

    private static func read(_ body: ByteReader, into header: inout Header) throws(AppToolsError) {
        header.width = Int(try body.big32(at: 0))
        header.height = Int(try body.big32(at: 4))
        guard (1...largestSide).contains(header.width), (1...largestSide).contains(header.height) else {
            throw failure("is larger than \(largestSide) pixels or empty")
        }
        let kind = try body.byte(at: 9)
        guard try body.byte(at: 8) == 8, try body.byte(at: 12) == 0,
            let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kind]
        else {
            throw AppToolsError(.unsupported, "only PNG of 8 bits a channel, not interlaced, is read")
        }
        header.channels = channels
        header.isIndexed = kind == 3
    }

    private static func unfiltered(_ raw: [UInt8], _ header: Header, _ stride: Int) throws(AppToolsError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: stride * header.height)
        let step = header.channels
        for row in 0..<header.height {
            let source = row * (stride + 1)
            let target = row * stride
            let filter = raw[source]
            guard filter < 5 else { throw failure("uses an unknown filter") }
            for column in 0..<stride {
                let left = column >= step ? Int(result[target + column - step]) : 0
                let up = row > 0 ? Int(result[target - stride + column]) : 0
                let corner = row > 0 && column >= step ? Int(result[target - stride + column - step]) : 0
                let predicted: Int =
                    switch filter {
                    case 1: left
                    case 2: up
                    case 3: (left + up) / 2
                    case 4: paeth(left, up, corner)
                    default: 0
                    }
                result[target + column] = UInt8(truncatingIfNeeded: Int(raw[source + 1 + column]) + predicted)
            }
        }
        return result
    }

    private static func paeth(_ left: Int, _ up: Int, _ corner: Int) -> Int {
        let estimate = left + up - corner
        let distances = (abs(estimate - left), abs(estimate - up), abs(estimate - corner))
        if distances.0 <= distances.1, distances.0 <= distances.2 { return left }
        return distances.1 <= distances.2 ? up : corner
    }

    private static func bitmap(_ samples: [UInt8], _ header: Header) -> Bitmap {
        var bitmap = Bitmap(width: header.width, height: header.height)
        for index in 0..<header.width * header.height {
            let from = index * header.channels
            let pixel = pixel(samples[from..<from + header.channels], header)
            bitmap.pixels.replaceSubrange(index * 4..<index * 4 + 4, with: pixel)
        }
        return bitmap
    }

    private static func pixel(_ sample: ArraySlice<UInt8>, _ header: Header) -> [UInt8] {
        let values = Array(sample)
        if header.isIndexed {
            let index = Int(values[0])
            guard index * 3 + 3 <= header.palette.count else { return [0, 0, 0, 255] }
            let alpha = index < header.paletteAlpha.count ? header.paletteAlpha[index] : 255
            return Array(header.palette[index * 3..<index * 3 + 3]) + [alpha]
        }
        if header.isOptimized {
            // Blue first and alpha multiplied in: swap, then divide.
            let alpha = Int(values[3])
            guard alpha > 0 else { return [0, 0, 0, 0] }
            return [values[2], values[1], values[0]].map { UInt8(min(255, (Int($0) * 255 + alpha / 2) / alpha)) } + [
                values[3]
            ]
        }
        switch values.count {
        case 1: return [values[0], values[0], values[0], 255]
        case 2: return [values[0], values[0], values[0], values[1]]
        case 3: return values + [255]
        default: return values
        }
    }
}
