/// Makes a template image, black with alpha, out of an app's icon (TL-IC-05, TL-IC-06).
enum TemplateImage {
    /// Least contrast to the border that counts as a drawing.
    private static let leastContrast = 24

    /// A square template image of the given side; the drawing fills the middle 70 of 120 parts.
    static func make(from icon: Bitmap, side: Int, initial: Character) -> Bitmap {
        let glyph = side * 70 / 120
        let mask = contrast(icon).map { scaled($0, icon.width, icon.height, to: glyph) } ?? outline(glyph, initial)
        var image = Bitmap(width: side, height: side)
        let margin = (side - glyph) / 2
        for y in 0..<glyph {
            for x in 0..<glyph { image.pixels[((y + margin) * side + x + margin) * 4 + 3] = mask[y * glyph + x] }
        }
        return image
    }

    /// How far each pixel is from the colours of the border, 0 to 255; nil when the icon has no others. A background
    /// that changes from edge to edge has all its colours there.
    private static func contrast(_ icon: Bitmap) -> [UInt8]? {
        var tally = [Int](repeating: 0, count: 256)
        for x in 0..<icon.width {
            for y in 0..<icon.height where x == 0 || y == 0 || x == icon.width - 1 || y == icon.height - 1 {
                tally[icon.luminance(x, y)] += 1
            }
        }
        // What touches the border in a few places is no background.
        let few = tally.reduce(0, +) / 50
        guard let low = tally.firstIndex(where: { $0 > few }), let high = tally.lastIndex(where: { $0 > few }) else {
            return nil
        }
        var distances: [Int] = []
        for y in 0..<icon.height {
            for x in 0..<icon.width {
                let luminance = icon.luminance(x, y)
                distances.append(max(0, luminance - high, low - luminance) * icon.alpha(x, y) / 255)
            }
        }
        guard let most = distances.max(), most >= leastContrast else { return nil }
        return distances.map { UInt8($0 * 255 / most) }
    }

    /// Each target pixel is the mean of the source pixels it covers.
    private static func scaled(_ mask: [UInt8], _ width: Int, _ height: Int, to side: Int) -> [UInt8] {
        var result: [UInt8] = []
        for y in 0..<side {
            let rows = y * height / side..<max((y + 1) * height / side, y * height / side + 1)
            for x in 0..<side {
                let columns = x * width / side..<max((x + 1) * width / side, x * width / side + 1)
                var sum = 0
                for row in rows { for column in columns { sum += Int(mask[row * width + column]) } }
                result.append(UInt8(sum / (rows.count * columns.count)))
            }
        }
        return result
    }

    /// A rounded outline with the app's initial.
    private static func outline(_ side: Int, _ initial: Character) -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: side * side)
        let radius = side / 5
        let stroke = max(2, side / 20)
        func isInside(_ x: Int, _ y: Int, inset: Int) -> Bool {
            let low = inset + radius
            let high = side - 1 - inset - radius
            let dx = max(low - x, x - high, 0)
            let dy = max(low - y, y - high, 0)
            return dx * dx + dy * dy <= radius * radius
        }
        for y in 0..<side {
            for x in 0..<side where isInside(x, y, inset: 0) && !isInside(x, y, inset: stroke) {
                mask[y * side + x] = 255
            }
        }
        let rows = GlyphFont.rows(of: initial)
        let unit = max(1, side / 12)
        let left = (side - 5 * unit) / 2
        let top = (side - 7 * unit) / 2
        for y in 0..<7 * unit {
            for x in 0..<5 * unit where rows[y / unit] >> UInt8(4 - x / unit) & 1 == 1 {
                mask[(top + y) * side + left + x] = 255
            }
        }
        return mask
    }
}
