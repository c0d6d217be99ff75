import Foundation
import SwiftASN1
import X509

/// An algorithm as messages name it (RFC 5280, section 4.1.1.2).
struct CMSAlgorithm: DERSerializable {
    let identifier: ASN1ObjectIdentifier
    /// Whether parameters are written although there are none, as RSA demands.
    var hasNull = false

    static let sha256 = CMSAlgorithm(identifier: .sha256)
    static let rsa = CMSAlgorithm(identifier: [1, 2, 840, 113549, 1, 1, 1], hasNull: true)
    static let ecdsa = CMSAlgorithm(identifier: [1, 2, 840, 10045, 4, 3, 2])

    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(identifier)
            if hasNull { try coder.serialize(ASN1Null()) }
        }
    }
}

/// What the one signer of a message says (RFC 5652, section 5.3).
struct CMSSigner: DERSerializable {
    let certificate: Certificate
    let attributes: [CMSAttribute]
    let algorithm: CMSAlgorithm
    let signature: Data

    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(1)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(certificate.issuer)
                try coder.serialize(certificate.serialNumber.bytes)
            }
            try coder.serialize(CMSAlgorithm.sha256)
            // The attributes are signed as a SET and stored with an implicit tag.
            try coder.serializeSetOf(attributes, identifier: .firstOfContext)
            try coder.serialize(algorithm)
            try coder.serialize(ASN1OctetString(contentBytes: Array(signature)[...]))
        }
    }
}

/// A signed message (RFC 5652, section 5.1) with one signer.
struct CMSMessage: DERSerializable {
    /// What is signed; nil for a signature that lies apart from it.
    let content: Data?
    let certificates: [SigningCertificate]
    let signer: CMSSigner

    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(ASN1ObjectIdentifier.signedData)
            try coder.appendConstructedNode(identifier: .firstOfContext) { coder in
                try coder.appendConstructedNode(identifier: .sequence, body)
            }
        }
    }

    private func body(into coder: inout DER.Serializer) throws {
        try coder.serialize(1)
        try coder.serializeSetOf([CMSAlgorithm.sha256])
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(ASN1ObjectIdentifier.data)
            guard let content else { return }
            try coder.serialize(
                ASN1OctetString(contentBytes: Array(content)[...]), explicitlyTaggedWithIdentifier: .firstOfContext)
        }
        coder.appendConstructedNode(identifier: .firstOfContext) { coder in
            for certificate in certificates { coder.serializeRawBytes(certificate.der) }
        }
        try coder.serializeSetOf([signer])
    }
}

extension ASN1Identifier {
    /// The tag of certificates, of signed attributes and of a message's content.
    static let firstOfContext = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}
