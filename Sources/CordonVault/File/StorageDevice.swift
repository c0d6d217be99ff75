/// The disk as a sealed file sees it; tests put a failing or a power-losing one in its place.
///
/// What `write` did is certain to survive a power cut only after `sync` returned. A call that throws has done all,
/// part or nothing; after a failed `sync` nothing written since the last good one may be trusted.
protocol StorageDevice: AnyObject {
    /// The length in bytes.
    func size() throws(VaultError) -> Int64
    /// Reads up to as many bytes as fit; fewer only at the end.
    func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int
    /// Writes all the bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError)
    /// Makes everything written before durable.
    func sync() throws(VaultError)
    /// Cuts or extends to a length.
    func truncate(to size: Int64) throws(VaultError)
    /// Gives the file and its locks back; calling it again does nothing.
    func close()
}

extension StorageDevice {
    /// Reads exactly as many bytes as fit.
    func readAll(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) {
        guard try read(memory, at: offset) == memory.count else {
            throw VaultError(.damaged, "The file ends early.", place: "offset \(offset)")
        }
    }
}
