import Foundation
import SwiftASN1

/// One element of BER, of which DER is the strict form: Apple's services sign with indefinite lengths and strings in
/// several pieces (X.690, section 8).
struct DERNode: DERSerializable {
    /// What the parser's index may grow to: a signature with its certificates has a few thousand bytes.
    private static let largestMessage = 8 << 20

    private let node: ASN1Node

    /// The one element that fills the data.
    init(_ data: Data) throws(AppToolsError) {
        guard data.count <= Self.largestMessage else {
            throw AppToolsError(.malformed, "the ASN.1 is larger than \(Self.largestMessage) bytes")
        }
        do { node = try BER.parse(Array(data)) } catch {
            throw AppToolsError(.malformed, "the ASN.1 is cut off, nested too deeply or damaged")
        }
    }

    private init(_ node: ASN1Node) {
        self.node = node
    }

    /// Class and number.
    var identifier: ASN1Identifier { node.identifier }

    /// The element with its head, as it was written.
    var whole: Data { Data(node.encodedBytes) }

    /// The bytes of a primitive element, or the elements inside one after the other.
    var content: Data {
        switch node.content {
        case .primitive(let bytes): Data(bytes)
        case .constructed(let nodes): nodes.reduce(into: Data()) { $0 += $1.encodedBytes }
        }
    }

    /// The elements inside.
    func children() throws(AppToolsError) -> [DERNode] {
        guard case .constructed(let nodes) = node.content else {
            throw AppToolsError(.malformed, "an ASN.1 element holds bytes where others were expected")
        }
        return nodes.map { DERNode($0) }
    }

    /// The child at a place.
    func child(_ index: Int) throws(AppToolsError) -> DERNode {
        let all = try children()
        guard all.indices.contains(index) else { throw AppToolsError(.malformed, "an ASN.1 element is missing") }
        return all[index]
    }

    /// The bytes of an octet string that is written in one piece or in several.
    func octets() throws(AppToolsError) -> Data {
        do { return Data(try ASN1OctetString(berEncoded: node).bytes) } catch {
            throw AppToolsError(.malformed, "an octet string is missing")
        }
    }

    /// An object identifier.
    func object() throws(AppToolsError) -> ASN1ObjectIdentifier {
        do { return try ASN1ObjectIdentifier(berEncoded: node) } catch {
            throw AppToolsError(.malformed, "an object identifier is missing")
        }
    }

    /// The same element in DER, over which signatures of attributes are made (RFC 5652, section 5.4).
    func distinguished() throws(AppToolsError) -> Data { try Data(der: self) }

    /// Writes the element in DER.
    func serialize(into coder: inout DER.Serializer) throws {
        switch node.content {
        case .primitive(let bytes): coder.appendPrimitiveNode(identifier: identifier) { $0.append(contentsOf: bytes) }
        case .constructed where identifier == .octetString:
            try coder.serialize(ASN1OctetString(contentBytes: Array(try octets())[...]))
        case .constructed where identifier == .set: try coder.serializeSetOf(try children())
        case .constructed: try coder.serializeSequenceOf(try children(), identifier: identifier)
        }
    }
}

extension Data {
    /// The DER of a value.
    init(der value: some DERSerializable) throws(AppToolsError) {
        try self.init(der: { try $0.serialize(value) })
    }

    /// The DER that a piece of work writes.
    init(der write: (inout DER.Serializer) throws -> Void) throws(AppToolsError) {
        var coder = DER.Serializer()
        do { try write(&coder) } catch {
            throw error as? AppToolsError ?? AppToolsError(.unsupported, "a value has no form in DER")
        }
        self.init(coder.serializedBytes)
    }
}
