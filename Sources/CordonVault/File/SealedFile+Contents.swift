package import Foundation

extension SealedFile {
    /// The whole plaintext.
    ///
    /// - Throws: ``VaultError`` as ``read(into:at:)`` does.
    package func contents() throws(VaultError) -> Data {
        var bytes = Data(count: Int(try size()))
        var failure: VaultError?
        bytes.withUnsafeMutableBytes { memory in
            do throws(VaultError) { try fill(memory) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Makes the bytes the whole plaintext, durably.
    ///
    /// - Throws: ``VaultError`` as ``write(_:at:)`` does.
    package func replaceContents(with bytes: Data) throws(VaultError) {
        try truncate(to: 0)
        try append(bytes)
        try sync()
    }

    /// Writes bytes after the last one; nothing is durable yet.
    func append(_ bytes: Data) throws(VaultError) {
        let end = try size()
        var failure: VaultError?
        bytes.withUnsafeBytes { memory in
            do throws(VaultError) { try write(memory, at: end) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func fill(_ memory: UnsafeMutableRawBufferPointer) throws(VaultError) {
        var done = 0
        while done < memory.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: memory[done...]), at: Int64(done))
            guard count > 0 else { throw VaultError(.damaged, "The file ends before its size.") }
            done += count
        }
    }
}
