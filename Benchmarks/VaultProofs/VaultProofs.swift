import CordonIdentity
import CordonVault
import Foundation

/// Long proofs of the vault that need a program of their own; `Scripts/proofs.txt` has how they are run.
///
///     VaultProofs soak SECONDS SEED           memory and descriptors stay as they are (R18)
///     VaultProofs timing SAMPLES SEED         comparisons take the same time wherever the difference is (R19)
///     VaultProofs operations COUNT SECONDS SEED   a sealed file beside an array of bytes (R12)
///     VaultProofs life FOLDER                 what `Scripts/power-cuts.py` records and cuts off (R8)
///     VaultProofs check                       looks at folders that standard input names, one a line (R8)
///     VaultProofs plant|wipe FOLDER SEED      what `Scripts/disk-image.py` looks for afterwards (R9)
///
/// Each ends with a line `proof: …` or with 1 and what failed.
@main
struct VaultProofs {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let number = { (place: Int, otherwise: Int) in
            arguments.count > place ? Int(arguments[place]) ?? otherwise : otherwise
        }
        switch arguments.first {
        case "soak": try await Soak(seconds: number(1, 60), seed: UInt64(number(2, 1))).run()
        case "timing": Timing(samples: number(1, 1_000_000), seed: UInt64(number(2, 1))).run()
        case "operations":
            try await Operations(count: number(1, 1_000_000), seconds: number(2, 300), seed: UInt64(number(3, 1))).run()
        case "life" where arguments.count == 2: try await Life(URL(fileURLWithPath: arguments[1])).run()
        case "check": await Life.checkAll()
        case "plant" where arguments.count == 3:
            try await Planting(URL(fileURLWithPath: arguments[1]), seed: UInt64(number(2, 1))).plant()
        case "wipe" where arguments.count == 3:
            try await Planting(URL(fileURLWithPath: arguments[1]), seed: UInt64(number(2, 1))).wipe()
        default: fail("usage: VaultProofs soak|timing|operations|life|check|plant|wipe …")
        }
    }
}

/// Ends with what is wrong.
func fail(_ what: String) -> Never {
    FileHandle.standardError.write(Data((what + "\n").utf8))
    exit(1)
}

/// Says something at once, also where standard output is a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A vault as after a start of the app, with everything that it needs below one folder.
func vault(in folder: URL) throws -> Vault {
    try Vault(
        directory: folder.appendingPathComponent("vault"),
        keyStore: FileKeyStore(directory: folder.appendingPathComponent("root")),
        roots: [folder.appendingPathComponent("documents")])
}

/// A folder in memory that is removed by its holder.
func scratch() throws -> URL {
    let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let folder = URL(fileURLWithPath: memory).appendingPathComponent("cordon-proof-\(getpid())")
    try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("documents"), withIntermediateDirectories: true)
    return folder
}

/// Random numbers that a seed repeats.
struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
