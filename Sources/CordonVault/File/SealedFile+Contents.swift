package import Foundation

extension SealedFile {
    /// The whole plaintext, of one commit.
    ///
    /// - Throws: ``VaultError`` as ``read(into:at:)`` does; `overtaken` after many tries.
    package func contents() throws(VaultError) -> Data {
        try ofOneCommit(wholeContents)
    }

    /// Reads what must be of one commit, again from the beginning when a writer has overtaken the reader.
    ///
    /// - Throws: what the body throws; `overtaken` when a writer commits faster than the body reads, many times over.
    func ofOneCommit<Result>(_ body: () throws(VaultError) -> Result) throws(VaultError) -> Result {
        for _ in 1..<Self.triesWhenOvertaken {
            do {
                return try body()
            } catch {
                guard error.code == .overtaken else { throw error }
                try refresh()
            }
        }
        return try body()
    }

    /// How often a reader begins again before it gives up.
    static let triesWhenOvertaken = 32

    private func wholeContents() throws(VaultError) -> Data {
        var bytes = Data(count: Int(try size()))
        var failure: VaultError?
        bytes.withUnsafeMutableBytes { memory in
            do throws(VaultError) { try fill(memory) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Does what ``replaceContents(with:)-(UnsafeRawBufferPointer)`` does with data.
    ///
    /// - Throws: ``VaultError`` as that does.
    package func replaceContents(with bytes: Data) throws(VaultError) {
        try Self.withMemory(of: bytes) { (memory) throws(VaultError) in try replaceContents(with: memory) }
    }

    /// Writes bytes after the last one; nothing is durable yet.
    func append(_ bytes: Data) throws(VaultError) {
        let end = try size()
        try Self.withMemory(of: bytes) { (memory) throws(VaultError) in try write(memory, at: end) }
    }

    private static func withMemory(
        of bytes: Data, _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Void
    ) throws(VaultError) {
        var failure: VaultError?
        bytes.withUnsafeBytes { memory in
            do throws(VaultError) { try body(memory) } catch { failure = error }
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
