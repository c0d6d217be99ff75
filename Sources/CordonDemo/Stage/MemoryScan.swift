internal import CordonBase
public import CordonProtocol
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Looks for texts in the memory of a running process of the same user.
public enum MemoryScan {
    /// How many of the texts stand somewhere in the process's writable memory.
    ///
    /// - Throws: ``ProgramError`` when the system does not let its memory be read.
    public static func count(of texts: [String], in process: Int32) throws(ProgramError) -> Int {
        #if os(Linux)
            let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
            guard memory >= 0, let maps = KernelText.contents(of: "/proc/\(process)/maps") else {
                throw ProgramError.stage(
                    "the memory of process \(process) cannot be read",
                    hint: "Allow a parent to trace its children (kernel.yama.ptrace_scope 0 or 1).")
            }
            defer { close(memory) }
            var found: Set<String> = []
            for line in maps.split(separator: "\n") {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                let bounds = (fields.first ?? "").split(separator: "-").compactMap { UInt64($0, radix: 16) }
                guard bounds.count == 2, fields.count > 1, fields[1].hasPrefix("rw") else { continue }
                search(memory, bounds[0], bounds[1], texts, &found)
            }
            return found.count
        #else
            throw ProgramError.stage("this system does not show a process's memory")
        #endif
    }

    #if os(Linux)
        /// Reads a region piece by piece, each overlapping the next; what vanished meanwhile holds nothing.
        private static func search(
            _ memory: Int32, _ start: UInt64, _ end: UInt64, _ texts: [String], _ found: inout Set<String>
        ) {
            let overlap = UInt64(texts.map(\.utf8.count).max() ?? 0)
            var buffer = [UInt8](repeating: 0, count: 4 << 20)
            var place = start
            while place < end {
                let count = pread(memory, &buffer, min(buffer.count, Int(end - place)), off_t(place))
                guard count > 0 else { return }
                for text in texts where !found.contains(text) {
                    let isThere = buffer.withUnsafeBytes { holds($0.prefix(count), Array(text.utf8)) }
                    if isThere { found.insert(text) }
                }
                place += count == buffer.count ? UInt64(count) - overlap : UInt64(count)
            }
        }

        private static func holds(_ bytes: Slice<UnsafeRawBufferPointer>, _ wanted: [UInt8]) -> Bool {
            guard let first = wanted.first else { return false }
            let part = UnsafeRawBufferPointer(rebasing: bytes)
            guard let start = part.baseAddress else { return false }
            var place = 0
            while place + wanted.count <= part.count,
                let hit = memchr(start + place, Int32(first), part.count - wanted.count - place + 1)
            {
                if memcmp(hit, wanted, wanted.count) == 0 { return true }
                place = UnsafeRawPointer(hit) - start + 1
            }
            return false
        }
    #endif
}
