internal import CordonBase
internal import NIOCore

/// Learns which process wrote what a connection reads next.
///
/// The event loop asks for the size of a buffer right before each read, and only for that; the kernel is asked then, and never
/// lets one read return what two processes wrote. Bytes that come in any other way have no known sender.
final class SenderWatch: RecvByteBufferAllocator {
    private let socket: NIOBSDSocket.Handle
    private let next = Locked<Int32?>(nil)
    private static let size = 4_096

    init(socket: NIOBSDSocket.Handle) {
        self.socket = socket
    }

    /// The process that wrote the bytes that were just read; nil where that is not known. Returns it once.
    func take() -> Int32? {
        next.withLock { sender in
            defer { sender = nil }
            return sender
        }
    }

    func nextBufferSize() -> Int? {
        let sender = PeerCredentials.sender(socket: socket)
        next.withLock { $0 = sender }
        return Self.size
    }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: Self.size)
    }

    func record(actualReadBytes: Int) -> Bool { false }
}
