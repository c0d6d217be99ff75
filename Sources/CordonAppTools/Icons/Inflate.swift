import CordonZlibShim

/// Unpacks raw deflate data (RFC 1951) into a buffer of a known size; more output than that is an error.
enum Inflate {
    static func unpack(_ data: [UInt8], limit: Int) throws(AppToolsError) -> [UInt8] {
        var written = 0
        let output = [UInt8](unsafeUninitializedCapacity: limit) { output, count in
            written = cordon_inflate(output.baseAddress, limit, data, data.count)
            count = max(written, 0)
        }
        guard written != CORDON_GUNZIP_TOO_LARGE else {
            throw AppToolsError(.malformed, "image data is longer than the image")
        }
        guard written != CORDON_GUNZIP_NO_MEMORY else {
            throw AppToolsError(.unwritable, "there is no memory to unpack an image")
        }
        guard written >= 0 else { throw AppToolsError(.malformed, "image data is damaged or ends early") }
        return output
    }
}
