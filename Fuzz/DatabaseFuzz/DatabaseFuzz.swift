import Foundation
import Synchronization

/// Changes the files of a sealed database, its journal and its log, and has SQLite read them (R4). Seeds are
/// `Tests/Vectors/damaged-databases`.
///
/// Nothing may crash, hang or read out of bounds, and no row may come out that was never written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDatabase(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let database else {
        preconditionFailure("no database whose rows are read, or a row that nobody wrote passes")
    }
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if case .invented(let row) = database.outcome(input) { preconditionFailure("a row that was never written: \(row)") }
    return 0
}

/// Where the files lie, in memory where the system offers that; gone with the process, unless that crashes.
private let folder: URL = {
    let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let folder = URL(fileURLWithPath: memory).appendingPathComponent("cordon-fuzz-database-\(getpid())")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}()

private let database: DamagedDatabase? = {
    atexit { try? FileManager.default.removeItem(at: folder) }
    let made = Made()
    Task.detached {
        let database = try? await DamagedDatabase(in: folder)
        made.value.withLock { $0 = database }
        made.isDone.signal()
    }
    made.isDone.wait()
    return made.value.withLock { $0 }
}()

/// What a task makes for a caller that cannot wait as tasks do.
private final class Made: Sendable {
    let value = Mutex<DamagedDatabase?>(nil)
    let isDone = DispatchSemaphore(value: 0)
}
