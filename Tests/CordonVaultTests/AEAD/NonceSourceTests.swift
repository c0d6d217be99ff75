import Foundation
import Testing

@testable import CordonVault

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// No nonce is used by two processes.
struct NonceSourceTests {
    @Test func `few nonces wait in memory`() {
        #expect(NonceSource.drawn <= 64)
    }

    @Test func `a run counts on from its first nonce, and the next run begins elsewhere`() {
        var source = NonceSource()
        let nonces = (0..<2 * NonceSource.drawn).map { _ in source.make() }
        let steps = zip(nonces, nonces.dropFirst()).map { $1.1 &- $0.1 }
        #expect(steps.indices.filter { steps[$0] != 1 } == [NonceSource.drawn - 1])
    }

    #if canImport(Glibc)
        @Test func `a child that was made without fork's handlers draws nonces of its own`() throws {
            typealias Fork = @convention(c) () -> pid_t
            // What the C library offers for making a child without running handlers.
            let found = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "_Fork"))
            let forkAlone = unsafeBitCast(found, to: Fork.self)
            var source = NonceSource()
            _ = source.make()
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let child = forkAlone()
            var nonce = source.make()
            if child == 0 {
                _ = write(ends[1], &nonce, MemoryLayout.size(ofValue: nonce))
                _exit(0)
            }
            try #require(child > 0)
            var theirs: (UInt32, UInt64) = (0, 0)
            #expect(read(ends[0], &theirs, MemoryLayout.size(ofValue: theirs)) == MemoryLayout.size(ofValue: theirs))
            var status: Int32 = 0
            waitpid(child, &status, 0)
            ends.forEach { close($0) }
            #expect(theirs.0 != nonce.0 && theirs.1 != nonce.1)
        }
    #endif
}
