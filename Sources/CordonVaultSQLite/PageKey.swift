internal import CordonSQLiteShim
internal import CordonVault

/// This list's share of a key that the file system uses.
final class PageKey: Sendable {
    // The functions of the shim may be called from any thread, and the pointer never changes.
    nonisolated(unsafe) private let key: OpaquePointer

    init(_ key: OpaquePointer) { self.key = key }

    deinit { cordon_page_key_release(key) }

    /// Whether another holder has a share.
    var isShared: Bool { cordon_page_key_is_shared(key) == 1 }

    /// One more share, for the caller to give back.
    func shared() -> OpaquePointer {
        cordon_page_key_retain(key)
        return key
    }

    /// Ends the key for all.
    func revoke() { cordon_page_key_revoke(key) }
}

/// Which implementation of the cipher the pages go through; both give the same bytes.
package enum DatabaseCipher: Sendable, CaseIterable {
    /// One context per key, straight to the AEAD that is linked anyway.
    case direct
    /// The public API of Crypto (CryptoKit on Apple platforms).
    case library

    /// The faster one that this build has.
    package static var preferred: DatabaseCipher { PageCipher.isDirectAvailable ? .direct : .library }

    /// A key of the file system from 32 bytes at an address that is valid for the call; nil when it is refused.
    func pageKey(_ address: UInt, _ digest: [UInt8]) -> PageKey? {
        guard let bytes = UnsafePointer<UInt8>(bitPattern: address) else { return nil }
        let cipher = self == .direct ? cordon_direct_cipher(bytes) : libraryCipher(bytes)
        guard cipher.state != nil else { return nil }
        return cordon_page_key_new(cipher, digest).map(PageKey.init)
    }

    private func libraryCipher(_ bytes: UnsafePointer<UInt8>) -> cordon_cipher {
        let cipher = PageCipher(key: UnsafeRawBufferPointer(start: bytes, count: 32))
        return cordon_cipher(
            state: cipher.map { Unmanaged.passRetained($0).toOpaque() },
            seal: { state, output, tag, nonce, input, count, context, contextCount in
                guard let state, let output, let tag, let nonce else { return 0 }
                let cipher = Unmanaged<PageCipher>.fromOpaque(state).takeUnretainedValue()
                return cipher.seal(
                    UnsafeRawBufferPointer(start: input, count: count), into: output, nonce: nonce, tag: tag,
                    context: UnsafeRawBufferPointer(start: context, count: contextCount)) ? 1 : 0
            },
            open: { state, output, tag, nonce, input, count, context, contextCount in
                guard let state, let output, let tag, let nonce else { return 0 }
                let cipher = Unmanaged<PageCipher>.fromOpaque(state).takeUnretainedValue()
                return cipher.open(
                    UnsafeRawBufferPointer(start: input, count: count), into: output, nonce: nonce, tag: tag,
                    context: UnsafeRawBufferPointer(start: context, count: contextCount)) ? 1 : 0
            },
            release: { state in
                if let state { Unmanaged<PageCipher>.fromOpaque(state).release() }
            })
    }
}
