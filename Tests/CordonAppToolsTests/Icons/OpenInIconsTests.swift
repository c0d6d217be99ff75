import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct OpenInIconsTests {
    private static let decoder = """
        import sys, zlib, struct
        def read(path):
            d = open(path, 'rb').read(); o = 8; idat = b''
            while o < len(d):
                n = struct.unpack('>I', d[o:o+4])[0]; t = d[o+4:o+8]; b = d[o+8:o+8+n]
                assert zlib.crc32(t + b) == struct.unpack('>I', d[o+8+n:o+12+n])[0]
                if t == b'IHDR': w, h, depth, kind = struct.unpack('>IIBB', b[:10])
                if t == b'IDAT': idat += b
                o += 12 + n
            raw = zlib.decompress(idat)
            assert len(raw) == h * (1 + w * 4) and depth == 8 and kind == 6
            rows = [raw[y * (w * 4 + 1):(y + 1) * (w * 4 + 1)] for y in range(h)]
            assert all(r[0] == 0 for r in rows)
            alpha = [r[4::4] for r in rows]
            drawn = [(x, y) for y in range(h) for x in range(w) if alpha[y][x]]
            black = all(not any(r[1 + i::4][k] for i in range(3)) for r in rows for k in range(0, w, 7))
            print(w, h, black, min(p[0] for p in drawn) >= w * 25 // 120, max(p[0] for p in drawn) < w - w * 25 // 120 + 1, max(map(max, alpha)))
        for p in sys.argv[1:]: read(p)
        """

    /// Writes a PNG with every filter and real compression, plain and in the CgBI form, and returns its pixels.
    private static let encoder = """
        import sys, zlib, struct, random
        random.seed(7); w, h = 20, 11
        px = [[[random.randrange(256) for _ in range(3)] + [random.choice([255, 255, 0, 128])] for _ in range(w)] for _ in range(h)]
        def pack(rows):
            out = b''; prev = bytes(w * 4)
            for y, r in enumerate(rows):
                f = y % 5; line = bytearray()
                for i, v in enumerate(r):
                    a = r[i-4] if i >= 4 else 0; b = prev[i]; c = prev[i-4] if i >= 4 else 0
                    p = a + b - c; pa, pb, pc = abs(p-a), abs(p-b), abs(p-c)
                    pred = [0, a, b, (a+b)//2, a if pa <= pb and pa <= pc else b if pb <= pc else c][f]
                    line.append((v - pred) & 255)
                out += bytes([f]) + bytes(line); prev = r
            return out
        def chunk(t, b): return struct.pack('>I', len(b)) + t + b + struct.pack('>I', zlib.crc32(t + b))
        def png(idats, cg):
            return b'\\x89PNG\\r\\n\\x1a\\n' + (chunk(b'CgBI', b'\\x50\\0\\x20\\6') if cg else b'') + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 6, 0, 0, 0)) + b''.join(chunk(b'IDAT', i) for i in idats) + chunk(b'IEND', b'')
        plain = [bytes(v for p in r for v in p) for r in px]
        z = zlib.compress(pack(plain), 9)
        open(sys.argv[1], 'wb').write(png([z[:40], z[40:]], False))
        mul = [bytes(v for p in r for v in [(c * p[3] + 127) // 255 for c in (p[2], p[1], p[0])] + [p[3]]) for r in px]
        c = zlib.compressobj(9, zlib.DEFLATED, -15); z = c.compress(pack(mul)) + c.flush()
        open(sys.argv[2], 'wb').write(png([z], True))
        print(' '.join(str(v) for r in plain for v in r))
        """

    @Test func `a system symbol is named instead of images`() throws {
        let scratch = try Scratch()
        let icons = OpenInIcons(symbol: "folder.fill", output: scratch.folder)
        try AtomicWriter.write(icons.changes)
        let made = try PropertyList(contentsOf: scratch.folder.appendingPathComponent("CFBundleIcons.plist")).value
        #expect(made["CFBundleIcons"]?["CFBundlePrimaryIcon"]?["CFBundleSymbolName"]?.string == "folder.fill")
        #expect(icons.changes.count == 1)
    }

    @Test func `a background that changes from edge to edge is no drawing`() {
        var icon = Bitmap(width: 60, height: 60)
        for y in 0..<60 {
            for x in 0..<60 {
                // Dark above, lighter below, with a white square in the middle.
                let isDrawn = (20..<40).contains(x) && (20..<40).contains(y)
                let shade = isDrawn ? 255 : UInt8(40 + y)
                for part in 0..<3 { icon.pixels[(y * 60 + x) * 4 + part] = shade }
                icon.pixels[(y * 60 + x) * 4 + 3] = 255
            }
        }
        let image = TemplateImage.make(from: icon, side: 120, initial: "A")
        func alpha(_ x: Int, _ y: Int) -> UInt8 { image.pixels[(y * 120 + x) * 4 + 3] }
        #expect(alpha(60, 60) == 255)
        for (x, y) in [(28, 28), (90, 28), (28, 90), (90, 90), (60, 30), (60, 92)] { #expect(alpha(x, y) == 0) }
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `plain and CgBI images are read as another program wrote them`() throws {
        let scratch = try Scratch()
        let plain = scratch.folder.appendingPathComponent("a.png")
        let optimized = scratch.folder.appendingPathComponent("b.png")
        let text = try Program.python(Self.encoder, [plain.path, optimized.path])
        let expected = text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0) }
        #expect(try PNGReader.read(Data(contentsOf: plain)).pixels == expected)
        let other = try PNGReader.read(Data(contentsOf: optimized)).pixels
        for index in stride(from: 0, to: expected.count, by: 4) {
            #expect(other[index + 3] == expected[index + 3])
            guard expected[index + 3] > 0 else { continue }
            for channel in 0..<3 {
                #expect(abs(Int(other[index + channel]) - Int(expected[index + channel])) <= 1)
            }
        }
    }

    private func app(_ scratch: Scratch, icon: Bitmap?) throws -> URL {
        let info: PropertyListValue = .dictionary([
            "CFBundleName": .string("Notes"),
            "CFBundleIcons": .dictionary([
                "CFBundlePrimaryIcon": .dictionary(["CFBundleIconFiles": .array([.string("AppIcon60x60")])])
            ]),
        ])
        _ = try scratch.file("A.app/Info.plist", XMLPropertyListWriter().document(info))
        if let icon { _ = try scratch.file("A.app/AppIcon60x60@2x.png", PNGWriter.write(icon)) }
        return scratch.folder.appendingPathComponent("A.app")
    }

    private static func drawing(contrast: UInt8) -> Bitmap {
        var icon = Bitmap(width: 60, height: 60)
        for y in 0..<60 {
            for x in 0..<60 {
                let value: UInt8 = (15..<45).contains(x) && (15..<45).contains(y) ? 40 + contrast : 40
                icon.pixels.replaceSubrange((y * 60 + x) * 4..<(y * 60 + x) * 4 + 4, with: [value, value, value, 255])
            }
        }
        return icon
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"), arguments: [UInt8(200), 0])
    func `icons are black masks of the right sizes, centred`(contrast: UInt8) throws {
        let scratch = try Scratch()
        let output = scratch.folder.appendingPathComponent("out")
        let icons = try OpenInIcons(app: try app(scratch, icon: Self.drawing(contrast: contrast)), output: output)
        try AtomicWriter.write(icons.changes)
        #expect(try AtomicWriter.write(icons.changes).isEmpty)
        let images = icons.changes.map(\.url.path).filter { $0.hasSuffix(".png") }
        let text = try Program.python(Self.decoder, images)
        let sizes = ["120", "180", "152", "167"].map { "\($0) \($0) True True True 255" }
        #expect(text.split(separator: "\n").map(String.init) == sizes)
    }

    /// An icon that is all of one colour but for a square, whose place tells which image was taken.
    private static func marked(_ side: Int, at x: Int) -> Bitmap {
        var icon = Bitmap(width: side, height: side)
        for place in 0..<side * side {
            let isDrawn = (x..<x + side / 4).contains(place % side) && (side / 4..<side / 2).contains(place / side)
            for part in 0..<3 { icon.pixels[place * 4 + part] = isDrawn ? 255 : 20 }
            icon.pixels[place * 4 + 3] = 255
        }
        return icon
    }

    @Test(arguments: [
        ("CFBundleIcons", "Small", "Large@3x.png"), ("CFBundleIcons~ipad", "Small", "Large@2x~ipad.png"),
        ("CFBundleIconFiles", "Small", "Large.png"), ("CFBundleIconFile", nil, "Large@2x.png"),
    ])
    func `the largest icon is found under every key and in every spelling`(key: String, small: String?, file: String)
        throws
    {
        let scratch = try Scratch()
        let names = PropertyListValue.array([small, "Large.png"].compactMap { $0.map { .string($0) } })
        let entry: PropertyListValue =
            switch key {
            case "CFBundleIconFiles": names
            case "CFBundleIconFile": .string("Large.png")
            default: .dictionary(["CFBundlePrimaryIcon": .dictionary(["CFBundleIconFiles": names])])
            }
        var info: PropertyListDictionary = ["CFBundleName": .string("Notes")]
        info[key] = entry
        _ = try scratch.file("A.app/Info.plist", XMLPropertyListWriter().document(.dictionary(info)))
        let (small, large) = (Self.marked(40, at: 5), Self.marked(80, at: 50))
        _ = try scratch.file("A.app/Small@2x.png", PNGWriter.write(small))
        _ = try scratch.file("A.app/\(file)", PNGWriter.write(large))
        let app = scratch.folder.appendingPathComponent("A.app")
        let made = try OpenInIcons(app: app, output: scratch.folder.appendingPathComponent("out"))
        let wanted = PNGWriter.write(TemplateImage.make(from: large, side: 120, initial: "N"))
        #expect(made.changes.first?.pieces.reduce(Data(), +) == wanted)
        #expect(wanted != PNGWriter.write(TemplateImage.make(from: small, side: 120, initial: "N")))
    }

    @Test func `of several icons the largest alone is unpacked`() throws {
        let scratch = try Scratch()
        let names: PropertyListValue = .array([.string("Small"), .string("Large")])
        let info = XMLPropertyListWriter().document(.dictionary(["CFBundleIconFiles": names]))
        _ = try scratch.file("A.app/Info.plist", info)
        _ = try scratch.file("A.app/Large.png", PNGWriter.write(Self.marked(80, at: 50)))
        // Nothing but a header.
        _ = try scratch.file("A.app/Small.png", PNGWriter.write(Self.marked(40, at: 5)).prefix(33))
        let app = scratch.folder.appendingPathComponent("A.app")
        #expect(try OpenInIcons(app: app, output: scratch.folder).changes.count == 5)
    }

    @Test func `an app without a loose icon is refused with a hint`() throws {
        let scratch = try Scratch()
        let app = try app(scratch, icon: nil)
        #expect { try OpenInIcons(app: app, output: scratch.folder) } throws: {
            ($0 as? AppToolsError)?.hint?.contains("--icon") == true
        }
    }

    @Test(.seeded(as: 3)) func `damaged images never trap`() throws {
        let good = PNGWriter.write(Bitmap(width: 5, height: 5))
        for position in good.indices {
            for value in [UInt8(0), 1, 0x7F, 0xFF] {
                var bad = good
                bad[position] = value
                _ = try? PNGReader.read(bad)
            }
        }
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let noise = (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = try? Inflate.unpack(noise, limit: 1000)
        }
    }
}
