internal import CordonBase
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The writable memory of another process, region by region.
struct ProcessRegions {
    private let id: Int32

    init(of id: Int32) {
        self.id = id
    }

    /// Calls `work` with each part of each region, and whether the part begins a region. What vanishes meanwhile is left out.
    func forEach(_ work: (_ isStart: Bool, Data) throws -> Void) throws {
        guard id != ProcessInfo.processInfo.processIdentifier else { throw CocoaError(.featureUnsupported) }
        #if os(Linux)
            let place = "/proc/\(id)/mem"
            let memory = open(place, O_RDONLY | O_CLOEXEC)
            guard memory >= 0 else {
                throw CocoaError(.fileReadNoPermission, userInfo: [NSFilePathErrorKey: place])
            }
            defer { close(memory) }
            guard let map = KernelText.contents(of: "/proc/\(id)/maps") else {
                throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: "/proc/\(id)/maps"])
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            for region in Self.writable(map) {
                var place = region.lowerBound
                while place < region.upperBound {
                    let count = pread(memory, &buffer, min(buffer.count, region.upperBound - place), off_t(place))
                    guard count > 0 else { break }
                    try work(place == region.lowerBound, Data(buffer[..<count]))
                    place += count
                }
            }
        #else
            throw CocoaError(.featureUnsupported)
        #endif
    }

    /// Where the process may write, thus where its values are.
    private static func writable(_ map: String) -> [Range<Int>] {
        map.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
        }
    }
}
