import CordonBase
import CordonProtocol
import Foundation
import Logging
import NIOCore
import NIOSSL

#if canImport(Glibc)
    // In a graph with NIO, the compiler finds the members of `stat` through this module.
    import CoreFoundation
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

#if canImport(CoreFoundation)
    import CoreFoundation
#endif

#if canImport(CDispatch)
    import CDispatch
#endif

/// The certificate that new connections are answered with; files that were replaced are taken up by themselves.
///
/// The files are looked at when a connection begins, at most once in ``pause``. Files that do not fit together, or cannot
/// be read, change nothing: the certificate from before stays, and the log says why.
final class ServerCertificate: Sendable {
    /// How often the files are looked at, in seconds.
    static let pause: TimeInterval = 10

    private struct Loaded {
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
        var stamp: [Stamp]
        var looked: Date
        /// Why the files cannot be used, as the log says already.
        var told: String?
    }

    /// What tells a replaced file from the one before.
    private struct Stamp: Equatable {
        var node: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private let files: CertificateFiles
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let loaded: Locked<Loaded>

    /// Loads the files.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    init(_ files: CertificateFiles, logger: Logger, now: @escaping @Sendable () -> Date) throws(ProgramError) {
        self.files = files
        self.logger = logger
        self.now = now
        self.loaded = Locked(try Self.load(files, at: now()))
    }

    /// TLS 1.3 alone, with the newest certificate for every new connection.
    var configuration: TLSConfiguration {
        let first = loaded.withLock { ($0.chain, $0.key) }
        var configuration = Self.configuration(first.0, first.1)
        configuration.sslContextCallback = { [self] _, promise in
            let (chain, key) = current()
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = chain.map { .certificate($0) }
            override.privateKey = .privateKey(key)
            promise.succeed(override)
        }
        return configuration
    }

    /// When the first of the certificates ends that are answered with now.
    var ends: Date? {
        current().chain.map { Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)) }.min()
    }

    /// The certificate to answer with now.
    func current() -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        let moment = now()
        return loaded.withLock { loaded in
            // Also where the clock was set back.
            guard abs(moment.timeIntervalSince(loaded.looked)) >= Self.pause else { return (loaded.chain, loaded.key) }
            loaded.looked = moment
            do throws(ProgramError) {
                guard try Self.stamp(files) != loaded.stamp else {
                    loaded.told = nil
                    return (loaded.chain, loaded.key)
                }
                loaded = try Self.load(files, at: moment)
                logger.notice("the certificate was replaced")
            } catch {
                guard error.reason != loaded.told else { return (loaded.chain, loaded.key) }
                loaded.told = error.reason
                logger.error(
                    "the certificate's files cannot be used",
                    metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            }
            return (loaded.chain, loaded.key)
        }
    }

    private static func load(_ files: CertificateFiles, at moment: Date) throws(ProgramError) -> Loaded {
        // Before the content, so that a change while it is read is seen next time.
        let stamp = try stamp(files)
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.chain.path)
            let key = try NIOSSLPrivateKey(file: files.privateKey.path, format: .pem)
            // Refuses a key that is not the certificate's.
            _ = try NIOSSLContext(configuration: configuration(chain, key))
            return Loaded(chain: chain, key: key, stamp: stamp, looked: moment)
        } catch {
            throw unusable("the certificate and the key cannot be read or do not fit together", files.chain)
        }
    }

    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv13
        return configuration
    }

    private static func stamp(_ files: CertificateFiles) throws(ProgramError) -> [Stamp] {
        var stamps: [Stamp] = []
        for file in [files.chain, files.privateKey] {
            var facts = stat()
            guard stat(file.path, &facts) == 0 else { throw unusable("a file of the certificate is missing", file) }
            guard file == files.chain || facts.st_mode & 0o007 == 0 else {
                throw unusable("every user of this machine may read or change the private key", file)
            }
            #if canImport(Darwin)
                let changed = facts.st_mtimespec
            #else
                let changed = facts.st_mtim
            #endif
            stamps.append(
                Stamp(
                    node: UInt64(facts.st_ino), size: Int64(facts.st_size), seconds: changed.tv_sec,
                    nanoseconds: changed.tv_nsec))
        }
        return stamps
    }

    private static func unusable(_ reason: String, _ file: URL) -> ProgramError {
        ProgramError(
            .configurationInvalid, reason: reason, place: file.path,
            hint: "name a certificate chain and its key in PEM, the key with mode 0600 or 0640")
    }
}
