import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Crypto
import Foundation
import Logging
import NIOSSL
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-088: TLS from files, taken up again when they are replaced.
@Suite struct CertificateTests {
    /// A folder with a certificate and its key, made by openssl.
    private struct Folder {
        let url: URL

        init() throws { url = try TemporaryFolder.make() }

        var files: CertificateFiles {
            CertificateFiles(chain: url.appending(path: "chain.pem"), privateKey: url.appending(path: "key.pem"))
        }

        /// Replaces certificate and key.
        func issue(_ name: String, key: String = "key.pem", chain: String = "chain.pem") throws {
            try Program.succeed(
                try #require(CertificateTests.openssl),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                    key + ".new", "-out", chain + ".new",
                ], in: url)
            for file in [key, chain] {
                let place = url.appending(path: file).path
                try #require(rename(place + ".new", place) == 0)
            }
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: url.appending(path: key).path)
        }

        func remove() { try? FileManager.default.removeItem(at: url) }
    }

    private static let openssl = Program.find("openssl")
    private static let curl = Program.find("curl")
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func fault(_ files: CertificateFiles) -> String? {
        do {
            _ = try ServerCertificate(files, logger: Self.logger, now: { .now })
            return nil
        } catch {
            return error.code == .configurationInvalid ? error.reason : "another error"
        }
    }

    @Test(.enabled(if: openssl != nil, "needs openssl"))
    func `files that are missing, foreign to each other or readable by everyone are refused`() throws {
        let folder = try Folder()
        defer { folder.remove() }
        #expect(fault(folder.files)?.contains("missing") == true)
        try folder.issue("first")
        #expect(fault(folder.files) == nil)
        try folder.issue("other", key: "other.pem", chain: "other-chain.pem")
        let mixed = CertificateFiles(chain: folder.files.chain, privateKey: folder.url.appending(path: "other.pem"))
        #expect(fault(mixed)?.contains("fit together") == true)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.files.privateKey.path)
        #expect(fault(folder.files)?.contains("every user") == true)
    }

    @Test(.enabled(if: openssl != nil, "needs openssl"))
    func `a replaced certificate is taken up, and one that does not fit is not`() throws {
        let folder = try Folder()
        defer { folder.remove() }
        try folder.issue("first")
        let (clock, log) = (SettableClock(), LogRecorder())
        let certificate = try ServerCertificate(folder.files, logger: log.logger, now: { clock.now })
        let first = certificate.current().chain
        // openssl was told two days.
        let left = try #require(certificate.ends).timeIntervalSinceNow
        #expect((86_400...2 * 86_400).contains(left))
        try folder.issue("second")
        #expect(certificate.current().chain == first)
        clock.advance(by: ServerCertificate.pause)
        let second = certificate.current().chain
        #expect(second != first)
        try Data("not a key".utf8).write(to: folder.files.privateKey)
        clock.advance(by: ServerCertificate.pause)
        #expect(certificate.current().chain == second)
        #expect(log.lines.contains { $0.contains("do not fit together") })
        try folder.issue("third")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.files.privateKey.path)
        clock.advance(by: ServerCertificate.pause)
        #expect(certificate.current().chain == second)
        #expect(log.lines.contains { $0.contains("every user") })
        try FileManager.default.removeItem(at: folder.files.privateKey)
        for _ in 0..<3 {
            clock.advance(by: ServerCertificate.pause)
            #expect(certificate.current().chain == second)
        }
        #expect(log.lines.count { $0.contains("missing") } == 1, "a reason is told once")
        try folder.issue("fourth")
        clock.advance(by: -3_600)
        #expect(certificate.current().chain != second, "the clock was set back")
    }

    @Test(.enabled(if: openssl != nil && curl != nil, "needs openssl and curl"))
    func `the service answers by TLS 1_3 and says that it always will`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        try folder.issue("service")
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        try await service.open(TestService.tenant)
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.issuers = [TestIssuer.name]
        configuration.certificate = folder.files
        let server = try ServiceServer(
            configuration, service: service, documents: TestIssuer(), logger: Self.logger)
        let (ready, source) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        let running = Task { try await server.run { source.yield($0) } }
        let address = try #require(await ready.first { _ in true })
        #expect(address.base.scheme == "https")
        let url = address.base.appending(path: ".well-known/cordon-mam").absoluteString
        let curl = try #require(Self.curl)
        let answer = try await Program.run(curl, ["--cacert", folder.files.chain.path, "-si", url]).text
        #expect(answer.contains("200 OK") && answer.lowercased().contains("strict-transport-security: max-age="))
        #expect(answer.lowercased().contains("x-content-type-options: nosniff"))
        // The control above got through; an older version of TLS does not.
        let old = try await Program.run(
            curl, ["--cacert", folder.files.chain.path, "--tls-max", "1.2", "-si", url])
        #expect(old.status != 0 && old.output.isEmpty)
        await server.shutDown()
        _ = try? await running.value
    }
}
