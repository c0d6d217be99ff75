import CordonBase
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import X509

/// A key and a certificate for 127.0.0.1 that only the test trusts.
struct TLSIdentity: Sendable {
    let certificate: Data
    /// The subject public key info, as pins name it.
    let publicKey: Data
    fileprivate let key: Data

    /// - Parameter address: The address that the certificate is for.
    init(for address: [UInt8] = [127, 0, 0, 1]) throws {
        let key = P256.Signing.PrivateKey()
        // A name of its own, because authorities are looked up by name.
        let name = try DistinguishedName { CommonName("cordon test \(UUID().uuidString)") }
        let address = ASN1OctetString(contentBytes: address[...])
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.ipAddress(address)])
            }, issuerPrivateKey: .init(key))
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        self.certificate = Data(serializer.serializedBytes)
        publicKey = key.publicKey.derRepresentation
        self.key = key.derRepresentation
    }

    fileprivate func context(upTo newest: TLSVersion?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(certificate), format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .der)))
        configuration.maximumTLSVersion = newest
        return try NIOSSLContext(configuration: configuration)
    }
}

/// A real TLS server on 127.0.0.1 that answers every request with `ok`.
final class TLSServer: Sendable {
    let port: Int
    /// Requests that arrived.
    let requests: Locked<Int>
    /// Connections that were made.
    let connections: Locked<Int>
    private let channel: any Channel

    /// - Parameter newest: The newest version of TLS that it speaks, nil for the newest there is.
    init(_ identity: TLSIdentity, upTo newest: TLSVersion? = nil) async throws {
        let context = try identity.context(upTo: newest)
        let (requests, connections) = (Locked(0), Locked(0))
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.withLock { $0 += 1 }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Responder(requests))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        (self.requests, self.connections) = (requests, connections)
    }

    func stop() async { try? await channel.close() }
}

private final class Responder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let requests: Locked<Int>
    private var received = ""

    init(_ requests: Locked<Int>) { self.requests = requests }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let end = received.range(of: "\r\n\r\n") {
            received.removeSubrange(..<end.upperBound)
            requests.withLock { $0 += 1 }
            let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    /// Clients that refuse the server break off in the middle.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
