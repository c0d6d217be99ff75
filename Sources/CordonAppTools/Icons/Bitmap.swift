/// Pixels as red, green, blue and alpha bytes, alpha not multiplied in.
struct Bitmap: Equatable {
    let width: Int
    let height: Int
    var pixels: [UInt8]

    init(width: Int, height: Int, pixels: [UInt8]? = nil) {
        self.width = width
        self.height = height
        self.pixels = pixels ?? [UInt8](repeating: 0, count: width * height * 4)
    }

    func luminance(_ x: Int, _ y: Int) -> Int {
        let place = (y * width + x) * 4
        return (Int(pixels[place]) * 299 + Int(pixels[place + 1]) * 587 + Int(pixels[place + 2]) * 114) / 1000
    }

    func alpha(_ x: Int, _ y: Int) -> Int { Int(pixels[(y * width + x) * 4 + 3]) }
}
