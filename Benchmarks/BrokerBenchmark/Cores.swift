import Foundation

/// Which processors threads run on. Left alone, the system keeps the two threads of an exchange on one processor or puts them on two, and
/// the same echo takes 9 microseconds or 40; so what is compared is held to the same. By `taskset` of util-linux; where that is absent,
/// nothing is held.
enum Cores {
    /// The processors that this process may use, by their numbers.
    static let all: [Int] = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let list = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }?.split(separator: "\t")
            .last
        return (list ?? "").split(separator: ",").flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [] }
            return Array(first...last)
        }
    }()

    /// Holds every thread of the process, and those that they make, to some processors.
    static func holdProcess(to cores: some Sequence<Int>) {
        hold(["--all-tasks"], String(ProcessInfo.processInfo.processIdentifier), cores)
    }

    /// Holds the calling thread to some processors.
    static func holdThread(to cores: some Sequence<Int>) {
        let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        guard let thread = place?.split(separator: "/").last else { return }
        hold([], String(thread), cores)
    }

    private static func hold(_ options: [String], _ id: String, _ cores: some Sequence<Int>) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let list = cores.map(String.init).joined(separator: ",")
        process.arguments = ["taskset"] + options + ["--cpu-list", "--pid", list, id]
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return }
        process.waitUntilExit()
    }
}
