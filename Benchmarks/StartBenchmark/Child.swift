import Foundation

/// This program in a fresh process.
enum Child {
    /// Runs it; what it prints, and the processor's milliseconds that the process took from its start to its end.
    static func run(_ arguments: [String]) throws -> (text: String, cpu: Double) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = arguments
        process.standardOutput = pipe
        let before = time(of: -1)
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableRuntimeMismatch) }
        return (text, (time(of: -1) - before) * 1e3)
    }

    /// The processor's seconds that this process took so far.
    static var ownTime: Double { time(of: 0) }

    /// `RUSAGE_SELF` is 0, `RUSAGE_CHILDREN` -1; their type differs by platform.
    private static func time(of whom: Int32) -> Double {
        var usage = rusage()
        getrusage(whom, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
