import Foundation
import SwiftASN1

/// One element of BER, of which DER is the strict form: Apple's services sign with indefinite lengths and strings in
/// several pieces (X.690, section 8).
struct DERNode {
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

    /// The first byte: class, form and number.
    var tag: UInt8 { node.encodedBytes.first ?? 0 }

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
        switch tag {
        case 0x04: return content
        case 0x24:
            var joined = Data()
            for part in try children() { joined += try part.octets() }
            return joined
        default: throw AppToolsError(.malformed, "an octet string is missing")
        }
    }

    /// The same element in DER, over which signatures of attributes are made (RFC 5652, section 5.4).
    func distinguished() throws(AppToolsError) -> Data {
        guard tag & 0x20 != 0 else { return DER.element(tag, content) }
        if tag == 0x24 { return DER.octets(try octets()) }
        var members: [Data] = []
        for child in try children() { members.append(try child.distinguished()) }
        return tag == 0x31 ? DER.set(members) : DER.element(tag, members.reduce(Data(), +))
    }
}
