import CordonBase
import Foundation

/// The writable memory of another process, as its system's administrator can read it.
struct ProcessMemory {
    let process: Int32

    /// How often each of the texts stands there.
    func count(of texts: [Data]) throws -> [Int] {
        let longest = texts.map(\.count).max() ?? 0
        let memory = open("/proc/\(process)/mem", O_RDONLY)
        guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer { close(memory) }
        var found = texts.map { _ in 0 }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for range in try ranges() {
            var place = range.lowerBound
            while place < range.upperBound {
                let wanted = min(buffer.count, range.upperBound - place)
                let got = pread(memory, &buffer, wanted, off_t(place))
                guard got > 0 else { break }
                for (index, text) in texts.enumerated() { found[index] += Self.count(of: text, in: buffer[..<got]) }
                // What stands across two parts is found in the second one.
                place += got == wanted && got > longest && place + got < range.upperBound ? got - longest + 1 : got
            }
        }
        return found
    }

    /// Where the process may write, thus where its values are.
    private func ranges() throws -> [Range<Int>] {
        guard let maps = KernelText.contents(of: "/proc/\(process)/maps") else { throw CocoaError(.fileReadUnknown) }
        return maps.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count > 1, parts[1].hasPrefix("rw") else { return nil }
            let ends = parts[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
        }
    }

    private static func count(of text: Data, in bytes: ArraySlice<UInt8>) -> Int {
        let text = [UInt8](text)
        return bytes.withUnsafeBytes { buffer in
            text.withUnsafeBytes { wanted -> Int in
                guard let first = buffer.baseAddress, let wantedFirst = wanted.baseAddress, !wanted.isEmpty else {
                    return 0
                }
                var found = 0
                var rest = UnsafeRawBufferPointer(start: first, count: buffer.count)
                while rest.count >= wanted.count, let start = rest.baseAddress,
                    let hit = memchr(start, Int32(wanted[0]), rest.count - wanted.count + 1)
                {
                    if memcmp(hit, wantedFirst, wanted.count) == 0 { found += 1 }
                    rest = UnsafeRawBufferPointer(
                        rebasing: rest[(hit - UnsafeMutableRawPointer(mutating: start) + 1)...])
                }
                return found
            }
        }
    }
}
