import Foundation

/// Runs the independent interpreter of the hand-written rows.
enum Oracle {
    static func letters(of group: String, stride: Int, offset: Int, in folder: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", folder.appendingPathComponent("oracle.py").path, group, String(stride), String(offset),
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
