package import CordonPolicy
import CordonProtocol
import Foundation
import HTTPTypes
package import Hummingbird
import NIOCore

/// Reads bodies within limits of size and depth.
package enum RequestBodyReader {
    /// The bytes of the body.
    ///
    /// Packed with gzip it may be as large as it may be plain, and no larger when it is unpacked (SRV-OP-015).
    ///
    /// - Parameter digest: What the proof of an app's request says that the body is; nil for any.
    static func bytes(_ request: Request, atMost limit: Int, named digest: String? = nil) async throws -> Data {
        let bytes = try await unpackedBytes(request, atMost: limit)
        guard let digest, DPoPProof.bodyDigest(bytes) != digest else { return bytes }
        throw Refusal.malformedBody("it is not the one that the proof names, and was changed on its way")
    }

    private static func unpackedBytes(_ request: Request, atMost limit: Int) async throws -> Data {
        let coding = request.headers[values: .contentEncoding].joined(separator: ",").lowercased()
            .trimmingCharacters(in: .whitespaces)
        guard ["", "identity", "gzip", "x-gzip"].contains(coding) else { throw Refusal.contentCoding }
        let bytes = try await sentBytes(request, atMost: limit)
        guard coding.hasSuffix("gzip") else { return bytes }
        return switch GzipCoding.unpack(bytes, atMost: limit) {
        case .bytes(let bytes): bytes
        case .tooLarge: throw Refusal.bodyTooLarge(limit)
        case .malformed: throw Refusal.contentCoding
        case .noMemory: throw Refusal.busy
        }
    }

    /// The request with its body read to the end, as it was sent.
    static func whole(_ request: Request, atMost limit: Int) async throws -> Request {
        let bytes = try await sentBytes(request, atMost: limit)
        return Request(head: request.head, body: RequestBody(buffer: ByteBuffer(bytes: bytes)))
    }

    private static func sentBytes(_ request: Request, atMost limit: Int) async throws -> Data {
        if let declared = request.headers[.contentLength].flatMap({ Int($0) }), declared > limit {
            throw Refusal.bodyTooLarge(limit)
        }
        do {
            return Data(try await request.body.collect(upTo: limit).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Refusal.bodyTooLarge(limit)
        } catch let error as HTTPError where error.status == .contentTooLarge {
            throw Refusal.bodyTooLarge(limit)
        } catch {
            throw Refusal.interrupted
        }
    }

    /// The body as JSON: at most 64 levels deep, no member twice.
    ///
    /// - Parameter digest: What the proof of an app's request says that the body is; nil for any.
    package static func json(
        _ request: Request, atMost limit: Int, named digest: String? = nil
    ) async throws -> JSONValue {
        // Absent is accepted: scripts often leave it out.
        if let type = request.headers[.contentType]?.lowercased() {
            guard type.hasPrefix("application/json") || type.contains("+json") else { throw Refusal.mediaType }
            // JSON between systems is UTF-8 (RFC 8259 §8.1); what says that it is something else would be read as something else.
            // Apps say the bare type, which needs no search.
            if type != "application/json", let charset = type.firstMatch(of: /;\s*charset\s*=\s*"?([^";\s]+)/)?.1,
                !["utf-8", "utf8", "us-ascii"].contains(charset)
            {
                throw Refusal.mediaType
            }
        }
        let bytes = try await bytes(request, atMost: limit, named: digest)
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw Refusal.malformedBody("line and column or member: \(error.place)")
        }
    }

    /// The body as one of Cordon's messages.
    ///
    /// - Parameters:
    ///   - digest: What the proof of an app's request says that the body is; nil for any.
    ///   - isStrict: Whether members that the message does not have are refused, as where people write them. Apps may know more members
    ///     than this service.
    ///   - usual: Reads the message where it has its usual form, at less cost; nil for any other form.
    static func message<Message: Decodable>(
        _ type: Message.Type, of request: Request, atMost limit: Int, named digest: String? = nil,
        isStrict: Bool = false,
        usual: (JSONValue) -> Message? = { _ in nil }
    ) async throws -> Message {
        let value = try await json(request, atMost: limit, named: digest)
        if let message = usual(value) { return message }
        do {
            return try isStrict
                ? MessageCoding.decodeStrictly(type, from: value) : MessageCoding.decode(type, from: value)
        } catch {
            throw Refusal.malformedBody(error.reason)
        }
    }
}
