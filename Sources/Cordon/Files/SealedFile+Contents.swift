internal import CordonVault
internal import Foundation

extension SealedFile {
    /// The whole plaintext.
    func contents() throws(VaultError) -> Data {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        var done = 0
        while done < bytes.count {
            let count = try bytes.withUnsafeMutableBufferPointer { (memory) throws(VaultError) in
                try read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[done...]),
                    at: Int64(done))
            }
            guard count > 0 else { throw VaultError(.damaged, "the file ends before its size") }
            done += count
        }
        return Data(bytes)
    }

    /// Makes the bytes the whole plaintext, durably.
    func replaceContents(with bytes: Data) throws(VaultError) {
        try truncate(to: 0)
        try [UInt8](bytes).withUnsafeBufferPointer { (memory) throws(VaultError) in
            try write(UnsafeRawBufferPointer(memory), at: 0)
        }
        try sync()
    }
}
