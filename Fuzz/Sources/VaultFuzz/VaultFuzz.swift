import CordonIdentity
import CordonVault
import Foundation

/// Feeds foreign bytes to every parser of the vault that needs no key: the sealed file's header and commit records, and
/// the protected buffer. Seeds are `Tests/Vectors/vault/bases`.
///
/// A parser must not crash, hang or read out of bounds, and must accept only what is as long as it says.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVault(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = start.map { Data(bytes: $0, count: count) } ?? Data()
    buffer(bytes)
    file(bytes)
    return 0
}

private let vault: Vault? = try? Vault(
    directory: FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-\(getpid())"),
    keyStore: InMemoryKeyStore())

private func buffer(_ bytes: Data) {
    guard let vault else { preconditionFailure("no vault") }
    let owner = vault.owner(ofBuffer: bytes)
    precondition(owner == nil || bytes.starts(with: Data("CORDONPB".utf8)), "a foreign buffer has an owner")
    precondition(vault.owner(ofText: bytes.base64EncodedString()) == owner, "text and bytes disagree")
}

private func file(_ bytes: Data) {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-input-\(getpid())")
    guard FileManager.default.createFile(atPath: path.path, contents: bytes) else { return }
    guard let facts = try? Vault.inspect(path) else { return }
    precondition(facts.bytesOnDisk == Int64(bytes.count), "a length that is not the file's")
    precondition(facts.length >= 0 && facts.chunkSize >= 4096, "numbers out of their ranges")
    precondition(vault?.owner(of: path) == facts.owner, "two owners of one file")
}
