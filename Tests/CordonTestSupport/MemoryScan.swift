#if os(Linux)
    internal import CordonBase
    internal import Foundation

    /// Looks through all writable memory of this process for a secret, of which it holds a masked copy alone.
    package enum MemoryScan {
        /// How often a 32-byte secret stands at a multiple of eight bytes.
        package static func count(of masked: [UInt8], maskedWith mask: UInt8) throws -> Int {
            guard let maps = KernelText.contents(of: "/proc/self/maps") else { throw CocoaError(.fileReadUnknown) }
            let memory = open("/proc/self/mem", O_RDONLY)
            guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
            defer { close(memory) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            defer { buffer.deallocate() }
            let own = UInt(bitPattern: buffer.baseAddress)
            let words = stride(from: 0, to: 32, by: 8).map { place in
                masked.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
            }
            let wide = UInt64(mask) * 0x0101_0101_0101_0101
            var found = 0
            for line in maps.split(separator: "\n") where line.contains(" rw") {
                let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                guard ends.count == 2 else { continue }
                var place = ends[0]
                while place < ends[1] {
                    let count = min(1 << 20, Int(ends[1] - place))
                    // The scanner's own buffer would be found in itself.
                    let overlaps = place < own + (1 << 20) && own < place + UInt(count)
                    let step = overlaps ? 4096 : count
                    let inside = overlaps && place + 4096 > own && place < own + (1 << 20)
                    if !inside {
                        let got = pread(memory, buffer.baseAddress, step, off_t(place))
                        if got >= 32 { found += matches(buffer, got, words, wide) }
                        buffer.initializeMemory(as: UInt8.self, repeating: 0)
                    }
                    place += UInt(step)
                }
            }
            return found
        }

        private static func matches(
            _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, _ words: [UInt64], _ wide: UInt64
        ) -> Int {
            var found = 0
            var place = 0
            let first = words[0]
            while place + 32 <= count {
                if buffer.load(fromByteOffset: place, as: UInt64.self) ^ wide == first {
                    let rest = (1...3).allSatisfy {
                        buffer.load(fromByteOffset: place + 8 * $0, as: UInt64.self) ^ wide == words[$0]
                    }
                    if rest { found += 1 }
                }
                place += 8
            }
            return found
        }
    }
#endif
