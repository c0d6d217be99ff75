import CordonIdentity
import CordonVault
import Foundation

/// Writes anew, from what a parser understood, the bytes that it read: whatever parses has one form alone (R4). Ids, wrapped
/// keys, references, nonces and tags are taken over as they are, because nothing can be read out of them without a key.
struct Reserialisation {
    private var bytes: Data

    /// The header of a sealed file or database.
    static func header(
        _ magic: String, version: Int, log: UInt8, last: UInt8, fileID: String, keyID: String, owner: AccountID,
        opaque input: Data
    ) -> Data {
        var made = Reserialisation(bytes: Data(magic.utf8))
        made.number(UInt16(clamping: version))
        made.number(UInt8(1))
        made.number(log)
        made.number(UInt32(0))
        made.hexadecimal(fileID)
        made.hexadecimal(keyID)
        made.number(UInt16(owner.rawValue.utf8.count))
        made.bytes += Data(owner.rawValue.utf8)
        made.fill(to: 576)
        made.bytes += input[576..<(version == 1 ? 636 : 2684)]
        made.fill(to: 4095)
        made.number(last)
        return made.bytes
    }

    /// The page of a commit record.
    static func record(_ facts: SealedFileFacts, opaque page: Data) -> Data {
        var made = Reserialisation(bytes: Data("CORDONCR".utf8))
        made.number(facts.generation)
        made.number(UInt64(facts.length))
        made.number(facts.seals)
        made.bytes += page[32..<36]
        made.number(height(of: facts))
        made.number(UInt8(facts.isBeingWritten ? 1 : 0))
        made.number(UInt16(0))
        // While a file is being written, the recorded length is only the least it can be.
        if facts.isBeingWritten { made.bytes += page[40..<48] } else { made.number(UInt64(facts.bytesOnDisk)) }
        made.bytes += page[48..<108]
        made.fill(to: 4096)
        return made.bytes
    }

    /// What stands before the content of a protected buffer.
    static func buffer(owner: AccountID, opaque input: Data) -> Data {
        var made = Reserialisation(bytes: Data("CORDONPB".utf8))
        made.number(UInt16(1))
        made.number(UInt8(input[10] == 2 ? 2 : 1))
        made.number(UInt8(0))
        made.number(UInt16(owner.rawValue.utf8.count))
        made.number(UInt16(0))
        made.bytes += input[16..<32]
        made.bytes += input[10] == 2 ? Data(count: 16) : input[32..<48]
        made.bytes += Data(owner.rawValue.utf8)
        return made.bytes
    }

    private static func height(of facts: SealedFileFacts) -> UInt8 {
        let chunk = Int64(facts.chunkSize)
        var reach: Int64 = 1
        var height: UInt8 = 0
        while reach < (facts.length + chunk - 1) / chunk {
            reach *= chunk / 32
            height += 1
        }
        return height
    }

    private mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func hexadecimal(_ text: String) {
        let digits = Array(text.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
        bytes += stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private mutating func fill(to count: Int) { bytes += Data(count: count - bytes.count) }
}
