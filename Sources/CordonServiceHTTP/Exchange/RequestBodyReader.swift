import CordonPolicy
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Why a request's body was not accepted.
enum BodyError: Error, Equatable {
    /// More than this many bytes.
    case tooLarge(Int)
    /// Not JSON, or nested too deep, or with a member twice; the text names the place.
    case notJSON(String)
    /// The body is declared as something else than JSON.
    case wrongMediaType
    /// The body is packed in another way than gzip, or its gzip is damaged.
    case unreadableCoding
    /// The connection ended before the body did.
    case interrupted
}

/// Reads bodies within limits of size and depth.
enum RequestBodyReader {
    /// The bytes of the body.
    ///
    /// Packed with gzip it may be as large as it may be plain, and no larger when it is unpacked (SRV-OP-015).
    static func bytes(_ request: Request, atMost limit: Int) async throws(BodyError) -> Data {
        let coding = request.headers[values: .contentEncoding].joined(separator: ",").lowercased()
            .trimmingCharacters(in: .whitespaces)
        guard ["", "identity", "gzip", "x-gzip"].contains(coding) else { throw .unreadableCoding }
        let bytes = try await sentBytes(request, atMost: limit)
        guard coding.hasSuffix("gzip") else { return bytes }
        return switch GzipCoding.unpack(bytes, atMost: limit) {
        case .bytes(let bytes): bytes
        case .tooLarge: throw .tooLarge(limit)
        case .malformed: throw .unreadableCoding
        }
    }

    private static func sentBytes(_ request: Request, atMost limit: Int) async throws(BodyError) -> Data {
        if let declared = request.headers[.contentLength].flatMap({ Int($0) }), declared > limit {
            throw .tooLarge(limit)
        }
        do {
            return Data(try await request.body.collect(upTo: limit).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw .tooLarge(limit)
        } catch let error as HTTPError where error.status == .contentTooLarge {
            throw .tooLarge(limit)
        } catch {
            throw .interrupted
        }
    }

    /// The body as JSON: at most 64 levels deep, no member twice.
    static func json(_ request: Request, atMost limit: Int) async throws(BodyError) -> JSONValue {
        // Absent is accepted: scripts often leave it out.
        if let type = request.headers[.contentType]?.lowercased(),
            !type.hasPrefix("application/json"), !type.contains("+json")
        {
            throw .wrongMediaType
        }
        let bytes = try await bytes(request, atMost: limit)
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .notJSON("line and column or member: \(error.place)")
        }
    }
}
