public import Foundation

/// Where the service's certificate and its key are, in PEM (SRV-CI-088).
public struct CertificateFiles: Sendable, Equatable {
    /// The certificate, followed by those between it and the root.
    public var chain: URL
    /// The private key, readable by the service and its group alone.
    public var privateKey: URL

    /// Names the files.
    public init(chain: URL, privateKey: URL) {
        self.chain = chain
        self.privateKey = privateKey
    }
}
