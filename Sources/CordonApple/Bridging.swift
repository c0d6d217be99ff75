// The one file with casts that only an Apple compiler knows; the branches for stand-ins are what Linux type-checks and runs.
#if canImport(Security)
    internal import Foundation
    internal import Security

    enum Bridging {
        static func dictionary(_ members: [CFString: Any]) -> CFDictionary {
            #if canImport(ObjectiveC)
                members as CFDictionary
            #else
                CFDictionary(stubMembers: members)
            #endif
        }

        static func data(_ found: CFTypeRef?) -> Data? {
            #if canImport(ObjectiveC)
                found as? Data
            #else
                (found as? CFData)?.stubData
            #endif
        }

        /// The certificates that a server showed, its own first; nil where there are none.
        static func certificates(of trust: SecTrust) -> [Data]? {
            #if canImport(ObjectiveC)
                (SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.map { SecCertificateCopyData($0) as Data }
            #else
                SecTrustCopyCertificateChain(trust)?.stubCertificates.map { SecCertificateCopyData($0).stubData }
            #endif
        }
    }
#endif
