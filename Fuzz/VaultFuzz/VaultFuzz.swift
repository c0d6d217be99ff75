import CordonIdentity
import CordonVault
import Foundation

/// Feeds foreign bytes to every parser of the vault that needs no key: the sealed file's header and commit records, the
/// sealed database's header, and the protected buffer. Seeds are `Tests/Vectors/vault/bases`.
///
/// A parser must not crash, hang or read out of bounds, must accept only what is as long as it says, and only the one form
/// of what it says: written anew, it is the same bytes.
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
    guard let owner else { return }
    precondition(bytes.starts(with: Reserialisation.buffer(owner: owner, opaque: bytes)), "two forms of one buffer")
}

private func file(_ bytes: Data) {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-input-\(getpid())")
    guard FileManager.default.createFile(atPath: path.path, contents: bytes) else { return }
    database(path, bytes)
    guard let facts = try? Vault.inspect(path) else { return }
    precondition(facts.bytesOnDisk == Int64(bytes.count), "a length that is not the file's")
    precondition(facts.length >= 0 && facts.chunkSize >= 4096, "numbers out of their ranges")
    precondition(vault?.owner(of: path) == facts.owner, "two owners of one file")
    let header = Reserialisation.header(
        "CORDONSF", version: facts.formatVersion, log: UInt8(facts.chunkSize.trailingZeroBitCount), last: 0,
        fileID: facts.fileID,
        keyID: facts.accountKeyID, owner: facts.owner, opaque: bytes)
    precondition(header == bytes.prefix(4096), "two forms of one header")
    let start = 4096 * (1 + Int(facts.generation & 1))
    let page = Data(bytes[start..<start + 4096])
    precondition(Reserialisation.record(facts, opaque: page) == page, "two forms of one record")
}

private func database(_ path: URL, _ bytes: Data) {
    guard let facts = try? Vault.inspectDatabase(path) else { return }
    let size = facts.pageSize == 0 ? 0 : facts.pageCount * Int64(facts.pageSize + 28)
    precondition(facts.bytesOnDisk == Int64(bytes.count) && size == facts.bytesOnDisk - 4096, "not the length on disk")
    precondition(vault?.owner(of: path) == facts.owner, "two owners of one database")
    let log = facts.pageSize == 0 ? 0 : UInt8(facts.pageSize.trailingZeroBitCount)
    let header = Reserialisation.header(
        "CORDONSD", version: facts.formatVersion, log: 0, last: log, fileID: facts.fileID, keyID: facts.accountKeyID,
        owner: facts.owner,
        opaque: bytes)
    precondition(header == bytes.prefix(4096), "two forms of one header")
}
